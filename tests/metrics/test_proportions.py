"""Intervals of right out of n, against the published table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scipy

from nel.metrics import Interval, beta_interval, clopper_pearson_interval, jeffreys_interval, wilson_interval

TABLE = [
    (0, 10, (0.0, 0.277533), (0.0, 0.308497), (0.000048, 0.217196), (0.002299, 0.284914)),
    (8, 10, (0.490162, 0.943318), (0.443905, 0.974789), (0.497226, 0.955941), (0.482244, 0.939782)),
    (27, 30, (0.743789, 0.965400), (0.734712, 0.978883), (0.756598, 0.971019), (0.742461, 0.963698)),
    (138, 164, (0.777842, 0.889454), (0.776399, 0.893749), (0.779820, 0.891185), (0.777701, 0.889307)),
    (0, 300, (0.0, 0.012643), (0.0, 0.012221), (0.000002, 0.008331), (0.000084, 0.012181)),
]
KINDS = [wilson_interval, clopper_pearson_interval, jeffreys_interval, beta_interval]


@pytest.mark.parametrize("row", TABLE)
def test_golden_table(row: tuple[Any, ...]) -> None:
    """Every interval has the published ends, to six digits."""
    right, n, *expected = row
    for kind, ends in zip(KINDS, expected, strict=True):
        interval = kind(right, n)
        assert (interval.lower, interval.upper) == pytest.approx(ends, abs=5.1e-7), interval.method


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("right", "n", "level"), [(-1, 3, 0.95), (4, 3, 0.95), (0, 0, 0.95), (1, 3, 1.0), (1, 3, 0)])
def test_impossible_counts(kind: Callable[..., Interval], right: int, n: int, level: float) -> None:
    """Impossible counts and levels are errors."""
    with pytest.raises(ValueError, match="no interval for"):
        kind(right, n, level=level)


def test_clopper_pearson_covers_at_least_as_often_as_it_says() -> None:
    """Exact enumeration over a grid of truths."""
    n = 20
    intervals = [clopper_pearson_interval(right, n) for right in range(n + 1)]
    for truth in (0.01, 0.1, 0.37, 0.5, 0.8, 0.99):
        covered = [i for i, one in enumerate(intervals) if (one.lower or 0) <= truth <= (one.upper or 0)]
        assert scipy.stats.binom.pmf(covered, n, truth).sum() >= 0.95
