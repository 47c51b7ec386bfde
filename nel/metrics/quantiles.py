"""Quantiles of the normal and of Student's t distribution, and tails of the beta distribution, to
double precision.

The latter two come from the regularised incomplete beta function, which is evaluated by its continued
fraction (NIST Digital Library of Mathematical Functions, 8.17.22). The factor in front of the
fraction is a product of huge and tiny numbers; it is computed from deviances and Stirling
remainders as in Loader 2000, "Fast and accurate computation of binomial probabilities", since a
difference of log-gammas would lose nine of sixteen digits for a million samples.
"""

from __future__ import annotations

import math
import sys
from statistics import NormalDist
from typing import Final

_EPSILON: Final = sys.float_info.epsilon
_TINY: Final = sys.float_info.min
_HALF_LOG_TAU: Final = 0.5 * math.log(math.tau)
_STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""Coefficients of z**-1, z**-3, ... in the logarithm of the gamma function."""
_SERIES_FROM: Final = 16.0
"""From here on the seven terms of the Stirling series are exact to double precision."""
_FRACTION_TERMS_MAX: Final = 100_000
"""A million samples take 2,000 terms, a thousand million 60,000."""
_STEPS_MAX: Final = 50
"""Newton's method takes about six."""
_ROUNDING: Final = 8 * _EPSILON
"""A step as short as this is rounding: convergence is quadratic."""
_MEDIAN: Final = 0.5


def interval_quantile(level: float) -> float:
    """Return how many standard errors the ends of a normal interval are from its middle.

    >>> round(interval_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


def student_quantile(degrees: float, probability: float) -> float:
    """Return the quantile of Student's t distribution.

    Newton's method for the logarithm of the upper tail, ``I(degrees / 2, 1 / 2, x) / 2`` at ``x =
    degrees / (degrees + t²)``, as a function of log t: it falls ever faster, so that from the
    second step on the root is approached from above.

    Args:
        degrees: Degrees of freedom, above 0.
        probability: Strictly between 0 and 1.

    Raises:
        ValueError: A number is out of range.
        ArithmeticError: It is larger than a floating-point number can be.

    >>> round(student_quantile(4, 0.975), 12)
    2.776445105198
    """
    if not (degrees > 0 and 0 < probability < 1):
        raise ValueError(
            f"no quantile of Student's t for {degrees} degrees of freedom at {probability}"
        )
    if probability == _MEDIAN:
        return 0.0
    if probability < _MEDIAN:
        return -student_quantile(degrees, 1 - probability)
    both_tails = math.log1p(1 - 2 * probability)
    log_t = 0.0
    for _ in range(_STEPS_MAX):
        square = math.exp(2 * log_t)
        # Both are computed, since 1 - x would lose the digits of a small y.
        x = degrees / (degrees + square)
        y = square / (degrees + square)
        tail = _log_beta_cdf(degrees / 2, 0.5, x, y)
        # The derivative of the logarithm of the tail by log t.
        slope = 2 * math.exp(_log_kernel(degrees / 2, 0.5, x, y) - tail)
        step = (tail - both_tails) / slope
        log_t += step
        if abs(step) <= _ROUNDING:
            break
    return math.exp(log_t)


def log_beta_cdf(a: float, b: float, x: float) -> float:
    """Return the logarithm of the regularised incomplete beta function, finite where the function
    itself is too small.

    Args:
        a: First parameter, above 0.
        b: Second parameter, above 0.
        x: 0 to 1.

    Returns:
        At most 0; minus infinity at x = 0.

    Raises:
        ValueError: A number is out of range.

    >>> round(log_beta_cdf(10_000, 1, 0.5) / math.log(2))
    -10000
    """
    if not (a > 0 and b > 0 and 0 <= x <= 1 and math.isfinite(a + b)):
        raise ValueError(f"no beta distribution with parameters {a} and {b} at {x}")
    return _log_beta_cdf(a, b, x, 1 - x)


def _log_beta_cdf(a: float, b: float, x: float, y: float) -> float:
    """Return log I(a, b, x); y is 1 - x."""
    if x <= 0:
        return -math.inf
    if y <= 0:
        return 0.0
    kernel = _log_kernel(a, b, x, y)
    # The fraction converges below the mean; above it the other tail is taken from 1.
    if x < (a + 1) / (a + b + 2):
        return min(0.0, kernel + math.log(_fraction(a, b, x, y)))
    other_tail = math.exp(kernel) * _fraction(b, a, y, x)
    return math.log1p(-min(1.0, other_tail))


def _log_kernel(a: float, b: float, x: float, y: float) -> float:
    """Return log(x**a * y**b / B(a, b)), where y is 1 - x."""
    deviance, factor = _kernel_parts(a, b, x, y)
    return deviance + math.log(factor)


def _kernel_parts(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """Return the logarithm of all but a factor, and that factor, as Loader 2000 divides them."""
    # x^a y^b / B(a, b) = sqrt(ab / (2π n)) exp(-D), with Loader's deviance of x and y from their
    # means a / n and b / n, and what Stirling's approximation leaves out of the three Γ.
    n = a + b
    distance = x * b - y * a  # from the mean, times n
    deviance_of_x = a * _log_less_linear(x * (n / a), distance / a)
    deviance_of_y = b * _log_less_linear(y * (n / b), -distance / b)
    remainders = _stirling_remainder(n) - _stirling_remainder(a) - _stirling_remainder(b)
    factor = math.sqrt(a * (b / n) / math.tau)
    return deviance_of_x + deviance_of_y + remainders, factor


def _log_less_linear(ratio: float, u: float) -> float:
    """Return log(1 + u) - u without cancellation near 0; ``ratio`` is 1 + u, computed apart for
    where u is near -1.
    """
    if not -0.4 <= u <= 0.6:  # noqa: PLR2004 - where the series below needs more than twenty terms
        return math.log(ratio) - u
    # log(1 + u) = 2 artanh(r) with r = u / (2 + u), and u - 2r = ur.
    r = u / (2 + u)
    square = r * r
    power = square * r
    total = 0.0
    odd = 3
    # The series of artanh without its first term: r³/3 + r⁵/5 + …
    while abs(power) > abs(total) * _EPSILON / 4 and power:
        total += power / odd
        power *= square
        odd += 2
    return 2 * total - u * r


def _stirling_remainder(z: float) -> float:
    """Return log Γ(z) less Stirling's approximation (z - 1/2) log z - z + log(2π) / 2."""
    if z < _SERIES_FROM:
        approximation = (z - 0.5) * math.log(z) - z + _HALF_LOG_TAU
        return math.lgamma(z) - approximation
    square = 1 / (z * z)
    total = 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total / z


def _fraction(a: float, b: float, x: float, y: float) -> float:
    """Return I(a, b, x) / kernel: a continued fraction, evaluated by the modified method of Lentz.

    Args:
        a: First parameter.
        b: Second parameter.
        x: At most a little above the mean, where the fraction converges.
        y: 1 - x. Both are given, since the smaller one would lose digits in the difference.

    Raises:
        ArithmeticError: It does not converge.
    """
    # The fraction of DiDonato and Morris (1992), whose term m has this numerator and denominator:
    #   (a+m-1) (a+b+m-1) m (b-m) x² / (a+2m-1)²
    #   m + m (b-m) x / (a+2m-1) + (a+m) (ay - bx + 1 + m (1+y)) / (a+2m+1)
    # `ratio` and `inverse` are those of successive convergents.
    lead = a * y - b * x + 1
    value = ratio = a * lead / (a + 1)
    inverse = 0.0
    for m in range(1, _FRACTION_TERMS_MAX):
        odd = a + 2 * m - 1
        step = x / odd
        numerator = (a + m - 1) * (a + b + m - 1) * m * (b - m) * step * step
        term = m + m * (b - m) * x / odd + (a + m) * (lead + m * (1 + y)) / (odd + 2)
        inverse = 1 / _not_zero(term + numerator * inverse)
        ratio = _not_zero(term + numerator / ratio)
        change = ratio * inverse
        value *= change
        if abs(change - 1) <= _EPSILON:
            return 1 / value
    raise ArithmeticError(f"the incomplete beta function of {a}, {b} at {x} does not converge")


def _not_zero(value: float) -> float:
    """Return a value by which can be divided, as the method of Lentz has it."""
    return value if abs(value) > _TINY else _TINY
