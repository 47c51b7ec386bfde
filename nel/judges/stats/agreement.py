"""Agreement of two raters, from the table of their labels. Depends on numpy.

For any number of raters, with missing values, see `nel.judges.stats.alpha`. Where both raters
always use the same single category, chance alone explains all agreement; measures corrected for
chance are undefined there, and never 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nel.errors import UndefinedMetric
from nel.judges.stats.alpha import ONE_CATEGORY, RESAMPLES, ac1, bootstrap_statistic
from nel.metrics.intervals import Interval

Table: TypeAlias = NDArray[np.float64]
"""K x K counts, or shares: first rater in rows, second in columns, categories in one order."""
Weights: TypeAlias = Literal["linear", "quadratic"]
"""How the weight of a disagreement grows with the distance of two categories."""
_TWO: Final = 2
_SEED: Final = 42


def raw_agreement(table: Table) -> float:
    """Return the share of units that both raters put into the same category.

    Raises:
        UndefinedMetric: The table is empty.

    >>> raw_agreement(np.array([[20, 5], [10, 15]]))
    0.7
    """
    return float(np.trace(_shares(table)))


def cohen_kappa(
    table: Table, *, weights: Weights | None = None, scale: Sequence[float] | None = None
) -> float:
    """Return Cohen's kappa, ``(po - pe) / (1 - pe)`` (Cohen 1960), or weighted kappa (Cohen 1968).

    Args:
        table: K x K counts or shares.
        weights: None for categories without an order; ``linear`` or ``quadratic`` in their
            distance.
        scale: The position of each category on a line; by default they are equally far apart.

    Returns:
        At most 1; 0 when agreement is that of chance.

    Raises:
        UndefinedMetric: The table is empty, or both raters use one category only.

    >>> round(cohen_kappa(np.array([[10, 3, 1], [2, 8, 4], [0, 3, 9]]), weights="linear"), 6)
    0.602273
    """
    shares = _shares(table)
    distances = _distances(len(table), weights, scale)
    # The disagreement of two raters who use their categories as often, and independently.
    by_chance = float(shares.sum(axis=1) @ distances @ shares.sum(axis=0))
    if by_chance <= 0:
        raise UndefinedMetric(ONE_CATEGORY)
    observed = float((distances * shares).sum())
    return 1 - observed / by_chance


def gwet_ac1(table: Table) -> float:
    """Return Gwet's AC1, which stays near raw agreement where one category is rare (Gwet 2008).

    Chance agreement is ``sum_k p_k (1 - p_k) / (K - 1)`` with p_k the mean share of category k over
    both raters.

    Raises:
        UndefinedMetric: The table is empty or has one category, or only one is used.

    >>> round(gwet_ac1(np.array([[90, 5], [4, 1]])), 6)
    0.899559
    """
    shares = _shares(table)
    mean_shares = (shares.sum(axis=0) + shares.sum(axis=1)) / 2
    return ac1(float(np.trace(shares)), mean_shares)


def pabak(table: Table) -> float:
    """Return kappa adjusted for prevalence and bias, ``(K po - 1) / (K - 1)`` (Byrt et al. 1993).

    Raises:
        UndefinedMetric: The table is empty or has one category, or only one is used.

    >>> round(pabak(np.array([[90, 5], [4, 1]])), 6)
    0.82
    """
    shares = _shares(table)
    if np.count_nonzero(shares.sum(axis=0) + shares.sum(axis=1)) < _TWO:
        raise UndefinedMetric(ONE_CATEGORY)
    n_categories = len(shares)
    observed = float(np.trace(shares))
    return (n_categories * observed - 1) / (n_categories - 1)


def table_interval(
    strata: Sequence[Table],
    statistic: Callable[[Table], float],
    *,
    shares: Sequence[float],
    n_resamples: int = RESAMPLES,
) -> Interval:
    """Return the percentile bootstrap interval of a statistic of a table, drawing units again.

    Args:
        strata: Counts of each stratum, whose units are drawn within it; cells in any shape.
        statistic: Of the shares in that shape, such as `cohen_kappa`.
        shares: The share of all units in each stratum.
        n_resamples: At least 1.

    Returns:
        An interval of method ``bootstrap``; or one without ends, with the reason, where the
        resamples have no spread or most of them have no such statistic.

    >>> interval = table_interval([np.array([[20, 5], [10, 15]])], cohen_kappa, shares=[1.0])
    >>> 0.1 < interval.lower < 0.2 and 0.6 < interval.upper < 0.7
    True
    """
    # One row for each resample, one column for each cell: the weighted sum over the strata.
    rng = np.random.default_rng(_SEED)
    resample_sums = np.zeros((n_resamples, strata[0].size))
    for counts, share in zip(strata, shares, strict=True):
        size = round(float(counts.sum()))
        cells = rng.multinomial(size, counts.ravel() / counts.sum(), size=n_resamples)
        resample_sums += share / size * cells
    resamples = iter(resample_sums.reshape(n_resamples, *strata[0].shape))
    return bootstrap_statistic(lambda: next(resamples), statistic, n_resamples=n_resamples)


def _shares(table: Table) -> Table:
    total = float(table.sum())
    if total == 0:
        raise UndefinedMetric("there are no units")
    return table / total


def _distances(n: int, weights: Weights | None, scale: Sequence[float] | None) -> Table:
    if weights is None:
        return 1.0 - np.eye(n)
    positions = np.asarray(range(n) if scale is None else scale, dtype=np.float64)
    apart = np.abs(positions[:, None] - positions[None, :])
    # As shares of the largest distance; where there is none, all are 0.
    largest = apart.max(initial=0.0) or 1.0
    shares = apart / largest
    return shares if weights == "linear" else shares**2
