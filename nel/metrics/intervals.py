"""What an interval is, and Wilson's of a share; `nel.metrics.question_intervals` says which design
has which.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

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
    """``wilson``, ``tango``, ``stratified``, ``added_question`` with its designs, ``t``,
    ``bootstrap``, ``betting`` or ``none``.
    """
    covers: str
    """The kind of variation that it covers, such as ``new questions``."""
    reason: str | None = None
    caution: str | None = None
    """What should be known of the ends where they rest on few groups."""

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
    if n < 1 or not 0 <= right <= n or not 0 < level < 1:
        raise ValueError(f"no interval for {right} of {n} at level {level}")
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
