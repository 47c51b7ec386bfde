"""Waits that a stop of the run ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from nel.engine.stopping import until_stopped


async def test_what_is_cancelled_takes_its_work_along() -> None:
    """The work ends with the wait for it; before, it went on, and what it raised later was never retrieved."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(until_stopped(work(), asyncio.Event(), lambda: 0.0))
    await begun.wait()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
    assert waiting.cancelled()


async def test_a_stop_leaves_the_time_that_is_left() -> None:
    """Work that ends within it gives its result, and what it raises; other work gives None."""
    stop = asyncio.Event()
    stop.set()
    loop = asyncio.get_running_loop()

    async def soon(value: int) -> int:
        await asyncio.sleep(0)
        if not value:
            raise LookupError
        return value

    assert await until_stopped(soon(1), stop, lambda: 60.0) == 1
    with pytest.raises(LookupError):
        await until_stopped(soon(0), stop, lambda: 60.0)
    never: asyncio.Future[int] = loop.create_future()

    async def wait() -> int:
        return await never

    assert await until_stopped(wait(), stop, lambda: 0.0) is None
