"""The process in which scorers of users and plugins run, so that one that hangs or dies takes only its sample along.

A nursery is forked before the run has threads, with every benchmark loaded; it forks a worker when one is needed and
kills it when told to. The worker runs one sync scorer at a time (another goes on while one waits for the run's answer),
and async ones together. Trap: what runs at the moment is written to shared memory, because a process that died says
nothing any more.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import itertools
import mmap
import os
import pickle
import queue
import resource
import signal
import socket
import struct
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from nel.errors import EndpointError, NelError, ScorerError
from nel.scoring.protocol import is_async

SLOTS: Final = 4096
"""Scorings that can be under way at once, those that wait for an answer included."""
MEMORY_BYTES_MAX: Final = 4 << 30
"""What a worker may take beyond what it starts with."""
_SLOT: Final = struct.Struct("<qd")
_HEADER: Final = struct.Struct("<I")
_ORDER: Final = struct.Struct("<4sq")
_FLUSH_AT: Final = 64
_FLUSH_SECONDS: Final = 0.01
_STACK_BYTES: Final = 8 << 20
"""Of each thread in which a sync scorer computes or waits; what most systems give a program itself."""
_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG``: the kernel ends a process whose parent has died."""

Job = tuple[int, int, Any]
"""``(number, benchmark, what to score)``."""
ScoreOne = Callable[[int, Any, "Ask"], Any]
"""Scores a job with a benchmark of that number; an awaitable where the benchmark's scorer is async; never raises."""
Ask = Callable[[str, Any], Any]
"""Asks the run for something, e.g. an answer of the model; blocks until it has it."""


@dataclass(frozen=True, slots=True)
class Running:
    """One scoring that is under way in a worker."""

    number: int
    seconds: float | None
    """How long it has computed; None while it waits for an answer."""


class RunningTable:
    """Shared memory that says what runs; written by a worker, read by the run."""

    def __init__(self) -> None:
        """Make an empty board."""
        self._memory = mmap.mmap(-1, SLOTS * _SLOT.size)
        self._used = 0

    def write(self, slot: int, number: int, started: float) -> None:
        """Note what a slot runs; a start of 0 means that it waits."""
        _SLOT.pack_into(self._memory, slot * _SLOT.size, number, started)

    def running(self) -> list[Running]:
        """Return what runs now."""
        now = time.monotonic()
        found = []
        for number, started in _SLOT.iter_unpack(self._memory[:]):
            if number:
                found.append(Running(number, now - started if started else None))
        return found

    def clear(self) -> None:
        """Forget what a dead worker ran."""
        self._memory[:] = bytes(len(self._memory))


class WorkerForkServer:
    """The process that forks workers; a child of the run that holds no thread, no lock and no file of it."""

    def __init__(self, is_async_of: Sequence[Any], score_one: ScoreOne) -> None:
        """Fork it; do so before the run starts threads.

        Args:
            is_async_of: The scorer of each benchmark, by number.
        """
        self.board = RunningTable()
        self._control, theirs = socket.socketpair()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads: the child uses none of them
            self._pid = os.fork()
        if self._pid == 0:
            self._control.close()
            _leave(lambda: _serve(theirs, self.board, is_async_of, score_one))
        theirs.close()

    def new_worker(self) -> tuple[socket.socket, int]:
        """Return a connection to a new worker, and its process id."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [_ORDER.pack(b"fork", 0)], [theirs.fileno()])
            return ours, self._reply()
        except BaseException:
            ours.close()
            raise

    def kill(self, pid: int) -> None:
        """End a worker and whatever it started; return once it is gone."""
        self._control.sendall(_ORDER.pack(b"kill", pid))
        self._reply()

    def close(self) -> None:
        """End the process and its workers."""
        with suppress(OSError):
            self._control.sendall(_ORDER.pack(b"stop", 0))
        self._control.close()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _reply(self) -> int:
        reply = self._control.recv(_ORDER.size, socket.MSG_WAITALL)
        if len(reply) < _ORDER.size:
            raise ScorerError("the process that runs scorers is gone")
        return int(_ORDER.unpack(reply)[1])


def send(connection: socket.socket, lock: threading.Lock, message: Any) -> None:
    """Write one message to a connection."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    with lock:
        connection.sendall(_HEADER.pack(len(data)) + data)


def framed(message: Any) -> bytes:
    """Return one message as it goes over a connection."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _HEADER.pack(len(data)) + data


async def receive(reader: asyncio.StreamReader) -> Any:
    """Return the next message; raises `asyncio.IncompleteReadError` when the other side is gone."""
    (size,) = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    return pickle.loads(await reader.readexactly(size))  # noqa: S301 - our own worker, with our own types


def _leave(work: Callable[[], None]) -> None:
    """Do a forked process's work and end it, whatever happens, without the parent's clean-up."""
    status = 1
    try:
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides when to stop
        work()
        status = 0
    finally:
        os._exit(status)


def _serve(control: socket.socket, board: RunningTable, scorers: Sequence[Any], score_one: ScoreOne) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    children: set[int] = set()
    while True:
        message, handles, _, _ = socket.recv_fds(control, _ORDER.size, 1)
        order, pid = _ORDER.unpack(message) if len(message) == _ORDER.size else (b"stop", 0)
        if order == b"stop":
            break
        if order == b"fork":
            with socket.socket(fileno=handles[0]) as connection:
                pid = os.fork()
                if pid == 0:
                    control.close()
                    _leave(lambda: _Worker(connection, board, scorers, score_one).run())
            children.add(pid)
        else:
            _end(pid)
            children.discard(pid)
        control.sendall(_ORDER.pack(b"done", pid))
    for pid in children:
        _end(pid)


def _end(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


class _Worker:
    """Scores what comes over a connection until it closes."""

    def __init__(
        self, connection: socket.socket, board: RunningTable, scorers: Sequence[Any], score_one: ScoreOne
    ) -> None:
        self._connection = connection
        self._board = board
        self._async = [is_async(scorer) for scorer in scorers]
        self._score_one = score_one
        self._send_lock = threading.Lock()
        self._done_lock = threading.Lock()
        self._work: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._turn = threading.Semaphore(1)
        self._idle = 0
        self._slots = itertools.count()
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: list[tuple[int, Any]] = []
        self._flushed = time.monotonic()
        self._questions: dict[int, Callable[[tuple[bool, Any]], object]] = {}
        self._question_numbers = itertools.count(1)
        self._asked: Counter[int] = Counter()
        self._asked_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: dict[int, concurrent.futures.Future[None]] = {}

    def run(self) -> None:
        """Read messages until the connection closes."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        threading.stack_size(_STACK_BYTES)
        _limit_memory()
        os.dup2(2, 1)  # standard output is the run's answer
        self._start_thread()
        with self._connection.makefile("rb") as stream:
            while header := stream.read(_HEADER.size):
                kind, *rest = pickle.loads(stream.read(*_HEADER.unpack(header)))  # noqa: S301 - from the run itself
                if kind == "score":
                    self._take(*rest)
                elif kind == "cancel":
                    self._cancel(*rest)
                else:
                    number, is_answer, value = rest
                    self._questions.pop(number)((is_answer, value))

    def _take(self, number: int, benchmark: int, given: Any) -> None:
        if self._async[benchmark]:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
            self._running[number] = asyncio.run_coroutine_threadsafe(
                self._score_async(number, benchmark, given), self._loop
            )
        else:
            self._work.put((number, benchmark, given))

    def _cancel(self, number: int) -> None:
        running = self._running.get(number)
        if running is not None:
            running.cancel()

    def _start_thread(self) -> None:
        _allow_more_memory(_STACK_BYTES)
        threading.Thread(target=self._score_forever, daemon=True).start()

    def _score_forever(self) -> None:
        while True:
            self._idle += 1
            number, benchmark, given = self._work.get()
            self._idle -= 1
            with self._turn, self._slot(number) as slot:
                outcome = self._score_one(benchmark, given, partial(self._ask, number, slot))
            self._finish(number, outcome)

    async def _score_async(self, number: int, benchmark: int, given: Any) -> None:
        with self._slot(number) as slot:
            outcome = await self._score_one(benchmark, given, partial(self._ask_async, number, slot))
        running = self._running.pop(number, None)
        self._finish(number, None if running is not None and running.cancelled() else outcome)
        self._flush()

    @contextmanager
    def _slot(self, number: int) -> Iterator[int]:
        try:
            slot = self._free.get_nowait()
        except queue.Empty:
            slot = next(self._slots)
        self._board.write(slot, number, time.monotonic())
        try:
            yield slot
        finally:
            self._board.write(slot, 0, 0.0)
            self._free.put(slot)

    def _ask(self, number: int, slot: int, what: str, payload: Any) -> Any:
        """Ask the run from a sync scorer; another scorer has its turn meanwhile."""
        self._flush()
        reply: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        self._question(number, what, payload, reply.put)
        with self._waiting(slot, number):
            self._turn.release()
            if not self._idle:
                with suppress(RuntimeError):  # the system has no thread left: the others wait until this one goes on
                    self._start_thread()
            try:
                answer = reply.get()
            finally:
                self._turn.acquire()
        return _answer(answer)

    async def _ask_async(self, number: int, slot: int, what: str, payload: Any) -> Any:
        self._flush()
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[tuple[bool, Any]] = loop.create_future()
        self._question(number, what, payload, lambda answer: loop.call_soon_threadsafe(_set_once, reply, answer))
        with self._waiting(slot, number):
            answer = await reply
        return _answer(answer)

    @contextmanager
    def _waiting(self, slot: int, number: int) -> Iterator[None]:
        """Stop a scorer's clock until all that it has asked at once is answered."""
        with self._asked_lock:
            self._asked[slot] += 1
            self._board.write(slot, number, 0.0)
        try:
            yield
        finally:
            with self._asked_lock:
                self._asked[slot] -= 1
                if not self._asked[slot]:
                    self._board.write(slot, number, time.monotonic())

    def _question(self, number: int, what: str, payload: Any, reply: Callable[[tuple[bool, Any]], object]) -> None:
        asked = next(self._question_numbers)
        self._questions[asked] = reply
        send(self._connection, self._send_lock, ("ask", asked, number, what, payload))

    def _finish(self, number: int, outcome: Any) -> None:
        with self._done_lock:
            self._done.append((number, outcome))
        waited = time.monotonic() - self._flushed > _FLUSH_SECONDS
        if self._work.empty() or len(self._done) >= _FLUSH_AT or waited:
            self._flush()

    def _flush(self) -> None:
        with self._done_lock:
            done, self._done = self._done, []
            self._flushed = time.monotonic()
        if done:
            send(self._connection, self._send_lock, ("done", done))


def _set_once(reply: asyncio.Future[tuple[bool, Any]], answer: tuple[bool, Any]) -> None:
    if not reply.done():  # whoever asked may have been cancelled
        reply.set_result(answer)


def _answer(answer: tuple[bool, Any]) -> Any:
    is_answer, value = answer
    if not is_answer:
        raise value if isinstance(value, NelError) else EndpointError(str(value))
    return value


def _limit_memory() -> None:
    """Let the process take so much more memory than it has, and no more; elsewhere than on Linux, any amount."""
    with suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - read once, in a fresh process
            pages = int(file.read().split()[0])
        limit = pages * resource.getpagesize() + MEMORY_BYTES_MAX
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _allow_more_memory(size: int) -> None:
    """Let the process take so many bytes more: the stacks of hundreds of scorers that wait are no scorer's memory."""
    with suppress(OSError, ValueError):
        limit, most = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_AS, (limit + size, most))
