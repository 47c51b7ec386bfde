"""The simulation of docs/explanation/scale.md, at a size that ends at once."""

from __future__ import annotations

import pytest

from tests.performance.scale_world import Plan, simulate


@pytest.mark.parametrize("grain", [1, 5])
def test_every_sample_is_answered_and_limits_hold(grain: int) -> None:
    """Lost nodes, stragglers, unknown limits, a dead limiter: all are answered, and what is lost is asked again."""
    plan = Plan(samples=1_500, workers=20, endpoints=2, grain=grain, lost_workers=0.3, slow_workers=0.1)
    seen = simulate(plan)
    assert seen.answered == 1_500
    assert 0 < seen.sent_twice <= 200
    if grain == 1:
        assert seen.worst <= 1.05
