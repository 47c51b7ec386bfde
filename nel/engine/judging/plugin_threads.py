"""Runs the code of a judge's plugin in threads beside the event loop, each call with a timeout.

Depends on threads and asyncio alone. Note: threads cannot be killed. A hung call is abandoned; it
delays neither later calls nor the exit of the process, and once too many calls hang, no further one
is started.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Final, ParamSpec, TypeVar

from nel.errors import JudgeError

P = ParamSpec("P")
T = TypeVar("T")

PLUGIN_TIMEOUT: Final = "plugin_timeout"
"""The kind of the fault of a judge whose own code took too long."""
CALLS_MAX: Final = 32
"""Calls in flight at once; an abandoned one no longer counts."""
HUNG_CALLS_MAX: Final = 64
"""Abandoned calls that still run; with this many, no further call is started."""


class PluginThreads:
    """A bounded pool of threads for one session; use it on one event loop."""

    def __init__(self, *, timeout_seconds: float) -> None:
        """Start no thread yet.

        Args:
            timeout_seconds: For one call, from when it starts.
        """
        self._timeout_seconds = timeout_seconds
        self._permits = asyncio.Semaphore(CALLS_MAX)
        self.n_hung = 0
        """Calls that were abandoned and still run."""

    async def call(
        self, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a function that may block or take long; return or raise what it does.

        Args:
            what: Begins the message of a timeout, e.g. "yes_no: asking".
            function: Is called with the further arguments.

        Raises:
            JudgeError: ``plugin_timeout``: it took too long, or too many earlier calls still hang.
                ``raised``: it tried to end the process.
        """
        if self.n_hung >= HUNG_CALLS_MAX:
            raise JudgeError(
                f"{what}: not called, since {self.n_hung} calls of judges still hang; fix the"
                " judge, then resume",
                kind=PLUGIN_TIMEOUT,
            )
        async with self._permits:
            outcome: Future[T] = Future()
            target = partial(_run_into, outcome, partial(function, *args, **kwargs))
            # A daemon, which an executor has not: it would wait for a hung call at exit.
            threading.Thread(target=target, name="nel-judge-plugin", daemon=True).start()
            work = asyncio.wrap_future(outcome)
            await asyncio.wait({work}, timeout=self._timeout_seconds)
        if work.done():
            return work.result()
        self.n_hung += 1
        work.add_done_callback(self._on_late_end)
        raise JudgeError(
            f"{what} took longer than {self._timeout_seconds:g} s; fix the judge or raise "
            "engine.scorer_timeout_seconds",
            kind=PLUGIN_TIMEOUT,
        )

    def _on_late_end(self, work: asyncio.Future[T]) -> None:
        self.n_hung -= 1
        if not work.cancelled():
            work.exception()  # retrieved, so that asyncio logs no "exception was never retrieved"


def _run_into(future: Future[T], function: Callable[[], T]) -> None:
    try:
        future.set_result(function())
    except Exception as error:  # noqa: BLE001 - raised by the future where it is awaited
        future.set_exception(error)
    except BaseException as error:  # noqa: BLE001 - SystemExit would end the event loop that awaits it
        future.set_exception(
            JudgeError(f"the judge's code raised {type(error).__name__}: {error}", kind="raised")
        )
