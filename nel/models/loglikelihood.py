"""Log-likelihoods of continuations through the ``echo`` of a completions endpoint. Sends nothing.

Responsible for the request body, and reading the legacy ``logprobs`` object (tokens,
token_logprobs, top_logprobs, text_offset) of its answer. Whether a server can be trusted with it is
found out by `nel.models.echo_probe`.

A server that ignores ``echo`` answers 200. A sum over nothing is 0.0, every choice ties, and the
first one wins: a score that looks like chance. Everything here is refused unless the tokens prove
that they are the prompt's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.errors import LogprobFault
from nel.models.echo_alignment import align, is_special, is_text, offsets_fit
from nel.types import Border, ChoiceScore

_ABOVE_ZERO_MAX: Final = 1e-3
"""How far above 0 rounding may lift the logarithm of a probability."""
_SHOWN_CHARACTERS: Final = 60
_INTEGER_BITS_MAX: Final = 64
_BORDERS_MAX: Final = 5
"""Starts of tokens before the continuation from which a choice may be counted, and its own."""

NO_ECHO: Final = (
    "the server ignores echo: log-likelihood benchmarks would give chance scores; use a server that"
    " returns prompt log-probabilities (vLLM does), or a generation form of the benchmark"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Echo:
    """The prompt's part of an answer, verified."""

    places: Sequence[frozenset[int]]
    """Where each token may begin in the prompt; the special token in front of it has no entry."""
    logprobs: Sequence[float | None]
    tops: Sequence[Mapping[str, float] | None]
    is_whole: Sequence[bool]
    """Whether each token is text, and no piece of a character."""
    has_front: bool
    """Whether a special token such as a BOS stands in front of the text."""


def split_context(context: str, continuation: str) -> tuple[str, str]:
    """Return the pair with the context's trailing whitespace moved to the continuation.

    Tokens of most models carry the space in front of a word, so that ``"is "`` + ``"A"`` has to be
    asked as ``"is"`` + ``" A"``. Source: lm-evaluation-harness, ``TemplateLM._encode_pair``; any
    whitespace moves, newlines too.

    >>> split_context("Answer: ", "A"), split_context("Answer:", " A")
    (('Answer:', ' A'), ('Answer:', ' A'))
    """
    bare = context.rstrip()
    return bare, context[len(bare) :] + continuation


def build_echo_body(
    model: str,
    prompts: Sequence[str],
    *,
    max_tokens: int = 0,
    extra: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return the JSON body that asks for the log-probabilities of prompts.

    Args:
        prompts: Context and continuation joined. One is sent as text, several as a list.
        max_tokens: 0, or 1 for servers that cannot answer without generating; the token is dropped.
        extra: Further fields; they cannot replace the ones above.

    Raises:
        ValueError: There is no prompt, or an empty one.
    """
    if not prompts or not all(prompts):
        raise ValueError("an echo request needs at least one prompt, and none may be empty")
    return {
        **(extra or {}),
        "model": model,
        "prompt": prompts[0] if len(prompts) == 1 else list(prompts),
        "max_tokens": max_tokens,
        "logprobs": 1,
        "echo": True,
        "temperature": 0,
    }


def score_choice(
    choice: Mapping[str, object], *, context: str, continuation: str, generated: int
) -> ChoiceScore:
    """Return the log-likelihood of a continuation, read from one entry of ``choices``.

    Rule: the sum of the log-probabilities of the tokens that begin in the continuation; greedy when
    each of them has the value of the largest in ``top_logprobs``, so that a tie counts. Source:
    lm-evaluation-harness, ``LocalCompletionsAPI.parse_logprobs``, and NeMo Evaluator's
    ``completions_logprob``, which takes tokens from the first ``text_offset`` at or after the
    context.

    A token that reaches over from the context belongs to the continuation: without it, what the
    continuation begins with would be counted in no token. The choices of a sample are then counted
    from one place by `on_one_border`, for else the choice with the longer token would win or lose
    by it.

    Args:
        context: What came first; after `split_context`.
        continuation: What was appended to it.
        generated: ``max_tokens`` as sent; at most so many tokens after the prompt are dropped.

    Raises:
        LogprobFault: ``echo_ignored``: the answer has no prompt in it. ``malformed``: lists are
            missing, of different
            lengths or of wrong types. ``shifted``: values do not belong to the tokens beside them.
            ``offsets``: the tokens are not the prompt, or ``text_offset`` contradicts them.
            ``not_finite``: a value is no log-probability. ``boundary``: no token, or none
            certainly, begins in the continuation; or there is nothing in front of it to predict it
            from.

    >>> top = [None, {" A": -0.5, " B": -2.0}]
    >>> logprobs = {"tokens": ["is", " A"], "token_logprobs": [None, -0.5], "top_logprobs": top, "text_offset": [0, 2]}
    >>> score_choice({"text": "is A", "logprobs": logprobs}, context="is", continuation=" A", generated=0)
    ChoiceScore(text=' A', logprob=-0.5, is_greedy=True, tokens=1)
    """
    echo = _read_echo(choice, context + continuation, generated)
    first = _first_token(echo, context, continuation)
    if echo.logprobs[first] is None:
        raise LogprobFault(
            "boundary",
            "the continuation's first token has no log-probability, for nothing stands in front of"
            " it; give the benchmark a context, or use a server that puts a BOS token before the"
            " prompt",
        )
    borders = [
        _border(echo, border, len(context))
        for border in range(first, max(-1, first - _BORDERS_MAX), -1)
        if echo.logprobs[border] is not None and len(echo.places[border]) == 1
    ]
    nearest = borders[0] if borders else _border(echo, first, len(context))
    return ChoiceScore(
        text=continuation,
        logprob=nearest.logprob,
        is_greedy=nearest.is_greedy,
        tokens=nearest.tokens,
        borders=tuple(borders),
    )


def _border(echo: _Echo, first: int, boundary: int) -> Border:
    """Return the log-likelihood of the text from a token on."""
    values = [value for value in echo.logprobs[first:] if value is not None]
    try:
        logprob = math.fsum(values)
    except OverflowError as error:
        raise LogprobFault(
            "not_finite", "the log-probabilities of the continuation have no finite sum"
        ) from error
    is_greedy = all(
        _is_top(value, top) for value, top in zip(values, echo.tops[first:], strict=True)
    )
    characters = max(0, boundary - min(echo.places[first]))
    return Border(characters=characters, logprob=logprob, is_greedy=is_greedy, tokens=len(values))


def on_one_border(
    scores: Sequence[ChoiceScore], contexts: Sequence[str]
) -> tuple[ChoiceScore, ...]:
    """Return the scores of a sample's choices, all counted from one place of the context.

    That is the border between context and choices where no token reaches over it, else the nearest
    start of a token in front of it that all choices share.

    Args:
        scores: As `score_choice` returns them.
        contexts: Of each; before such a place they must end alike.

    Raises:
        LogprobFault: ``boundary``: there is no such place, so that no choice can be compared with
            another.

    >>> joined = Border(1, -2.0, False, 1)
    >>> cut = (Border(0, -0.5, True, 1), Border(1, -3.0, False, 2))
    >>> scores = [
    ...     ChoiceScore(text="a", logprob=-2.0, is_greedy=False, tokens=1, borders=(joined,)),
    ...     ChoiceScore(text="b", logprob=-0.5, is_greedy=True, tokens=1, borders=cut),
    ... ]
    >>> [score.logprob for score in on_one_border(scores, ["is (", "is ("])]
    [-2.0, -3.0]
    """
    reaches = [score.borders[0].characters if score.borders else 0 for score in scores]
    if not any(reaches):
        return tuple(replace(score, borders=()) for score in scores)
    by_place = [{border.characters: border for border in score.borders} for score in scores]
    shared = set.intersection(*(set(borders) for borders in by_place))
    for shared_border in sorted(
        shared_border for shared_border in shared if shared_border >= max(reaches)
    ):
        if len({context[len(context) - shared_border :] for context in contexts}) == 1:
            columns = [borders[shared_border] for borders in by_place]
            return tuple(
                ChoiceScore(
                    text=score.text,
                    logprob=column.logprob,
                    is_greedy=column.is_greedy,
                    tokens=column.tokens,
                )
                for score, column in zip(scores, columns, strict=True)
            )
    raise LogprobFault(
        "boundary",
        f"a token reaches from the context into {sum(reach > 0 for reach in reaches)} of"
        f" {len(scores)} choices, and no place before it begins a token in all of them; begin the"
        " choices with a space",
    )


def score_batch(
    payload: object, pairs: Sequence[tuple[str, str]], *, generated: int
) -> tuple[ChoiceScore, ...]:
    """Return the score of each ``(context, continuation)``, in the order asked.

    Entries are ordered by their ``index``, which servers need not do.

    Raises:
        LogprobFault: ``count``: there are more or fewer entries than prompts, or their indices are
            not 0, 1, …; or what `score_choice` raises.
    """
    choices = order_choices(payload, len(pairs))
    return tuple(
        score_choice(choice, context=context, continuation=continuation, generated=generated)
        for choice, (context, continuation) in zip(choices, pairs, strict=True)
    )


def order_choices(payload: object, n_prompts: int) -> list[Mapping[str, Any]]:
    """Return the entries of ``choices`` in the order of the prompts.

    Raises:
        LogprobFault: ``malformed`` or ``count``.
    """
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    if not isinstance(choices, list) or not all(isinstance(choice, Mapping) for choice in choices):
        raise LogprobFault("malformed", "the body has no list of choices")
    if len(choices) != n_prompts:
        raise LogprobFault(
            "count", f"{n_prompts} prompts were sent and {len(choices)} choices came back"
        )
    if n_prompts == 1:
        return list(choices)
    by_index = {choice["index"]: choice for choice in choices if type(choice.get("index")) is int}
    if sorted(by_index) != list(range(n_prompts)):
        raise LogprobFault(
            "count",
            f"the choices have the indices {_excerpt(sorted(by_index))}, not 0 to {n_prompts - 1}",
        )
    return [by_index[index] for index in range(n_prompts)]


def argmax_choice(scores: Sequence[ChoiceScore]) -> int:
    """Return the index of the likeliest choice; of equal ones, the first.

    Raises:
        ValueError: There is no choice.
    """
    if not scores:
        raise ValueError("there is no choice to pick from")
    return max(range(len(scores)), key=lambda index: scores[index].logprob)


def has_leading_token(choice: Mapping[str, object], prompt: str, *, generated: int) -> bool:
    """Return whether the server shows a special token, such as a BOS, in front of the prompt.

    Raises:
        LogprobFault: As `score_choice` does.
    """
    return _read_echo(choice, prompt, generated).has_front


def _read_echo(choice: Mapping[str, object], prompt: str, generated: int) -> _Echo:
    tokens, values, tops, offsets = _columns(choice, prompt)
    places, front, size = _located(choice, tokens, prompt, generated)
    head = 0 if front is None else 1
    if not offsets_fit(offsets[head:size], tokens[head:size], places, front or ""):
        raise LogprobFault(
            "offsets",
            f"text_offset contradicts the tokens it stands beside ({_excerpt(tokens)}:"
            f" {_excerpt(offsets)})",
        )
    logprobs = [_logprob(value, index) for index, value in enumerate(values[:size])]
    best = [_top(top, index) for index, top in enumerate(tops[:size])]
    for token, value, top in zip(tokens, logprobs, best, strict=False):
        if value is not None and top and value > max(top.values()) + _ABOVE_ZERO_MAX:
            raise LogprobFault(
                "shifted",
                f"the token {_brief(token)} is likelier than the likeliest token at its place",
            )
    return _Echo(
        places=places,
        logprobs=logprobs[head:],
        tops=best[head:],
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
    if not has_prompt and len("".join(str(token) for token in tokens)) < len(prompt) // 2:
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
            "offsets", f"text_offset is not a list of rising whole numbers: {_excerpt(offsets)}"
        )


_COLUMNS: Final = ("tokens", "token_logprobs", "top_logprobs", "text_offset")


def _located(
    choice: Mapping[str, object], tokens: list[str], prompt: str, generated: int
) -> tuple[list[frozenset[int]], str | None, int]:
    """Return where the prompt's tokens begin, the token in front of the text, and how many entries
    both are.
    """
    for size in range(max(len(tokens) - generated, 0), len(tokens) + 1):
        for front in (None, tokens[0]) if size and is_special(tokens[0]) else (None,):
            places = align(tokens[0 if front is None else 1 : size], prompt)
            if places is not None:
                _check_tail(choice, tokens[size:], prompt, generated)
                return places, front, size
    if len(tokens) <= generated:
        raise LogprobFault("echo_ignored", NO_ECHO)
    raise LogprobFault("offsets", f"the tokens are not the prompt: they begin {_excerpt(tokens)}")


def _check_tail(choice: Mapping[str, object], tail: list[str], prompt: str, generated: int) -> None:
    """Refuse entries that end with the prompt where the text goes on: then every value stands one
    place too early.
    """
    text = choice.get("text")
    rest = text.partition(prompt)[2] if isinstance(text, str) else ""
    if not tail and generated and (rest or choice.get("finish_reason") == "length"):
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


def _first_token(echo: _Echo, context: str, continuation: str) -> int:
    """Return the index of the first token that has a part in the continuation."""
    places, boundary = echo.places, len(context)
    inside = [min(candidates) >= boundary for candidates in places]
    first = inside.index(True) if True in inside else len(places)
    if not all(inside[first:]) or any(max(candidates) >= boundary for candidates in places[:first]):
        raise LogprobFault(
            "boundary", "the boundary lies among pieces of characters that cannot be told apart"
        )
    begins_at_border = first < len(places) and boundary in places[first]
    if first > 0 and not begins_at_border and echo.is_whole[first - 1]:
        return first - 1
    if first == len(places):
        raise LogprobFault(
            "boundary",
            f"no token begins in the continuation {continuation[:_SHOWN_CHARACTERS]!r}: the"
            " tokenizer joins it to the end of the context; begin it with a space",
        )
    return first


def _logprob(value: object, index: int) -> float | None:
    if value is None and index == 0:
        return None
    if type(value) is int and value.bit_length() > _INTEGER_BITS_MAX:  # no float holds it
        raise LogprobFault(
            "not_finite",
            f"entry {index} of token_logprobs is a number of {value.bit_length()} bits",
        )
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
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


def _is_top(value: float, top: Mapping[str, float] | None) -> bool:
    return top is not None and value == max(top.values())


def _excerpt(values: Sequence[object]) -> str:
    return ", ".join(_brief(value) for value in values[:8])


def _brief(value: object) -> str:
    """Return a JSON value of any size and depth as a few characters."""
    if isinstance(value, str):
        return repr(value[:_SHOWN_CHARACTERS])
    if isinstance(value, (list, Mapping)):
        return f"a {'list' if isinstance(value, list) else 'object'} of {len(value)}"
    if type(value) is int and value.bit_length() > _INTEGER_BITS_MAX:
        return "a number of thousands of digits"
    return repr(value)
