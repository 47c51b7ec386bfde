"""The seeded random order of questions in a run with a stop rule, whole clusters at a time.

Does no I/O.

The order depends on the seed, the questions' ids and their groups, never on their order in a file.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nel.decide.early_stop import ClusterDraw
from nel.engine.store.codec import decode_sample
from nel.engine.store.snapshot import StoredSample


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnOrder:
    """Every question of a benchmark in the order it is drawn in."""

    order: array[int]
    """The idx of each question."""
    ends: array[int]
    """After which position of ``order`` each cluster ends."""
    unusable: frozenset[int]
    """Questions without a usable row, which are never asked."""

    @property
    def drawn(self) -> ClusterDraw:
        """Return the design of the draw."""
        sizes = [end - start for start, end in zip((0, *self.ends), self.ends, strict=False)]
        return ClusterDraw(n_clusters=len(sizes), n_questions=len(self.order), size_max=max(sizes))

    def first(self, n_clusters: int) -> Iterator[int]:
        """Yield the questions of the first clusters."""
        return iter(self.order[: self.ends[n_clusters - 1] if n_clusters else 0])


def draw(samples: Iterable[StoredSample], *, seed: int) -> DrawnOrder:
    """Return the order of a benchmark's samples, which must come by idx.

    Args:
        samples: All of them, unusable rows included.
        seed: Another one gives another order.
    """
    clusters: dict[bytes, array[int]] = {}
    unusable = set()
    for sample in samples:
        group = None
        if sample.content is None or sample.fault is not None:
            unusable.add(sample.idx)
        else:
            group = decode_sample(sample.sample_id, sample.content).group
        name = f"question {sample.sample_id}" if group is None else f"group {group}"
        key = hashlib.sha256(f"{seed} {name}".encode()).digest()
        clusters.setdefault(key, array("q")).append(sample.idx)
    order, ends = array("q"), array("q")
    for key in sorted(clusters):
        order.extend(clusters[key])
        ends.append(len(order))
    return DrawnOrder(order=order, ends=ends, unusable=frozenset(unusable))
