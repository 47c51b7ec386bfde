"""What all gates have in common: a budget of retries, and an end that cancels requests which wait
for their retry. Times are seconds on the event loop's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

_FLOOR_PER_SECOND: Final = 5.0
"""Retries a second that are always allowed."""
_HELD_MAX: Final = 100.0
"""Retries that a long time without failures can save up."""


class RetryBudget:
    """The retries of one endpoint: a share of its traffic, and a few a second besides.

    As in Finagle's RetryBudget, each new request deposits a share and each retry withdraws one.
    Retries beyond the budget are delayed, not dropped.
    """

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

    def deposit(self) -> None:
        """Deposit the share of a new request."""
        self._held = min(self._held + self._share, _HELD_MAX)

    def take(self, now: float) -> float:
        """Withdraw one retry; return the seconds until it may be sent."""
        if self._filled_at is not None:
            self._held = min(self._held + (now - self._filled_at) * self._floor, _HELD_MAX)
        self._filled_at = now
        # Below 0, each retry takes its turn: the floor earns what is missing in this time.
        self._held -= 1
        return max(0.0, -self._held / self._floor)


class GateClosed(Exception):
    """The gate is closed, since the run is stopping: no further request is sent."""


class EndpointDown(Exception):
    """The endpoint has not answered for longer than the configured maximum outage."""


class ClosingGate:
    """A gate that can be closed while requests back off; bound to one event loop."""

    def __init__(self) -> None:
        """Start open."""
        self._ended: Exception | None = None
        self._closing = asyncio.Event()
        self.now: Callable[[], float] = self._first_now
        """Returns the time of its event loop, which is the one that runs at the first call: to ask
        which loop runs takes a system call each time.
        """
        self.n_backing_off = 0
        """Requests that wait for a retry and hold no permit."""
        self.on_back_off: Callable[[], None] | None = None
        """Called when a request starts to back off, so that another can start instead."""

    def _first_now(self) -> float:
        self.now = asyncio.get_running_loop().time
        return self.now()

    async def back_off(self, seconds: float) -> None:
        """Wait before a retry, without holding a permit.

        Raises:
            GateClosed: The run is stopping.
            EndpointDown: The outage has lasted as long as it may.
        """
        if self._ended is not None:
            raise self._ended
        self.n_backing_off += 1
        try:
            if self.on_back_off is not None:
                self.on_back_off()
            # The timeout is the wait; a gate that closes cuts it short.
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return
        finally:
            self.n_backing_off -= 1
        raise self._ended or GateClosed("the run is stopping")

    def close(self) -> None:
        """Admit no further requests, and cancel all waiters with `GateClosed`."""
        self._end(GateClosed("the run is stopping"))

    def _end(self, error: Exception) -> None:
        """End for good: the first error refuses every request; a gate also fails its waiters."""
        if self._ended is None:
            self._ended = error
            self._closing.set()
