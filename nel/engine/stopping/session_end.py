"""The end of a session before its work is done: why, and how long to wait for what is in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from nel.engine.stopping.exit_status import ExitStatus, exit_status_of
from nel.models.budget import BudgetSpent
from nel.models.pacing import EndpointDown, GateClosed

T = TypeVar("T")


class Stop:
    """Why a session takes no further samples, once it does; use it on one event loop."""

    def __init__(self, drain_seconds: float, on_stop: Callable[[ExitStatus], None]) -> None:
        """Start without a reason.

        Args:
            drain_seconds: For what is in flight.
            on_stop: Called once, with the first reason.
        """
        self.status: ExitStatus | None = None
        self.event = asyncio.Event()
        self._drain_seconds = drain_seconds
        self._drain_until = 0.0
        self._on_stop = on_stop

    def request(self, status: ExitStatus) -> None:
        """Take no further samples; those in flight may finish within the drain time."""
        if self.status is None:  # the first reason counts
            self.status = status
            self._drain_until = asyncio.get_running_loop().time() + self._drain_seconds
            self.event.set()
            self._on_stop(status)

    def request_after(self, ending: GateClosed | EndpointDown | BudgetSpent) -> None:
        """Stop where a request was not sent for a reason that holds for all further ones."""
        if not isinstance(ending, GateClosed):
            self.request(exit_status_of(ending))

    def seconds_left(self) -> float:
        """Return how long requests in flight may still take after a stop."""
        return max(0.0, self._drain_until - asyncio.get_running_loop().time())

    async def wait_for(
        self, work: Coroutine[object, object, T], *, seconds_max: float | None = None
    ) -> T | None:
        """Return the result of the work, or None when a stop came and the drain time ran out.

        Where this is cancelled, so is the work.

        Args:
            seconds_max: Of the drain time for this work; all of it by default.
        """
        task = asyncio.create_task(work)
        stopping = asyncio.create_task(self.event.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():  # the stop came first
                remaining = self.seconds_left()
                timeout = remaining if seconds_max is None else min(remaining, seconds_max)
                await asyncio.wait({task}, timeout=timeout)
            if task.done():
                return task.result()
        finally:
            stopping.cancel()
            task.cancel()
            await asyncio.gather(task, stopping, return_exceptions=True)
        return None
