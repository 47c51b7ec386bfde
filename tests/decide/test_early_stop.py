"""Intervals and directions from whole clusters of a finite benchmark hold at all looks together."""

from __future__ import annotations

import math
import random

import pytest

from nel.decide.early_stop import ClusterDraw, DrawnMean, PairedBets, PairedDirection


def test_bets_on_pairs_are_the_closed_form() -> None:
    """For wins, losses and ties the product of bets is the likelihood ratio ``2^n B(b+1, c+1)``."""
    chance, bets, wins, losses = random.Random(1), PairedBets(), 0, 0  # noqa: S311 - a test, not a secret
    for _ in range(300):
        difference = chance.choice((-1, 0, 1, 1))
        bets.add(difference)
        wins, losses = wins + (difference > 0), losses + (difference < 0)
        beta = math.lgamma(wins + 1) + math.lgamma(losses + 1) - math.lgamma(wins + losses + 2)
        assert bets.log_e == pytest.approx((wins + losses) * math.log(2) + beta, abs=1e-9)


@pytest.mark.parametrize(("wins", "losses", "value"), [(8, 0, 28.44), (10, 2, 4.774), (30, 10, 31.64), (0, 0, 1.0)])
def test_e_value_golden_values(wins: int, losses: int, value: float) -> None:
    """Published values to four digits, alike for both directions."""
    for difference in (1.0, -1.0):
        bets = PairedBets()
        for one in [difference] * wins + [-difference] * losses:
            bets.add(one)
        assert math.exp(bets.log_e) == pytest.approx(value, rel=2e-4)


def test_bets_without_a_difference_seldom_decide() -> None:
    """Of 1,000 draws without replacement from 40 wins and 40 losses, looked at after each, at most 5 % decide."""
    chance, decided = random.Random(2), 0  # noqa: S311 - a test, not a secret
    for _ in range(1000):
        differences = [1.0] * 40 + [-1.0] * 40
        chance.shuffle(differences)
        bets = PairedBets()
        for one in differences:
            bets.add(one)
        decided += bets.decided is not None
    assert decided <= 50


def test_the_interval_of_uneven_clusters_holds_the_mean_at_every_look() -> None:
    """Of 100 draws of 20 clusters of 1 to 6 questions whose scores depend on their size, at most 5 ever miss it."""
    chance = random.Random(3)  # noqa: S311 - a test, not a secret
    sizes = [1 + idx % 6 for idx in range(20)]
    totals = [float(sum(chance.random() < size / 7 for _ in range(size))) for size in sizes]
    truth = sum(totals) / sum(sizes)
    drawn = ClusterDraw(n_clusters=20, n_questions=sum(sizes), size_max=6)
    missed = 0
    for _ in range(100):
        mean, clusters = DrawnMean(drawn), list(zip(sizes, totals, strict=True))
        chance.shuffle(clusters)
        ends = []
        for size, total in clusters:
            mean.add(size, total, total)
            ends.append((mean.lower, mean.upper))
        missed += any(not lower - 1e-9 <= truth <= upper + 1e-9 for lower, upper in ends)
        assert ends[-1] == pytest.approx((truth, truth), abs=1e-3)
    assert missed <= 5


def test_unscored_pairs_decide_nothing_that_they_could_change() -> None:
    """Twenty wins decide; twenty questions that are unscored, and right at best, do not."""
    drawn = ClusterDraw(n_clusters=1000, n_questions=1000, size_max=1)
    won, unscored = (PairedDirection(drawn, (0.0, 0.0), is_binary=True) for _ in range(2))
    for _ in range(20):
        won.add(1, (1.0, 1.0), (0.0, 0.0))
        unscored.add(1, (0.0, 1.0), (0.0, 0.0))
    assert (won.decided, unscored.decided) == ("better", None)


def test_other_scores_are_decided_by_the_interval() -> None:
    """Partial credit that is 0.3 higher on each of 400 questions is better, by the interval of the difference."""
    direction = PairedDirection(
        ClusterDraw(n_clusters=400, n_questions=400, size_max=1), (160.0, 160.0), is_binary=False
    )
    n = 0
    while direction.decided is None:
        direction.add(1, (0.7, 0.7), (0.4, 0.4))
        n += 1
    assert direction.decided == "better"
    assert n < 100
    assert 0 < direction.lower <= 0.3 <= direction.upper
