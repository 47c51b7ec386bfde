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
        means = np.empty(n_resamples)
        step = max(1, _CHUNK // n)
        for first in range(0, n_resamples, step):
            drawn = rng.integers(0, n, size=(min(step, n_resamples - first), n))
            means[first : first + len(drawn)] = ordered.take(drawn).sum(axis=1) / n
        return means
    edges = np.append(np.searchsorted(ordered, levels), n)
    counts = rng.multinomial(n, np.diff(edges) / n, size=n_resamples)
    return np.asarray((counts * levels).sum(axis=1) / n)


def _levels(ordered: Floats) -> Floats | None:
    """Return the distinct values where they are so few that counting them is fastest, else None."""
    few = max(2, min(16, len(ordered) // 16))
    levels = ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf))]
    return levels if len(levels) <= few else None
