"""Paired 0/1 scores: McNemar's exact test and Tango's score interval, from counts."""

from __future__ import annotations

import math
from typing import Final

from nel.metrics.intervals import LEVEL
from nel.metrics.quantiles import interval_quantile, log_beta_cdf

_COUNTED_MAX: Final = 500
"""Up to so many discordant pairs the p-value is counted in whole numbers, and exact."""
_STEPS_MAX: Final = 1200
"""Halvings of an interval of floating-point numbers; from -1 to 0 there are fewer."""


def mcnemar_exact(wins: int, losses: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, which is binomial with a chance of 0.5.

    From 500 discordant pairs on it is computed in logarithms, at any number of them; statsmodels'
    ``mcnemar(exact=True)``. Below about 1e-308 it is 0; `mcnemar_log_p` has its logarithm.

    Args:
        wins: Questions that only the candidate has right.
        losses: Questions that only the baseline has right.

    >>> round(mcnemar_exact(10, 2), 6), mcnemar_exact(0, 0)
    (0.038574, 1.0)
    """
    total = wins + losses
    if total > _COUNTED_MAX:
        return math.exp(mcnemar_log_p(wins, losses))
    n_outcomes = 1 << total
    n_as_extreme = sum(math.comb(total, few) for few in range(min(wins, losses) + 1))
    return min(1.0, 2 * n_as_extreme / n_outcomes)


def mcnemar_log_p(wins: int, losses: int) -> float:
    """Return the natural logarithm of `mcnemar_exact`.

    >>> round(mcnemar_log_p(1_000_000, 0) / math.log(2))
    -999999
    """
    few, many = sorted((wins, losses))
    if many - few <= 1:
        return 0.0
    # P(X <= few) of a binomial with both equally likely is an incomplete beta function (DLMF
    # 8.17.5).
    return min(0.0, math.log(2) + log_beta_cdf(many, few + 1, 0.5))


def tango_interval(
    wins: float, losses: float, n: int, *, level: float = LEVEL
) -> tuple[float, float]:
    """Return the score interval of candidate minus baseline, two shares of the same questions.

    Tango 1998 (Statistics in Medicine 17, 891-908): the differences that a score test, with the
    other parameter at its restricted maximum of likelihood, does not reject. It has a width also
    where no pair is discordant.

    Args:
        wins: Questions that only the candidate has right.
        losses: Questions that only the baseline has right.
        n: All questions, at least one.
        level: Strictly between 0 and 1.

    Returns:
        Its ends, from -1 to 1.

    >>> [round(end, 6) for end in tango_interval(10, 2, 100)]
    [0.014296, 0.15804]
    """
    z = interval_quantile(level)
    return _tango_lower(wins, losses, n, z), -_tango_lower(losses, wins, n, z)


def tango_z(wins: float, losses: float, n: int, difference: float) -> float:
    """Return Tango's score statistic against a difference: positive where the data lie above it.

    >>> round(tango_z(10, 2, 100, 0.0), 6)
    2.309401
    """
    distance = wins - losses - n * difference
    variance = n * _restricted_variance(wins, losses, n, difference)
    if variance <= 0 and distance == 0:
        return 0.0
    if variance <= 0:
        return math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def _tango_lower(wins: float, losses: float, n: int, z: float) -> float:
    low, high = -1.0, (wins - losses) / n
    for _ in range(_STEPS_MAX):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        # The statistic falls with the difference, so below the end it is above z.
        if tango_z(wins, losses, n, middle) > z:
            low = middle
        else:
            high = middle
    return high


def _restricted_variance(wins: float, losses: float, n: int, difference: float) -> float:
    """Return the variance of one question's difference, given the mean difference.

    It is that of the most likely shares that have this mean.
    """
    if difference < 0:
        wins, losses, difference = losses, wins, -difference
    # 2n q² + b q + c = 0 for the share q of losses (Tango's A, B and C, with the discordant counts
    # b = wins and c = losses); c is never positive here, so its root has no cancellation.
    b = (2 * n - wins + losses) * difference - wins - losses
    c = -losses * difference * (1 - difference)
    root = math.sqrt(b * b - 8 * n * c)
    share = 0.0
    if b < 0:
        share = (root - b) / (4 * n)
    elif root + b > 0:  # the same root, written so that nothing nearly equal is subtracted
        share = -2 * c / (root + b)
    return 2 * share + difference * (1 - difference)
