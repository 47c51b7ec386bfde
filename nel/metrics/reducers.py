"""Reducers, which compute one score from the scores of a sample's repeats.

They apply to a scalar, to each position of a list and to each key of a mapping; the shape is that
of the first score. Unscored values (NaN) are left out, as a whole or per position or key; when none
remains the result is NaN. The reduced score keeps an answer and an explanation that all repeats
share, and the metadata of the first. An attempt that could not be scored lowers n; it is not a
failure. Depends on `nel.metrics.decorators`.
"""

from __future__ import annotations

import dataclasses
import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from nel.core.json_values import is_whole
from nel.core.scaling import mean_of
from nel.errors import did_you_mean
from nel.metrics.decorators import NamedReducer, ScoreReducer, score_reducer
from nel.metrics.pass_at_k import pass_at_k, pass_hat_k
from nel.metrics.score_values import DEFAULT_TO_FLOAT, ValueToFloat
from nel.types import Score, Value


class _Attempt(NamedTuple):
    """One repeat's scalar: its value, or what it has in one position or under one key."""

    value: Any
    answer: str | None


_Leaf: TypeAlias = Callable[[list[_Attempt]], Value]
"""Reduces the scalars of at least one attempt."""


@score_reducer(name="mean")
def mean_score(value_to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> ScoreReducer:
    """Take the arithmetic mean.

    Args:
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: When reducing: the scores differ in shape, length or keys.

    >>> mean_score()([Score(value="C"), Score(value="I"), Score.unscored()]).value
    0.5
    """
    return _reducer(lambda attempts: statistics.mean(_numbers(attempts, value_to_float)))


@score_reducer(name="median")
def median_score(value_to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> ScoreReducer:
    """Take the median; of an even number the mean of the two in the middle.

    Args:
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: When reducing: the scores differ in shape, length or keys.

    >>> median_score()([Score(value=value) for value in (1, 9, 2)]).value
    2.0
    """

    def middle(attempts: list[_Attempt]) -> float:
        numbers = _numbers(attempts, value_to_float)
        return mean_of([statistics.median_low(numbers), statistics.median_high(numbers)])

    return _reducer(middle)


@score_reducer(name="mode")
def mode_score() -> ScoreReducer:
    """Take the value given most often, as it is; of several the one seen first.

    Raises:
        ValueError: When reducing: the scores differ in shape, length or keys.

    >>> mode_score()([Score(value=value) for value in "ICC"]).value
    'C'
    """
    return _reducer(
        lambda attempts: Counter(attempt.value for attempt in attempts).most_common(1)[0][0]
    )


@score_reducer(name="max")
def max_score(value_to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> ScoreReducer:
    """Take the value with the largest number, as it is; of several the one seen first.

    Args:
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: When reducing: the scores differ in shape, length or keys.

    >>> max_score()([Score(value=value) for value in "IPI"]).value
    'P'
    """
    return _reducer(
        lambda attempts: max((attempt.value for attempt in attempts), key=value_to_float)
    )


@score_reducer
def at_least(
    k: int, value: float = 1.0, value_to_float: ValueToFloat = DEFAULT_TO_FLOAT
) -> ScoreReducer:
    """Give 1.0 when at least k attempts reach a value, else 0.0.

    Args:
        k: At least 1.
        value: What an attempt must reach.
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: k is not a positive integer; or when reducing, the scores differ in shape,
            length or keys.

    >>> at_least(2)([Score(value=value) for value in "CIC"]).value
    1.0
    """
    _check_k(k)
    return _bounded_reducer(lambda attempts: float(_count(attempts, value, value_to_float) >= k))


@score_reducer
def pass_at(
    k: int, value: float = 1.0, value_to_float: ValueToFloat = DEFAULT_TO_FLOAT
) -> ScoreReducer:
    """Estimate the chance that one of k attempts is right: `nel.metrics.pass_at_k.pass_at_k`.

    Args:
        k: Attempts counted, at least 1; with fewer scored attempts the result is NaN.
        value: What a right attempt reaches.
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: k is not a positive integer; or when reducing, the scores differ in shape,
            length or keys.

    >>> pass_at(2)([Score(value=value) for value in "CIII"]).value
    0.5
    """
    return _estimate(pass_at_k, k, value, value_to_float)


@score_reducer
def pass_k(
    k: int, value: float = 1.0, value_to_float: ValueToFloat = DEFAULT_TO_FLOAT
) -> ScoreReducer:
    """Estimate the probability that k attempts are all right: `nel.metrics.pass_at_k.pass_hat_k`.

    Args:
        k: Attempts counted, at least 1; with fewer scored attempts the result is NaN.
        value: What a right attempt reaches.
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: k is not a positive integer; or when reducing, the scores differ in shape,
            length or keys.

    >>> pass_k(2)([Score(value=value) for value in "CCCI"]).value
    0.5
    """
    return _estimate(pass_hat_k, k, value, value_to_float)


@score_reducer(name="collect")
def collect_score() -> ScoreReducer:
    """Keep all scored values, as they are, in a list.

    Raises:
        ValueError: When reducing: the scores differ in shape, length or keys.

    >>> collect_score()([Score(value="C"), Score.unscored(), Score(value="I")]).value
    ['C', 'I']
    """
    return _reducer(lambda attempts: [attempt.value for attempt in attempts])


@score_reducer
def vote_at(k: int, value_to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> ScoreReducer:
    """Give 1.0 when the answer that most of the first k attempts gave was scored 1.0, else 0.0.

    EvalScope's vote@k. Of several such answers the one seen first wins. An attempt without an
    answer has no vote; without any vote the result is 0.0.

    Args:
        k: Attempts counted, at least 1: the first k that were scored. With fewer the result is NaN.
        value_to_float: The number of a value.

    Raises:
        UndefinedMetric: When reducing: a value has no number.
        ValueError: k is not a positive integer; or when reducing, an attempt scored 1.0 has no
            answer, or the scores differ in shape, length or keys.

    >>> votes = [Score(value="I", answer="7"), Score(value="C", answer="5"), Score(value="C", answer="5")]
    >>> vote_at(3)(votes).value, vote_at(2)(votes).value
    (1.0, 0.0)
    """
    _check_k(k)

    def vote(attempts: list[_Attempt]) -> float:
        if len(attempts) < k:
            return math.nan
        right = {attempt.answer for attempt in attempts[:k] if value_to_float(attempt.value) == 1.0}
        if None in right:
            raise ValueError("the scorer gives 1.0 to attempts and does not say their answers")
        votes = Counter(attempt.answer for attempt in attempts[:k] if attempt.answer is not None)
        return float(bool(votes) and votes.most_common(1)[0][0] in right)

    return _reducer(vote)


_PLAIN: Final = {
    "mean": mean_score,
    "median": median_score,
    "mode": mode_score,
    "max": max_score,
    "collect": collect_score,
}
_COUNTED: Final[Mapping[str, Callable[[int], NamedReducer]]] = {
    "at_least": at_least,
    "pass_at": pass_at,
    "pass_k": pass_k,
    "vote_at": vote_at,
}


def reducer_named(text: str) -> NamedReducer:
    """Return the reducer of a name: ``mean``, ``max``, ``pass_at_3`` …

    Args:
        text: A plain name, or a name with ``_`` and k, a positive integer.

    Raises:
        ValueError: The name is unknown, or k is missing or not a positive integer.

    >>> reducer_named("pass_at_3").name
    'pass_at_3'
    """
    if text in _PLAIN:
        return dataclasses.replace(_PLAIN[text](), name=text)
    if text in _COUNTED:
        raise ValueError(f'reducer "{text}" needs a k, such as {text}_2')
    name, _, k = text.rpartition("_")
    if name not in _COUNTED:
        names = [*_PLAIN, *(f"{family}_<k>" for family in _COUNTED)]
        hint = did_you_mean(text, names, or_all="; known are ")
        raise ValueError(f'unknown reducer "{text}"{hint}')
    if not re.fullmatch("[1-9][0-9]{0,8}", k):
        raise ValueError(f'reducer "{text}": k must be a positive integer, not "{k}"')
    return dataclasses.replace(_COUNTED[name](int(k)), name=text)


def k_of(reducer: ScoreReducer) -> int | None:
    """Return the k that a reducer was built with, the fewest repeats of a run; None without one.

    >>> k_of(reducer_named("pass_at_3")), k_of(mean_score())
    (3, None)
    """
    k = getattr(reducer, "params", {}).get("k")
    return k if isinstance(k, int) else None


def _reducer(leaf: _Leaf) -> ScoreReducer:
    """Return a reducer that applies a leaf wherever the shape of the scores has one."""

    def reduce(scores: Sequence[Score]) -> Score:
        head = scores[0] if scores else None
        return Score(
            value=_walk(scores, leaf),
            answer=_shared_text([score.answer for score in scores]),
            explanation=_shared_text([score.explanation for score in scores]),
            metadata=head.metadata if head else None,
        )

    return reduce


def _bounded_reducer(leaf: _Leaf) -> ScoreReducer:
    """Return a reducer to 0 to 1 that no higher score lowers."""
    reduce = _reducer(leaf)
    reduce.is_bounded = True  # type: ignore[attr-defined] # read by NamedReducer
    return reduce


def _walk(scores: Sequence[Score], leaf: _Leaf) -> Value:
    attempts = [_Attempt(score.value, score.answer) for score in scores if not score.is_unscored]
    shapes = {_shape(attempt.value) for attempt in attempts}
    kinds = sorted({kind for kind, _ in shapes})
    if len(kinds) > 1:
        raise ValueError(f"the scores of one sample mix shapes: {', '.join(kinds)}")
    if len(shapes) > 1:
        child = "keys" if kinds == ["mapping"] else "lengths"
        raise ValueError(f"the {kinds[0]} scores of one sample have mismatched {child}")
    head = attempts[0].value if attempts else math.nan
    # Each element of a list or of a mapping is reduced by itself, as a value of its own.
    if isinstance(head, Mapping):
        return {key: _reduced_at(attempts, key, leaf) for key in head}
    if isinstance(head, (list, tuple)):
        return [_reduced_at(attempts, position, leaf) for position in range(len(head))]
    value: Value = _reduce(attempts, leaf)
    return value


def _shape(value: object) -> tuple[str, object]:
    """Return what must be the same in all scores of a sample."""
    if isinstance(value, Mapping):
        return "mapping", frozenset(value)
    if isinstance(value, (list, tuple)):
        return "list", len(value)
    return "scalar", None


def _reduced_at(attempts: list[_Attempt], step: Any, leaf: _Leaf) -> Value:
    return _reduce([_Attempt(attempt.value[step], attempt.answer) for attempt in attempts], leaf)


def _reduce(attempts: list[_Attempt], leaf: _Leaf) -> Value:
    scored = [
        attempt
        for attempt in attempts
        if not (isinstance(attempt.value, float) and math.isnan(attempt.value))
    ]
    return leaf(scored) if scored else math.nan


def _estimate(
    estimator: Callable[[int, int, int], float], k: int, value: float, to_float: ValueToFloat
) -> ScoreReducer:
    _check_k(k)

    def estimate(attempts: list[_Attempt]) -> float:
        n = len(attempts)
        return estimator(n, _count(attempts, value, to_float), k) if n >= k else math.nan

    return _bounded_reducer(estimate)


def _numbers(attempts: list[_Attempt], to_float: ValueToFloat) -> list[float]:
    return [to_float(attempt.value) for attempt in attempts]


def _count(attempts: list[_Attempt], value: float, to_float: ValueToFloat) -> int:
    return sum(number >= value for number in _numbers(attempts, to_float))


def _shared_text(texts: Sequence[str | None]) -> str | None:
    return texts[0] if texts and len(set(texts)) == 1 else None


def _check_k(k: int) -> None:
    if not is_whole(k) or k < 1:
        raise ValueError(f"k must be a positive integer, not {k!r}")
