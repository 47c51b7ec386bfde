"""Waits that a stop of the run ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


async def until_stopped(
    work: Coroutine[object, object, T], stop: asyncio.Event, seconds_left: Callable[[], float]
) -> T | None:
    """Return the result of the work, or None when a stop came and the time to finish ran out.

    Where this is cancelled, so is the work.
    """
    task = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=seconds_left())
    except asyncio.CancelledError:
        task.cancel()
        stopping.cancel()
        await asyncio.gather(task, stopping, return_exceptions=True)
        raise
    stopping.cancel()
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return None


async def put_unless_stopped(queue: asyncio.Queue[T], item: T, stop: asyncio.Event) -> None:
    """Queue an item; a full queue is waited for until a stop, and then the item is left out."""
    try:
        queue.put_nowait(item)
    except asyncio.QueueFull:
        await until_stopped(queue.put(item), stop, lambda: 0.0)
