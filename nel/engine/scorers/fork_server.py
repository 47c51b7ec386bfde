"""The process that forks and kills those in which scorers and tools run, and the table of what runs
in a worker of scorers.

`ForkServer` is forked before the run has threads, with every benchmark loaded. Depends on `fork`,
Unix sockets and, for killing what a scorer or a tool started in a session of its own, on Linux: the
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
import stat
import struct
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from nel.config.process_environment import hide_environment, leave_variables
from nel.engine.scorers.call import SLOTS

_SLOT: Final = struct.Struct("<qd")
_PID: Final = struct.Struct("<q")
_ORDER: Final = struct.Struct("<4sq")
_FORK: Final = b"fork"
_KILL: Final = b"kill"
_STOP: Final = b"stop"
_DONE: Final = b"done"
_FAILED: Final = b"fail"
_ALL: Final = 0
_REPLY_SECONDS: Final = 60.0
"""For the server to fork or kill; it takes milliseconds unless the machine is out of processes."""
_KILL_SECONDS: Final = 10.0
_KILL_POLL_SECONDS: Final = 0.002
_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG``: the kernel sends a signal to a process whose parent has died."""
_ADOPT_ORPHANS: Final = 36
"""``PR_SET_CHILD_SUBREAPER``."""

Work = Callable[[int, socket.socket], None]
"""What a process does with its number and its connection, until that closes."""


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
        """Set what a slot runs; start 0 means that it waits, number 0 that it is free."""
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
    """A process that forks others: a child of the run that holds no thread, no lock, no connection
    and none of the undeclared variables of it.
    """

    def __init__(self, work: Work, declared: Collection[str] = ()) -> None:
        """Fork it; call this before the run starts threads.

        Args:
            work: Done by each process with its number and its connection.
            declared: Variables of the environment that benchmarks declare.
        """
        hide_environment()
        self._control, theirs = socket.socketpair()
        with warnings.catch_warnings():
            # Forking beside threads: the child uses none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            _run_and_exit(lambda: _serve(theirs, work, declared), signal.SIGUSR2)
        theirs.close()
        self._control.settimeout(_REPLY_SECONDS)

    def fork(self, number: int = 0) -> tuple[int, socket.socket]:
        """Return the id of a new process and a connection to it.

        Args:
            number: What the process is given to tell its work by.

        Raises:
            OSError: The server is gone, or cannot fork.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                return self._order(_FORK, number, [theirs.fileno()]), ours
        except OSError:
            ours.close()
            raise

    def kill(self, pid: int = _ALL) -> None:
        """Kill a process, or all, with every process that it started; return once they are gone.

        Raises:
            OSError: The server is gone, or does not answer.
        """
        self._order(_KILL, pid)

    def close(self) -> None:
        """End it and every process below it."""
        with suppress(OSError):
            self._control.sendall(_ORDER.pack(_STOP, 0))
        self._control.close()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _order(self, name: bytes, number: int, handles: Sequence[int] = ()) -> int:
        socket.send_fds(self._control, [_ORDER.pack(name, number)], handles)
        answer = self._control.recv(_ORDER.size, socket.MSG_WAITALL)
        if len(answer) < _ORDER.size:
            raise OSError("the process that forks them has ended")
        done, number = _ORDER.unpack(answer)
        if done != _DONE:
            raise OSError(number, os.strerror(number))
        return int(number)


class WorkerForkServer(ForkServer):
    """The process that forks workers, one at a time."""

    def __init__(
        self,
        work: Callable[[socket.socket, RunningJobs], None],
        declared: Collection[str] = (),
    ) -> None:
        """Fork the server.

        Args:
            work: Done by each worker with its connection.
            declared: As `ForkServer` says.
        """
        jobs = self.running_jobs = RunningJobs()
        self._connection: socket.socket | None = None
        super().__init__(lambda _, connection: work(connection, jobs), declared)

    def start_worker(self) -> socket.socket:
        """Return a connection, open at most until `close`, to a new worker; kill the old one."""
        self._close_connection()
        self.kill()
        _, self._connection = self.fork()
        return self._connection

    def close(self) -> None:
        """End the server, its worker and every process that the worker started."""
        super().close()
        self._close_connection()

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _serve(control: socket.socket, work: Work, declared: Collection[str]) -> None:
    """Carry out a socket's orders until it closes, then end every process below this one."""
    _drop_connections(control.fileno())
    leave_variables(declared)
    _prctl(_ADOPT_ORPHANS, 1)
    watched: set[int] = set()
    try:
        while True:
            message, handles, _, _ = socket.recv_fds(control, _ORDER.size, 1)
            name, number = _ORDER.unpack(message) if len(message) == _ORDER.size else (_STOP, 0)
            if name == _STOP:
                return
            done = _DONE
            if name == _KILL:
                watched = watched - {number} if number else set()
                kill_descendants(spared=watched)
            else:
                try:
                    number = _fork_watched(control, handles[0], partial(work, number))
                    watched.add(number)
                except OSError as error:
                    done, number = _FAILED, error.errno or 0
            control.sendall(_ORDER.pack(done, number))
    finally:
        kill_descendants()


def _fork_watched(
    control: socket.socket, handle: int, work: Callable[[socket.socket], None]
) -> int:
    """Fork a process that watches another, which does the work; return the id of the first."""
    with socket.socket(fileno=handle) as connection:
        pid = os.fork()
        if pid == 0:
            control.close()
            _run_and_exit(lambda: _watch(connection, work))
    return pid


def _watch(connection: socket.socket, work: Callable[[socket.socket], None]) -> None:
    """Fork a process, wait for its end, and kill the processes that outlive it."""
    _prctl(_ADOPT_ORPHANS, 1)
    worker = os.fork()
    if worker == 0:
        _run_and_exit(lambda: _work(connection, work))
    connection.close()  # so that the run sees the end of the connection when the worker ends
    while os.waitpid(-1, 0)[0] != worker:
        pass
    kill_descendants()


def _work(connection: socket.socket, work: Callable[[socket.socket], None]) -> None:
    """Do work that runs the code of a benchmark. What that starts can be ended by a signal, reads
    nothing from the terminal, and has no connection with the run.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR2, signal.SIG_DFL)
    _point_to_nothing(0)
    handle = connection.fileno()
    os.register_at_fork(after_in_child=lambda: _point_to_nothing(handle))
    work(connection)


def _run_and_exit(work: Callable[[], None], death_signal: signal.Signals = signal.SIGKILL) -> None:
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


def _drop_connections(own: int) -> None:
    """Close the sockets, pipes and event queues that were inherited, all but one.

    Their numbers are left to ``/dev/null``, since objects of the run that are collected here close
    them once more. Files stay open: a module of a benchmark may read one that it opened.
    """
    with suppress(OSError):
        for handle in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - names are all that is wanted
            if handle > 2 and handle != own:  # noqa: PLR2004 - the standard streams
                with suppress(OSError):
                    kind = stat.S_IFMT(os.fstat(handle).st_mode)
                    if kind in (stat.S_IFSOCK, stat.S_IFIFO, 0):
                        _point_to_nothing(handle)


def _point_to_nothing(handle: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, handle, inheritable=handle <= 2)  # noqa: PLR2004 - the standard streams
    os.close(nothing)


def kill_descendants(spared: Collection[int] = ()) -> None:
    """Kill every process below this one, orphans that it adopted included, and reap them.

    Args:
        spared: Children that are left alone with all that is below them.
    """
    ends = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < ends:
        descendants = list(_descendants(os.getpid(), spared))
        for number in (
            signal.SIGSTOP,
            signal.SIGKILL,
        ):  # a stopped process starts no other one meanwhile
            for pid in descendants:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not descendants:
            return
        time.sleep(_KILL_POLL_SECONDS)


def _descendants(root: int, spared: Collection[int]) -> Iterator[int]:
    """Yield the processes below one, those that ended and are not reaped included: their children
    may be on the way to the process that adopts them.
    """
    is_listed = Path(f"/proc/{root}/task/{root}/children").exists()
    children_of = _listed_children if is_listed else _children_by_state()
    pending = [root]
    while pending:
        below = [pid for pid in children_of(pending.pop()) if pid not in spared]
        yield from below
        pending += below


def _listed_children(pid: int) -> list[int]:
    """Return the children of a process as Linux lists them, for each thread that started some."""
    children: list[int] = []
    with suppress(OSError):  # it has ended
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names alone
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as listed:  # noqa: PTH123
                children += map(int, listed.read().split())
    return children


def _children_by_state() -> Callable[[int], Sequence[int]]:
    """Return the same where a kernel was built without the lists, from the state of every process,
    which takes as long as there are processes.
    """
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        children.setdefault(_stat_of(pid)[1], []).append(pid)
    return lambda pid: children.get(pid, ())


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
