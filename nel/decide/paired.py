"""Compares two runs on the same questions, by the test and interval that their design calls for.

The interval is that of `nel.metrics.question_intervals`, and Tango's where each question was asked
once and is right or wrong; the tests are in `nel.decide.mcnemar` and `nel.decide.sign_flip`.
Pairing is the caller's: position i of both arrays is the same question.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nel.core.scaling import ROUNDING, unscale
from nel.decide.mcnemar import tango_interval
from nel.decide.pairs import Floats, Integers, checked_scores
from nel.decide.power import POWER, Test, added_power, least_effect, mcnemar_power
from nel.decide.sign_flip import flip_test
from nel.errors import UndefinedMetric
from nel.metrics.clusters import cluster_codes, grouped_variance
from nel.metrics.intervals import FEWEST, LEVEL, TOO_LARGE, Interval, single_answers_interval
from nel.metrics.quantiles import student_quantile
from nel.metrics.question_intervals import (
    Range,
    fewest_questions,
    values_interval,
    values_until,
    weight_in_groups,
)

_UNKNOWN: Final[Range] = (-math.inf, math.inf)
"""The bounds of scores of which none are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDesign:
    """What is known of the scores of two runs before they are looked at."""

    repeats: int = 1
    """Answers to a question that were planned, of the run with more of them."""
    bounds: Range | None = None
    """The lowest and highest difference of a question, infinite where these are not known; None
    where only the scores can say so.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Candidate minus baseline on the same questions, with all doubt about it."""

    estimate: float
    """Mean of the candidate minus mean of the baseline."""
    lower: float
    upper: float
    level: float
    p_value: float
    """Two-sided, that there is no difference."""
    interval_method: str
    """``tango``, ``added_question``, ``added_question_groups`` or ``t``: see `paired_difference`.
    """
    test_method: str
    """``mcnemar_exact``, ``sign_flip_exact`` or ``sign_flip_monte_carlo``."""
    n: int
    """Questions."""
    n_clusters: int | None
    wins: int
    """Questions on which the candidate is better."""
    losses: int
    ties: int
    standard_error: float
    """Of the estimate; 0 where the differences have no spread, which is not a certainty."""
    smallest_detectable: float
    """The least true difference that such a comparison finds in 80 of 100 cases at this level."""
    naive_lower: float | None = None
    """The interval had the questions not been in clusters; None where they are not."""
    naive_upper: float | None = None
    caution: str | None = None
    """What should be known of the interval where it rests on few clusters."""

    def negate(self) -> PairedDifference:
        """Return the difference with its sign turned; wins stay the candidate's."""
        return replace(
            self,
            estimate=-self.estimate,
            lower=-self.upper,
            upper=-self.lower,
            naive_lower=None if self.naive_upper is None else -self.naive_upper,
            naive_upper=None if self.naive_lower is None else -self.naive_lower,
        )


def paired_difference(
    baseline: Sequence[float] | Floats,
    candidate: Sequence[float] | Floats,
    *,
    design: PairedDesign | None = None,
    clusters: Sequence[Hashable] | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> PairedDifference:
    """Compare two runs by their scores of the same questions.

    - Each question asked once on both sides, and right or wrong: McNemar's exact test and Tango's
      score interval; with part credit that of other scores, cut where Tango's is with all part
      credit taken as none or as full.
    - Other scores with bounds, such as means over repeats: the sign-flip test, and the interval of
      the differences and one more at each bound.
    - Questions in clusters: the same with the design effect of the clusters, and whole clusters are
      flipped, which five clusters cannot bring below 0.0625.
    - Scores without known bounds: the sign-flip test and Student's t, in clusters with CR2 errors
      and Satterthwaite's degrees.

    Args:
        baseline: One finite number per question (the mean over its repeats), at least two.
        candidate: Those of the candidate, in the same order.
        design: How the questions were asked; by default once, and bounds are those of the scores
            where these lie between 0 and 1 or between -1 and 0.
        clusters: The cluster id of each question, such as the passage it is about; not a category,
            which every run has.
        level: Of the intervals, strictly between 0 and 1.
        seed: Of the random sign flips, where there are too many to count.

    Raises:
        UndefinedMetric: Fewer than two questions or clusters, or differences without bounds are all
            the same number.
        ValueError: A score is not finite, lengths differ, or an argument is out of range.

    >>> gain = paired_difference([1, 0, 1, 0, 0, 1, 0, 0, 1, 1], [1, 1, 1, 1, 0, 1, 1, 0, 1, 1])
    >>> round(gain.estimate, 6), round(gain.standard_error, 6), gain.p_value, gain.wins, gain.losses
    (0.3, 0.152753, 0.25, 3, 0)
    """
    if not 0 < level < 1:
        raise ValueError(f"the level must be between 0 and 1, not {level}")
    before, after = _checked_pair(baseline, candidate)
    pairs = _Pairs.of(before, after, design or PairedDesign())
    codes = _checked_codes(clusters, len(before))
    return _in_units_of_scores(pairs, codes, level, np.random.default_rng(seed))


def _in_units_of_scores(
    pairs: _Pairs, codes: Integers | None, level: float, rng: np.random.Generator
) -> PairedDifference:
    """Return interval, test and errors of scaled differences, on the scale of the scores."""
    n = len(pairs.values)
    interval = pairs.interval(codes, level)
    p_value, test = pairs.test(codes, rng)
    variance, _ = pairs.variance(codes)
    lower, upper = _finite_ends(interval, pairs.exponent)
    naive_lower, naive_upper = _naive_ends(pairs, codes, level)
    detectable = pairs.smallest_detectable(interval, codes, level)
    return PairedDifference(
        estimate=unscale(pairs.mean, pairs.exponent),
        lower=lower,
        upper=upper,
        level=level,
        p_value=p_value,
        interval_method=interval.method,
        test_method=test,
        n=n,
        n_clusters=None if codes is None else int(codes.max()) + 1,
        wins=pairs.wins,
        losses=pairs.losses,
        ties=n - pairs.wins - pairs.losses,
        standard_error=unscale(math.sqrt(variance), pairs.exponent),
        smallest_detectable=unscale(detectable, pairs.exponent),
        naive_lower=naive_lower,
        naive_upper=naive_upper,
        caution=interval.caution,
    )


def pairs_until(
    baseline: Sequence[float] | Floats,
    candidate: Sequence[float] | Floats,
    target: float,
    *,
    design: PairedDesign | None = None,
    clusters: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> int | None:
    """Return the fewest new questions with which the lower end of a difference would reach a target,
    had they the values of these; None where their mean does not, or bounds are not known.

    Args:
        baseline: As for `paired_difference`.
        candidate: Those of the candidate, in the same order.
        target: Such as minus the margin of a gate.
        design: How the questions were asked.
        clusters: The cluster id of each question.
        level: Of the interval.

    >>> pairs_until([1.0] * 50, [1.0] * 50, -0.03)
    125
    """
    pairs = _Pairs.of(*_checked_pair(baseline, candidate), design or PairedDesign())
    if pairs.bounds is None or not pairs.mean > target:
        return None
    codes = _checked_codes(clusters, len(pairs.values))
    if pairs.interval(codes, level).method == "tango":
        shares = pairs.wins / len(pairs.values), pairs.losses / len(pairs.values)
        return fewest_questions(
            lambda n: tango_interval(shares[0] * n, shares[1] * n, n, level=level)[0] >= target
        )
    weight = pairs.weight(codes, level)
    return values_until(pairs.values, target, pairs.bounds, weight, level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Differences, divided by a power of two so that their squares are finite."""

    values: Floats
    exponent: int
    mean: float
    bounds: Range | None
    wins: int
    losses: int
    is_single: bool
    """Whether each question was asked once on either side, with a score from 0 to 1."""

    @classmethod
    def of(cls, before: Floats, after: Floats, design: PairedDesign) -> _Pairs:
        largest = max(float(np.abs(before).max()), float(np.abs(after).max()))
        low = min(float(before.min()), float(after.min()))
        high = max(float(before.max()), float(after.max()))
        # Where lower is better, scores from 0 to 1 come with their sign turned, and the same holds
        # of them.
        is_unit = (low >= 0 and high <= 1) or (low >= -1 and high <= 0)
        bounds = design.bounds or ((-1.0, 1.0) if is_unit else _UNKNOWN)
        # Between these limits no square overflows a float, which ends near 2^1024, or loses digits
        # near 2^-1022; scaling by a power of two changes no digit.
        exponent = 0
        if bounds == _UNKNOWN and largest and not 2.0**-400 < largest < 2.0**400:
            # Halved, so that the difference of the largest numbers is finite.
            exponent = math.frexp(largest)[1] + 1
            before, after = np.ldexp(before, -exponent), np.ldexp(after, -exponent)
            largest = math.ldexp(largest, -exponent)
        values = after - before
        # Means over repeats that are equal but for the order of their sums are ties.
        values[np.abs(values) <= ROUNDING * largest] = 0.0
        return cls(
            values=values,
            exponent=exponent,
            mean=math.fsum(values.tolist()) / len(values),
            bounds=None if bounds == _UNKNOWN else bounds,
            wins=int(np.count_nonzero(values > 0)),
            losses=int(np.count_nonzero(values < 0)),
            is_single=design.repeats == 1 and bounds == (-1.0, 1.0),
        )

    def interval(self, codes: Integers | None, level: float) -> Interval:
        if codes is None and self.is_single:
            return single_answers_interval(
                self.values,
                lambda scores: _tango(scores, level),
                lambda: values_interval(self.values, bounds=self.bounds, level=level),
            )
        return values_interval(self.values, bounds=self.bounds, codes=codes, level=level)

    def test(self, codes: Integers | None, rng: np.random.Generator) -> tuple[float, str]:
        if codes is not None:
            return flip_test(np.bincount(codes, weights=self.values).astype(np.float64), rng)
        p_value, test = flip_test(self.values, rng)
        is_whole = self.is_single and bool(np.isin(self.values, (-1, 0, 1)).all())
        if is_whole:  # then the flips are those of McNemar's test
            test = "mcnemar_exact"
        return p_value, test

    def variance(self, codes: Integers | None) -> tuple[float, float]:
        """Return the variance of the mean, and its degrees of freedom."""
        n = len(self.values)
        if codes is not None:
            return grouped_variance(self.values, codes)
        return float(self.values.var(ddof=1)) / n, n - 1.0

    def weight(self, codes: Integers | None, level: float) -> float:
        """Return how many questions a question counts as, because those of a cluster are alike."""
        if codes is None or self.bounds is None:
            return 1.0
        return weight_in_groups(self.values, codes, level, self.bounds)

    def smallest_detectable(
        self, interval: Interval, codes: Integers | None, level: float
    ) -> float:
        n, test = len(self.values), Test(alpha=1 - level)
        if interval.method == "tango":
            # Without a discordant pair, as if there were one: no share is known to be 0.
            share = (self.wins + self.losses or 1) / n
            return least_effect(
                lambda effect: mcnemar_power(effect, max(effect, share), n, test), test
            )
        variance, degrees = self.variance(codes)
        if self.bounds is None:
            # The statistic exceeds t_alpha in 80 of 100 cases if its mean exceeds it by t_power.
            t_alpha = student_quantile(degrees, 0.5 + level / 2)
            t_power = student_quantile(degrees, POWER)
            return (t_alpha + t_power) * math.sqrt(variance)
        weight = self.weight(codes, level)
        spread = float(self.values.var(ddof=1))

        def power(effect: float) -> float:
            # A difference may be made by questions that are wholly won.
            return added_power(effect, weight * n, max(spread, effect * (1 - effect)), test)

        return least_effect(power, test)


def _tango(scores: Floats, level: float) -> Interval:
    wins, losses = (int(np.count_nonzero(scores == end)) for end in (1, -1))
    lower, upper = tango_interval(wins, losses, len(scores), level=level)
    return Interval(lower=lower, upper=upper, method="tango", covers="new questions")


def _finite_ends(interval: Interval, exponent: int) -> tuple[float, float]:
    if interval.lower is None or interval.upper is None:
        raise UndefinedMetric(
            "every question differs by the same number: without known bounds of the scores, nothing"
            " can be said of the difference"
        )
    lower, upper = unscale(interval.lower, exponent), unscale(interval.upper, exponent)
    if not math.isfinite(lower) or not math.isfinite(upper):
        raise UndefinedMetric(TOO_LARGE)
    return lower, upper


def _naive_ends(
    pairs: _Pairs, codes: Integers | None, level: float
) -> tuple[float | None, float | None]:
    """Return the interval that ignores the clusters, where there are any."""
    if codes is None:
        return None, None
    naive = pairs.interval(None, level)
    if naive.lower is None or naive.upper is None:
        return None, None
    return _finite_ends(naive, pairs.exponent)


def _checked_codes(clusters: Sequence[Hashable] | None, n: int) -> Integers | None:
    if clusters is None:
        return None
    if len(clusters) != n:
        raise ValueError(f"{n} questions have {len(clusters)} cluster ids")
    codes, count = cluster_codes(clusters)
    if count < FEWEST:
        raise UndefinedMetric(
            f"all {n} questions are in one cluster, and an error between clusters needs two;"
            " compare without clusters"
        )
    return codes


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
