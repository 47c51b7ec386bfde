"""Agreement of two raters, from the table of their labels. Depends on numpy.

For any number of raters, with missing values, see `nel.judges.stats.alpha`, whose names are
exported here too. Where both raters always use the same single category, chance alone explains all
agreement; measures corrected for chance are undefined there, and never 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nel.errors import UndefinedMetric
from nel.judges.stats.alpha import (
    ONE_CATEGORY,
    RESAMPLES,
    Rating,
    Ratings,
    Scale,
    Units,
    ac1,
    bootstrap_statistic,
    krippendorff_alpha,
)
from nel.metrics.intervals import LEVEL, Interval, wilson_interval

__all__ = [
    "Rate", "Rating", "Ratings", "Scale", "Table", "Units", "Weights", "cohen_kappa", "cohen_kappa_stderr",
    "confusion_table", "gwet_ac1", "krippendorff_alpha", "pabak", "raw_agreement", "sensitivity", "specificity",
    "table_interval",
]  # fmt: skip

Table: TypeAlias = NDArray[np.float64]
"""K x K counts, or shares: first rater in rows, second in columns, the same categories in the same
order.
"""
Weights: TypeAlias = Literal["linear", "quadratic"]
"""How the weight of a disagreement grows with the distance of two categories."""
R = TypeVar("R", bound=Rating)

_TWO: Final = 2


def confusion_table(pairs: Iterable[tuple[R, R]], categories: Sequence[R]) -> Table:
    """Return how often the first rater said the row's category and the second the column's.

    Raises:
        ValueError: A value is none of the categories.

    >>> confusion_table([("C", "C"), ("C", "I"), ("I", "I")], ["C", "I"]).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    places = {category: index for index, category in enumerate(categories)}
    table = np.zeros((len(categories), len(categories)))
    for (first, second), count in Counter(pairs).items():
        if first not in places or second not in places:
            raise ValueError(
                f"{first!r} or {second!r} is none of the categories {list(categories)!r}"
            )
        table[places[first], places[second]] += count
    return table


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
        scale: The place of each category on a line; by default they are equally far apart.

    Returns:
        At most 1; 0 when agreement is that of chance.

    Raises:
        UndefinedMetric: The table is empty, or both raters use one category only.

    >>> round(cohen_kappa(np.array([[10, 3, 1], [2, 8, 4], [0, 3, 9]]), weights="linear"), 6)
    0.602273
    """
    return _kappa(_shares(table), _distances(len(table), weights, scale))


def cohen_kappa_stderr(
    table: Table, *, weights: Weights | None = None, scale: Sequence[float] | None = None
) -> float:
    """Return the large-sample standard error of kappa (Fleiss, Cohen and Everitt 1969), as
    statsmodels has it.

    Args:
        table: K x K counts; their sum is the number of units.
        weights: As for `cohen_kappa`.
        scale: As for `cohen_kappa`.

    Raises:
        UndefinedMetric: The table is empty, or both raters use one category only.

    >>> round(cohen_kappa_stderr(np.array([[20, 5], [10, 15]])), 6)
    0.126996
    """
    shares = _shares(table)
    distances = _distances(len(table), weights, scale)
    kappa = _kappa(shares, distances)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    similar = 1 - distances
    mean_similar = (similar @ columns)[:, None] + (rows @ similar)[None, :]
    by_chance = float(rows @ similar @ columns)
    spread = float((shares * (similar - mean_similar * (1 - kappa)) ** 2).sum())
    variance = (spread - (kappa - by_chance * (1 - kappa)) ** 2) / (
        (1 - by_chance) ** 2 * float(np.sum(table))
    )
    return math.sqrt(max(variance, 0.0))


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
    used = (shares.sum(axis=0) + shares.sum(axis=1)) / 2
    return ac1(float(np.trace(shares)), used)


def pabak(table: Table) -> float:
    """Return kappa adjusted for prevalence and bias, ``(K po - 1) / (K - 1)`` (Byrt, Bishop and
    Carlin 1993).

    Raises:
        UndefinedMetric: The table is empty or has one category, or only one is used.

    >>> round(pabak(np.array([[90, 5], [4, 1]])), 6)
    0.82
    """
    shares = _shares(table)
    if np.count_nonzero(shares.sum(axis=0) + shares.sum(axis=1)) < _TWO:
        raise UndefinedMetric(ONE_CATEGORY)
    return (len(shares) * float(np.trace(shares)) - 1) / (len(shares) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of units with its interval."""

    value: float
    n: float
    """Number of units; the effective number where they are weighted."""
    interval: Interval


def sensitivity(table: Table) -> Rate:
    """Return how often the second rater says yes where the first, who is right, does; Wilson's
    interval.

    Args:
        table: 2 x 2 counts, "no" before "yes", the truth in rows.

    Raises:
        UndefinedMetric: The first rater never says yes.

    >>> sensitivity(np.array([[85, 15], [10, 90]])).value
    0.9
    """
    return _rate(table[1][1], table[1][0], "the truth is never yes")


def specificity(table: Table) -> Rate:
    """Return how often the second rater says no where the first, who is right, does; Wilson's
    interval.

    Args:
        table: 2 x 2 counts, "no" before "yes", the truth in rows.

    Raises:
        UndefinedMetric: The first rater never says no.

    >>> specificity(np.array([[85, 15], [10, 90]])).value
    0.85
    """
    return _rate(table[0][0], table[0][1], "the truth is never no")


def table_interval(
    table: Table | Sequence[Table],
    statistic: Callable[[Table], float],
    *,
    shares: Sequence[float] | None = None,
    level: float = LEVEL,
    n_resamples: int = RESAMPLES,
    seed: int = 42,
) -> Interval:
    """Return the percentile bootstrap interval of a statistic of a table, drawing units again.

    Args:
        table: Counts, or one table a stratum, whose units are drawn within it; cells in any shape.
        statistic: Of the shares in that shape, such as `cohen_kappa`.
        shares: The share of all units in each stratum; by default that of its own units.
        level: Strictly between 0 and 1.
        n_resamples: At least 1.
        seed: Seeds a generator of its own.

    Returns:
        An interval of method ``bootstrap``; or one without ends, with the reason, where the
        resamples have no spread or most of them have no such statistic.

    Raises:
        UndefinedMetric: There are no units.
        ValueError: An argument is out of range.

    >>> interval = table_interval(np.array([[20, 5], [10, 15]]), cohen_kappa)
    >>> 0.1 < interval.lower < 0.2 and 0.6 < interval.upper < 0.7
    True
    """
    strata = [
        np.asarray(stratum, dtype=np.float64)
        for stratum in (table if isinstance(table, Sequence) else [table])
    ]
    sizes = [round(float(stratum.sum())) for stratum in strata]
    if not sum(sizes):
        raise UndefinedMetric("there are no units")
    parts = list(shares) if shares is not None else [size / sum(sizes) for size in sizes]
    if n_resamples < 1:
        raise ValueError(f"no interval of {n_resamples} resamples")
    rng = np.random.default_rng(seed)
    drawn = np.zeros((n_resamples, strata[0].size))
    for stratum, size, share in zip(strata, sizes, parts, strict=True):
        if size:
            drawn += (
                share
                / size
                * rng.multinomial(size, stratum.ravel() / stratum.sum(), size=n_resamples)
            )
    resamples = iter(drawn.reshape(n_resamples, *strata[0].shape))
    return bootstrap_statistic(
        lambda: next(resamples), statistic, level=level, n_resamples=n_resamples
    )


def _shares(table: Table) -> Table:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != _TWO or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"a table of two raters is square, not of shape {counts.shape}")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError("a table holds counts from 0 on")
    total = float(counts.sum())
    if total == 0:
        raise UndefinedMetric("there are no units")
    return counts / total


def _distances(n: int, weights: Weights | None, scale: Sequence[float] | None) -> Table:
    """Return the weight of each disagreement, from 0 to 1."""
    if weights is None:
        return 1.0 - np.eye(n)
    places = (
        np.arange(n, dtype=np.float64) if scale is None else np.asarray(scale, dtype=np.float64)
    )
    if len(places) != n:
        raise ValueError(f"{n} categories have {len(places)} places")
    apart = np.abs(places[:, None] - places[None, :])
    largest = float(apart.max(initial=0.0))
    apart = apart / largest if largest else apart
    return apart if weights == "linear" else apart**2


def _kappa(shares: Table, distances: Table) -> float:
    by_chance = float(shares.sum(axis=1) @ distances @ shares.sum(axis=0))
    if by_chance <= 0:
        raise UndefinedMetric(ONE_CATEGORY)
    return 1 - float((distances * shares).sum()) / by_chance


def _rate(right: float, wrong: float, reason: str) -> Rate:
    n = float(right + wrong)
    if n == 0:
        raise UndefinedMetric(reason)
    return Rate(value=float(right) / n, n=n, interval=wilson_interval(float(right), n))
