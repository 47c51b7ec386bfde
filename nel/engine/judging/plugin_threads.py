"""Runs what a judge's plugin computes in threads beside the event loop, each call bounded in time.

Knows no case and no reply. Trap: a thread cannot be ended. One that hangs is left behind, and holds up neither the
calls after it nor the end of the process; when too many hang, nothing more is begun.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Final, TypeVar

from nel.errors import JudgeError

T = TypeVar("T")

TOO_SLOW: Final = "plugin_timeout"
"""The kind of the fault of a judge whose own code took too long."""
AT_ONCE_MAX: Final = 32
"""Calls that compute or wait at once."""
HANGING_MAX: Final = 64
"""Calls that were given up and still run; with more of them nothing is begun."""


class _Threads(Executor):
    """Daemon threads, as many as there are calls at once; `ThreadPoolExecutor` would wait for them at exit."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._n_threads = 0

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        self._work.put(partial(_settle, future, partial(fn, *args, **kwargs)))
        if not self._idle.acquire(blocking=False):
            self._n_threads += 1
            threading.Thread(target=self._run, name="nel-judge-plugin", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for _ in range(self._n_threads):
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            self._idle.release()


class PluginThreads:
    """The threads of one session; use it on one event loop."""

    def __init__(self, *, seconds: float) -> None:
        """Start nothing yet.

        Args:
            seconds: For one call, from when it begins.
        """
        self._seconds = seconds
        self._threads = _Threads()
        self._places = asyncio.Semaphore(AT_ONCE_MAX)
        self.hanging = 0
        """Calls that were given up and still run."""

    async def call(self, what: str, function: Callable[..., T], *args: Any) -> T:
        """Return what a function returns that may block or take long, or raise what it raises.

        Args:
            what: Is told of a call that takes too long, e.g. "yes_no took too long to ask".
            function: Is called with the further arguments.

        Raises:
            JudgeError: ``plugin_timeout``: it took too long, or too many calls before it still do. ``raised``: it
                wanted to end the process.
        """
        if self.hanging >= HANGING_MAX:
            raise JudgeError(f"{what}: not called, since {self.hanging} calls of judges still hang", kind=TOO_SLOW)
        async with self._places:
            work = asyncio.get_running_loop().run_in_executor(self._threads, function, *args)
            await asyncio.wait({work}, timeout=self._seconds)
        if work.done():
            return work.result()
        self.hanging += 1
        work.add_done_callback(self._came_back)
        raise JudgeError(
            f"{what} took longer than {self._seconds:g} s; mend the judge, or raise engine.scorer_timeout_seconds",
            kind=TOO_SLOW,
        )

    def close(self) -> None:
        """Let the threads end, each when its work does."""
        self._threads.shutdown()

    def _came_back(self, work: asyncio.Future[Any]) -> None:
        self.hanging -= 1
        if not work.cancelled():
            work.exception()  # nobody asks for it any more


def _settle(future: Future[T], function: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(function())
    except Exception as error:  # noqa: BLE001 - it goes to whoever awaits
        future.set_exception(error)
    except BaseException as error:  # noqa: BLE001 - SystemExit would end the event loop that awaits it
        future.set_exception(JudgeError(f"the judge's code raised {type(error).__name__}: {error}", kind="raised"))
