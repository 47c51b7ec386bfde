"""What an interval is, Wilson's of a share, and how part credit changes it;
`nel.metrics.question_intervals` says which design has which.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nel.metrics.late_numpy import np
from nel.metrics.quantiles import interval_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
FEWEST = 2
"""Values from which a spread can be estimated."""
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
    z = interval_quantile(level)
    share = right / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # With none right the end is 0, and with all right 1, which rounding would miss by an ulp.
    lower = 0.0 if right == 0 else (centre - spread) / scale
    upper = 1.0 if right == n else (centre + spread) / scale
    return Interval(
        lower=max(0.0, lower), upper=min(1.0, upper), method="wilson", covers="new questions"
    )


def single_answers_interval(
    values: Floats,
    of_whole: Callable[[Floats], Interval],
    of_any: Callable[[], Interval],
) -> Interval:
    """Return the interval of a mean of single answers, or of differences of two.

    Where each is right or wrong, that is Wilson's (or Tango's). One more answer with part credit
    must not change the method, or a better answer could have a worse end: with part credit each end
    is that for any scores, and no further than where it were with all part credit taken as none and
    with all taken as full.

    Args:
        values: 0 to 1, or -1 to 1.
        of_whole: The interval of values that are whole numbers.
        of_any: That of these values, whatever they are; it is asked only where one is not whole.
    """
    floors = np.floor(values)
    if (floors == values).all():
        return of_whole(values)
    intervals = of_whole(floors), of_any(), of_whole(np.ceil(values))
    # The middle one of three ends: that for any scores, cut to the other two.
    _, lower, _ = sorted(interval.lower for interval in intervals if interval.lower is not None)
    _, upper, _ = sorted(interval.upper for interval in intervals if interval.upper is not None)
    return replace(intervals[1], lower=lower, upper=upper)
