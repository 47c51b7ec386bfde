"""Confidence intervals of a mean. Pure.

A proportion gets Wilson's interval, whose mean coverage stays at the nominal level for five samples as for a thousand;
any other mean gets Student's t over question means. Trap: equal values have no spread and yet no certainty, so an
interval of zero width is never returned for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval, or the reason why there is none."""

    lower: float | None
    upper: float | None
    method: str
    """``wilson``, ``t`` or ``none``."""
    covers: str
    """Which variation it speaks of."""
    reason: str | None = None


def wilson_interval(right: float, n: int, *, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval of ``right`` out of ``n`` (Wilson 1927).

    Args:
        right: 0 to n.
        n: At least 1.
        level: Strictly between 0 and 1.

    Raises:
        ValueError: A number is out of range.
    """
    if n < 1 or not 0 <= right <= n or not 0 < level < 1:
        raise ValueError(f"no interval for {right} of {n} at level {level}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = right / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    lower = 0.0 if right == 0 else (centre - spread) / scale
    upper = 1.0 if right == n else (centre + spread) / scale
    return Interval(lower=max(0.0, lower), upper=min(1.0, upper), method="wilson", covers="new questions")


def mean_interval(question_means: Sequence[float], *, level: float = LEVEL) -> Interval:
    """Return Student's t interval of the mean of question means.

    With repeats, a question's mean already holds the noise of sampling its answers (Miller 2024, arXiv 2411.00640).
    Fewer than two questions, or questions without any spread, have no interval.
    """
    values = np.asarray(question_means, dtype=np.float64)
    n = len(values)
    if n < 2 or float(values.max() - values.min()) == 0.0:  # noqa: PLR2004 - a spread needs two values
        reason = "fewer than two questions" if n < 2 else "all questions have the same value"  # noqa: PLR2004
        return Interval(lower=None, upper=None, method="none", covers="new questions", reason=reason)
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    mean = float(values.mean())
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * float(values.std(ddof=1)) / math.sqrt(n)
    return Interval(lower=mean - half, upper=mean + half, method="t", covers="new questions")
