"""Waits that a stop of the run ends."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType

import pytest

from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.loop_watch import LoopWatch, blocking_place
from nel.engine.stopping.session_end import Stop
from nel.engine.stopping.stop_signals import StopSignals


async def test_what_is_cancelled_takes_its_work_along() -> None:
    """The work ends with the wait for it; before, it went on, and what it raised later was never retrieved."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(Stop(0.0, lambda _: None).wait_for(work()))
    await begun.wait()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
    assert waiting.cancelled()


async def test_a_stop_leaves_the_time_that_is_left() -> None:
    """Work that ends within it gives its result, and what it raises; other work gives None."""
    stop = Stop(60.0, lambda _: None)
    stop.request(ExitStatus(exit_code=75, reason="spent"))
    loop = asyncio.get_running_loop()

    async def soon(value: int) -> int:
        await asyncio.sleep(0)
        if not value:
            raise LookupError
        return value

    assert await stop.wait_for(soon(1)) == 1
    with pytest.raises(LookupError):
        await stop.wait_for(soon(0))
    never: asyncio.Future[int] = loop.create_future()

    async def wait() -> int:
        return await never

    assert await stop.wait_for(wait(), seconds_max=0.0) is None


async def test_a_second_signal_hurries_where_a_user_sent_it() -> None:
    """`timeout` sends SIGTERM twice at once and a closed terminal SIGHUP twice: only a later Ctrl-C leaves at once."""
    signals_sent = (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    times = [9.0, 0.2, 0.0]
    stopped: list[str] = []
    codes: list[int] = []
    before = signal.getsignal(signal.SIGHUP)
    received: list[Callable[[signal.Signals], None]] = []

    class Watch:
        def __init__(self, on_signal: Callable[[signal.Signals], None], *_: object) -> None:
            received.append(on_signal)

        def close(self) -> None:
            pass

    stop_signals = StopSignals(Watch, times.pop, codes.append)
    try:
        with stop_signals.stopping(lambda status: stopped.append(status.reason), lambda _: None):
            for number in signals_sent:
                received[0](number)
            await asyncio.sleep(0)
        assert (stopped, codes) == (["SIGHUP"], [130])
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, "its second one may come while the end is stored"
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_place_that_blocks_is_code_outside_nel_and_the_standard_library() -> None:
    """A solver that waits for a thread is named, and not the line of threading in which it does."""
    frames: list[FrameType] = []

    class Waits(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            frames.append(sys._getframe())
            return super().wait(timeout)

    def solve() -> None:
        ThreadPoolExecutor(1).submit(Waits().wait, 0.0).result()

    solve()
    assert blocking_place(frames[0]).startswith(f"{Waits.wait.__qualname__} ({__file__}, line ")


async def test_what_held_the_interpreter_is_named_once_it_ends() -> None:
    """A regular expression holds the thread that watches too, which then looks that much later."""
    shown: list[str] = []
    watch = LoopWatch(lambda _: None, shown.append, [])
    for held_seconds in (0.5, 7.0):
        watch._look(held_seconds)
    watch.close()
    assert [line.partition(" by ")[0] for line in shown] == ["the interpreter was held for 7 s"]
