"""Retry budget of an endpoint: a share of its traffic, plus a few retries a second.

As in Finagle's RetryBudget, each new request deposits a share and each retry withdraws one. Retries
beyond the budget are delayed, not dropped. No I/O; times are seconds on the event loop's clock,
passed in.
"""

from __future__ import annotations

from typing import Final

_FLOOR_PER_SECOND: Final = 5.0
"""Retries a second that are always allowed."""
_HELD_MAX: Final = 100.0


class RetryBudget:
    """The budget of one endpoint."""

    def __init__(self, share: float, *, parts: int = 1) -> None:
        """Start with two seconds of the floor.

        Args:
            share: Retries allowed for each new request, e.g. 0.1.
            parts: Processes that have a budget of the endpoint each; the floor is divided among
                them.
        """
        self._share = share
        self._floor = _FLOOR_PER_SECOND / parts
        self._held = 2 * self._floor
        self._filled_at: float | None = None

    def requested(self) -> None:
        """Deposit the share of a new request."""
        self._held = min(self._held + self._share, _HELD_MAX)

    def take(self, now: float) -> float:
        """Withdraw one retry; return the seconds until it may be sent."""
        if self._filled_at is not None:
            self._held = min(self._held + (now - self._filled_at) * self._floor, _HELD_MAX)
        self._filled_at = now
        self._held -= 1
        return max(0.0, -self._held / self._floor)
