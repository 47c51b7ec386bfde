"""Reads the prompt's part of an answer with ``echo``: the legacy ``logprobs`` object (tokens,
token_logprobs, top_logprobs, text_offset), verified.

A server that ignores ``echo`` answers 200. A sum over nothing is 0.0, every choice ties, and the
first one wins: a score that looks like chance. Everything here is refused unless the tokens prove
that they are the prompt's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nel.core.json_values import is_number
from nel.errors import LogprobFault
from nel.models.echo_alignment import align, is_special, is_text, offsets_fit

_ABOVE_ZERO_MAX: Final = 1e-3
"""How far above 0 rounding may lift the logarithm of a probability."""
SHOWN_CHARACTERS: Final = 60
_INTEGER_BITS_MAX: Final = 64
_COLUMNS: Final = ("tokens", "token_logprobs", "top_logprobs", "text_offset")

NO_ECHO: Final = (
    "the server ignores echo: log-likelihood benchmarks would give chance scores; use a server that"
    " returns prompt log-probabilities (vLLM does), or a generation form of the benchmark"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """The prompt's part of an answer, verified."""

    places: Sequence[frozenset[int]]
    """Where each token may begin in the prompt; the special token in front of it has no entry."""
    logprobs: Sequence[float | None]
    tops: Sequence[Mapping[str, float] | None]
    is_whole: Sequence[bool]
    """Whether each token is text, and no piece of a character."""
    has_front: bool
    """Whether a special token such as a BOS stands in front of the text."""


def has_leading_token(choice: Mapping[str, object], prompt: str, *, generated: int) -> bool:
    """Return whether the server shows a special token, such as a BOS, in front of the prompt.

    Raises:
        LogprobFault: As `score_choice` does.
    """
    return read_echo(choice, prompt, generated).has_front


def read_echo(choice: Mapping[str, object], prompt: str, generated: int) -> Echo:
    """Return the prompt's part of an answer.

    Raises:
        LogprobFault: As `nel.models.loglikelihood.score_choice` does.
    """
    tokens, values, tops, offsets = _columns(choice, prompt)
    places, front, size = _locate(choice, tokens, prompt, generated)
    head = 0 if front is None else 1
    if not offsets_fit(offsets[head:size], tokens[head:size], places, front or ""):
        raise LogprobFault(
            "offsets",
            f"text_offset contradicts the tokens it stands beside ({excerpt(tokens)}:"
            f" {excerpt(offsets)})",
        )
    logprobs = [_logprob(value, index) for index, value in enumerate(values[:size])]
    top_tokens = [_top(top, index) for index, top in enumerate(tops[:size])]
    for token, value, top in zip(tokens, logprobs, top_tokens, strict=False):
        if value is not None and top and value > max(top.values()) + _ABOVE_ZERO_MAX:
            raise LogprobFault(
                "shifted",
                f"the token {_brief(token)} is likelier than the likeliest token at its place",
            )
    return Echo(
        places=places,
        logprobs=logprobs[head:],
        tops=top_tokens[head:],
        is_whole=[bool(token) and is_text(token) for token in tokens[head:size]],
        has_front=front is not None,
    )


def _columns(
    choice: Mapping[str, object], prompt: str
) -> tuple[list[str], list[Any], list[Any], list[int]]:
    """Return the four lists of a legacy logprobs object, of one length."""
    logprobs, text = choice.get("logprobs"), choice.get("text")
    has_prompt = isinstance(text, str) and prompt in text
    columns = [logprobs.get(name) if isinstance(logprobs, Mapping) else None for name in _COLUMNS]
    tokens, values, tops, offsets = columns
    if not isinstance(tokens, list) or not isinstance(values, list):
        if not has_prompt:
            raise LogprobFault("echo_ignored", NO_ECHO)
        raise LogprobFault(
            "malformed", "the answer repeats the prompt without the log-probabilities of its tokens"
        )
    # Too few characters for the prompt: these are the tokens of what was generated alone.
    token_text = "".join(str(token) for token in tokens)
    if not has_prompt and len(token_text) < len(prompt) // 2:
        raise LogprobFault("echo_ignored", NO_ECHO)
    if not isinstance(tops, list) or not isinstance(offsets, list):
        raise LogprobFault(
            "malformed", "the answer has no top_logprobs or no text_offset; both are needed"
        )
    _check_columns(tokens, values, tops, offsets)
    return tokens, values, tops, offsets


def _check_columns(
    tokens: list[Any], values: list[Any], tops: list[Any], offsets: list[Any]
) -> None:
    """Refuse lists of different lengths, tokens that are not text and offsets that do not rise."""
    if not len(tokens) == len(values) == len(tops) == len(offsets):
        lengths = [len(tokens), len(values), len(tops), len(offsets)]
        raise LogprobFault(
            "malformed", f"{', '.join(_COLUMNS)} have the lengths {lengths}, which do not fit"
        )
    if not all(isinstance(token, str) for token in tokens):
        raise LogprobFault("malformed", "a token is not text")
    if not all(type(offset) is int for offset in offsets) or sorted(offsets) != offsets:
        raise LogprobFault(
            "offsets", f"text_offset is not a list of rising whole numbers: {excerpt(offsets)}"
        )


def _locate(
    choice: Mapping[str, object], tokens: list[str], prompt: str, generated: int
) -> tuple[list[frozenset[int]], str | None, int]:
    """Return where the prompt's tokens begin, the token before the text, and the number of both."""
    # At most `generated` tokens at the end are not the prompt's. That all of them are is tried
    # first, so that an empty last token counts as generated.
    for size in range(max(len(tokens) - generated, 0), len(tokens) + 1):
        fronts = (None, tokens[0]) if size and is_special(tokens[0]) else (None,)
        for front in fronts:
            places = align(tokens[0 if front is None else 1 : size], prompt)
            if places is not None:
                _check_tail(choice, tokens[size:], prompt, generated)
                return places, front, size
    if len(tokens) <= generated:
        raise LogprobFault("echo_ignored", NO_ECHO)
    raise LogprobFault("offsets", f"the tokens are not the prompt: they begin {excerpt(tokens)}")


def _check_tail(choice: Mapping[str, object], tail: list[str], prompt: str, generated: int) -> None:
    """Refuse entries that end with the prompt where the text goes on: each is a place too early.

    An empty last token is refused where it may be a piece of the prompt's last character.
    """
    text = choice.get("text")
    text_after = text.partition(prompt)[2] if isinstance(text, str) else ""
    if not tail and generated and (text_after or choice.get("finish_reason") == "length"):
        raise LogprobFault(
            "shifted",
            "the log-probabilities are shifted by one token: the text has a generated token and the"
            " list of tokens has not; llama-cpp-python does this for models without a BOS token"
            " (start it with --kv_overrides tokenizer.ggml.add_bos_token=bool:true)",
        )
    if tail == [""] and not prompt[-1:].isascii() and choice.get("finish_reason") != "length":
        raise LogprobFault(
            "boundary",
            "an empty last token may be generated, or a piece of the prompt's last character",
        )


def _logprob(value: object, index: int) -> float | None:
    if value is None and index == 0:
        return None
    if type(value) is int and value.bit_length() > _INTEGER_BITS_MAX:  # no float holds it
        raise LogprobFault(
            "not_finite",
            f"entry {index} of token_logprobs is a number of {value.bit_length()} bits",
        )
    if not is_number(value) or not math.isfinite(value):
        raise LogprobFault(
            "not_finite",
            f"entry {index} of token_logprobs is {_brief(value)}, not a log-probability",
        )
    if value > _ABOVE_ZERO_MAX:
        raise LogprobFault(
            "not_finite", f"entry {index} of token_logprobs is {value}; no probability is above 1"
        )
    return float(value)


def _top(top: object, index: int) -> Mapping[str, float] | None:
    if top is None and index == 0:
        return None
    if not isinstance(top, Mapping) or not top:
        raise LogprobFault(
            "malformed",
            f"entry {index} of top_logprobs is {_brief(top)}; ask for logprobs of at least 1",
        )
    for value in top.values():
        if _logprob(value, index or 1) is None:
            raise LogprobFault("not_finite", f"entry {index} of top_logprobs has no value")
    return top


def excerpt(values: Sequence[object]) -> str:
    """Return the first of some JSON values as a few characters each."""
    return ", ".join(_brief(value) for value in values[:8])


def _brief(value: object) -> str:
    """Return a JSON value of any size and depth as a few characters."""
    if isinstance(value, str):
        return repr(value[:SHOWN_CHARACTERS])
    if isinstance(value, (list, Mapping)):
        return f"a {'list' if isinstance(value, list) else 'object'} of {len(value)}"
    if type(value) is int and value.bit_length() > _INTEGER_BITS_MAX:
        return "a number of thousands of digits"
    return repr(value)
