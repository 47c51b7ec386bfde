"""Reads many lines of nel's own results.jsonl at once, by columns, at half the cost of by lines.

A block with a line of an unusual shape is not read here: the reader of single lines then reads it,
and finds what is wrong. Does no I/O.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nel.comparison.lines import (
    SCORED,
    STATES,
    TEXTS,
    UNSCORED,
    Block,
    Digests,
    Floats,
    Ints,
    digests_of,
    gold_digest,
    joined_digests,
    length_or_nan,
    text_codes,
)
from nel.core.strict_json import loads
from nel.metrics.category_fields import category_of
from nel.types import JsonObject

# Exact types, so that a bool is not taken for an int.
_WHOLE: Final[frozenset[type]] = frozenset((int,))
_KNOWN_TEXTS: Final[frozenset[type]] = frozenset((str, type(None)))
_KNOWN_NUMBERS: Final[frozenset[type]] = frozenset((int, float, type(None)))
_METRICS: Final[frozenset[type]] = frozenset((int, float, bool))
_REWARDS: Final[frozenset[type]] = frozenset((int, float, bool, type(None)))
_EXPECTED_KEPT: Final = 10_000
"""Gold answers whose digests are remembered, since few letters answer many questions."""
_NOTHING: Final[JsonObject] = {}


class _Fields(NamedTuple):
    """What is read of lines, a column each."""

    state: Sequence[int]
    prompt: Sequence[Any]
    sample_id: Sequence[Any]
    position: Sequence[Any]
    repeat: Sequence[Any]
    reward: Sequence[Any]
    expected: Sequence[Any]
    metadata: Sequence[Any]
    """Of a line of the dataset; None where rows are not asked for."""
    category: Sequence[Any]
    group: Sequence[Any]
    model: Sequence[Any]
    tokens: Sequence[Any]
    latency: Sequence[Any]
    characters: Sequence[float]
    metrics: Sequence[JsonObject]
    cause: Sequence[str]
    """Empty for what has a score of its own."""


class _NotPlainError(Exception):
    """A line has another shape than almost all lines."""


class BlockReader:
    """Makes blocks of the lines of one results.jsonl."""

    def __init__(
        self,
        identify: Callable[[Sequence[str]], tuple[Digests, Ints, bool]],
        cause_of: Callable[[Any], str],
    ) -> None:
        """Start without remembered digests.

        Args:
            identify: From ids of samples: digests of them without their occurrence, the
                occurrences, and whether all ids are the rows' own.
            cause_of: From the outcome of a line without a score of its own: the kind or cause to
                count.
        """
        self._identify = identify
        self._cause_of = cause_of
        self._expected: dict[str, int] = {}

    def block_of(
        self, lines: Sequence[bytes], offsets: Sequence[int], *, rows: bool
    ) -> Block | None:
        """Return the columns of some lines, None where one of them is not of the plain shape.

        Args:
            lines: JSON objects, at least one.
            offsets: Where each begins in its file, in bytes.
            rows: Whether the digests of the dataset's rows are wanted; they cost most.
        """
        try:
            return self._block_of(lines, offsets, rows=rows)
        # Whatever is wrong with a line, the reader of single lines meets it again, and says which
        # line of which file it is.
        except (_NotPlainError, AttributeError, KeyError, TypeError, ValueError, OverflowError):
            return None

    def _block_of(self, lines: Sequence[bytes], offsets: Sequence[int], *, rows: bool) -> Block:
        fields = _Fields(*zip(*self._fields_of(map(loads, lines), rows=rows), strict=True))
        if not all(fields.prompt):
            raise _NotPlainError
        states = np.array(fields.state, dtype=np.int8)
        sample, occurrence, has_own_ids = self._identify(_texts(fields.sample_id))
        expected = self._expected_digests(fields.expected)
        row = np.zeros(len(states), dtype=np.uint64)
        if rows:
            row = joined_digests(digests_of(fields.metadata), expected)
        category, categories = text_codes(_as_texts(fields.category))
        group, groups = text_codes(_texts_or_none(fields.group))
        return Block(
            n=len(states),
            columns={
                "sample": sample,
                "row": row,
                "prompt": digests_of(fields.prompt),
                "expected": expected,
                "offset": np.array(offsets, dtype=np.uint64),
                "position": _whole(fields.position),
                "repeat": _whole(fields.repeat),
                "occurrence": occurrence,
                "category": category,
                "group": group,
                "reward": _rewards(fields.reward, states),
                "tokens": _numbers(fields.tokens, _KNOWN_NUMBERS),
                "latency": _numbers(fields.latency, _KNOWN_NUMBERS),
                "characters": np.array(fields.characters, dtype=np.float64),
                "state": states,
            },
            labels={"category": categories, "group": groups},
            metrics=_metrics(fields.metrics),
            models=Counter(_texts_or_none(fields.model)),
            causes=Counter(filter(None, fields.cause)),
            has_rows=rows,
            has_own_ids=has_own_ids,
        )

    def _fields_of(
        self, lines: Iterator[JsonObject], *, rows: bool
    ) -> Iterator[tuple[object, ...]]:
        # One line at a time: the next one is decoded in the memory of the last.
        for line in lines:
            get = line.get
            outcome = line["outcome"]
            state = STATES[outcome["state"]]
            metadata = get("metadata") or _NOTHING
            metrics = _NOTHING
            if state < UNSCORED:
                metrics = (get("scoring_details") or _NOTHING).get("metrics") or _NOTHING
            # In the order of `_Fields`.
            yield (
                state,
                line["prompt"],
                line["sample_id"],
                line["problem_idx"],
                line["repeat"],
                line["reward"],
                get("expected_answer"),
                metadata if rows else None,
                category_of(metadata),
                get("group"),
                get("served_model"),
                (get("tokens") or _NOTHING).get("completion"),
                (get("timing") or _NOTHING).get("latency_seconds"),
                length_or_nan(get("model_response")),
                metrics,
                "" if state == SCORED else self._cause_of(outcome),
            )

    def _expected_digests(self, values: Sequence[object]) -> Digests:
        remembered = self._expected.get
        if TEXTS.issuperset(map(type, values)):
            digests = [remembered(value) or self._expected_digest(value) for value in values]  # type: ignore[call-overload]
        else:
            digests = [self._expected_digest(value) for value in values]
        return np.array(digests, dtype=np.uint64)

    def _expected_digest(self, value: object) -> int:
        if not isinstance(value, str):
            return gold_digest(value)
        digest_of_value = self._expected.get(value)
        if digest_of_value is None:
            digest_of_value = gold_digest(value)
            if len(self._expected) < _EXPECTED_KEPT:
                self._expected[value] = digest_of_value
        return digest_of_value


def _rewards(values: Sequence[Any], states: npt.NDArray[np.int8]) -> Floats:
    rewards = _numbers(values, _REWARDS)
    # Scored answers and model failures have a reward; what is unscored or was not asked has none.
    has_reward = states < UNSCORED
    if not np.isfinite(rewards[has_reward]).all() or not np.isnan(rewards[~has_reward]).all():
        raise _NotPlainError
    return rewards


def _metrics(rows: Sequence[JsonObject]) -> dict[str, Floats]:
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: _numbers([row.get(name, math.nan) for row in rows], _METRICS) for name in names}


def _numbers(values: Sequence[Any], types: frozenset[type]) -> Floats:
    """Return numbers, NaN for None.

    Raises:
        _NotPlainError: One is of another type.
    """
    if not types.issuperset(map(type, values)):
        raise _NotPlainError
    return np.array(values, dtype=np.float64)


def _whole(values: Sequence[Any]) -> Ints:
    if not _WHOLE.issuperset(map(type, values)):
        raise _NotPlainError
    return np.array(values, dtype=np.int64)


def _as_texts(values: Sequence[Any]) -> Sequence[str | None]:
    if _KNOWN_TEXTS.issuperset(map(type, values)):
        return values
    return [value if value is None else str(value) for value in values]


def _texts(values: Sequence[Any]) -> Sequence[str]:
    if not TEXTS.issuperset(map(type, values)):
        raise _NotPlainError
    return values


def _texts_or_none(values: Sequence[Any]) -> Sequence[str | None]:
    if not _KNOWN_TEXTS.issuperset(map(type, values)):
        raise _NotPlainError
    return values
