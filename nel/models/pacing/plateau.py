"""A limit that was found by running into it: cut below it at once, then approached again slowly, then quickly.

The curve is CUBIC's (Ha, Rhee, Xu 2008): flat where the limit was last met, steep once it has clearly moved. Unlike
CUBIC, the flat part grows longer each time the limit is found at the same place, so that a steady limit is tested ever
more rarely. Knows no clock; times are seconds on the event loop's.
"""

from __future__ import annotations

from typing import Final

_STRIDE: Final = 2.0
"""After so many seconds without a refusal a limit that was found once has doubled."""
_STRIDE_MAX: Final = 640.0
_STRIDE_SOON: Final = 0.5
_FLAT: Final = 1.05
"""Below so many times of a finding the bound does not test it."""
_SAME_PLACE: Final = 0.25
"""Two findings that differ by less than this share confirm each other."""
_RECOVERY_SECONDS_MAX: Final = 4.0
"""From below a finding back to it; two strides where that is less."""


class Plateau:
    """An upper bound that moves; infinite until the first cut."""

    def __init__(self) -> None:
        """Start without a bound."""
        self._base: float | None = None
        self._found = 0.0
        self._cut_at = 0.0
        self._stride = _STRIDE

    @property
    def is_known(self) -> bool:
        """Return whether the limit was ever met."""
        return self._base is not None

    def value(self, now: float) -> float:
        """Return the bound that holds now."""
        if self._base is None:
            return float("inf")
        elapsed = max(0.0, now - self._cut_at)
        if self._base < self._found:
            recovery = min(_RECOVERY_SECONDS_MAX, 2 * self._stride)
            if elapsed < recovery:
                return self._base + (self._found - self._base) * elapsed / recovery
            elapsed -= recovery
        steps = elapsed / self._stride
        return max(self._base, self._found) * (1 + steps / 25 + steps**3)

    def cut(self, base: float, now: float, *, stride: float = _STRIDE) -> None:
        """Note that the limit was met, and go on from ``base``.

        Args:
            stride: Of a finding that confirms none before.
        """
        if self._base is not None and abs(base - self._found) <= _SAME_PLACE * self._found:
            self._stride = min(max(self._stride * 2, _STRIDE), _STRIDE_MAX)
        else:
            self._stride = stride
        self._base = self._found = base
        self._cut_at = now

    def is_below(self, now: float) -> bool:
        """Return whether the bound that holds now is not above what was found, so that it is no test of it."""
        return self._base is not None and self.value(now) <= _FLAT * self._found

    def hold(self, bound: float, now: float) -> None:
        """Go on from this bound and stay there."""
        self._base = self._found = bound
        self._stride, self._cut_at = _STRIDE_MAX, now

    def reopen(self, now: float) -> None:
        """Go on from the bound that holds now, and quickly up, as if nothing had confirmed it."""
        if self._base is not None:
            self._base = self._found = self.value(now)
            self._stride, self._cut_at = _STRIDE_SOON, now

    def back_to(self, before: Plateau, now: float) -> None:
        """Hold from now what another bound held when it was last cut."""
        self._base, self._found, self._stride = before._found, before._found, before._stride
        self._cut_at = now

    def delay(self, seconds: float) -> None:
        """Let the bound stand still for so long: nothing is sent that could test it."""
        self._cut_at += seconds

    def lower(self, base: float, now: float) -> None:
        """Go on from ``base`` and come back: more refusals came than the last cut explains, and tell no new limit."""
        self._base, self._cut_at = base, now
