"""Means and scales of numbers of any finite size."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.core.scaling import mean_of
from nel.errors import UndefinedMetric
from nel.metrics.clusters import cluster_interval, clustered_stderr
from nel.metrics.intervals import mean_interval
from nel.metrics.sample_metrics import var
from nel.types import SampleScore, Score

LARGEST = 1.7976931348623157e308
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(FINITE, min_size=1, max_size=20))
def test_finite_numbers_have_a_finite_mean(values: list[float]) -> None:
    """It is the true mean, but for the rounding of one that is far below the largest value."""
    true = sum(map(Fraction, values)) / len(values)
    largest = max(map(abs, values))
    assert math.isclose(mean_of(values), float(true), rel_tol=1e-15, abs_tol=largest * 1e-15 + 5e-324)


@given(values=st.lists(FINITE, min_size=2, max_size=8))
def test_an_interval_is_finite_or_has_a_reason(values: list[float]) -> None:
    """Whatever the values, its ends are finite and in order, or it has none and says why."""
    interval = mean_interval(values)
    if interval.lower is None or interval.upper is None:
        assert interval.reason
    else:
        assert -math.inf < interval.lower <= interval.upper < math.inf


@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_intervals_scale_with_their_values(exponent: int) -> None:
    """The ends for values times a power of two are the ends for the values times that power."""
    values = [0.25, 1.0, 0.5, 0.75]
    large = [math.ldexp(value, exponent) for value in values]
    small, scaled = mean_interval(values), mean_interval(large)
    assert scaled.lower == math.ldexp(small.lower or 0.0, exponent)
    assert scaled.upper == math.ldexp(small.upper or 0.0, exponent)
    assert clustered_stderr(large, "aabb") == math.ldexp(clustered_stderr(values, "aabb"), exponent)


def test_what_no_number_holds_is_undefined() -> None:
    """An interval beyond the largest number, and the square of such a spread, do not exist and say so."""
    values = [LARGEST, -LARGEST, LARGEST, -LARGEST]
    assert mean_interval(values).reason == "it is larger than a floating-point number can be"
    with pytest.raises(UndefinedMetric, match="larger than a floating-point number can be"):
        cluster_interval(values, "abca")
    with pytest.raises(UndefinedMetric, match="larger than a floating-point number can be"):
        var()([SampleScore(score=Score(value=value)) for value in values])
