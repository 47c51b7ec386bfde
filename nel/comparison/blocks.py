"""Reads many lines of nel's own results.jsonl at once: a column at a time, which costs half of a line at a time.

A block in which any line is not of the plain shape is not read here; the reader of single lines then reads it, finds
out what is wrong and says so. Does no I/O.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nel.comparison.lines import DIGEST_BYTES, MIX, NOT_ASKED, STATES, UNSCORED, Block, Digests, Floats, Ints, digest

_WHOLE: Final[frozenset[type]] = frozenset((int,))
_TEXTS: Final[frozenset[type]] = frozenset((str,))
_KNOWN_TEXTS: Final[frozenset[type]] = frozenset((str, type(None)))
_KNOWN_NUMBERS: Final[frozenset[type]] = frozenset((int, float, type(None)))
_METRICS: Final[frozenset[type]] = frozenset((int, float, bool))
_REWARDS: Final[frozenset[type]] = frozenset((int, float, bool, type(None)))
_EXPECTED_KEPT: Final = 10_000
"""Gold answers whose digests are remembered: there are few letters, and many questions have one of them."""


class _Fields(NamedTuple):
    """A column for each field of a line; those from ``group`` on may be missing."""

    outcome: Sequence[Any]
    prompt: Sequence[Any]
    sample_id: Sequence[Any]
    problem_idx: Sequence[Any]
    repeat: Sequence[Any]
    reward: Sequence[Any]
    group: Sequence[Any]
    metadata: Sequence[Any]
    expected_answer: Sequence[Any]
    tokens: Sequence[Any]
    timing: Sequence[Any]
    model_response: Sequence[Any]
    scoring_details: Sequence[Any]
    model: Sequence[Any]


_ALL_FIELDS: Final = itemgetter(*_Fields._fields)
_REQUIRED: Final = _Fields._fields.index("group")


class _NotPlainError(Exception):
    """A line has another shape than almost every line has."""


class BlockReader:
    """Makes blocks of the lines of one results.jsonl."""

    def __init__(self, identify: Callable[[str], tuple[str, int, bool]], cause_of: Callable[[Any], str]) -> None:
        """Start without remembered digests.

        Args:
            identify: From a sample's id: the id without its occurrence, the occurrence, and whether it is its own.
            cause_of: From the outcome of a line without a score of its own: the kind or cause to count.
        """
        self._identify = identify
        self._cause_of = cause_of
        self._expected: dict[str, int] = {}

    def block_of(self, lines: Sequence[Mapping[str, Any]], offsets: Sequence[int], *, rows: bool) -> Block | None:
        """Return the columns of some lines, None where one of them is not of the plain shape.

        Args:
            lines: JSON objects, at least one.
            offsets: Where each begins in its file, in bytes.
            rows: Whether the digests of the dataset's rows are wanted; they cost most.
        """
        try:
            return self._block_of(lines, offsets, rows=rows)
        except (_NotPlainError, AttributeError, KeyError, TypeError, ValueError, OverflowError):
            return None

    def _block_of(self, lines: Sequence[Mapping[str, Any]], offsets: Sequence[int], *, rows: bool) -> Block:
        fields = _fields(lines)
        outcomes = fields.outcome
        states = np.array([STATES[one["state"]] for one in outcomes], dtype=np.int8)
        if not all(fields.prompt):
            raise _NotPlainError
        metadata = [one or {} for one in fields.metadata]
        names = list(map(self._identify, _texts(fields.sample_id)))
        prompt = _digests(fields.prompt)
        expected = self._expected_digests(fields.expected_answer)
        return Block(
            sample=_digests([one for one, _, _ in names]),
            row=_joined(_digests(metadata), expected) if rows else None,
            question=_joined(prompt, expected),
            prompt=prompt,
            expected=expected,
            offset=np.array(offsets, dtype=np.uint64),
            position=_whole(fields.problem_idx),
            repeat=_whole(fields.repeat),
            occurrence=np.array([one for _, one, _ in names], dtype=np.int64),
            category=_as_texts([one.get("category") for one in metadata]),
            group=_texts_or_none(fields.group),
            reward=_rewards(fields.reward, states),
            tokens=_numbers([(one or {}).get("completion") for one in fields.tokens], _KNOWN_NUMBERS),
            latency=_numbers([(one or {}).get("latency_seconds") for one in fields.timing], _KNOWN_NUMBERS),
            characters=np.where(states == NOT_ASKED, np.nan, [len(one or "") for one in fields.model_response]),
            states=states,
            metrics=_metrics(fields.scoring_details, states),
            models=Counter(_texts_or_none(fields.model)),
            causes=Counter(
                filter(None, (self._cause_of(outcomes[place]) for place in np.flatnonzero(states).tolist()))
            ),
            has_own_ids=all(is_own for _, _, is_own in names),
        )

    def _expected_digests(self, values: Sequence[object]) -> Digests:
        known = self._expected.get
        if _TEXTS.issuperset(map(type, values)):
            found = [known(one) or self._expected_digest(one) for one in values]  # type: ignore[call-overload]
        else:
            found = [self._expected_digest(one) for one in values]
        return np.array(found, dtype=np.uint64)

    def _expected_digest(self, value: object) -> int:
        if not isinstance(value, str):
            return digest(value)
        found = self._expected.get(value)
        if found is None:
            found = digest(value)
            if len(self._expected) < _EXPECTED_KEPT:
                self._expected[value] = found
        return found


def _fields(lines: Sequence[Mapping[str, Any]]) -> _Fields:
    """Return what is read of the lines, a column for each name; None where a line lacks one that it may lack.

    Raises:
        KeyError: A line lacks another one.
    """
    try:
        return _Fields(*zip(*map(_ALL_FIELDS, lines), strict=True))
    except KeyError:  # of an older version, or imported
        return _Fields(
            *([line[name] for line in lines] for name in _Fields._fields[:_REQUIRED]),
            *([line.get(name) for line in lines] for name in _Fields._fields[_REQUIRED:]),
        )


def _rewards(values: Sequence[Any], states: npt.NDArray[np.int8]) -> Floats:
    found = _numbers(values, _REWARDS)
    has_reward = states < UNSCORED
    if not np.isfinite(found[has_reward]).all() or not np.isnan(found[~has_reward]).all():
        raise _NotPlainError
    return found


def _metrics(details: Sequence[Any], states: npt.NDArray[np.int8]) -> dict[str, Floats]:
    is_scored = (states < UNSCORED).tolist()
    found = [(one or {}).get("metrics") or {} if scored else {} for one, scored in zip(details, is_scored, strict=True)]
    names = dict.fromkeys(chain.from_iterable(found))
    return {name: _numbers([one.get(name, math.nan) for one in found], _METRICS) for name in names}


def _numbers(values: Sequence[Any], known: frozenset[type]) -> Floats:
    """Return numbers, NaN for None.

    Raises:
        _NotPlainError: One is of another type.
    """
    if not known.issuperset(map(type, values)):
        raise _NotPlainError
    return np.array(values, dtype=np.float64)


def _whole(values: Sequence[Any]) -> Ints:
    if not _WHOLE.issuperset(map(type, values)):
        raise _NotPlainError
    return np.array(values, dtype=np.int64)


def _as_texts(values: Sequence[Any]) -> Sequence[str | None]:
    if _KNOWN_TEXTS.issuperset(map(type, values)):
        return values
    return [one if one is None else str(one) for one in values]


def _texts(values: Sequence[Any]) -> Sequence[str]:
    if not _TEXTS.issuperset(map(type, values)):
        raise _NotPlainError
    return values


def _texts_or_none(values: Sequence[Any]) -> Sequence[str | None]:
    if not _KNOWN_TEXTS.issuperset(map(type, values)):
        raise _NotPlainError
    return values


def _digests(values: Sequence[Any]) -> Digests:
    """Return `digest` of each value."""
    if not _TEXTS.issuperset(map(type, values)):
        return np.array([digest(one) for one in values], dtype=np.uint64)
    found = [blake2b(one.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest() for one in values]
    return np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64, copy=False)


def _joined(one: Digests, other: Digests) -> Digests:
    """Return `joined` of each pair of digests."""
    return np.asarray((one * np.uint64(MIX)) ^ (other + (one >> np.uint64(7))))
