"""Compares two runs on the same questions, and decides by itself which test and interval the scores
call for.

Depends on `nel.metrics` for errors of clusters and quantiles; the tests are in `nel.decide.mcnemar`
and `nel.decide.sign_flip`. Pairing is the caller's: position i of both arrays is the same question.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from nel.core.scaling import unscale
from nel.decide.mcnemar import mcnemar_exact, tango_interval
from nel.decide.pairs import (
    FEWEST,
    Floats,
    Integers,
    checked_scores,
    cluster_codes,
    cluster_totals,
)
from nel.decide.sign_flip import EXACT_MAX, flip_test
from nel.errors import UndefinedMetric
from nel.metrics.clusters import stderr_of_sums
from nel.metrics.intervals import LEVEL, TOO_LARGE
from nel.metrics.quantiles import student_quantile, student_tail

POWER: Final = 0.8
"""The smallest detectable effect is found in so many of 100 repetitions."""
_ROUNDING: Final = 1e-12
"""Differences and spreads below this share of the largest score are rounding."""
_HALVINGS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The difference of two runs on the same questions, candidate minus baseline, with all doubt
    about it.
    """

    estimate: float
    """Mean of the candidate minus mean of the baseline."""
    lower: float
    upper: float
    level: float
    p_value: float
    """Two-sided, that there is no difference."""
    interval_method: str
    """``tango``, ``paired_t``, ``t_cluster`` or ``no_spread`` (see `paired_difference`)."""
    test_method: str
    """``mcnemar_exact``, ``sign_flip_exact``, ``sign_flip_monte_carlo`` or ``t_cluster``."""
    n: int
    """Questions."""
    n_clusters: int | None
    wins: int
    """Questions on which the candidate is better."""
    losses: int
    ties: int
    standard_error: float
    """Of the estimate; 0 where the differences have no spread, which is not a certainty."""
    degrees: int
    """Of freedom, of the standard error."""
    smallest_detectable: float
    """The least true difference that a two-sided test at 1 - level finds in 80 of 100 such
    comparisons.
    """
    naive_lower: float | None
    """The interval had the questions not been in clusters; None where they are not."""
    naive_upper: float | None


def paired_difference(
    baseline: Sequence[float] | Floats,
    candidate: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> PairedDifference:
    """Compare two runs by their scores of the same questions.

    - Scores of 0 and 1, or of 0 and -1: McNemar's exact test and Tango's score interval.
    - Other scores, such as means over repeats: the sign-flip test and Student's t over the
      differences.
    - Questions in clusters: Student's t with CR1 errors and G - 1 degrees of freedom for G
      clusters; at 20 clusters or fewer the p-value is that of flipping whole clusters in all ways,
      which five clusters cannot bring below 0.0625.
    - Differences without spread (``no_spread``): no width would claim certainty. The interval is
      Tango's for no discordant pair, ``z² / (n + z²)`` of the way to what scores in 0 to 1, or else
      those that occur, can differ.

    Args:
        baseline: One finite number per question (the mean over its repeats), at least two.
        candidate: Those of the candidate, in the same order.
        clusters: The cluster id of each question, such as the passage it is about; not a category,
            which every run has.
        level: Of the intervals, strictly between 0 and 1.
        seed: Of the random sign flips, where there are too many to count.

    Raises:
        UndefinedMetric: Fewer than two questions or clusters, or all scores of both runs are one
            number outside 0 to 1.
        ValueError: A score is not finite, lengths differ, or an argument is out of range.

    >>> gain = paired_difference([1, 0, 1, 0, 0, 1, 0, 0, 1, 1], [1, 1, 1, 1, 0, 1, 1, 0, 1, 1])
    >>> round(gain.estimate, 6), round(gain.standard_error, 6), gain.p_value, gain.wins, gain.losses
    (0.3, 0.152753, 0.25, 3, 0)
    """
    if not 0 < level < 1:
        raise ValueError(f"the level must be between 0 and 1, not {level}")
    before, after = _checked_pair(baseline, candidate)
    pairs = _Pairs.of(before, after)
    codes, count = (None, None) if clusters is None else cluster_codes(clusters, len(before))
    rng = np.random.default_rng(seed)
    naive = pairs.interval(level)
    if codes is None or count is None:
        interval, (p_value, test) = naive, pairs.test(rng)
    else:
        interval = pairs.clustered_interval(codes, count, level)
        p_value, test = pairs.clustered_test(interval, codes, count, rng)
    lower, upper = _finite_ends(interval.lower, interval.upper, pairs.exponent)
    return PairedDifference(
        estimate=unscale(pairs.mean, pairs.exponent),
        lower=lower,
        upper=upper,
        level=level,
        p_value=p_value,
        interval_method=interval.method,
        test_method=test,
        n=len(before),
        n_clusters=count,
        wins=pairs.wins,
        losses=pairs.losses,
        ties=len(before) - pairs.wins - pairs.losses,
        standard_error=unscale(interval.standard_error, pairs.exponent),
        degrees=interval.degrees,
        smallest_detectable=unscale(pairs.smallest_detectable(interval, level), pairs.exponent),
        naive_lower=None if codes is None else unscale(naive.lower, pairs.exponent),
        naive_upper=None if codes is None else unscale(naive.upper, pairs.exponent),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interval:
    lower: float
    upper: float
    method: str
    standard_error: float
    degrees: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Differences, divided by a power of two so that their squares are finite."""

    values: Floats
    exponent: int
    mean: float
    width: float
    """The largest difference there can be."""
    wins: int
    losses: int
    is_binary: bool

    @classmethod
    def of(cls, before: Floats, after: Floats) -> _Pairs:
        largest = max(float(np.abs(before).max()), float(np.abs(after).max()))
        # Halved, so that the difference of the largest numbers is finite.
        exponent = (
            math.frexp(largest)[1] + 1 if largest and not 2.0**-400 < largest < 2.0**400 else 0
        )
        if exponent:
            before, after = np.ldexp(before, -exponent), np.ldexp(after, -exponent)
        values = after - before
        # Means over repeats that are equal but for the order of their sums are ties.
        values[
            np.abs(values)
            <= _ROUNDING * max(float(np.abs(before).max()), float(np.abs(after).max()))
        ] = 0.0
        low, high = (
            min(float(before.min()), float(after.min())),
            max(float(before.max()), float(after.max())),
        )
        # Where lower is better, scores from 0 to 1 come with their sign turned, and the same holds
        # of them.
        is_unit = not exponent and ((low >= 0 and high <= 1) or (low >= -1 and high <= 0))
        return cls(
            values=values,
            exponent=exponent,
            mean=_mean(values),
            width=1.0 if is_unit else high - low,
            wins=int(np.count_nonzero(values > 0)),
            losses=int(np.count_nonzero(values < 0)),
            is_binary=is_unit and _only_ends(before) and _only_ends(after),
        )

    def interval(self, level: float) -> _Interval:
        n, error = len(self.values), _standard_error(self.values)
        if self.is_binary:
            lower, upper = tango_interval(self.wins, self.losses, n, level=level)
            return _Interval(
                lower=lower, upper=upper, method="tango", standard_error=error, degrees=n - 1
            )
        return self._student(error, n, level, "paired_t")

    def clustered_interval(self, codes: Integers, count: int, level: float) -> _Interval:
        sums = cluster_totals(codes, count, self.values - self.mean)
        return self._student(
            stderr_of_sums(sums.tolist(), len(self.values)), count, level, "t_cluster"
        )

    def test(self, rng: np.random.Generator) -> tuple[float, str]:
        if self.is_binary:
            return mcnemar_exact(self.wins, self.losses), "mcnemar_exact"
        return flip_test(self.values, rng)

    def clustered_test(
        self, interval: _Interval, codes: Integers, count: int, rng: np.random.Generator
    ) -> tuple[float, str]:
        if count > EXACT_MAX and interval.method == "t_cluster":
            return student_tail(count - 1, self.mean / interval.standard_error), "t_cluster"
        return flip_test(cluster_totals(codes, count, self.values), rng)

    def smallest_detectable(self, interval: _Interval, level: float) -> float:
        units = interval.degrees + 1
        if interval.method == "no_spread":
            return self.width * _least_share(units, level)
        if interval.method == "tango":
            return _least_discordance((self.wins + self.losses) / units, units, level)
        quantiles = student_quantile(interval.degrees, 0.5 + level / 2) + student_quantile(
            interval.degrees, POWER
        )
        return quantiles * interval.standard_error

    def _student(self, error: float, units: int, level: float, method: str) -> _Interval:
        if error <= _ROUNDING * float(np.abs(self.values).max()):
            return self._without_spread(units, level)
        half = student_quantile(units - 1, 0.5 + level / 2) * error
        return _Interval(
            lower=self.mean - half,
            upper=self.mean + half,
            method=method,
            standard_error=error,
            degrees=units - 1,
        )

    def _without_spread(self, units: int, level: float) -> _Interval:
        if self.width == 0:
            raise UndefinedMetric(
                "every score of both runs is the same number: nothing can be said of a difference"
            )
        z = NormalDist().inv_cdf(0.5 + level / 2)
        share = z * z / (units + z * z)
        return _Interval(
            lower=self.mean - share * (self.width + self.mean),
            upper=self.mean + share * (self.width - self.mean),
            method="no_spread",
            standard_error=0.0,
            degrees=units - 1,
        )


def _finite_ends(lower: float, upper: float, exponent: int) -> tuple[float, float]:
    ends = unscale(lower, exponent), unscale(upper, exponent)
    if not all(map(math.isfinite, ends)):
        raise UndefinedMetric(TOO_LARGE)
    return ends


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / len(values)


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def _only_ends(values: Floats) -> bool:
    return bool(np.isin(values, (-1, 0, 1)).all())


def _checked_pair(
    baseline: Sequence[float] | Floats, candidate: Sequence[float] | Floats
) -> tuple[Floats, Floats]:
    before = checked_scores(baseline, "the baseline")
    after = checked_scores(candidate, "the candidate")
    if len(before) != len(after):
        raise ValueError(
            f"the baseline has {len(before)} questions and the candidate {len(after)}: pair them"
            " first"
        )
    if len(before) < FEWEST:
        raise UndefinedMetric("one question decides nothing: compare at least two")
    return before, after


def _least_discordance(share: float, n: int, level: float) -> float:
    """Return the least difference that McNemar's test finds, where this share of pairs is
    discordant.

    The root of ``n = ((z_a sqrt(psi) + z_b sqrt(psi - d²)) / d)²``. No difference is larger than
    the discordant share, so where the root is, the share has to be at least the difference.
    """
    z_level, z_power = NormalDist().inv_cdf(0.5 + level / 2), NormalDist().inv_cdf(POWER)
    room = n + z_power**2 - z_level**2
    discordance = (
        math.sqrt(share)
        * (math.sqrt(n) * z_level + z_power * math.sqrt(max(room, 0.0)))
        / (n + z_power**2)
    )
    return discordance if room > 0 and 0 < discordance <= share else _least_share(n, level)


def _least_share(n: int, level: float) -> float:
    """Return the least difference that is found where all discordant pairs are wins; at most 1."""
    z_level, z_power = NormalDist().inv_cdf(0.5 + level / 2), NormalDist().inv_cdf(POWER)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_found = n * middle >= (z_level + z_power * math.sqrt(1 - middle)) ** 2
        low, high = (low, middle) if is_found else (middle, high)
    return high
