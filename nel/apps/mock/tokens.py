"""Pretend tokens, words and marks with the white space before them: counted, cut, and as JSON.

A prompt and its completion are split apart from each other, so that joined tokens equal the text
and a client finds the border between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

_TOKEN = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


def tokenise(text: str) -> list[str]:
    """Return the tokens of a text; joined they are the text."""
    return _TOKEN.findall(text)


def count_tokens(text: str) -> int:
    """Return how many tokens a text has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def cut_to_tokens(text: str, tokens_max: int | None) -> tuple[str, bool]:
    """Return the text within a number of tokens, and whether it was cut."""
    if tokens_max is None:
        return text, False
    tokens = tokenise(text)
    return "".join(tokens[:tokens_max]), len(tokens) > tokens_max


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return the text before the first of the stop words."""
    places = (at for at in map(text.find, stop) if at >= 0)
    return text[: min(places, default=len(text))]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """One token with its log-probability, and the likeliest one where another was likelier."""

    token: str
    logprob: float
    alternative: tuple[str, float] | None = None


def legacy_logprobs(
    tokens: Sequence[TokenLogprob], *, alternatives_max: int, from_start: bool
) -> dict[str, object]:
    """Return the ``logprobs`` object of a completions choice.

    Args:
        alternatives_max: How many entries a client asked for; the token itself is always among
            them.
        from_start: Whether the first token has nothing before it, hence no log-probability.
    """
    tops: list[dict[str, float] | None] = [_top(item, alternatives_max) for item in tokens]
    logprobs: list[float | None] = [item.logprob for item in tokens]
    if from_start and tokens:
        tops[0] = logprobs[0] = None
    offsets = [0, *accumulate(len(item.token) for item in tokens)]
    return {
        "tokens": [item.token for item in tokens],
        "token_logprobs": logprobs,
        "top_logprobs": tops,
        "text_offset": offsets[: len(tokens)],
    }


def _top(item: TokenLogprob, alternatives_max: int) -> dict[str, float]:
    top = {item.token: item.logprob}
    if item.alternative is None or alternatives_max == 0 or item.alternative[0] == item.token:
        return top
    return {item.alternative[0]: item.alternative[1], **top}
