"""How often an endpoint differs from itself, by enumeration."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import pytest

from nel.decide import added_half_width, rerun_of
from nel.metrics import wilson_interval

Z = NormalDist().inv_cdf(0.975)


def test_variance_within_is_unbiased() -> None:
    """Over all outcomes of two answers to each of two questions, the estimate is the mean of p (1 - p)."""
    rates = (0.3, 0.9)
    expected = 0.0
    for answers in itertools.product((0, 1), repeat=4):
        chance = math.prod(rate if one else 1 - rate for one, rate in zip(answers, (*rates, *rates), strict=True))
        expected += chance * rerun_of(answers[:2], answers[2:], n_answers=10).within
    assert expected == pytest.approx(sum(rate * (1 - rate) for rate in rates) / 2)


def test_half_widths_follow_the_rate_of_differences() -> None:
    """For 0/1 scores the bounds of the half-width are those of the rate; parts of an interval add as squares."""
    found = rerun_of([1] * 20, [1] * 18 + [0] * 2, n_answers=400)
    rate = wilson_interval(2, 20)
    assert found.half_width == pytest.approx(Z * math.sqrt(0.05 / 400))
    assert found.half_width_upper == pytest.approx(Z * math.sqrt(rate.upper / 2 / 400))
    assert added_half_width(0.05, 0.04) == pytest.approx(0.02)
    assert added_half_width(0.01, 0.04) == 0.01
    assert rerun_of([0.5, 1], [0.25, 1], n_answers=2).half_width_upper is None
