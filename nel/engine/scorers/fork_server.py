"""The process that forks and kills workers, and the table of what runs in them.

`WorkerForkServer` is forked before the run has threads, with every benchmark loaded. Depends on
`fork`, Unix sockets and, for killing what a scorer started in a session of its own, on Linux: the
server adopts orphans and finds its descendants in ``/proc``. Between it and a worker stands a
process that waits for the worker, so that a scorer which kills its parent kills no more than its
own worker.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import struct
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.engine.scorers.call import SLOTS

_SLOT: Final = struct.Struct("<qd")
_PID: Final = struct.Struct("<q")
_ORDER: Final = struct.Struct("<4sq")
_STOP: Final = b"stop"
_REPLY_SECONDS: Final = 60.0
"""For the server to fork or kill; it takes milliseconds unless the machine is out of processes."""
_KILL_SECONDS: Final = 10.0
_KILL_POLL_SECONDS: Final = 0.002
_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG``: the kernel sends a signal to a process whose parent has died."""
_ADOPT_ORPHANS: Final = 36
"""``PR_SET_CHILD_SUBREAPER``."""

Work = Callable[[socket.socket], None]
"""What a worker does with its connection until that closes."""


@dataclass(frozen=True, slots=True)
class RunningJob:
    """One scoring that is in flight in a worker."""

    number: int
    seconds: float | None
    """How long it has been computing; None while it waits for an answer."""


class RunningJobs:
    """A table in shared memory of the scorings in flight; written by a worker, read by the run.

    A process that died can no longer report what it did.
    """

    def __init__(self) -> None:
        """Make an empty table."""
        self._memory = mmap.mmap(-1, _PID.size + SLOTS * _SLOT.size)

    def write(self, slot: int, number: int, started: float) -> None:
        """Set what a slot runs; a start of 0 means that it waits, a number of 0 that the slot is
        free.
        """
        _SLOT.pack_into(self._memory, _PID.size + slot * _SLOT.size, number, started)

    def write_pid(self) -> None:
        """Set the process id of the worker, which is the calling process."""
        _PID.pack_into(self._memory, 0, os.getpid())

    def is_worker_stopped(self) -> bool:
        """Return whether the worker is stopped by a signal."""
        return self._worker_state() in ("T", "t")

    def is_worker_alive(self) -> bool:
        """Return whether the worker has not ended; False where the system does not tell."""
        return self._worker_state() not in ("", "Z", "X")

    def _worker_state(self) -> str:
        (pid,) = _PID.unpack_from(self._memory)
        return _stat_of(pid)[0]

    def read(self) -> list[RunningJob]:
        """Return what runs now."""
        now = time.monotonic()
        return [
            RunningJob(number, now - started if started else None)
            for number, started in _SLOT.iter_unpack(self._memory[_PID.size :])
            if number
        ]

    def clear(self) -> None:
        """Free every slot, after the worker died."""
        self._memory[:] = bytes(len(self._memory))


class ForkServer:
    """A process that forks others: a child of the run that holds no thread, no lock and no open
    file of it.
    """

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        """Fork it; call this before the run starts threads.

        Args:
            serve: Its work, with the socket that orders come over; see `carry_out`.
        """
        self._control, theirs = socket.socketpair()
        with warnings.catch_warnings():
            # Forking beside threads: the child uses none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            self._control.close()
            run_and_exit(lambda: serve(theirs), signal.SIGUSR2)
        theirs.close()
        self._control.settimeout(_REPLY_SECONDS)

    def order(self, name: bytes, number: int = 0, handles: Sequence[int] = ()) -> int:
        """Have an order carried out; return the number that answers it.

        Raises:
            OSError: The process is gone, or does not answer.
        """
        socket.send_fds(self._control, [_ORDER.pack(name, number)], handles)
        answer = self._control.recv(_ORDER.size, socket.MSG_WAITALL)
        if len(answer) < _ORDER.size:
            raise OSError("the process that forks them has ended")
        return int(_ORDER.unpack(answer)[1])

    def close(self) -> None:
        """End it and every process below it."""
        with suppress(OSError):
            self._control.sendall(_ORDER.pack(_STOP, 0))
        self._control.close()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def carry_out(control: socket.socket, order: Callable[[bytes, int, Sequence[int]], int]) -> None:
    """Carry out the orders that come over a socket until it closes, then end every process below
    this one.
    """
    try:
        while True:
            message, handles, _, _ = socket.recv_fds(control, _ORDER.size, 1)
            name, number = _ORDER.unpack(message) if len(message) == _ORDER.size else (_STOP, 0)
            if name == _STOP:
                return
            control.sendall(_ORDER.pack(b"done", order(name, number, handles)))
    finally:
        kill_descendants()


class WorkerForkServer(ForkServer):
    """The process that forks workers."""

    def __init__(self, work: Callable[[socket.socket, RunningJobs], None]) -> None:
        """Fork the server.

        Args:
            work: Done by each worker with its connection.
        """
        self.running_jobs = RunningJobs()
        self._connection: socket.socket | None = None
        super().__init__(
            lambda control: _serve_forks(
                control, lambda connection: work(connection, self.running_jobs)
            )
        )

    def start_worker(self) -> socket.socket:
        """Return a connection to a new worker, open until `close` at the latest; the one before is
        killed.
        """
        self._close_connection()
        self._connection, theirs = socket.socketpair()
        with theirs:
            self.order(b"fork", handles=[theirs.fileno()])
        return self._connection

    def kill_worker(self) -> None:
        """Kill the worker and every process it started; return once they are gone."""
        self.order(b"kill")

    def close(self) -> None:
        """End the server, its worker and every process that the worker started."""
        super().close()
        self._close_connection()

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()


def run_and_exit(work: Callable[[], None], death_signal: signal.Signals = signal.SIGKILL) -> None:
    """Do a forked process's work, then exit without running the parent's clean-up handlers."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides when to stop
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGUSR2, _end)
        _prctl(_DEATH_SIGNAL, death_signal)
        os.setsid()
        work()
        status = 0
    finally:
        os._exit(status)


def _end(*_: object) -> None:
    """End every process below this one, after the run was killed."""
    kill_descendants()
    os._exit(1)


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value)


def _serve_forks(control: socket.socket, work: Work) -> None:
    """Fork and kill workers as ordered over a socket, until it closes."""
    _prctl(_ADOPT_ORPHANS, 1)

    def carried_out(order: bytes, _: int, handles: Sequence[int]) -> int:
        kill_descendants()
        if order == b"fork":
            with socket.socket(fileno=handles[0]) as connection:
                if os.fork() == 0:
                    control.close()
                    run_and_exit(lambda: _watch_worker(connection, work))
        return 0

    carry_out(control, carried_out)


def _watch_worker(connection: socket.socket, work: Work) -> None:
    """Fork a worker, wait for its end, and kill the processes that outlive it."""
    _prctl(_ADOPT_ORPHANS, 1)
    worker = os.fork()
    if worker == 0:
        run_and_exit(lambda: work(connection))
    connection.close()  # so that the run sees the end of the connection when the worker ends
    while os.waitpid(-1, 0)[0] != worker:
        pass
    kill_descendants()


def kill_descendants() -> None:
    """Kill every process below this one, orphans that it adopted included, and reap them."""
    ends = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < ends:
        descendants = list(_descendants(os.getpid()))
        for number in (
            signal.SIGSTOP,
            signal.SIGKILL,
        ):  # a stopped process starts no other one meanwhile
            for pid in descendants:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_KILL_POLL_SECONDS)


def _descendants(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        state, parent = _stat_of(int(path.name))
        if state not in ("", "Z"):
            children.setdefault(parent, []).append(int(path.name))
    pending = [root]
    while pending:
        below = children.pop(pending.pop(), [])
        yield from below
        pending += below


def _stat_of(pid: int) -> tuple[str, int]:
    """Return the state of a process and its parent; an empty state where there is none."""
    try:
        fields = (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
        return fields[0], int(fields[1])
    except (OSError, IndexError, ValueError):
        return "", 0
