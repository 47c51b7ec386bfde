"""Krippendorff's alpha and related measures for any number of raters, with missing values.

Units are stored as patterns of values with a count, so a million units with few distinct grades
take a few numbers, and a resample is one multinomial draw. With a single value agreement cannot be
distinguished from chance: the measures are undefined there, and never 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nel.core.scaling import ROUNDING
from nel.errors import UndefinedMetric
from nel.judges.types import Level
from nel.metrics.intervals import LEVEL, Interval, no_interval

Floats: TypeAlias = NDArray[np.float64]
S = TypeVar("S")

RESAMPLES: Final = 2_000
ONE_CATEGORY: Final = "all values are in one category: agreement cannot be told from chance"
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Ratings:
    """Rated units in sparse form: pattern `pattern[e]` has value `value[e]` `count[e]` times."""

    values: tuple[Any, ...]
    """The distinct values in order: labels alone, or numbers alone."""
    pattern: NDArray[np.int64]
    value: NDArray[np.int64]
    count: Floats
    size: Floats
    """Number of values of each pattern, at least 2."""
    units: Floats
    """Number of units with each pattern."""

    @classmethod
    def of(cls, patterns: Counter[tuple[Any, ...]]) -> Ratings:
        """Return the arrays of sorted patterns and how often each occurs."""
        keys = sorted(patterns)
        values = tuple(sorted(set().union(*keys)))
        columns_of = {label: index for index, label in enumerate(values)}
        entries = []
        for row, pattern in enumerate(keys):
            for label, count in Counter(pattern).items():
                entries.append((row, columns_of[label], count))
        rows, columns, counts = np.array(entries, dtype=np.int64).T
        return cls(
            values,
            pattern=rows,
            value=columns,
            count=counts.astype(np.float64),
            size=np.array([len(pattern) for pattern in keys], dtype=np.float64),
            units=np.array([patterns[pattern] for pattern in keys], dtype=np.float64),
        )

    def raw_agreement(self) -> float:
        """Return the mean over units of the share of pairs of raters that agree."""
        # Of the m (m - 1) ordered pairs of a unit, sum n_k² - m have equal values (n_k of value k).
        equal_pairs = self._sum(self.count**2) - self.size
        agreeing = equal_pairs / (self.size * (self.size - 1))
        return float(self.units @ agreeing) / float(self.units.sum())

    def fleiss_kappa(self) -> float:
        """Return Fleiss' kappa of values without an order (Fleiss 1971).

        Raises:
            UndefinedMetric: Not every unit has the same number of values, or all values are one.
        """
        n_values = self.size[self.units > 0]
        if n_values.min() != n_values.max():
            reason = f"units have from {n_values.min():.0f} to {n_values.max():.0f} values"
            raise UndefinedMetric(
                f"{reason}; Fleiss' kappa needs the same number, Krippendorff's alpha does not"
            )
        shares = self._margins() / float(self.units @ self.size)
        by_chance = float((shares**2).sum())
        if np.count_nonzero(shares) < _TWO:
            raise UndefinedMetric(ONE_CATEGORY)
        return (self.raw_agreement() - by_chance) / (1 - by_chance)

    def alpha(self, scale: Level = "nominal") -> float:
        """Return Krippendorff's alpha, ``1 - Do / De`` (Krippendorff 2011).

        The observed disagreement is that of the pairs within units, each unit's weighted by ``1 /
        (m - 1)`` for its m values; the expected one that of all pairs. The ordinal distance of two
        values is that of their mean ranks.

        Args:
            scale: ``nominal`` takes any values, the others numbers.

        Raises:
            UndefinedMetric: All values are one.
            ValueError: A value is not a number, which only a nominal scale takes.
        """
        margins = self._margins()
        total = float(margins.sum())
        if np.count_nonzero(margins) < _TWO:
            raise UndefinedMetric(ONE_CATEGORY)
        # All distances are sums over ordered pairs, computed without listing the pairs: for labels
        # the pairs that differ are all pairs less the equal ones; for numbers the squared distances
        # follow from the variance.
        if scale == "nominal":
            within = self.size**2 - self._sum(self.count**2)
            between = total**2 - float((margins**2).sum())
        else:
            positions = np.cumsum(margins) - margins / 2
            if scale == "interval":
                positions = np.array(self.values, dtype=np.float64)
            within = self._square_distances(positions)
            centre = float(margins @ positions) / total
            between = 2 * total * float(margins @ (positions - centre) ** 2)
        # Do = observed / total and De = between / (total (total - 1)).
        observed = float(self.units @ (within / (self.size - 1)))
        return 1 - observed * (total - 1) / between

    def _sum(self, entries: Floats) -> Floats:
        sums = np.bincount(self.pattern, weights=entries, minlength=len(self.size))
        return np.asarray(sums, dtype=np.float64)

    def _margins(self) -> Floats:
        """Return how often each value occurs in units with two or more values."""
        entries = self.count * self.units[self.pattern]
        margins = np.bincount(self.value, weights=entries, minlength=len(self.values))
        return np.asarray(margins, dtype=np.float64)

    def _square_distances(self, positions: Floats) -> Floats:
        """Return the sum over ordered pairs within each pattern of their squared distance."""
        # Over all ordered pairs of m values, the sum of (x - y)² is 2 m sum (x - mean)².
        means = self._sum(self.count * positions[self.value]) / self.size
        squares = self.count * (positions[self.value] - means[self.pattern]) ** 2
        return 2 * self.size * self._sum(squares)


def ac1(agreeing: float, category_shares: Floats) -> float:
    """Return Gwet's AC1 from raw agreement and the mean share of each category (Gwet 2008).

    Raises:
        UndefinedMetric: Only one category is used.
    """
    if np.count_nonzero(category_shares) < _TWO:
        raise UndefinedMetric(ONE_CATEGORY)
    # Chance agreement: sum p_k (1 - p_k) / (K - 1).
    spread = float((category_shares * (1 - category_shares)).sum())
    by_chance = spread / (len(category_shares) - 1)
    return (agreeing - by_chance) / (1 - by_chance)


def bootstrap_statistic(
    draw: Callable[[], S], statistic: Callable[[S], float], *, n_resamples: int
) -> Interval:
    """Return the percentile interval of a statistic over resamples, or why there is none.

    Args:
        draw: Returns one resample.
        statistic: Of a resample; where it is undefined the resample is left out.
        n_resamples: At least 1.
    """
    draws = []
    for _ in range(n_resamples):
        with suppress(UndefinedMetric):
            draws.append(statistic(draw()))
    if len(draws) * _TWO < n_resamples:
        n_undefined = n_resamples - len(draws)
        return no_interval(
            f"{n_undefined} of {n_resamples} resamples have no such statistic", "new items"
        )
    if max(draws) - min(draws) <= ROUNDING:
        return no_interval("the resamples have no spread", "new items")
    lower, upper = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Interval(lower=lower, upper=upper, method="bootstrap", covers="new items")
