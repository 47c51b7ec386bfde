"""Ranks with simultaneous confidence intervals, from comparisons of all pairs. Pure functions; no
I/O.

A rank is decided by what is known of the pairs: what is better than another for certain stands
above it; every other order stays open (Al Mohamad, Goeman and van Zwet 2022, Biometrics 78:1229;
Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91:476). With the one-sided
tests of both directions adjusted together by Holm, no claimed order is false with probability 1 -
alpha whatever the dependence, so all intervals hold at once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from nel.errors import UndefinedMetric
from nel.metrics.quantiles import student_tail


def one_sided(estimate: float, p_value: float) -> tuple[float, float]:
    """Return the p-values of "not better" and of "not worse" from a two-sided test.

    The halved p-value of a test that adds up equal tails is valid for the direction that was seen;
    the other direction gets 1, which is valid for any.

    Args:
        estimate: The difference that was seen.
        p_value: Two-sided, 0 to 1.

    >>> one_sided(0.1, 0.02), one_sided(-0.1, 0.02), one_sided(0.0, 1.0)
    ((0.01, 1.0), (1.0, 0.01), (1.0, 1.0))
    """
    return (p_value / 2 if estimate > 0 else 1.0), (p_value / 2 if estimate < 0 else 1.0)


def rank_intervals(n: int, better: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the lowest and the highest rank of each from the pairs of which one is better than the
    other for certain; 1 is the best.

    Args:
        n: Competitors, numbered from 0.
        better: ``(i, j)`` where i is better than j.

    >>> rank_intervals(3, [(0, 2)])
    [(1, 2), (1, 3), (2, 3)]
    """
    return [
        (1 + sum(j == index for _, j in better), n - sum(i == index for i, _ in better))
        for index in range(n)
    ]


def stratified_difference(
    estimates: Sequence[float], standard_errors: Sequence[float], degrees: Sequence[float]
) -> tuple[float, float]:
    """Return the mean of differences on several benchmarks and its two-sided p-value.

    Each benchmark counts the same. Their questions are different ones, so the variances add up; the
    sum has the degrees of freedom of Welch 1947 and Satterthwaite 1946, which few questions or
    clusters make few.

    Args:
        estimates: A difference for each benchmark, at least one.
        standard_errors: Of them.
        degrees: Of freedom of each error.

    Raises:
        UndefinedMetric: No difference varies, or one that is not 0 does not.

    >>> mean, p_value = stratified_difference([0.1, 0.0], [0.03, 0.04], [1e9, 1e9])
    >>> round(mean, 6), round(p_value, 6)
    (0.05, 0.0455)
    """
    n = len(estimates)
    mean = math.fsum(estimates) / n
    error = math.sqrt(math.fsum(spread * spread for spread in standard_errors)) / n
    if not error > 0 or not math.isfinite(error):
        raise UndefinedMetric(
            "differences without spread have no standard error, which is not a certainty"
        )
    if any(
        estimate and not spread for estimate, spread in zip(estimates, standard_errors, strict=True)
    ):
        raise UndefinedMetric(
            "a benchmark has one and the same difference on every question, which is not a certainty"
        )
    shares = [(spread / n / error) ** 2 for spread in standard_errors]
    parts = [share * share / freedom for share, freedom in zip(shares, degrees, strict=True)]
    return mean, student_tail(1 / math.fsum(parts), mean / error)
