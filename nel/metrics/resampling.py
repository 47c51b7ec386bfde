"""Means of resamples drawn with replacement, with as little work as their order statistics need.
Depends on numpy.

Takes sorted arrays and a generator. The distribution is always that of drawing n indices per
resample; there are three
algorithms:

* few distinct values: how often each occurs is one multinomial draw, and the mean is its product
  with the values;
* few values: indices are drawn, in chunks of bounded memory;
* many of both: `DeferredReplicates` draws how many values of each block of similar ones a resample
  has, and draws on only for those resamples whose rank relative to the wanted order statistic is
  still unknown.

Note: the draws depend on the order of the values, so the caller sorts them first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_CHUNK: Final = 1 << 18
"""Indices drawn at a time: 2 MiB, which fits in the cache."""
_MANY: Final = 1024
"""From this many values on it pays to defer draws."""
_LEVELS: Final = 12
"""Halvings before values are drawn: at most 4096 blocks."""
_A_FEW: Final = 32
"""Resamples that are completed at once instead of halving on."""
_FAILURE: Final = 1e-4
"""Probability that any slack does not hold."""


class Replicates:
    """The means of resamples, in no order."""

    def __init__(self, means: Floats) -> None:
        """Hold means that are known exactly."""
        self._means = means

    def quantile(self, share: float) -> float:
        """Return a quantile, interpolated linearly between the two means next to it as
        `numpy.quantile` does.
        """
        position = share * (len(self._means) - 1)
        ranks = [math.floor(position), math.ceil(position)]
        while True:
            low, high = np.partition(self._means, ranks)[ranks].tolist()
            if not self._settle(low, high):
                return float(low + (position - ranks[0]) * (high - low))

    def share_below(self, value: float, tolerance: float) -> float:
        """Return the share of means below a value; those within the tolerance of it count half."""
        low, high = value - tolerance, value + tolerance
        while self._settle(low, high):
            pass
        below, tied = np.count_nonzero(self._means < low), np.count_nonzero(self._means <= high)
        return (below + tied) / 2 / len(self._means)

    def _settle(self, low: float, high: float) -> bool:
        """Draw on for the means that may lie between low and high; return whether there were
        any.
        """
        return False


class DeferredReplicates(Replicates):
    """Means that are drawn only as far as a quantile or share needs.

    The ordered values are halved into ever smaller blocks. A resample is first known by how many
    values it has of each block, and one halving more is one binomial draw a block. What is not
    drawn yet moves its mean by at most its slack (Bernstein's inequality, given the counts). Only
    resamples within their slack of the wanted value are drawn on, so the answer is that of drawing
    all of them. With a chance below 1 in 10 000 a slack does not hold, and the answer is off by one
    place in the order.
    """

    def __init__(self, ordered: Floats, n_resamples: int, rng: np.random.Generator) -> None:
        """Start with one block, of which every resample has n."""
        self._ordered, self._rng = ordered, rng
        self._log_odds = math.log(2 * _LEVELS * n_resamples / _FAILURE)
        self._blocks = [_Blocks.between(ordered, np.array([0, len(ordered)]))]
        self._counts = [np.full((n_resamples, 1), len(ordered))]
        self._level = np.zeros(n_resamples, dtype=np.int64)
        self._row = np.arange(n_resamples)
        means, self._slack = self._blocks[0].describe(self._counts[0], self._log_odds)
        super().__init__(means)

    def _settle(self, low: float, high: float) -> bool:
        # A mean can still move by its slack, so each within reach of the interval is drawn one
        # level further.
        near = (self._means >= low - self._slack) & (self._means <= high + self._slack)
        rows = np.flatnonzero(near & (self._slack > 0))
        levels = self._level[rows]
        for level in np.unique(levels).tolist():
            step = self._complete if len(rows) <= _A_FEW or level == _LEVELS else self._refine
            step(level, rows[levels == level])
        return len(rows) > 0

    def _refine(self, level: int, rows: Integers) -> None:
        """Draw how the counts of a level's blocks fall on the blocks of the next."""
        if level + 1 == len(self._blocks):
            self._blocks.append(self._blocks[level].halved(self._ordered))
            self._counts.append(np.empty((0, len(self._blocks[level + 1].sizes)), dtype=np.int64))
        parents, blocks = self._blocks[level], self._blocks[level + 1]
        counts = self._counts[level][self._row[rows]]
        first = np.searchsorted(blocks.starts, parents.starts)
        parts = np.diff(first, append=len(blocks.starts))
        halved = np.flatnonzero(parts > 1)
        left = first[halved]
        # A halved block splits its count binomially by size; the right half gets the rest.
        drawn = np.repeat(counts, parts, axis=1)
        drawn[:, left] = self._rng.binomial(
            counts[:, halved], blocks.sizes[left] / parents.sizes[halved]
        )
        drawn[:, left + 1] -= drawn[:, left]
        self._level[rows] = level + 1
        self._row[rows] = len(self._counts[level + 1]) + np.arange(len(rows))
        self._counts[level + 1] = np.concatenate([self._counts[level + 1], drawn])
        self._means[rows], self._slack[rows] = blocks.describe(drawn, self._log_odds)

    def _complete(self, level: int, rows: Integers) -> None:
        """Draw the values themselves, in each block as many as were counted."""
        blocks = self._blocks[level]
        n = len(self._ordered)
        step = max(1, _CHUNK // n)
        for first in range(0, len(rows), step):
            block = rows[first : first + step]
            counts = self._counts[level][self._row[block]].ravel()
            places = self._rng.random(len(block) * n) * np.repeat(
                np.tile(blocks.sizes, len(block)), counts
            )
            places += np.repeat(np.tile(blocks.starts, len(block)), counts)
            drawn = self._ordered.take(places.astype(np.int64))
            self._means[block] = drawn.reshape(len(block), n).mean(axis=1)
        self._slack[rows] = 0.0


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Runs of the ordered values."""

    starts: Integers
    sizes: Integers
    means: Floats
    variances: Floats
    widths: Floats
    """Between the smallest and the largest value of each block."""

    @classmethod
    def between(cls, ordered: Floats, edges: Integers) -> _Blocks:
        """Describe the blocks between edges, the first of which is 0 and the last n."""
        starts, sizes = edges[:-1], np.diff(edges)
        lowest, widths = ordered[starts], ordered[edges[1:] - 1] - ordered[starts]
        flat = widths == 0
        means = np.where(flat, lowest, np.add.reduceat(ordered, starts) / sizes)
        squares = np.add.reduceat((ordered - np.repeat(means, sizes)) ** 2, starts)
        return cls(starts, sizes, means, np.where(flat, 0.0, squares / sizes), widths)

    def halved(self, ordered: Floats) -> _Blocks:
        """Return the blocks, with the widest and heaviest split at the middle of their range."""
        spread = self.sizes * self.widths**2
        wanted = (self.widths > 0) & (
            (spread >= spread.max() / 8) | (self.widths >= self.widths.max() / 2)
        )
        starts, stops = self.starts[wanted], self.starts[wanted] + self.sizes[wanted]
        middles = np.searchsorted(
            ordered, ordered[starts] / 2 + ordered[stops - 1] / 2, side="right"
        )
        middles = np.clip(middles, starts + 1, stops - 1)
        return self.between(
            ordered, np.sort(np.concatenate([self.starts, middles, [len(ordered)]]))
        )

    def describe(self, counts: Integers, log_odds: float) -> tuple[Floats, Floats]:
        """Return each resample's mean as if each value were its block's mean, and how far the true
        mean can be off.
        """
        n = int(self.sizes.sum())
        reach = float(self.widths.max()) * log_odds / 3
        variances = (counts * self.variances).sum(axis=1)
        slack = (reach + np.sqrt(reach * reach + 2 * log_odds * variances)) / n
        return (counts * self.means).sum(axis=1) / n, slack


def replicates(ordered: Floats, n_resamples: int, rng: np.random.Generator) -> Replicates:
    """Return the means of resamples of sorted values, to be queried for quantiles and shares.

    Args:
        ordered: Finite values in ascending order, at least one.
        n_resamples: At least 1.
        rng: The generator to draw from.

    >>> found = replicates(np.array([0.0, 0.0, 1.0, 1.0]), 1000, np.random.default_rng(1))
    >>> found.quantile(0.5)
    0.5
    """
    if len(ordered) < _MANY or _levels(ordered) is not None:
        return Replicates(resample_means(ordered, n_resamples, rng))
    return DeferredReplicates(ordered, n_resamples, rng)


def resample_means(ordered: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return the mean of each resample of sorted values.

    Args:
        ordered: Finite values in ascending order, at least one.
        n_resamples: At least 1.
        rng: The generator to draw from.

    >>> resample_means(np.array([2.0, 2.0]), 3, np.random.default_rng(1)).tolist()
    [2.0, 2.0, 2.0]
    """
    n = len(ordered)
    levels = _levels(ordered)
    if levels is None:
        return resample_ratios(ordered, None, n_resamples, rng)
    edges = np.append(np.searchsorted(ordered, levels), n)
    counts = rng.multinomial(n, np.diff(edges) / n, size=n_resamples)
    means: Floats = (counts * levels).sum(axis=1) / n
    return means


def resample_ratios(
    sums: Floats, sizes: Floats | None, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return for each resample of clusters its sum over its size, by drawing indices in chunks.

    Args:
        sums: The sum of each cluster's values.
        sizes: The number of values of each cluster, None when each has one.
        n_resamples: At least 1.
        rng: The generator to draw from.

    >>> resample_ratios(np.array([1.0, 3.0]), np.array([1.0, 3.0]), 2, np.random.default_rng(1)).tolist()
    [1.0, 1.0]
    """
    n = len(sums)
    ratios = np.empty(n_resamples)
    step = max(1, _CHUNK // n)
    for first in range(0, n_resamples, step):
        rows = min(step, n_resamples - first)
        drawn = rng.integers(0, n, size=(rows, n))
        below = n if sizes is None else sizes.take(drawn).sum(axis=1)
        ratios[first : first + rows] = sums.take(drawn).sum(axis=1) / below
    return ratios


def _levels(ordered: Floats) -> Floats | None:
    """Return the distinct values where they are so few that counting them is fastest, else None."""
    few = max(2, min(16, len(ordered) // 16))
    levels = ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf))]
    return levels if len(levels) <= few else None
