"""Computes a function of many tasks in forked processes; results come in the order of the tasks.

For pure functions over large inputs. Whatever goes wrong in a process, its task is computed here
again: an exception is then raised as it would be without processes, and a killed process costs
time alone. Depends on `concurrent.futures`, on `fork`, and on Linux.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

PROCESSES_MAX: Final = 8
_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG``: the kernel sends a signal to a process whose parent has died."""


def usable_processes() -> int:
    """Return how many processes pay: one for each usable CPU, up to a limit; 1 without fork."""
    if not sys.platform.startswith("linux"):
        return 1
    return min(len(os.sched_getaffinity(0)), PROCESSES_MAX)


def map_forked(function: Callable[[T], R], tasks: Iterable[T], *, processes: int) -> Generator[R]:
    """Yield the function of each task, in order.

    Args:
        function: Pure; it may hold anything, since the processes are copies of this one. What it
            returns is pickled.
        tasks: Pickled each; one more than there are processes is in memory.
        processes: Fewer than two compute everything here.
    """
    if processes < 2:  # noqa: PLR2004 - one would only add the pickling
        yield from map(function, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - small inputs need no pool
    from multiprocessing import get_context  # noqa: PLC0415 - as above

    pool = ProcessPoolExecutor(processes, get_context("fork"), _prepare, (function,))
    pending: deque[tuple[T, Future[R] | None]] = deque()

    def submit(task: T) -> Future[R] | None:
        try:
            with warnings.catch_warnings():
                # Python warns of a fork beside threads; the processes use none of them.
                warnings.simplefilter("ignore", DeprecationWarning)
                return pool.submit(_compute, task)
        except RuntimeError:  # a process was killed, and the pool takes no more
            return None

    def result() -> R:
        task, future = pending.popleft()
        if future is not None:
            # What the function itself raises is raised again by the call below; a fault of the
            # process, such as a kill for its memory, is not.
            with suppress(Exception):
                return future.result()
        return function(task)

    try:
        for task in tasks:
            pending.append((task, submit(task)))
            # One more than there are processes, so that none is idle while the oldest is read.
            if len(pending) > processes:
                yield result()
        while pending:
            yield result()
    finally:
        pool.shutdown(cancel_futures=True)


_function: Callable[[Any], Any] | None = None
"""What a process computes; it came with the fork, so that it need not be pickled."""


def _prepare(function: Callable[[Any], Any]) -> None:
    global _function  # noqa: PLW0603 - of a process that does nothing else
    _function = function
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    # The terminal interrupts the parent, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _compute(task: Any) -> Any:
    assert _function is not None  # noqa: S101 - set when the process began
    return _function(task)


def parts_of_lines(path: Path, part_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield where parts of a file begin and end; each begins with a line.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        begins, size = 0, path.stat().st_size
        while begins < size:
            # On to the end of the line that this byte lies in: a part may be longer than asked.
            file.seek(begins + part_bytes)
            file.readline()
            ends = min(file.tell(), size)
            yield begins, ends
            begins = ends


@contextmanager
def collection_paused() -> Iterator[None]:
    """Disable the garbage collector's search for cycles, which walks all objects made so far."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
