"""The process that forks and kills those in which scorers and tools run, and the note of what a
worker of scorers computes.

`ForkServer` is forked before the run has threads, with every benchmark loaded: that is what
`multiprocessing` cannot do, whose servers import by name. Depends on `fork`, Unix sockets and, for
killing what a scorer or a tool started in a session of its own, on Linux: processes adopt orphans
and find their children in ``/proc``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import stat
import struct
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Final

from nel.config.process_environment import hide_environment, leave_variables

_ORDER: Final = struct.Struct("<4sq")
_FORK: Final = b"fork"
_KILL: Final = b"kill"
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


class Progress:
    """What a worker computes at the moment, in shared memory: a process that died cannot tell."""

    def __init__(self) -> None:
        self._cells = RawArray("d", 3)

    def begin(self, number: int) -> None:
        """Note that a sync scoring begins, or goes on after an answer of the run."""
        # Cleared before the number changes: no reader sees the new one with the old start.
        self._cells[1] = 0.0
        self._cells[0] = number
        self._cells[1] = time.monotonic()

    def pause(self) -> None:
        """Note that no sync scoring computes."""
        self._cells[1] = 0.0

    def beat(self) -> None:
        """Note that the event loop of async scorings goes on."""
        self._cells[2] = time.monotonic()

    def computing(self) -> tuple[int, float] | None:
        """Return the number of the sync scoring that computes, and for how many seconds."""
        number, started = int(self._cells[0]), self._cells[1]
        is_same = number == self._cells[0]  # else another one began between the two
        return (number, time.monotonic() - started) if started and is_same else None

    def silence(self) -> float:
        """Return for how many seconds the event loop of async scorings has stood still."""
        beat = self._cells[2]
        return time.monotonic() - beat if beat else 0.0

    def clear(self) -> None:
        """Forget a worker that ended."""
        self._cells[1] = self._cells[2] = 0.0


class ForkServer:
    """A process that forks others: a child of the run that holds no thread, no lock, no connection
    and none of the undeclared variables of it.
    """

    def __init__(
        self,
        work: Work,
        declared: Collection[str] = (),
        *,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Fork it; call this before the run starts threads.

        Args:
            work: Done by each process with its number and its connection.
            declared: Variables of the environment that benchmarks declare.
            at_end: Done once the processes have ended, also where the run was killed.
        """
        hide_environment()
        self._control, theirs = socket.socketpair()
        with warnings.catch_warnings():
            # Forking beside threads: the child uses none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            self._control.close()
            _run_and_exit(lambda: _serve(theirs, work, declared, at_end), dies_with_parent=False)
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
        self, work: Callable[[socket.socket, Progress], None], declared: Collection[str] = ()
    ) -> None:
        """Fork the server.

        Args:
            work: Done by each worker with its connection.
            declared: As `ForkServer` says.
        """
        progress = self.progress = Progress()
        self._connection: socket.socket | None = None
        super().__init__(lambda _, connection: work(connection, progress), declared)

    def start_worker(self) -> socket.socket:
        """Return a connection, open at most until `close`, to a new worker; kill the old one."""
        self._close_connection()
        self.kill()
        self.progress.clear()
        _, self._connection = self.fork()
        return self._connection

    def close(self) -> None:
        """End the server, its worker and every process that the worker started."""
        super().close()
        self._close_connection()

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _serve(
    control: socket.socket, work: Work, declared: Collection[str], at_end: Callable[[], None]
) -> None:
    """Carry out a socket's orders until it closes, then end every process below this one."""
    _drop_connections(control.fileno())
    leave_variables(declared)
    _prctl(_ADOPT_ORPHANS, 1)
    watched: set[int] = set()
    try:
        while True:
            message, handles, _, _ = socket.recv_fds(control, _ORDER.size, 1)
            if len(message) < _ORDER.size:
                return
            name, number = _ORDER.unpack(message)
            done = _DONE
            try:
                if name == _FORK:
                    number = _fork_watched(control, handles[0], partial(work, number))
                    watched.add(number)
                else:
                    # One process, or all: what is not spared is killed, with what it has started.
                    watched = set() if number == _ALL else watched - {number}
                    kill_children(spared=watched)
            except OSError as error:
                done, number = _FAILED, error.errno or 0
            control.sendall(_ORDER.pack(done, number))
    finally:
        kill_children()
        at_end()


def _fork_watched(
    control: socket.socket, handle: int, work: Callable[[socket.socket], None]
) -> int:
    """Fork a process that watches another, which does the work; return the id of the first.

    It adopts what the other one starts, so that its orphans are told from those of others.
    """
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
    kill_children()


def _work(connection: socket.socket, work: Callable[[socket.socket], None]) -> None:
    """Do work that runs the code of a benchmark. What that starts can be ended by a signal, reads
    nothing from the terminal, and has no connection with the run.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _point_to_nothing(0)
    handle = connection.fileno()
    os.register_at_fork(after_in_child=lambda: _point_to_nothing(handle))
    work(connection)


def _run_and_exit(work: Callable[[], None], *, dies_with_parent: bool = True) -> None:
    """Do a forked process's work, then exit without running the parent's clean-up handlers.

    Args:
        work: What it does.
        dies_with_parent: Else it sees the end of its connection, and ends what it started first.
    """
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides when to stop
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if dies_with_parent:
            _prctl(_DEATH_SIGNAL, signal.SIGKILL)
        os.setsid()
        work()
        status = 0
    finally:
        os._exit(status)


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


def kill_children(spared: Collection[int] = ()) -> None:
    """Kill and reap every child of this process, and those that it adopts when they have died.

    Args:
        spared: Children that are left alone with all that is below them.
    """
    ends = time.monotonic() + _KILL_SECONDS
    # Again and again, since this process adopts the children of those that it has killed.
    while time.monotonic() < ends:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        children = _children() - set(spared)
        if not children:
            return
        for pid in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_KILL_POLL_SECONDS)


def _children() -> set[int]:
    own = os.getpid()
    with suppress(OSError):
        child_pids = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii")
        return set(map(int, child_pids.split()))
    # A kernel without the list: look at every process.
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent_of(path) == own}


def _parent_of(process: Path) -> int:
    try:
        state = (process / "stat").read_text(encoding="utf-8", errors="replace")
        return int(state.rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):  # it has ended
        return 0
