"""Draws the samples that are asked a second time, and finds those that still have to be.

Reads the snapshot.

The draw depends on the ids of the samples alone, so a resume asks the same ones, and a larger draw
holds a smaller one. A second asking is stored under the repeat `SECOND_ASKING`, which no score,
count or comparison reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from heapq import nsmallest
from typing import Final

from nel.engine.store.projections.pending import Pending
from nel.engine.store.projections.results import StoredResult, results
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import ConfigError
from nel.types import SECOND_ASKING

_SEED: Final = b"repeat-check"
"""Of the draw: samples are ordered by the SHA-256 of it and their id."""


def draw_samples(snapshot: Snapshot, benchmark: int, n: int | None) -> list[int]:
    """Return the idx of each sample that is asked twice, in the order of the dataset.

    Args:
        snapshot: Of the run.
        benchmark: Its number.
        n: How many to draw without replacement; None for none.
    """
    if n is None:
        return []
    return sorted(
        idx for _, idx in nsmallest(n, Pending(snapshot).usable_ids(benchmark), key=_order)
    )


def check_draw(slot: str, n: int | None, n_usable: int) -> None:
    """Raise ConfigError where more samples are to be drawn than there are."""
    if n is not None and n > n_usable:
        raise ConfigError(
            f"{slot}: --repeat-check {n} is more than its {n_usable} usable problems; leave it at"
            f" {n_usable} or fewer"
        )


def pending_checks(snapshot: Snapshot, benchmark: int, n: int | None) -> Iterator[StoredSample]:
    """Yield each drawn sample that has no second answer yet."""
    for result in _second_answers(snapshot, benchmark, n):
        if result.response is None:
            yield result.sample


def count_pending_checks(snapshot: Snapshot, benchmark: int, n: int | None) -> int:
    """Return how many drawn samples have no outcome of their second answer yet."""
    return sum(result.outcome is None for result in _second_answers(snapshot, benchmark, n))


def _second_answers(snapshot: Snapshot, benchmark: int, n: int | None) -> Iterator[StoredResult]:
    for idx in draw_samples(snapshot, benchmark, n):
        yield from results(snapshot, benchmark, [SECOND_ASKING], first=idx, last=idx)


def _order(sample: tuple[str, int]) -> bytes:
    return hashlib.sha256(_SEED + sample[0].encode()).digest()
