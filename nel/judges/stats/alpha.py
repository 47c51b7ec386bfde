"""Krippendorff's alpha and related measures for any number of raters, with missing values. Depends
on numpy.

Units are stored as patterns of values with a count, so a million units with few distinct grades
take a few numbers, and a resample is one multinomial draw. With a single value agreement cannot be
distinguished from chance: the measures are undefined there, and never 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL, Interval

Floats: TypeAlias = NDArray[np.float64]
Rating: TypeAlias = str | float
Scale: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
"""Level of measurement: values that differ are only different, ordered, a known distance or a known
ratio apart.
"""
S = TypeVar("S")

RESAMPLES: Final = 2_000
ONE_CATEGORY: Final = "all values are in one category: agreement cannot be told from chance"
_RESAMPLES_FEW: Final = 200
_WORK: Final = 20_000_000
"""Entries of all resamples together, at most: about two seconds of work."""
_NO_PAIRS: Final = "no unit has two values"
_TWO: Final = 2
_ROUNDING: Final = 1e-12
_CHUNK: Final = 1024
"""Distinct values compared with all others at a time."""


class Units:
    """Collects the ratings of units, one at a time; memory is a few numbers per distinct pattern of
    values.
    """

    def __init__(self) -> None:
        """Start with no units."""
        self._patterns: Counter[tuple[Rating, ...]] = Counter()
        self.n_single = 0
        """Units with fewer than two values, which carry no information on agreement."""

    def add(self, values: Iterable[Rating | None]) -> None:
        """Add one unit: the value of each rater, in any order.

        Args:
            values: Labels or finite numbers; None and NaN are missing.

        Raises:
            ValueError: A number is infinite.
        """
        known = [
            value if isinstance(value, str) else float(value)
            for value in values
            if value is not None
        ]
        known = [value for value in known if isinstance(value, str) or not math.isnan(value)]
        if any(isinstance(value, float) and math.isinf(value) for value in known):
            raise ValueError("a value is infinite")
        if len(known) < _TWO:
            self.n_single += 1
        else:
            self._patterns[tuple(sorted(known, key=_order))] += 1

    @property
    def n_units(self) -> int:
        """Return how many units have two values or more."""
        return self._patterns.total()

    def ratings(self) -> Ratings:
        """Return the ratings of all units so far.

        Raises:
            UndefinedMetric: No unit has two values.
        """
        if not self._patterns:
            raise UndefinedMetric(_NO_PAIRS)
        return Ratings.of(self._patterns)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Rated units in sparse form: in entry e, pattern `pattern[e]` has value `value[e]` exactly
    `count[e]` times.
    """

    values: tuple[Rating, ...]
    """The distinct values in order."""
    numbers: Floats | None
    """The values scaled to [-1, 1], so that no distance overflows; None for labels."""
    pattern: NDArray[np.int64]
    value: NDArray[np.int64]
    count: Floats
    size: Floats
    """Number of values of each pattern, at least 2."""
    units: Floats
    """Number of units with each pattern."""

    @classmethod
    def of(cls, patterns: Counter[tuple[Rating, ...]]) -> Ratings:
        """Return the arrays of patterns and how often each occurs."""
        ordered = sorted(patterns, key=lambda pattern: [_order(label) for label in pattern])
        values = tuple(sorted({label for pattern in ordered for label in pattern}, key=_order))
        places = {label: index for index, label in enumerate(values)}
        entries = [
            (row, places[label], count)
            for row, pattern in enumerate(ordered)
            for label, count in Counter(pattern).items()
        ]
        rows, columns, counts = zip(*entries, strict=True)
        return cls(
            values,
            _scaled(values),
            np.array(rows, dtype=np.int64),
            np.array(columns, dtype=np.int64),
            np.array(counts, dtype=np.float64),
            np.array([len(pattern) for pattern in ordered], dtype=np.float64),
            np.array([patterns[pattern] for pattern in ordered], dtype=np.float64),
        )

    def raw_agreement(self) -> float:
        """Return the mean over units of the share of pairs of raters that agree."""
        agreeing = (self._summed(self.count**2) - self.size) / (self.size * (self.size - 1))
        return float(self.units @ agreeing) / float(self.units.sum())

    def fleiss_kappa(self) -> float:
        """Return Fleiss' kappa of values without an order (Fleiss 1971).

        Raises:
            UndefinedMetric: Not every unit has the same number of values, or all values are one.
        """
        used = self.size[self.units > 0]
        if used.min() != used.max():
            reason = f"units have from {used.min():.0f} to {used.max():.0f} values"
            raise UndefinedMetric(
                f"{reason}; Fleiss' kappa needs the same number, Krippendorff's alpha does not"
            )
        shares = self._margins() / float(self.units @ self.size)
        by_chance = float((shares**2).sum())
        if np.count_nonzero(shares) < _TWO:
            raise UndefinedMetric(ONE_CATEGORY)
        return (self.raw_agreement() - by_chance) / (1 - by_chance)

    def gwet_ac1(self, categories: int | None = None) -> float:
        """Return Gwet's AC1 for any number of raters (Gwet 2008).

        Args:
            categories: How many there are; by default those that occur.

        Raises:
            UndefinedMetric: All values are one.
        """
        per_unit = np.bincount(
            self.value,
            weights=self.count * (self.units / self.size)[self.pattern],
            minlength=max(len(self.values), categories or 0),
        )
        return ac1(self.raw_agreement(), per_unit / float(self.units.sum()))

    def alpha(self, scale: Scale = "nominal") -> float:
        """Return Krippendorff's alpha, ``1 - Do / De`` (Krippendorff 2011, "Computing
        Krippendorff's alpha").

        The observed disagreement is that of the pairs within units, each unit's weighted by ``1 /
        (m - 1)`` for its m values; the expected one that of all pairs. The ordinal distance of two
        values is that of their mean ranks.

        Args:
            scale: ``nominal`` takes any values, ``ratio`` numbers from 0 on, the others numbers.

        Raises:
            UndefinedMetric: All values are one.
            ValueError: A value is not of this scale.
        """
        margins = self._margins()
        total = float(margins.sum())
        if np.count_nonzero(margins) < _TWO:
            raise UndefinedMetric(ONE_CATEGORY)
        # All distances are sums over ordered pairs, computed without listing the pairs: for labels
        # the pairs that differ are all pairs less the equal ones; for numbers the squared distances
        # follow from the variance.
        if scale == "nominal":
            within = self.size**2 - self._summed(self.count**2)
            between = total**2 - float((margins**2).sum())
        elif scale == "ratio":
            within, between = self._ratio_distances(margins)
        else:
            numbers = self._numbers()
            places = numbers if scale == "interval" else np.cumsum(margins) - margins / 2
            within = self._square_distances(places)
            centre = float(margins @ places) / total
            between = 2 * total * float(margins @ (places - centre) ** 2)
        observed = float(self.units @ (within / (self.size - 1)))
        return 1 - observed * (total - 1) / between

    def interval(
        self,
        statistic: Callable[[Ratings], float],
        *,
        level: float = LEVEL,
        n_resamples: int | None = None,
        seed: int = 42,
    ) -> Interval:
        """Return the percentile bootstrap interval of a statistic, resampling units.

        Args:
            statistic: Such as ``Ratings.alpha`` or ``lambda ratings: ratings.alpha("ordinal")``.
            level: Strictly between 0 and 1.
            n_resamples: At least 1; by default 2,000, and 200 where there are very many patterns.
            seed: Seeds a generator of its own.

        Returns:
            An interval of method ``bootstrap``; or one without ends, with the reason, where the
            resamples have no spread or most of them have no such statistic.
        """
        rng = np.random.default_rng(seed)
        n, shares = round(float(self.units.sum())), self.units / float(self.units.sum())

        def draw() -> Ratings:
            return replace(self, units=rng.multinomial(n, shares).astype(np.float64))

        if n_resamples is None:
            n_resamples = min(RESAMPLES, max(_RESAMPLES_FEW, _WORK // len(self.count)))
        return bootstrap_statistic(draw, statistic, level=level, n_resamples=n_resamples)

    def _summed(self, entries: Floats) -> Floats:
        sums = np.bincount(self.pattern, weights=entries, minlength=len(self.size))
        return np.asarray(sums, dtype=np.float64)

    def _margins(self) -> Floats:
        """Return how often each value occurs in units with two or more values."""
        entries = self.count * self.units[self.pattern]
        margins = np.bincount(self.value, weights=entries, minlength=len(self.values))
        return np.asarray(margins, dtype=np.float64)

    def _numbers(self) -> Floats:
        if self.numbers is None:
            raise ValueError("labels have no order; give numbers or measure them as nominal")
        return self.numbers

    def _square_distances(self, places: Floats) -> Floats:
        """Return the sum over ordered pairs within each pattern of their squared distance."""
        means = self._summed(self.count * places[self.value]) / self.size
        return (
            2
            * self.size
            * self._summed(self.count * (places[self.value] - means[self.pattern]) ** 2)
        )

    def _ratio_distances(self, margins: Floats) -> tuple[Floats, float]:
        numbers = self._numbers()
        if float(numbers.min()) < 0:
            raise ValueError("a ratio scale has no values below 0")
        within = np.zeros(len(self.size))
        edges = np.searchsorted(self.pattern, np.arange(len(self.size) + 1))
        for row, (first, last) in enumerate(pairwise(edges.tolist())):
            present, counts = numbers[self.value[first:last]], self.count[first:last]
            within[row] = float(counts @ _ratios(present, present) @ counts)
        between = sum(
            float(
                margins[start : start + _CHUNK]
                @ _ratios(numbers[start : start + _CHUNK], numbers)
                @ margins
            )
            for start in range(0, len(numbers), _CHUNK)
        )
        return within, between


def krippendorff_alpha(units: Iterable[Iterable[Rating | None]], scale: Scale = "nominal") -> float:
    """Return Krippendorff's alpha of units, each with the values that raters gave it, None where
    one did not.

    Raises:
        UndefinedMetric: No unit has two values, or all values are one.
        ValueError: A value is not of this scale.

    >>> round(krippendorff_alpha([(1, 1), (2, 3), (3, 3), (4, None)], "interval"), 6)
    0.827586
    """
    counted = Units()
    for values in units:
        counted.add(values)
    return counted.ratings().alpha(scale)


def ac1(agreeing: float, used: Floats) -> float:
    """Return Gwet's AC1 from raw agreement and the mean share of each category (Gwet 2008).

    Raises:
        UndefinedMetric: Only one category is used.
    """
    if np.count_nonzero(used) < _TWO:
        raise UndefinedMetric(ONE_CATEGORY)
    by_chance = float((used * (1 - used)).sum()) / (len(used) - 1)
    return (agreeing - by_chance) / (1 - by_chance)


def bootstrap_statistic(
    draw: Callable[[], S], statistic: Callable[[S], float], *, level: float, n_resamples: int
) -> Interval:
    """Return the percentile interval of a statistic over resamples, or one without ends and its
    reason.

    Args:
        draw: Returns one resample.
        statistic: Of a resample; where it is undefined the resample is left out.
        level: Strictly between 0 and 1.
        n_resamples: At least 1.
    """
    if not 0 < level < 1 or n_resamples < 1:
        raise ValueError(f"no interval at level {level} of {n_resamples} resamples")
    draws = np.array(list(_defined(draw, statistic, n_resamples)))
    reason = None
    if len(draws) * _TWO < n_resamples:
        reason = f"{n_resamples - len(draws)} of {n_resamples} resamples have no such statistic"
    elif float(draws.max() - draws.min()) <= _ROUNDING:
        reason = "the resamples have no spread"
    if reason is not None:
        return Interval(lower=None, upper=None, method="none", covers="new items", reason=reason)
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(lower=lower, upper=upper, method="bootstrap", covers="new items")


def _defined(
    draw: Callable[[], S], statistic: Callable[[S], float], n_resamples: int
) -> Iterator[float]:
    for _ in range(n_resamples):
        try:
            yield statistic(draw())
        except UndefinedMetric:
            continue


def _scaled(values: tuple[Rating, ...]) -> Floats | None:
    if any(isinstance(item, str) for item in values):
        return None
    numbers = np.array(values, dtype=np.float64)
    largest = float(np.abs(numbers).max())
    return numbers / largest if largest else numbers


def _order(value: Rating) -> tuple[bool, Rating]:
    return isinstance(value, str), value


def _ratios(first: Floats, second: Floats) -> Floats:
    sums = first[:, None] + second[None, :]
    return np.asarray(
        ((first[:, None] - second[None, :]) / np.where(sums == 0, 1.0, sums)) ** 2, dtype=np.float64
    )
