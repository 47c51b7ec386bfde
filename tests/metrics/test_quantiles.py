"""Quantiles of Student's t and of the beta distribution against SciPy, mpmath, closed forms and published tables."""

from __future__ import annotations

import math
import sys

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from nel.metrics.quantiles import beta_quantile, student_quantile

EPSILON = sys.float_info.epsilon
PROBABILITIES = [5e-7, 0.005, 0.025, 0.05, 0.16, 0.25, 0.5, 0.75, 0.84, 0.95, 0.975, 0.995, 1 - 5e-7]


@pytest.mark.parametrize(
    ("degrees", "probability", "published"), [(1, 0.975, 12.7062), (4, 0.975, 2.7764), (30, 0.975, 2.0423)]
)
def test_the_published_table_of_student(degrees: int, probability: float, published: float) -> None:
    """The values that textbooks print."""
    assert student_quantile(degrees, probability) == pytest.approx(published, abs=5.1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 30, 100, 1000, 12_032])
@pytest.mark.parametrize("shift", [0.5, 1.0, 0.37])
def test_a_beta_quantile_is_scipys(n: int, shift: float) -> None:
    """Relative difference at most 2e-14, over counts, priors and probabilities."""
    for right in sorted({0, 1, n // 10, n // 2, n - 1, n}):
        for probability in PROBABILITIES:
            a, b = right + shift, n - right + shift
            assert beta_quantile(a, b, probability) == pytest.approx(
                float(scipy.special.betaincinv(a, b, probability)), rel=2e-14, abs=0
            ), (a, b, probability)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 30, 99, 999, 12_031])
def test_a_quantile_of_student_is_scipys(degrees: int) -> None:
    """Relative difference at most 2e-14 at the levels that intervals have; the other half mirrors it."""
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999):
        found = student_quantile(degrees, 0.5 + level / 2)
        assert found == pytest.approx(float(scipy.special.stdtrit(degrees, 0.5 + level / 2)), rel=2e-14, abs=0)
        assert student_quantile(degrees, 1 - (0.5 + level / 2)) == -found


@pytest.mark.parametrize(
    ("right", "n", "probability"),
    [(2, 1_000_000, 0.975), (1, 100_000_000, 0.75), (2, 1_000_000_000, 0.025), (0, 1_000_000, 0.975), (7, 10, 0.025)],
)
def test_few_of_very_many(right: int, n: int, probability: float) -> None:
    """The quantile solves the binomial sum at forty digits; SciPy 1.17 is off by 1e-11 for a million here."""
    found = beta_quantile(right + 1, n - right, probability)
    import mpmath

    with mpmath.workdps(40):
        x = mpmath.mpf(found)
        tail = mpmath.fsum(mpmath.binomial(n, k) * x**k * (1 - x) ** (n - k) for k in range(right + 1))
        slope = x**right * (1 - x) ** (n - right - 1) / mpmath.beta(right + 1, n - right)
        error = (tail - (1 - mpmath.mpf(probability))) / slope / x
    assert abs(error) < 8 * EPSILON


@given(
    st.floats(-3, 6).map(lambda exponent: 10**exponent),
    st.floats(-3, 6).map(lambda exponent: 10**exponent),
    st.floats(0, 1, allow_subnormal=False) | st.floats(-12, 0).map(lambda exponent: 10**exponent),
)
def test_any_parameters_end_and_agree_with_scipy(a: float, b: float, probability: float) -> None:
    """Priors from a thousandth to a million and any probability: the quantile exists and lies where SciPy puts it."""
    found = beta_quantile(a, b, probability)
    expected = float(scipy.special.betaincinv(a, b, probability))
    assert 0 <= found <= 1
    # An absolute floor, since the least numbers have few digits, and where SciPy itself is off by 1e-11. For equal
    # parameters and a half SciPy's inverse is off by 3e-8, as its own distribution function at that place says.
    is_closer = abs(scipy.special.betainc(a, b, found) - probability) <= 1e-12 * probability
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300) or is_closer


@pytest.mark.parametrize("call", [(0, 1, 0.5), (1, -1, 0.5), (1, 1, 1.5), (math.nan, 1, 0.5), (math.inf, 1, 0.5)])
def test_impossible_parameters(call: tuple[float, float, float]) -> None:
    """Parameters out of range are an error that names them."""
    with pytest.raises(ValueError, match="no quantile of the beta distribution"):
        beta_quantile(*call)
