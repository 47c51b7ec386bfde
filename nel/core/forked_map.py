"""Computes a function of many tasks in forked processes; results come in the order of the tasks.

For pure functions over large inputs. A process holds one task at a time, so that memory is bounded
by the tasks in flight. Whatever goes wrong in a process, its task is computed here again: an
exception is then raised as it would be without processes, and a killed process costs time alone.
Depends on `fork`, and on Linux.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import socket
import struct
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Generic, NoReturn, TypeVar

T = TypeVar("T")
R = TypeVar("R")

PROCESSES_MAX: Final = 8
_SIZE: Final = struct.Struct("<Q")
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
        tasks: Pickled each; the next one is taken when a process is free.
        processes: Fewer than two compute everything here.
    """
    if processes < 2:  # noqa: PLR2004 - one would only add the pickling
        yield from map(function, tasks)
        return
    workers: list[_Worker[T, R]] = []
    assigned: deque[tuple[_Worker[T, R], T]] = deque()
    try:
        for task in tasks:
            if len(workers) < processes:
                worker = _Worker(function, workers)
                workers.append(worker)
                worker.give(task)
                assigned.append((worker, task))
                continue
            worker, earlier = assigned.popleft()
            result = worker.result(earlier)
            # The process computes while the caller uses its last result.
            worker.give(task)
            assigned.append((worker, task))
            yield result
        while assigned:
            worker, earlier = assigned.popleft()
            yield worker.result(earlier)
    finally:
        for worker in workers:
            worker.end()


class _Worker(Generic[T, R]):
    """One process with at most one task."""

    def __init__(self, function: Callable[[T], R], others: list[_Worker[T, R]]) -> None:
        self._function = function
        self.connection, theirs = socket.socketpair()
        # Python warns of a fork beside threads; the child uses none of them.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            # Else a worker would outlive its parent: the connection to it would stay open here.
            for worker in (self, *others):
                worker.connection.close()
            _serve(function, theirs)
        theirs.close()

    def give(self, task: T) -> None:
        with suppress(OSError):  # it is gone: `result` finds that out
            _send(self.connection, pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL))

    def result(self, task: T) -> R:
        """Return what the process made of its task; where it made nothing, compute it here."""
        try:
            result: R = pickle.loads(_receive(self.connection))  # noqa: S301 - of a child of this process
        except (OSError, EOFError):
            return self._function(task)
        return result

    def end(self) -> None:
        self.connection.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _serve(function: Callable[[T], R], connection: socket.socket) -> NoReturn:
    """Compute tasks until there are no more; leave without a word at the first that fails."""
    try:
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        # The terminal interrupts the parent, which ends this process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while True:
            task: T = pickle.loads(_receive(connection))  # noqa: S301 - of the parent
            _send(connection, pickle.dumps(function(task), protocol=pickle.HIGHEST_PROTOCOL))
    finally:
        # Without the parent's clean-up: no buffer is flushed twice, no database is closed.
        os._exit(0)


def _send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(_SIZE.pack(len(data)))
    connection.sendall(data)


def _receive(connection: socket.socket) -> bytearray:
    (size,) = _SIZE.unpack(_exactly(connection, _SIZE.size))
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view, n_received = memoryview(data), 0
    while n_received < size:
        n = connection.recv_into(view[n_received:])
        if n == 0:
            raise EOFError
        n_received += n
    return data


def parts_of_lines(path: Path, part_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield where parts of a file begin and end; each begins with a line.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        begins, size = 0, path.stat().st_size
        while begins < size:
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
