"""The paired difference of a mean over several benchmarks, whose questions are not the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nel.core.scaling import ROUNDING
from nel.decide.paired import PairedDifference
from nel.decide.pairs import Floats
from nel.decide.power import Test, added_power, least_effect
from nel.decide.sign_flip import flip_test
from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL
from nel.metrics.question_intervals import macro_interval


def macro_difference(
    baseline: Sequence[Floats],
    candidate: Sequence[Floats],
    *,
    weights: Sequence[float],
    absent: float = 0.0,
    level: float = LEVEL,
    seed: int = 0,
) -> PairedDifference:
    """Compare two runs by a weighted mean over benchmarks, each question with itself.

    The interval is `nel.metrics.question_intervals.macro_interval` of the differences; the test
    flips the sign of each question's share of the mean.

    Args:
        baseline: The scores of each benchmark's questions, from 0 to 1.
        candidate: Those of the candidate, in the same order.
        weights: Of each benchmark; if they sum to less than 1, some benchmarks are missing.
        absent: The difference, -1 to 1, of missing ones in the estimate; the interval has both ends.
        level: Of the interval, strictly between 0 and 1.
        seed: Of the random sign flips, where there are too many to count.

    Raises:
        UndefinedMetric: A benchmark has fewer than two questions.

    >>> scores = [np.array([0.0, 1, 1, 0]), np.array([0.5, 0.5])]
    >>> gain = macro_difference(scores, [scores[0] + [1, 0, 0, 0], scores[1]], weights=[0.6, 0.4])
    >>> round(gain.estimate, 6), round(gain.lower, 6), round(gain.upper, 6), gain.wins
    (0.15, -0.449665, 0.653844, 1)
    """
    differences = [
        np.where(np.isclose(before, after, rtol=0, atol=ROUNDING), 0.0, after - before)
        for before, after in zip(baseline, candidate, strict=True)
    ]
    interval = macro_interval(differences, weights=weights, bounds=(-1.0, 1.0), level=level)
    if interval.lower is None or interval.upper is None:
        raise UndefinedMetric(str(interval.reason))
    # Each question's share of the mean: the variance of the mean is then that of a sum.
    parts = [part * (weight / len(part)) for part, weight in zip(differences, weights, strict=True)]
    shares, values = np.concatenate(parts), np.concatenate(differences)
    p_value, test = flip_test(shares, np.random.default_rng(seed))
    n, wins, losses = len(values), int((values > 0).sum()), int((values < 0).sum())
    variance = math.fsum(len(part) * float(part.var(ddof=1)) for part in parts)
    return PairedDifference(
        estimate=math.fsum(map(float, shares)) + (1 - math.fsum(weights)) * absent,
        lower=interval.lower,
        upper=interval.upper,
        level=level,
        p_value=p_value,
        interval_method=interval.method,
        test_method=test,
        n=n,
        n_clusters=None,
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
        standard_error=math.sqrt(variance),
        smallest_detectable=_smallest_detectable(parts, weights, variance, level),
    )


def _smallest_detectable(
    parts: Sequence[Floats], weights: Sequence[float], variance: float, level: float
) -> float:
    """Return the least true difference that such a comparison finds in 80 of 100 cases."""
    test = Test(alpha=1 - level)
    # So many questions of one benchmark would have this variance at the same spread.
    questions = 1 / math.fsum(
        weight**2 / len(part) for part, weight in zip(parts, weights, strict=True)
    )

    def power(effect: float) -> float:
        spread = max(variance * questions, effect * (1 - effect))
        return added_power(effect, max(questions, 1.0), spread, test)

    return least_effect(power, test)
