"""An adaptive upper bound, for concurrency or a rate: cut when the endpoint refuses, then grown
along a cubic curve.

The curve is CUBIC's (Ha, Rhee, Xu 2008): flat near the limit that was last found, steep once the
limit has clearly moved. Unlike CUBIC, the flat part grows longer each time the limit is found at
about the same value, so that a constant limit is probed ever more rarely. No I/O; times are seconds
on the event loop's clock, passed in.
"""

from __future__ import annotations

from typing import Final

_STRIDE: Final = 2.0
"""Seconds without a refusal in which the bound doubles after a limit was found once."""
_STRIDE_MAX: Final = 640.0
"""The same for a limit that was found at one value again and again."""
_STRIDE_SOON: Final = 0.5
"""The same where refusals have turned out to be random, so that no limit is near."""
_FLAT: Final = 1.05
"""Up to this multiple of the limit that was found, the bound does not probe it."""
_SAME_PLACE: Final = 0.25
"""Two limits found that differ by less than this share confirm each other."""
_RECOVERY_SECONDS_MAX: Final = 4.0
"""Time from a temporarily lowered bound back to the limit found; two strides where that is less."""


class AdaptiveLimit:
    """A bound that moves over time; infinite until the first cut."""

    def __init__(self) -> None:
        """Start without a bound."""
        self._base: float | None = None
        """The bound at `_cut_at`; less than `_found` while it is lowered for a while."""
        self._found = 0.0
        """The limit at the last cut, from which the cubic curve starts."""
        self._cut_at = 0.0
        self._stride = _STRIDE

    @property
    def is_known(self) -> bool:
        """Return whether a limit was ever found."""
        return self._base is not None

    def value(self, now: float) -> float:
        """Return the bound that holds now."""
        if self._base is None:
            return float("inf")
        elapsed = max(0.0, now - self._cut_at)
        # Lowered for a while: linear back to the limit found, the cubic curve after that.
        if self._base < self._found:
            recovery = min(_RECOVERY_SECONDS_MAX, 2 * self._stride)
            if elapsed < recovery:
                return self._base + (self._found - self._base) * elapsed / recovery
            elapsed -= recovery
        steps = elapsed / self._stride
        # After one stride 2.04 times the base; the linear term keeps the flat part from standing
        # still.
        return max(self._base, self._found) * (1 + steps / 25 + steps**3)

    def cut(self, base: float, now: float, *, stride: float = _STRIDE) -> None:
        """Record that the endpoint refused at ``base``, and continue from there.

        Args:
            stride: Seconds in which the bound doubles, unless the value confirms the limit found
                before.
        """
        if self._base is not None and abs(base - self._found) <= _SAME_PLACE * self._found:
            # Each confirmation halves how often the limit is probed, for a probe costs a refusal.
            self._stride = min(max(self._stride * 2, _STRIDE), _STRIDE_MAX)
        else:
            self._stride = stride
        self._base = self._found = base
        self._cut_at = now

    def is_below_found(self, now: float) -> bool:
        """Return whether the bound is within the limit found: probing explains no refusal then."""
        return self._base is not None and self.value(now) <= _FLAT * self._found

    def hold(self, bound: float, now: float) -> None:
        """Set the bound and keep it nearly constant."""
        # With the longest stride it grows by about 0.01 % in the two seconds of a trial.
        self._base = self._found = bound
        self._stride, self._cut_at = _STRIDE_MAX, now

    def grow_quickly(self, now: float) -> None:
        """Grow from the current bound as steeply as if no limit had been confirmed."""
        if self._base is not None:
            self._base = self._found = self.value(now)
            self._stride, self._cut_at = _STRIDE_SOON, now

    def restore(self, before: AdaptiveLimit, now: float) -> None:
        """Continue from the limit that an earlier copy had found."""
        self._base, self._found, self._stride = before._found, before._found, before._stride
        self._cut_at = now

    def skip(self, seconds: float) -> None:
        """Exclude a pause from the growth: nothing is sent in it that could probe the limit."""
        self._cut_at += seconds

    def lower(self, base: float, now: float) -> None:
        """Lower the bound for a few seconds only: for refusals that show no new limit."""
        self._base, self._cut_at = base, now
