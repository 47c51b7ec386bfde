"""The event loop of nel: uvloop where it is installed, asyncio's own elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a new event loop and return its result."""
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):  # absent on some platforms
        from nel.core.uv_loop import UvLoop  # noqa: PLC0415

        factory = UvLoop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
