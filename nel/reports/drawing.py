"""Draws the samples that a page shows where a run has more of them than fit. Does no I/O.

The draw is stratified: each stratum gets equal room, and what one leaves free goes to the others,
so that what is rare is shown whole. Within a stratum the samples with the smallest digests of their
ids are taken, which is the same draw in any order, and takes the repeats of a question together.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

_SEED: Final = b"nel report"
_StratumT = TypeVar("_StratumT", bound=Hashable)


def fair_shares(counts: Mapping[_StratumT, int], room: int) -> dict[_StratumT, int]:
    """Return how many of each to take: equal room for all; what one leaves free, others get.

    >>> fair_shares({"right": 9, "wrong": 2, "unscored": 1}, 8)
    {'unscored': 1, 'wrong': 2, 'right': 5}
    """
    shares = {}
    # The smallest first: what it leaves free is divided among all that follow.
    smallest_first = sorted(counts, key=lambda name: (counts[name], str(name)))
    for n_before, name in enumerate(smallest_first):
        shares[name] = min(counts[name], room // (len(counts) - n_before))
        room -= shares[name]
    return shares


class Draw:
    """Keeps the samples that can still be drawn: at most twice the room, plus one a stratum."""

    def __init__(self, room: int) -> None:
        """Draw at most `room` samples, at least 1."""
        self._room = room
        self._limit = room
        self._n_kept = 0
        self._kept: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        """Samples of each stratum, drawn or not."""

    def add(self, stratum: tuple[str, str], sample_id: str, position: int) -> None:
        """Consider the sample at a position of the file."""
        self.counts[stratum] += 1
        digest = hashlib.blake2b(
            sample_id.encode("utf-8", "replace"), digest_size=7, key=_SEED
        ).digest()
        # A heap gives the smallest; the largest is what has to go, hence the signs.
        item = -int.from_bytes(digest, "big"), -position
        heap = self._kept.setdefault(stratum, [])
        if len(heap) >= self._limit:
            heapq.heappushpop(heap, item)
            return
        heapq.heappush(heap, item)
        self._n_kept += 1
        if self._n_kept > 2 * self._room + len(self._kept):
            self._trim()

    def draw(self, room: int) -> frozenset[int]:
        """Return the positions of at most so many samples; no more than the draw was made for."""
        shares = fair_shares(self.counts, min(room, self._room))
        positions: set[int] = set()
        for stratum, heap in self._kept.items():
            drawn = heapq.nlargest(shares[stratum], heap)
            positions.update(-position for _, position in drawn)
        return frozenset(positions)

    def _trim(self) -> None:
        """Drop what can no longer be drawn: with more samples, the largest share only shrinks."""
        self._limit = max(1, *fair_shares(self.counts, self._room).values())
        for stratum, heap in self._kept.items():
            if len(heap) > self._limit:
                self._kept[stratum] = heapq.nlargest(self._limit, heap)
                heapq.heapify(self._kept[stratum])
        self._n_kept = sum(map(len, self._kept.values()))
