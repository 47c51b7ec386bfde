"""Ranks with simultaneous confidence intervals, from comparisons of all pairs.

A rank is decided by what is known of the pairs: what is better than another for certain stands
above it; every other order stays open (Al Mohamad, Goeman and van Zwet 2022, Biometrics 78:1229;
Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91:476). With the one-sided
tests of both directions adjusted together by Holm, no claimed order is false with probability 1 -
alpha whatever the dependence, so all intervals hold at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection


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
    not_better = not_worse = 1.0
    if estimate > 0:
        not_better = p_value / 2
    elif estimate < 0:
        not_worse = p_value / 2
    return not_better, not_worse


def rank_intervals(n: int, better: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the lowest and the highest rank of each from the pairs of which one is better than the
    other for certain; 1 is the best.

    Args:
        n: Competitors, numbered from 0.
        better: ``(i, j)`` where i is better than j.

    >>> rank_intervals(3, [(0, 2)])
    [(1, 2), (1, 3), (2, 3)]
    """
    n_above = Counter(worse for _, worse in better)
    n_below = Counter(winner for winner, _ in better)
    return [(1 + n_above[index], n - n_below[index]) for index in range(n)]
