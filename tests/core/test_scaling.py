"""Means and scales of numbers of any finite size."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nel.core.scaling import mean_of
from nel.metrics.question_intervals import values_interval

LARGEST = 1.7976931348623157e308
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(FINITE, min_size=1, max_size=20))
def test_finite_numbers_have_a_finite_mean(values: list[float]) -> None:
    """It is the true mean, but for the rounding of one that is far below the largest value."""
    true = sum(map(Fraction, values)) / len(values)
    largest = max(map(abs, values))
    assert math.isclose(mean_of(values), float(true), rel_tol=1e-15, abs_tol=largest * 1e-15 + 5e-324)


def test_what_no_number_holds_is_undefined() -> None:
    """An interval beyond the largest number does not exist and says so."""
    values = [LARGEST, -LARGEST, LARGEST, -LARGEST]
    assert values_interval(np.array(values), bounds=None).reason == "it is larger than a floating-point number can be"
