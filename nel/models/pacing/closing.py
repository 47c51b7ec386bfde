"""What all gates have in common: they end for good, and a request that waits for its retry hears of
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


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
        self.n_backing_off = 0
        """Requests that wait for a retry and hold no permit."""
        self.on_back_off: Callable[[], None] | None = None
        """Called when a request starts to back off, so that another one can be started in its
        place.
        """

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
        """End for good; the first error is what every request hears. A gate with waiters fails them
        besides.
        """
        if self._ended is None:
            self._ended = error
            self._closing.set()
