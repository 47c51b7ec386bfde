"""How many retries an endpoint is sent: a share of its traffic, and a few a second besides.

After Finagle's RetryBudget: each new request pays in a share, each retry takes one out. Retries beyond it wait; none is
lost. Knows no clock; times are seconds on the event loop's.
"""

from __future__ import annotations

from typing import Final

_FLOOR_PER_SECOND: Final = 5.0
"""Retries that are always allowed."""
_HELD_MAX: Final = 100.0


class RetryBudget:
    """The budget of one endpoint."""

    def __init__(self, share: float) -> None:
        """Start with a few seconds' worth.

        Args:
            share: Retries allowed for each new request, e.g. 0.1.
        """
        self._share = share
        self._held = 2 * _FLOOR_PER_SECOND
        self._filled_at: float | None = None

    def requested(self) -> None:
        """Note a new request."""
        self._held = min(self._held + self._share, _HELD_MAX)

    def take(self, now: float) -> float:
        """Take one retry, and return after how many seconds it may be sent."""
        if self._filled_at is not None:
            self._held = min(self._held + (now - self._filled_at) * _FLOOR_PER_SECOND, _HELD_MAX)
        self._filled_at = now
        self._held -= 1
        return max(0.0, -self._held / _FLOOR_PER_SECOND)
