"""The process in which scorers of users and plugins run, so that one that hangs or crashes loses only its own sample.

`WorkerForkServer` is forked before the run has threads, with every benchmark loaded; it forks and kills workers on
request. A worker runs one sync scorer at a time (another one runs while the first waits for the run's answer) and any
number of async ones. Depends on `fork`, Unix sockets and the standard library. What runs at the moment is kept in
shared memory, since a process that died can no longer report it.
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
from typing import Final, NamedTuple, Protocol, TypeAlias

from nel.engine.scorers.call import Delegated
from nel.errors import EndpointError, NelError, ScorerError
from nel.types import Outcome, ScorerInput

SLOTS: Final = 4096
"""Scorings that can be in flight at once, those that wait for an answer included."""
MEMORY_BYTES_MAX: Final = 4 << 30
"""How much memory a worker may allocate beyond what it starts with."""
_SLOT: Final = struct.Struct("<qd")
_HEADER: Final = struct.Struct("<I")
_ORDER: Final = struct.Struct("<4sq")
_FLUSH_AT: Final = 64
_FLUSH_SECONDS: Final = 0.01
_STACK_BYTES: Final = 8 << 20
"""Of each thread in which a sync scorer computes or waits; the usual size of a main thread's stack."""
_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG``: the kernel kills a process whose parent has died."""

Result: TypeAlias = "Outcome | Delegated"
Ask: TypeAlias = "Callable[[str, object], object]"
"""Asks the run for something, e.g. an answer of the model; blocks until it is there. An awaitable in async scorers."""


class JobScorer(Protocol):
    """Scores inside the worker; a benchmark is named by its number. Never raises for a fault of a scorer."""

    def is_async(self, benchmark: int) -> bool:
        """Return whether the benchmark's scorer is async."""
        ...

    def score(self, benchmark: int, inputs: Sequence[ScorerInput], ask: Ask) -> Result:
        """Score one answer with a sync scorer."""
        ...

    async def score_async(self, benchmark: int, inputs: Sequence[ScorerInput], ask: Ask) -> Result:
        """Score one answer with an async scorer."""
        ...


# Messages between the run and a worker. Named tuples, since they pickle faster than dataclasses.


class ScoreRequest(NamedTuple):
    """To the worker: score one answer."""

    number: int
    """Of the scoring; every later message about it has this number."""
    benchmark: int
    inputs: Sequence[ScorerInput]


class CancelRequest(NamedTuple):
    """To the worker: cancel an async scoring."""

    number: int


class Reply(NamedTuple):
    """To the worker: the answer to a question, or the error that takes its place."""

    question: int
    is_answer: bool
    value: object


class Question(NamedTuple):
    """To the run: what a scorer asks."""

    question: int
    number: int
    """Of the scoring that asks."""
    what: str
    payload: object


class Finished(NamedTuple):
    """To the run: results by scoring; None for one that was cancelled."""

    results: list[tuple[int, Result | None]]


@dataclass(frozen=True, slots=True)
class RunningJob:
    """One scoring that is in flight in a worker."""

    number: int
    seconds: float | None
    """How long it has been computing; None while it waits for an answer."""


class RunningJobs:
    """A table in shared memory of the scorings in flight; written by a worker, read by the run."""

    def __init__(self) -> None:
        """Make an empty table."""
        self._memory = mmap.mmap(-1, SLOTS * _SLOT.size)

    def write(self, slot: int, number: int, started: float) -> None:
        """Set what a slot runs; a start of 0 means that it waits, a number of 0 that the slot is free."""
        _SLOT.pack_into(self._memory, slot * _SLOT.size, number, started)

    def read(self) -> list[RunningJob]:
        """Return what runs now."""
        now = time.monotonic()
        return [
            RunningJob(number, now - started if started else None)
            for number, started in _SLOT.iter_unpack(self._memory[:])
            if number
        ]

    def clear(self) -> None:
        """Free every slot, after the worker died."""
        self._memory[:] = bytes(len(self._memory))


class WorkerForkServer:
    """The process that forks workers: a child of the run that holds no thread, no lock and no open file of it."""

    def __init__(self, scorer: JobScorer) -> None:
        """Fork the server; call this before the run starts threads.

        Args:
            scorer: Scores in the workers, which inherit it by the fork.
        """
        self.running_jobs = RunningJobs()
        self._control, theirs = socket.socketpair()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads: the child uses none of them
            self._pid = os.fork()
        if self._pid == 0:
            self._control.close()
            _run_and_exit(lambda: _serve_forks(theirs, self.running_jobs, scorer))
        theirs.close()

    def start_worker(self) -> tuple[socket.socket, int]:
        """Return a connection to a new worker, and its process id."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [_ORDER.pack(b"fork", 0)], [theirs.fileno()])
            return ours, self._receive_pid()
        except BaseException:
            ours.close()
            raise

    def kill(self, pid: int) -> None:
        """Kill a worker and every process it started; return once it is reaped."""
        self._control.sendall(_ORDER.pack(b"kill", pid))
        self._receive_pid()

    def close(self) -> None:
        """Stop the server and its workers."""
        with suppress(OSError):
            self._control.sendall(_ORDER.pack(b"stop", 0))
        self._control.close()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _receive_pid(self) -> int:
        reply = self._control.recv(_ORDER.size, socket.MSG_WAITALL)
        if len(reply) < _ORDER.size:
            raise ScorerError("the process that runs scorers is gone")
        return int(_ORDER.unpack(reply)[1])


def encode_frame(message: ScoreRequest | CancelRequest | Reply | Question | Finished) -> bytes:
    """Return one message as it is sent over a connection: its length, then its pickle."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _HEADER.pack(len(data)) + data


async def read_frame(reader: asyncio.StreamReader) -> Question | Finished:
    """Return the next message of a worker; raises `asyncio.IncompleteReadError` when its process is gone."""
    (size,) = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    message: Question | Finished = pickle.loads(await reader.readexactly(size))  # noqa: S301 - from our own worker
    return message


def _run_and_exit(work: Callable[[], None]) -> None:
    """Do a forked process's work, then exit without running the parent's clean-up handlers."""
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


def _serve_forks(control: socket.socket, running_jobs: RunningJobs, scorer: JobScorer) -> None:
    """Fork and kill workers as ordered over a socket, until it closes."""
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
                    _run_and_exit(lambda: _Worker(connection, running_jobs, scorer).run())
            children.add(pid)
        else:
            _kill_group(pid)
            children.discard(pid)
        control.sendall(_ORDER.pack(b"done", pid))
    for pid in children:
        _kill_group(pid)


def _kill_group(pid: int) -> None:
    # The group does not exist yet when a worker is killed before its setsid(): so the process by itself as well.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


class _Worker:
    """Scores what arrives over a connection until it closes."""

    def __init__(self, connection: socket.socket, running_jobs: RunningJobs, scorer: JobScorer) -> None:
        self._connection = connection
        self._running_jobs = running_jobs
        self._scorer = scorer
        self._send_lock = threading.Lock()
        self._finished_lock = threading.Lock()
        self._queue: queue.SimpleQueue[ScoreRequest] = queue.SimpleQueue()
        self._compute_permit = threading.Semaphore(1)
        self._n_idle_threads = 0
        self._slot_numbers = itertools.count()
        self._free_slots: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._finished: list[tuple[int, Result | None]] = []
        self._flushed_at = time.monotonic()
        self._questions: dict[int, Callable[[Reply], object]] = {}
        self._question_numbers = itertools.count(1)
        self._n_awaited: Counter[int] = Counter()
        self._awaited_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._async_jobs: dict[int, concurrent.futures.Future[None]] = {}

    def run(self) -> None:
        """Read messages until the connection closes."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        threading.stack_size(_STACK_BYTES)
        _limit_memory()
        os.dup2(2, 1)  # standard output is the run's answer
        self._start_thread()
        with self._connection.makefile("rb") as stream:
            while header := stream.read(_HEADER.size):
                message = pickle.loads(stream.read(*_HEADER.unpack(header)))  # noqa: S301 - from the run itself
                if isinstance(message, ScoreRequest):
                    self._submit(message)
                elif isinstance(message, CancelRequest):
                    self._cancel(message.number)
                else:
                    self._questions.pop(message.question)(message)

    def _submit(self, job: ScoreRequest) -> None:
        if self._scorer.is_async(job.benchmark):
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
            self._async_jobs[job.number] = asyncio.run_coroutine_threadsafe(self._score_async(job), self._loop)
        else:
            self._queue.put(job)

    def _cancel(self, number: int) -> None:
        running = self._async_jobs.get(number)
        if running is not None:
            running.cancel()

    def _start_thread(self) -> None:
        # A waiting scorer keeps its thread, since its stack cannot be moved: another thread computes meanwhile.
        _raise_memory_limit(_STACK_BYTES)
        threading.Thread(target=self._score_forever, daemon=True).start()

    def _score_forever(self) -> None:
        while True:
            self._n_idle_threads += 1
            job = self._queue.get()
            self._n_idle_threads -= 1
            with self._compute_permit, self._slot(job.number) as slot:
                result = self._scorer.score(job.benchmark, job.inputs, partial(self._ask, job.number, slot))
            self._finish(job.number, result)

    async def _score_async(self, job: ScoreRequest) -> None:
        with self._slot(job.number) as slot:
            ask = partial(self._ask_async, job.number, slot)
            result = await self._scorer.score_async(job.benchmark, job.inputs, ask)
        running = self._async_jobs.pop(job.number, None)
        self._finish(job.number, None if running is not None and running.cancelled() else result)
        self._flush()

    @contextmanager
    def _slot(self, number: int) -> Iterator[int]:
        """Show a scoring in the table of running jobs while the block runs."""
        try:
            slot = self._free_slots.get_nowait()
        except queue.Empty:
            slot = next(self._slot_numbers)
        self._running_jobs.write(slot, number, time.monotonic())
        try:
            yield slot
        finally:
            self._running_jobs.write(slot, 0, 0.0)
            self._free_slots.put(slot)

    def _ask(self, number: int, slot: int, what: str, payload: object) -> object:
        """Ask the run from a sync scorer; meanwhile another scorer may compute."""
        self._flush()  # the answer may take minutes: finished results must not wait for it
        replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self._send_question(number, what, payload, replies.put)
        with self._clock_stopped(slot, number):
            self._compute_permit.release()
            if not self._n_idle_threads:
                with suppress(RuntimeError):  # no thread to be had: queued scorings wait until this one goes on
                    self._start_thread()
            try:
                reply = replies.get()
            finally:
                self._compute_permit.acquire()
        return _value_of(reply)

    async def _ask_async(self, number: int, slot: int, what: str, payload: object) -> object:
        self._flush()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        self._send_question(number, what, payload, lambda reply: loop.call_soon_threadsafe(_set_once, future, reply))
        with self._clock_stopped(slot, number):
            reply = await future
        return _value_of(reply)

    @contextmanager
    def _clock_stopped(self, slot: int, number: int) -> Iterator[None]:
        """Stop a scorer's clock while any of its questions is unanswered; it restarts from zero after the last one."""
        with self._awaited_lock:
            self._n_awaited[slot] += 1
            self._running_jobs.write(slot, number, 0.0)
        try:
            yield
        finally:
            with self._awaited_lock:
                self._n_awaited[slot] -= 1
                if not self._n_awaited[slot]:
                    self._running_jobs.write(slot, number, time.monotonic())

    def _send_question(self, number: int, what: str, payload: object, on_reply: Callable[[Reply], object]) -> None:
        question = next(self._question_numbers)
        self._questions[question] = on_reply
        self._send(Question(question, number, what, payload))

    def _finish(self, number: int, result: Result | None) -> None:
        """Queue a result; results go out in batches, at the latest when there is nothing left to score."""
        with self._finished_lock:
            self._finished.append((number, result))
        is_due = time.monotonic() - self._flushed_at > _FLUSH_SECONDS
        if self._queue.empty() or len(self._finished) >= _FLUSH_AT or is_due:
            self._flush()

    def _flush(self) -> None:
        with self._finished_lock:
            finished, self._finished = self._finished, []
            self._flushed_at = time.monotonic()
        if finished:
            self._send(Finished(finished))

    def _send(self, message: Question | Finished) -> None:
        frame = encode_frame(message)
        with self._send_lock:
            self._connection.sendall(frame)


def _set_once(future: asyncio.Future[Reply], reply: Reply) -> None:
    if not future.done():  # the scoring that asked may have been cancelled
        future.set_result(reply)


def _value_of(reply: Reply) -> object:
    if not reply.is_answer:
        raise reply.value if isinstance(reply.value, NelError) else EndpointError(str(reply.value))
    return reply.value


def _limit_memory() -> None:
    """Cap the process's address space above what it has now; on systems other than Linux there is no cap."""
    with suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - read once, in a fresh process
            pages = int(file.read().split()[0])
        limit = pages * resource.getpagesize() + MEMORY_BYTES_MAX
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _raise_memory_limit(size: int) -> None:
    """Raise the cap by so many bytes: the stacks of hundreds of waiting threads are not memory of any scorer."""
    with suppress(OSError, ValueError):
        limit, most = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_AS, (limit + size, most))
