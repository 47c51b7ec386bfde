"""Verdicts from intervals: harm first, equivalence by two one-sided tests, nothing from what was not measured."""

from __future__ import annotations

import math

import pytest

from nel.decide import GateDecision, Verdict, non_inferiority, verdict, verdict_within_bounds


@pytest.mark.parametrize(
    ("lower", "upper", "margin", "expected"),
    [
        (-0.30, -0.26, 0.0, Verdict.WORSE),
        (-0.02, -0.01, 0.03, Verdict.WORSE),
        (0.01, 0.05, 0.0, Verdict.BETTER),
        (-0.01, 0.02, 0.0, Verdict.INCONCLUSIVE),
        (-0.01, 0.02, 0.03, Verdict.EQUIVALENT),
        (-0.03, 0.02, 0.03, Verdict.INCONCLUSIVE),
        (0.0, 0.02, 0.0, Verdict.INCONCLUSIVE),
    ],
)
def test_verdict(lower: float, upper: float, margin: float, expected: Verdict) -> None:
    """Worse before all, then better, then equivalent; an interval that touches an end decides nothing."""
    assert verdict(lower, upper, margin=margin) is expected


def test_a_verdict_that_changes_inside_the_bounds_is_inconclusive() -> None:
    """Unscored samples that could turn the verdict leave it open; those that cannot do not."""
    assert verdict_within_bounds([(0.01, 0.05), (-0.02, 0.02), (0.04, 0.08)]) is Verdict.INCONCLUSIVE
    assert verdict_within_bounds([(0.01, 0.05), (-0.05, -0.01)]) is Verdict.INCONCLUSIVE
    assert verdict_within_bounds([(0.03, 0.05), (0.01, 0.04), (0.04, 0.08)]) is Verdict.BETTER
    with pytest.raises(ValueError, match="needs an interval"):
        verdict_within_bounds([])


@pytest.mark.parametrize(
    ("lower", "upper", "margin", "expected"),
    [
        (-0.004, 0.012, 0.01, GateDecision.GO),
        (-0.02, 0.012, 0.01, GateDecision.INCONCLUSIVE),
        (-0.04, -0.02, 0.01, GateDecision.NO_GO),
        (-0.01, 0.012, 0.01, GateDecision.INCONCLUSIVE),
        (-0.001, 0.001, 0.0, GateDecision.INCONCLUSIVE),
        (0.001, 0.002, 0.0, GateDecision.GO),
    ],
)
def test_non_inferiority(lower: float, upper: float, margin: float, expected: GateDecision) -> None:
    """The ends of the interval decide, never the point between them."""
    assert non_inferiority(lower, upper, margin=margin) is expected


@pytest.mark.parametrize("ends", [(math.nan, 0.1), (0.1, math.nan), (0.2, 0.1)])
def test_what_is_no_interval_gives_no_verdict(ends: tuple[float, float]) -> None:
    """NaN and reversed ends are errors, never a verdict."""
    for decide in (verdict, non_inferiority):
        with pytest.raises(ValueError, match="not an interval"):
            decide(*ends, margin=0.1)
    with pytest.raises(ValueError, match="margin"):
        verdict(0.1, 0.2, margin=math.nan)
    with pytest.raises(ValueError, match="margin"):
        non_inferiority(0.1, 0.2, margin=-0.1)
