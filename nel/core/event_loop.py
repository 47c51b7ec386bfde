"""The event loop of nel: uvloop where it is installed, asyncio's own elsewhere."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from nel.core.start_up import begin_run

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a new event loop and return its result."""
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):  # absent on some platforms
        factory = _uv_loop()
    begin_run()
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def _uv_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's event loop, which closes what a run leaves open."""
    import uvloop  # noqa: PLC0415 - not on every platform

    class UvLoop(uvloop.Loop):
        """Closes every connection when it closes, those with unsent bytes too.

        A transport that is told to close stays open until all that was written to it is sent.
        uvloop's `close` ends it with a ResourceWarning; where warnings are errors, the warning is
        raised before the connection is closed, and the loop hangs or fails with EBUSY.
        """

        def close(self) -> None:
            """Close the loop and its connections, without a warning about those still sending."""
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "unclosed resource", ResourceWarning)
                super().close()

    return UvLoop
