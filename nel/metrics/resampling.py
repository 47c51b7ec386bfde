"""Means of resamples drawn with replacement. Depends on numpy.

Takes sorted arrays and a generator. The distribution is always that of drawing n indices per
resample. With few distinct values, how often each occurs is one multinomial draw, and the mean is
its product with the values; otherwise indices are drawn, in chunks of bounded memory.

Note: the draws depend on the order of the values, so the caller sorts them first.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_CHUNK: Final = 1 << 18
"""Indices drawn at a time: 2 MiB, which fits in the cache."""


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
