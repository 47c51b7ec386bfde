"""Quantiles of Student's t and tails of the beta distribution, to double precision.

Both come from the regularised incomplete beta function, which is evaluated by its continued
fraction (NIST Digital Library of Mathematical Functions, 8.17.22). The factor in front of the
fraction is a product of huge and tiny numbers; it is computed from deviances and Stirling
remainders as in Loader 2000, "Fast and accurate computation of binomial probabilities", since a
difference of log-gammas would lose nine of sixteen digits for a million samples.
"""

from __future__ import annotations

import math
import sys
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


def student_quantile(degrees: float, probability: float) -> float:
    """Return the quantile of Student's t distribution.

    Newton's method for the logarithm of the upper tail, ``I(degrees / 2, 1 / 2, x) / 2`` at ``x =
    degrees / (degrees + t²)``, as a function of log t: it falls ever faster, so that from the second
    step on the root is approached from above.

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
    if probability <= 0.5:  # noqa: PLR2004 - the median is 0
        return 0.0 if probability == 0.5 else -student_quantile(degrees, 1 - probability)  # noqa: PLR2004
    both_tails, log_t = math.log1p(1 - 2 * probability), 0.0
    for _ in range(_STEPS_MAX):
        square = math.exp(2 * log_t)
        x, y = degrees / (degrees + square), square / (degrees + square)
        tail = _log_beta_cdf(degrees / 2, 0.5, x, y)
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
    if x < (a + 1) / (a + b + 2):
        return min(0.0, kernel + math.log(_fraction(a, b, x, y)))
    return math.log1p(-min(1.0, math.exp(kernel) * _fraction(b, a, y, x)))


def _log_kernel(a: float, b: float, x: float, y: float) -> float:
    """Return log(x**a * y**b / B(a, b)), where y is 1 - x."""
    deviance, factor = _kernel_parts(a, b, x, y)
    return deviance + math.log(factor)


def _kernel_parts(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    n = a + b
    distance = x * b - y * a  # from the mean, times n
    deviance = a * _log_less_linear(x * (n / a), distance / a) + b * _log_less_linear(
        y * (n / b), -distance / b
    )
    remainders = _stirling_remainder(n) - _stirling_remainder(a) - _stirling_remainder(b)
    return deviance + remainders, math.sqrt(a * (b / n) / math.tau)


def _log_less_linear(ratio: float, u: float) -> float:
    """Return log(1 + u) - u without cancellation near 0; ``ratio`` is 1 + u, computed apart for
    where u is near -1.
    """
    if not -0.4 <= u <= 0.6:  # noqa: PLR2004 - where the series below needs more than twenty terms
        return math.log(ratio) - u
    # log(1 + u) = 2 artanh(r) with r = u / (2 + u), and u - 2r = ur.
    r = u / (2 + u)
    square, power, total, odd = r * r, r * r * r, 0.0, 3
    while abs(power) > abs(total) * _EPSILON / 4 and power:
        total += power / odd
        power *= square
        odd += 2
    return 2 * total - u * r


def _stirling_remainder(z: float) -> float:
    """Return log Γ(z) less Stirling's approximation (z - 1/2) log z - z + log(2π) / 2."""
    if z < _SERIES_FROM:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + _HALF_LOG_TAU)
    total, square = 0.0, 1 / (z * z)
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
    # The fraction of DiDonato and Morris (1992), in which term m has numerator and denominator
    # below; `ratio` and `inverse` are those of successive convergents.
    lead = a * y - b * x + 1
    value = ratio = a * lead / (a + 1)
    inverse = 0.0
    for m in range(1, _FRACTION_TERMS_MAX):
        odd = a + 2 * m - 1
        numerator = (a + m - 1) * (a + b + m - 1) * m * (b - m) * (x / odd) * (x / odd)
        term = m + m * (b - m) * x / odd + (a + m) * (lead + m * (1 + y)) / (odd + 2)
        inverse = term + numerator * inverse
        inverse = 1 / (inverse if abs(inverse) > _TINY else _TINY)
        ratio = term + numerator / ratio
        ratio = ratio if abs(ratio) > _TINY else _TINY
        value *= ratio * inverse
        if abs(ratio * inverse - 1) <= _EPSILON:
            return 1 / value
    raise ArithmeticError(f"the incomplete beta function of {a}, {b} at {x} does not converge")
