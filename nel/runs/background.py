"""Runs an evaluation beside its caller: in a thread of its own where the caller has an event loop,
with a report of the progress, and a stop that leaves the run ready to resume.

A run has an event loop of its own, and reads and writes files in between; on the caller's loop it
would block what else runs there.
"""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import Final, Generic, TypeAlias, TypeVar

from nel.engine.session_spec import DEFAULT_RUNTIME, Runtime
from nel.engine.stopping.stop_signals import StopSignals

T = TypeVar("T")
Live = TypeVar("Live")
Work: TypeAlias = Callable[[Runtime], T]
"""A whole run, given what its sessions depend on."""

_REPORT_SECONDS: Final = 0.25
_INTERRUPTED: Final = "SIGINT"
_CANCELLED: Final = "cancelled"


class Reporter(Generic[Live]):
    """Calls a callback with the live numbers of a run; one that raises is not called again."""

    def __init__(self, live: Live, callback: Callable[[Live], None]) -> None:
        self._live = live
        self._callback: Callable[[Live], None] | None = callback

    def __call__(self) -> None:
        """Report the progress, unless the callback has failed before."""
        if self._callback is None:
            return
        try:
            self._callback(self._live)
        except Exception as error:  # noqa: BLE001 - the caller's code; it ends no run
            self._callback = None
            problem = f"on_progress raised {type(error).__name__}: {error}; it is not called again"
            warnings.warn(problem, RuntimeWarning, stacklevel=2)


def run_blocking(work: Work[T], report: Callable[[], None] | None) -> T:
    """Return the result of a run; where this thread has a running event loop, of a thread.

    An interrupt then stops the run as Ctrl-C does at a terminal, and its result says so; a second
    one is raised.
    """
    if not _has_loop():
        with _reporting(report):
            return work(DEFAULT_RUNTIME)
    signals = StopSignals()
    future = _start(work, signals)
    # `wait` returns every quarter of a second, so that an interrupt is raised here meanwhile.
    while True:
        try:
            ended = bool(wait([future], timeout=_REPORT_SECONDS).done)
            if report is not None:
                report()
            if ended:
                return future.result()
        except KeyboardInterrupt:
            if signals.has_received:
                raise
            signals.stop(_INTERRUPTED)


async def run_awaited(work: Work[T], report: Callable[[], None] | None) -> T:
    """Return the result of a run in a thread; the event loop of the caller goes on.

    Where this is cancelled, the run stops: requests in flight may finish, everything is stored, and
    then the cancellation passes. A second one does not wait.
    """
    signals = StopSignals()
    future = asyncio.wrap_future(_start(work, signals))
    try:
        while True:
            ended, _ = await asyncio.wait([future], timeout=_REPORT_SECONDS)
            if report is not None:
                report()
            if ended:
                return future.result()
    except asyncio.CancelledError:
        signals.stop(_CANCELLED)
        await asyncio.wait([future])
        future.exception()  # it is stored with the run, and the cancellation is what is raised
        raise


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _start(work: Work[T], signals: StopSignals) -> Future[T]:
    """Start a run in a thread and return its future result."""
    future: Future[T] = Future()
    runtime = replace(DEFAULT_RUNTIME, signals=lambda: signals)

    def run() -> None:
        try:
            future.set_result(work(runtime))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is taken
            future.set_exception(error)

    # Not a daemon: an interpreter that ends waits until everything is stored.
    threading.Thread(target=copy_context().run, args=(run,), name="nel-run").start()
    return future


@contextmanager
def _reporting(report: Callable[[], None] | None) -> Iterator[None]:
    """Report from a thread while the block runs, and once when it ends."""
    if report is None:
        yield
        return
    finished = threading.Event()

    def repeat() -> None:
        while not finished.wait(_REPORT_SECONDS):
            report()
        report()

    thread = threading.Thread(target=repeat, name="nel-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
