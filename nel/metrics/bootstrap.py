"""Bootstrap intervals of a mean over questions, or over clusters of questions.

Depends on `nel.metrics.resampling`, which draws the resamples. Note: the bootstrap only sees the
scores it has. Where all are equal its interval has no width, and for a handful of 0/1 scores it is
too narrow: 19 right of 20 gives [0.85, 1.00], Wilson's interval [0.76, 0.99].
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from nel.errors import UndefinedMetric
from nel.metrics.clusters import cluster_sums
from nel.metrics.intervals import LEVEL
from nel.metrics.late_numpy import np

if TYPE_CHECKING:
    from nel.metrics.resampling import Floats

Method: TypeAlias = Literal["percentile", "basic", "bca"]

_METHODS: Final = ("percentile", "basic", "bca")
_ROUNDING: Final = 1e-12
"""Differences below this share of the largest value are rounding."""
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapInterval:
    """A mean with its bootstrap interval, and the arguments that reproduce it."""

    value: float
    """The mean of the scores."""
    ci_lower: float
    ci_upper: float
    level: float
    n: int
    """Scores."""
    n_resamples: int
    method: Method
    seed: int
    n_clusters: int | None = None
    """Clusters that were resampled, None when the scores were."""
    degenerate: bool = False
    """Whether the scores have no spread, so that the interval has no width although nothing is
    certain.
    """


def bootstrap_ci(
    scores: Sequence[float] | Floats,
    *,
    level: float = LEVEL,
    n_resamples: int = 10_000,
    seed: int = 42,
    method: Method = "percentile",
    clusters: Sequence[Hashable] | None = None,
) -> BootstrapInterval:
    """Return the bootstrap interval of the mean (Efron and Tibshirani 1993, chapters 13 and 14).

    Each resample has as many scores (or clusters, with all their scores) as there are, drawn with
    replacement. When the scores have few distinct values, the mean of a resample is one multinomial
    draw of how often each occurs, which has exactly the same distribution as drawing scores one by
    one. Memory is a few MiB, never n_resamples x n.

    Note: scores that are all equal give an interval of no width with `degenerate` set. Do not
    report it; use Wilson's interval for 0/1 scores.

    Args:
        scores: Finite numbers, one per question; their order does not matter.
        level: Strictly between 0 and 1.
        n_resamples: At least 1; an end of the interval has a simulation error of about 3 % of the
            standard error with 10 000.
        seed: Seeds a generator of its own.
        method: ``percentile``; ``basic``, the percentiles mirrored at the mean; or ``bca``,
            percentiles corrected for bias and skewness (Efron 1987).
        clusters: The cluster id of each score, to resample whole clusters.

    Returns:
        The mean and the ends of its interval, in the unit of the scores and not cut to any range by
        ``basic``.

    Raises:
        UndefinedMetric: There are no scores or fewer than two clusters, or ``bca`` finds every
            resample on one side of the mean.
        ValueError: A score is NaN or infinite, or an argument is out of range.

    >>> interval = bootstrap_ci([1.0] * 19 + [0.0])
    >>> interval.value, interval.ci_lower, interval.ci_upper
    (0.95, 0.85, 1.0)
    >>> bootstrap_ci([1.0, 1.0, 1.0]).degenerate
    True
    """
    if method not in _METHODS:
        raise ValueError(f'method must be "percentile", "basic" or "bca", not "{method}"')
    if not 0 < level < 1 or n_resamples < 1:
        raise ValueError(f"no interval at level {level} of {n_resamples} resamples")
    values = _order(scores)
    sums, sizes = (
        (values, np.ones(len(values))) if clusters is None else _cluster_arrays(scores, clusters)
    )
    value = math.fsum(values.tolist()) / len(values)
    ends = (value, value)
    degenerate = _all_equal(sums / sizes)
    if not degenerate:
        drawn = _draw(sums, sizes, n_resamples, np.random.default_rng(seed))
        ends = _ends(drawn, value, level, method, sums, sizes)
    return BootstrapInterval(
        value=value,
        ci_lower=ends[0],
        ci_upper=ends[1],
        level=level,
        n=len(values),
        n_resamples=n_resamples,
        method=method,
        seed=seed,
        n_clusters=None if clusters is None else len(sums),
        degenerate=degenerate,
    )


def bootstrap_means(
    scores: Sequence[float] | Floats, *, n_resamples: int = 1000, seed: int = 0
) -> Floats:
    """Return the mean of each resample of the scores.

    Args:
        scores: Finite numbers, one per question; their order does not matter.
        n_resamples: At least 1.
        seed: Seeds a generator of its own.

    Raises:
        UndefinedMetric: There are no scores.
        ValueError: A score is NaN or infinite, or `n_resamples` is out of range.

    >>> bootstrap_means([0.5, 0.5], n_resamples=2).tolist()
    [0.5, 0.5]
    """
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, not {n_resamples}")
    from nel.metrics.resampling import resample_means  # noqa: PLC0415 - needs numpy

    return resample_means(_order(scores), n_resamples, np.random.default_rng(seed))


def _order(scores: Sequence[float] | Floats) -> Floats:
    values = np.sort(np.asarray(scores, dtype=np.float64))
    if values.ndim != 1:
        raise ValueError(
            f"scores must be one row of numbers, not an array of {values.ndim} dimensions"
        )
    if not len(values):
        raise UndefinedMetric("nothing was scored")
    if not np.isfinite(values).all():
        raise ValueError("a score is NaN or infinite; leave out what was not scored")
    return values


def _cluster_arrays(
    scores: Sequence[float] | Floats, clusters: Sequence[Hashable]
) -> tuple[Floats, Floats]:
    """Return the sums and sizes of clusters; of clusters of one size the means, each counted as
    one.
    """
    pairs = cluster_sums(np.asarray(scores, dtype=np.float64).tolist(), clusters)
    if len(pairs) < _FEWEST:
        raise UndefinedMetric("fewer than two clusters")
    sums, sizes = np.array(pairs, dtype=np.float64).T
    return (sums / sizes, np.ones(len(sums))) if _all_equal(sizes) else (sums, sizes)


def _draw(sums: Floats, sizes: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    from nel.metrics.resampling import resample_means, resample_ratios  # noqa: PLC0415 - needs numpy

    if _all_equal(sizes):
        return resample_means(sums, n_resamples, rng)
    return resample_ratios(sums, sizes, n_resamples, rng)


def _ends(
    drawn: Floats, value: float, level: float, method: Method, sums: Floats, sizes: Floats
) -> tuple[float, float]:
    shares = ((1 - level) / 2, (1 + level) / 2)
    if method == "bca":
        tolerance = _ROUNDING * float(np.abs(sums / sizes).max())
        below = np.mean(drawn < value - tolerance), np.mean(drawn <= value + tolerance)
        bias = float(sum(below)) / 2
        if not 0 < bias < 1:
            raise UndefinedMetric(
                "every resample is on one side of the mean: there is no BCa interval"
            )
        shares = _bca_shares(shares[0], bias, _acceleration(sums, sizes))
    lower, upper = np.quantile(drawn, shares).tolist()
    return (2 * value - upper, 2 * value - lower) if method == "basic" else (lower, upper)


def _bca_shares(tail: float, bias: float, acceleration: float) -> tuple[float, float]:
    """Return the shares of the resamples that lie below the two ends (Efron 1987)."""
    normal = NormalDist()
    shift = normal.inv_cdf(bias)
    moved = [shift + normal.inv_cdf(share) for share in (tail, 1 - tail)]
    lower, upper = (normal.cdf(shift + shifted / (1 - acceleration * shifted)) for shifted in moved)
    return lower, upper


def _acceleration(sums: Floats, sizes: Floats) -> float:
    """Return a sixth of the skewness of the means with one score (or cluster) left out."""
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    deviations = left_out.mean() - left_out
    # The ratio of powers does not depend on the unit; scaling keeps the cubes from underflowing.
    deviations /= np.abs(deviations).max()
    return float((deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5))


def _all_equal(values: Floats) -> bool:
    return float(values.max() - values.min()) <= _ROUNDING * float(np.abs(values).max())
