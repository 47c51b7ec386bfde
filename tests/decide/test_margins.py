"""Tests against a margin decide as the interval does, and a family of gates errs as seldom as it says."""

from __future__ import annotations

import numpy as np
import pytest

from nel.decide import GateDecision, holm, margin_test, non_inferiority, paired_difference


@pytest.mark.parametrize("kind", ["binary", "graded", "clustered", "no_spread"])
@pytest.mark.parametrize("margin", [0.0, 0.01, 0.05, 0.2])
def test_p_values_decide_as_the_interval(kind: str, margin: float) -> None:
    """One-sided at 2.5 % is the end of the 95 % interval, whatever the method."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        before, after = rng.random(60), rng.random(60) + rng.normal() * 0.2
        if kind == "binary":
            before, after = (before < 0.6).astype(float), (after < 0.6).astype(float)
        if kind == "no_spread":
            before = np.full(60, 0.5)
            after = before + rng.choice([-0.25, -0.05, 0.0, 0.2])
        found = paired_difference(before, after, clusters=list(range(12)) * 5 if kind == "clustered" else None, draws=1)
        test = margin_test(found, margin=margin)
        decision = non_inferiority(found.lower, found.upper, margin=margin)
        assert (test.p_not_inferior < 0.025) == (decision is GateDecision.GO)
        assert (test.p_inferior < 0.025) == (decision is GateDecision.NO_GO)
        assert test.p_inferior + test.p_not_inferior == pytest.approx(1)


def test_a_margin_is_a_number_of_at_least_0() -> None:
    """Negative margins are refused; a margin of everything is never missed."""
    found = paired_difference([1, 0, 1, 1], [0, 0, 0, 0])
    assert margin_test(found, margin=1.0).p_not_inferior == 0.0
    with pytest.raises(ValueError, match="margin"):
        margin_test(found, margin=-0.1)


@pytest.mark.parametrize("runs", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_twenty_benchmarks_err_in_at_most_five_percent(runs: int) -> None:
    """Without any difference, Holm over twenty benchmarks calls one inferior in at most 5 % of gates."""
    rng = np.random.default_rng(12)
    false_alarms = 0
    for _ in range(runs):
        p_values = []
        for _ in range(20):
            wins, losses, ties = rng.multinomial(200, [0.1, 0.1, 0.8])
            before = [0] * wins + [1] * losses + [1] * ties
            after = [1] * wins + [0] * losses + [1] * ties
            p_values.append(margin_test(paired_difference(before, after), margin=0.0).p_inferior)
        false_alarms += min(holm(p_values)) < 0.05
    # Two standard errors of the simulation above the level.
    assert false_alarms / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
