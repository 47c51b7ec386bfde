"""Intervals of a mean, from numbers alone; clusters are in `nel.metrics.clusters`.

A proportion gets Wilson's interval, whose mean coverage stays at the nominal level for five samples
as for a thousand; any other mean gets Student's t over question means. Equal values have no spread
and yet no certainty, so an interval of zero width is never returned for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from nel.metrics.late_numpy import np
from nel.metrics.quantiles import beta_quantile, student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.95
ANYTIME = "betting"
"""The method of an interval that holds at any time, of a run that a stop rule ended."""
TOO_LARGE = "it is larger than a floating-point number can be"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval, or the reason why there is none."""

    lower: float | None
    upper: float | None
    method: str
    """``wilson``, ``t``, ``t_cluster``, ``clopper_pearson``, ``jeffreys``, ``beta``, ``bootstrap``,
    ``betting`` or ``none``."""
    covers: str
    """The kind of variation that it covers, such as ``new questions``."""
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what a measure beside the metrics says of its interval."""
        return {
            "ci_lower": self.lower,
            "ci_upper": self.upper,
            "ci_method": self.method,
            "reason": self.reason,
        }


def no_interval(reason: str, covers: str = "new questions") -> Interval:
    """Return an interval without ends, and why."""
    return Interval(lower=None, upper=None, method="none", covers=covers, reason=reason)


def wilson_interval(right: float, n: float, *, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval of ``right`` out of ``n`` (Wilson 1927).

    Args:
        right: 0 to n.
        n: At least 1; effective units, of weighted ones.
        level: Strictly between 0 and 1.

    Raises:
        ValueError: A number is out of range.

    >>> interval = wilson_interval(8, 10)
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.490162, 0.943318)
    """
    _check(right, n, level)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = right / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    lower = 0.0 if right == 0 else (centre - spread) / scale
    upper = 1.0 if right == n else (centre + spread) / scale
    return Interval(
        lower=max(0.0, lower), upper=min(1.0, upper), method="wilson", covers="new questions"
    )


def clopper_pearson_interval(right: float, n: int, *, level: float = LEVEL) -> Interval:
    """Return the exact interval of ``right`` out of ``n`` (Clopper and Pearson 1934).

    Its coverage is at least the level, so it is wider than needed; use it for bounds that must
    hold.

    Args:
        right: 0 to n.
        n: At least 1.
        level: Strictly between 0 and 1.

    Raises:
        ValueError: A number is out of range.

    >>> interval = clopper_pearson_interval(8, 10)
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.443905, 0.974789)
    """
    _check(right, n, level)
    tail = (1 - level) / 2
    lower = 0.0 if right == 0 else beta_quantile(right, n - right + 1, tail)
    upper = 1.0 if right == n else beta_quantile(right + 1, n - right, 1 - tail)
    return Interval(lower=lower, upper=upper, method="clopper_pearson", covers="new questions")


def beta_interval(
    right: float,
    n: int,
    *,
    prior_right: float = 1.0,
    prior_wrong: float = 1.0,
    level: float = LEVEL,
) -> Interval:
    """Return the equal-tailed credible interval of ``right`` out of ``n`` under a beta prior,
    uniform by default.

    Args:
        right: 0 to n.
        n: At least 1.
        prior_right: First parameter of the prior, above 0.
        prior_wrong: Second parameter of the prior, above 0.
        level: Strictly between 0 and 1.

    Raises:
        ValueError: A number is out of range.

    >>> interval = beta_interval(8, 10)
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.482244, 0.939782)
    """
    _check(right, n, level)
    if not (prior_right > 0 and prior_wrong > 0):
        raise ValueError(
            f"a beta prior needs two numbers above 0, not {prior_right} and {prior_wrong}"
        )
    tail = (1 - level) / 2
    lower, upper = (
        beta_quantile(right + prior_right, n - right + prior_wrong, p) for p in (tail, 1 - tail)
    )
    return Interval(lower=lower, upper=upper, method="beta", covers="new questions")


def jeffreys_interval(right: float, n: int, *, level: float = LEVEL) -> Interval:
    """Return the credible interval of ``right`` out of ``n`` under Jeffreys' prior, Beta(0.5, 0.5).

    Args:
        right: 0 to n.
        n: At least 1.
        level: Strictly between 0 and 1.

    Raises:
        ValueError: A number is out of range.

    >>> interval = jeffreys_interval(8, 10)
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.497226, 0.955941)
    """
    return replace(
        beta_interval(right, n, prior_right=0.5, prior_wrong=0.5, level=level), method="jeffreys"
    )


def mean_interval(
    question_means: Sequence[float] | NDArray[np.float64], *, level: float = LEVEL
) -> Interval:
    """Return Student's t interval of the mean of question means.

    With repeats, a question's mean already holds the noise of sampling its answers (Miller 2024,
    arXiv 2411.00640). Fewer than two questions, or questions without any spread, have no interval.

    Args:
        question_means: One finite number per question.
        level: Strictly between 0 and 1.

    Returns:
        The interval in the unit of the means, not cut to any range; or one without ends, with the
        reason, e.g. where an end is larger than a floating-point number can be.

    >>> interval = mean_interval([0.0, 1.0, 1.0, 1.0])
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (-0.045612, 1.545612)
    """
    values = np.asarray(question_means, dtype=np.float64)
    n = len(values)
    if n < 2:  # noqa: PLR2004 - a spread needs two values
        return no_interval("fewer than two questions")
    if float(values.min()) == float(values.max()):
        return no_interval("all questions have the same value")
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
        half = student_quantile(n - 1, 0.5 + level / 2) * float(values.std(ddof=1)) / math.sqrt(n)
    if not math.isfinite(abs(mean) + half):
        return no_interval(TOO_LARGE)
    return Interval(lower=mean - half, upper=mean + half, method="t", covers="new questions")


def _check(right: float, n: float, level: float) -> None:
    if n < 1 or not 0 <= right <= n or not 0 < level < 1:
        raise ValueError(f"no interval for {right} of {n} at level {level}")
