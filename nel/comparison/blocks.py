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
from typing import Any, Final

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
        outcomes = [line["outcome"] for line in lines]
        states = np.array([STATES[one["state"]] for one in outcomes], dtype=np.int8)
        prompts = [line["prompt"] for line in lines]
        if not all(prompts):
            raise _NotPlainError
        metadata = [line.get("metadata") or {} for line in lines]
        names = [self._identify(one) for one in _texts([line["sample_id"] for line in lines])]
        prompt = _digests(prompts)
        expected = np.array([self._expected_digest(line.get("expected_answer")) for line in lines], dtype=np.uint64)
        return Block(
            sample=_digests([one for one, _, _ in names]),
            row=_joined(_digests(metadata), expected) if rows else None,
            question=_joined(prompt, expected),
            prompt=prompt,
            expected=expected,
            offset=np.array(offsets, dtype=np.uint64),
            position=_whole([line["problem_idx"] for line in lines]),
            repeat=_whole([line["repeat"] for line in lines]),
            occurrence=np.array([one for _, one, _ in names], dtype=np.int64),
            category=[one if one is None else str(one) for one in [each.get("category") for each in metadata]],
            group=_texts_or_none([line.get("group") for line in lines]),
            reward=_rewards(lines, states),
            tokens=_numbers([(line.get("tokens") or {}).get("completion") for line in lines], _KNOWN_NUMBERS),
            latency=_numbers([(line.get("timing") or {}).get("latency_seconds") for line in lines], _KNOWN_NUMBERS),
            characters=np.where(states == NOT_ASKED, np.nan, [len(line.get("model_response") or "") for line in lines]),
            states=states,
            metrics=_metrics(lines, states),
            models=Counter(_texts_or_none([line.get("model") for line in lines])),
            causes=Counter(filter(None, (self._cause_of(outcomes[place]) for place in np.flatnonzero(states)))),
            has_own_ids=all(is_own for _, _, is_own in names),
        )

    def _expected_digest(self, value: object) -> int:
        if not isinstance(value, str):
            return digest(value)
        found = self._expected.get(value)
        if found is None:
            found = digest(value)
            if len(self._expected) < _EXPECTED_KEPT:
                self._expected[value] = found
        return found


def _rewards(lines: Sequence[Mapping[str, Any]], states: npt.NDArray[np.int8]) -> Floats:
    found = _numbers([line["reward"] for line in lines], _REWARDS)
    has_reward = states < UNSCORED
    if not np.isfinite(found[has_reward]).all() or not np.isnan(found[~has_reward]).all():
        raise _NotPlainError
    return found


def _metrics(lines: Sequence[Mapping[str, Any]], states: npt.NDArray[np.int8]) -> dict[str, Floats]:
    is_scored = (states < UNSCORED).tolist()
    details = [line.get("scoring_details") or {} for line in lines]
    found = [one.get("metrics") or {} if scored else {} for one, scored in zip(details, is_scored, strict=True)]
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


def _texts(values: list[Any]) -> list[str]:
    if not _TEXTS.issuperset(map(type, values)):
        raise _NotPlainError
    return values


def _texts_or_none(values: list[Any]) -> list[str | None]:
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
