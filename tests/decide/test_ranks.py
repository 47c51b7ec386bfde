"""Ranks and their intervals, by enumeration and on seeded streams."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from nel.decide import holm, mcnemar_exact, one_sided, rank_intervals, stratified_difference
from nel.errors import UndefinedMetric


def test_intervals_hold_every_order_that_agrees_with_the_claims() -> None:
    """Of all orders of four that agree with what is certain, each rank lies in its interval, whose ends are reached."""
    claims = [(0, 1), (0, 2), (1, 3), (0, 3)]
    seen: list[set[int]] = [set() for _ in range(4)]
    for order in itertools.permutations(range(4)):
        if all(order.index(i) < order.index(j) for i, j in claims):
            for place, one in enumerate(order, start=1):
                seen[one].add(place)
    assert [(min(places), max(places)) for places in seen] == rank_intervals(4, claims)


def test_false_orders_are_rare_over_seeded_streams() -> None:
    """Of four equal runs an order is claimed in at most 5 % of 300 seeded tables."""
    generator, false = np.random.default_rng(7), 0
    for _ in range(300):
        right = generator.random((4, 80)) < 0.5 + 0.3 * (generator.random(80) < 0.5)
        p_values: list[float] = []
        for i, j in itertools.combinations(range(4), 2):
            wins, losses = int((right[i] & ~right[j]).sum()), int((right[j] & ~right[i]).sum())
            p_values += one_sided(wins - losses, mcnemar_exact(wins, losses))
        false += min(holm(p_values)) <= 0.05
    assert false <= 15


def test_a_mean_over_small_benchmarks_knows_how_little_they_know() -> None:
    """Two benchmarks of five questions without a difference: the normal distribution errs in eight of 100 cases."""
    drawn = np.random.default_rng(3).normal(size=(4000, 2, 5))
    means, errors = drawn.mean(axis=2), drawn.std(axis=2, ddof=1) / math.sqrt(5)
    pairs = list(zip(means.tolist(), errors.tolist(), strict=True))
    by_normal, by_t = (
        sum(stratified_difference(estimates, spreads, degrees)[1] <= 0.05 for estimates, spreads in pairs)
        for degrees in ([1e9, 1e9], [4, 4])
    )
    assert by_normal > 0.07 * len(pairs) > 0.05 * len(pairs) >= by_t


def test_one_benchmark_is_a_paired_t_test() -> None:
    """With one benchmark, or several of which one alone varies, nothing but its own degrees of freedom counts."""
    alone = stratified_difference([0.3], [0.152753], [9])
    assert alone == pytest.approx((0.3, 0.081126), abs=5e-6)
    with_equal = stratified_difference([0.3, 0.0], [0.152753, 0.0], [9, 99])
    assert with_equal == pytest.approx((0.15, 0.081126), abs=5e-6)
    with pytest.raises(UndefinedMetric, match="one and the same difference on every question"):
        stratified_difference([0.1, 1.0], [0.05, 0.0], [9, 4])
