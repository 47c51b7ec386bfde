"""Quantiles of Student's t against SciPy and published tables."""

from __future__ import annotations

import math

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from nel.metrics.quantiles import student_quantile


@pytest.mark.parametrize(
    ("degrees", "probability", "published"), [(1, 0.975, 12.7062), (4, 0.975, 2.7764), (30, 0.975, 2.0423)]
)
def test_the_published_table_of_student(degrees: int, probability: float, published: float) -> None:
    """The values that textbooks print."""
    assert student_quantile(degrees, probability) == pytest.approx(published, abs=5.1e-5)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 30, 99, 999, 12_031])
def test_a_quantile_of_student_is_scipys(degrees: int) -> None:
    """Relative difference at most 2e-14 at the levels that intervals have; the other half mirrors it."""
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999):
        found = student_quantile(degrees, 0.5 + level / 2)
        assert found == pytest.approx(float(scipy.special.stdtrit(degrees, 0.5 + level / 2)), rel=2e-14, abs=0)
        assert student_quantile(degrees, 1 - (0.5 + level / 2)) == -found


@given(st.floats(-1, 6).map(lambda exponent: 10**exponent), st.floats(0.501, 1 - 1e-6))
def test_any_degrees_and_level_agree_with_scipy(degrees: float, probability: float) -> None:
    """A tenth of a degree to a million and any probability: the quantile lies where SciPy puts it."""
    found = student_quantile(degrees, probability)
    is_closer = abs(scipy.special.stdtr(degrees, found) - probability) <= 1e-14
    assert found == pytest.approx(float(scipy.special.stdtrit(degrees, probability)), rel=1e-9) or is_closer
    assert student_quantile(degrees, 1 - probability) == pytest.approx(-found, rel=1e-9)


@pytest.mark.parametrize("call", [(0, 0.5), (-1, 0.5), (1, 1.0), (math.nan, 0.5)])
def test_impossible_parameters(call: tuple[float, float]) -> None:
    """Parameters out of range are an error that names them; the median is 0."""
    with pytest.raises(ValueError, match="no quantile of Student's t"):
        student_quantile(*call)
    assert student_quantile(3, 0.5) == 0.0
