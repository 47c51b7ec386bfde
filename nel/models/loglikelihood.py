"""Log-likelihoods of continuations through the ``echo`` of a completions endpoint. Sends nothing.

Responsible for the request body and the sums; `nel.models.echo_reading` reads the answer. Whether a
server can be trusted with it is found out by `nel.models.echo_probe`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from nel.errors import LogprobFault
from nel.models.echo_reading import SHOWN_CHARACTERS, Echo, excerpt, read_echo
from nel.types import Border, ChoiceScore, JsonObject

_BORDERS_MAX: Final = 5
"""Starts of tokens before the continuation from which a choice may be counted, and its own."""


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
            missing, of different lengths or of wrong types. ``shifted``: values do not belong to
            the tokens beside them. ``offsets``: the tokens are not the prompt, or ``text_offset``
            contradicts them. ``not_finite``: a value is not a log-probability. ``boundary``: no
            token, or none certainly, begins in the continuation; or there is nothing in front of it
            to predict it from.

    >>> top = [None, {" A": -0.5, " B": -2.0}]
    >>> logprobs = {"tokens": ["is", " A"], "token_logprobs": [None, -0.5], "top_logprobs": top, "text_offset": [0, 2]}
    >>> score_choice({"text": "is A", "logprobs": logprobs}, context="is", continuation=" A", generated=0)
    ChoiceScore(text=' A', logprob=-0.5, is_greedy=True, tokens=1)
    """
    echo = read_echo(choice, context + continuation, generated)
    first_index = _first_token(echo, context, continuation)
    if echo.logprobs[first_index] is None:
        raise LogprobFault(
            "boundary",
            "the continuation's first token has no log-probability, for nothing stands in front of"
            " it; give the benchmark a context, or use a server that puts a BOS token before the"
            " prompt",
        )
    # From the continuation's first token backwards: where another choice of the sample joins a
    # token to the context, all of them are counted from further in front.
    borders = [
        _border(echo, border, len(context))
        for border in range(first_index, max(-1, first_index - _BORDERS_MAX), -1)
        if echo.logprobs[border] is not None and len(echo.places[border]) == 1
    ]
    nearest = borders[0] if borders else _border(echo, first_index, len(context))
    return ChoiceScore(
        text=continuation,
        logprob=nearest.logprob,
        is_greedy=nearest.is_greedy,
        tokens=nearest.tokens,
        borders=tuple(borders),
    )


def _border(echo: Echo, first_index: int, boundary: int) -> Border:
    """Return the log-likelihood of the text from a token on."""
    values = [value for value in echo.logprobs[first_index:] if value is not None]
    try:
        logprob = math.fsum(values)
    except OverflowError as error:
        raise LogprobFault(
            "not_finite", "the log-probabilities of the continuation have no finite sum"
        ) from error
    is_greedy = all(
        top is not None and value == max(top.values())
        for value, top in zip(values, echo.tops[first_index:], strict=True)
    )
    characters = max(0, boundary - min(echo.places[first_index]))
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
    # In characters from the end of the context, the nearest first; none inside a joined token.
    distances = sorted(distance for distance in shared if distance >= max(reaches))
    for distance in distances:
        # What is counted with the choices must be the same text in front of each.
        if len({context[len(context) - distance :] for context in contexts}) == 1:
            columns = [borders[distance] for borders in by_place]
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


def order_choices(payload: object, n_prompts: int) -> list[JsonObject]:
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
            f"the choices have the indices {excerpt(sorted(by_index))}, not 0 to {n_prompts - 1}",
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


def _first_token(echo: Echo, context: str, continuation: str) -> int:
    """Return the index of the first token that has a part in the continuation."""
    places, boundary = echo.places, len(context)
    inside = [min(candidates) >= boundary for candidates in places]
    first_index = inside.index(True) if True in inside else len(places)
    if not all(inside[first_index:]) or any(
        max(candidates) >= boundary for candidates in places[:first_index]
    ):
        raise LogprobFault(
            "boundary", "the boundary lies among pieces of characters that cannot be told apart"
        )
    begins_at_border = first_index < len(places) and boundary in places[first_index]
    if first_index > 0 and not begins_at_border and echo.is_whole[first_index - 1]:
        return first_index - 1
    if first_index == len(places):
        raise LogprobFault(
            "boundary",
            f"no token begins in the continuation {continuation[:SHOWN_CHARACTERS]!r}: the"
            " tokenizer joins it to the end of the context; begin it with a space",
        )
    return first_index
