"""The power of a comparison of 0/1 scores with few discordant pairs, by enumeration.

The number of discordant pairs is binomial, and so are the wins among them. For each number of
discordant pairs the fewest wins are found with which `nel compare` or a gate decides; their tails
add up to the power. The approximations of `nel.decide.power` promise up to five points too much
below 30 discordant pairs, and fifteen where a gate's margin is as large as their share.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Final

from nel.core.scaling import ROUNDING
from nel.decide.mcnemar import mcnemar_log_p, tango_z
from nel.decide.power import Test
from nel.metrics.quantiles import log_beta_cdf

EXACT_MAX: Final = 200
"""Expected discordant pairs at most; above, the approximation is right to two points."""
_SPREADS: Final = 8.0
"""Standard deviations of the number of discordant pairs that are counted; beyond are 1e-15."""


def exact_power(effect: float, discordant: float, questions: int, test: Test) -> float:
    """Return how likely `nel compare` and `nel gate` find an effect with so many 0/1 scores.

    Two-sided: that McNemar's exact test and Tango's interval find a candidate that is better by the
    effect. One-sided: that Tango's interval excludes a drop by the effect, the margin, of a
    candidate that is equally good.

    Args:
        effect: Above 0, at most 1.
        discordant: The share of questions that only one of the two has right; two-sided at least
            the effect.
        questions: At least one.
        test: The level and the kind of the test.

    Raises:
        ValueError: A number is out of range.

    >>> round(exact_power(0.2, 0.4, 77, Test()), 4)
    0.7607
    """
    difference = effect if test.two_sided else 0.0
    if not (0 < effect <= 1 and difference <= discordant <= 1 and questions >= 1):
        raise ValueError(
            f"no power of {questions} questions for {effect} with a discordant share of"
            f" {discordant}"
        )
    mean = questions * discordant
    deviation = math.sqrt(questions * discordant * (1 - discordant))
    spread = _SPREADS * deviation + _SPREADS  # a few more, where the deviation is next to nothing
    low = max(0, math.floor(mean - spread))
    high = min(questions, math.ceil(mean + spread))
    # Wins and losses add up to the discordant share, and differ by the difference.
    win_share = 0.0
    if discordant:
        win_share = (discordant + difference) / (2 * discordant)
    power = 0.0
    for n_discordant in range(low, high + 1):
        fewest = _fewest_wins(n_discordant, questions, effect, test)
        if fewest is None:
            continue
        chance = _chance(n_discordant, questions, discordant)
        power += chance * _tail(fewest, n_discordant, win_share)
    return min(power, 1.0)


def _chance(count: int, n: int, share: float) -> float:
    """Return the binomial probability of a count."""
    if share in (0.0, 1.0):
        return float(count == n * share)
    # In logarithms, since n over count is beyond a float from some 1,030 questions on.
    ways = math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
    return math.exp(ways + count * math.log(share) + (n - count) * math.log1p(-share))


def _tail(fewest: int, n: int, share: float) -> float:
    """Return the probability of so many or more of n, each with a probability."""
    if fewest <= 0 or share >= 1:
        return float(fewest <= n)
    if share <= 0 or fewest > n:
        return 0.0
    # P(X >= k) of a binomial is an incomplete beta function (DLMF 8.17.5).
    return math.exp(log_beta_cdf(fewest, n - fewest + 1, share))


def _fewest_wins(n_discordant: int, questions: int, effect: float, test: Test) -> int | None:
    """Return the fewest wins among the discordant pairs that show the effect; None if none do."""
    if test.two_sided:
        return _fewest_of_mcnemar(n_discordant, test.alpha)
    margin = -effect

    def is_go(wins: int) -> bool:
        return tango_z(wins, n_discordant - wins, questions, margin) > test.z_alpha

    fewest = bisect_left(range(n_discordant + 1), True, key=is_go)
    return fewest if fewest <= n_discordant else None


@lru_cache(maxsize=4096)
def _fewest_of_mcnemar(n_discordant: int, alpha: float) -> int | None:
    test = Test(alpha=alpha, power=(1 + alpha) / 2)  # any power: only its alpha is used
    log_alpha = math.log(alpha) + ROUNDING

    def is_found(wins: int) -> bool:
        lead = 2 * wins - n_discordant
        # Without an effect Tango's statistic is the lead over the root of the discordant pairs.
        if lead <= test.z_alpha * math.sqrt(n_discordant):
            return False
        return mcnemar_log_p(wins, n_discordant - wins) <= log_alpha

    fewest = bisect_left(range(n_discordant + 1), True, lo=n_discordant // 2 + 1, key=is_found)
    return fewest if n_discordant and fewest <= n_discordant else None
