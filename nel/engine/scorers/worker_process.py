"""A worker process, in which scorers of users and plugins run, so that one that hangs or crashes
loses only its sample.

It runs one sync scorer at a time (another one runs while the first waits for the run's answer) and
any number of async ones. What a sync scorer commonly leaves changed in the process is put right;
a process that a scorer broke ends, and the run starts another one.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import queue
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import Result, score_turns, score_turns_async
from nel.engine.scorers.channel import (
    Ask,
    Finished,
    Message,
    ScoreRequest,
    ScorerQuestion,
    ScorerReply,
    dumps,
    loads_order,
)
from nel.engine.scorers.fork_server import Progress
from nel.scoring.declarations import is_async
from nel.types import ScorerInput, Unscored

MEMORY_BYTES_MAX: Final = 4 << 30
"""How much memory a worker may allocate beyond what it starts with."""
_FLUSH_AT: Final = 64
_FLUSH_SECONDS: Final = 0.01
_STACK_BYTES: Final = 8 << 20
"""Stack of each thread in which a sync scorer computes or waits; a main thread's usual size."""
_BEAT_SECONDS: Final = 0.2
GRACE_SECONDS: Final = 1.0
"""After its timeout, for an async scorer that is cancelled to end."""


@dataclass(frozen=True, slots=True)
class _SandboxProxy:
    """The run's sandbox, as a scorer in a worker process sees it."""

    ask: Ask

    def run(self, program: object) -> object:
        """Return the verdict of a program; in an async scorer, an awaitable of it."""
        return self.ask("sandbox", program)


@dataclass(slots=True)
class _Scoring:
    """One scoring in flight, and how many of its questions the run has not answered."""

    number: int
    n_asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def _connect(benchmark: Benchmark, inputs: Sequence[ScorerInput], ask: Ask) -> None:
    """Give each input the functions with which a scorer asks the run: model, judge, sandbox."""
    for turn, scorer_input in enumerate(inputs):
        scorer_input.config = dict(benchmark.extra)
        scorer_input.sandbox = _SandboxProxy(ask)
        scorer_input.model_call_fn = lambda prompt, **options: ask(
            "model", {"prompt": prompt, "options": options}
        )
        scorer_input.judge_fn = lambda case, turn=turn: ask("judge", (turn, case))


class Worker:
    """Scores what arrives over a connection until it closes."""

    def __init__(
        self, connection: socket.socket, progress: Progress, benchmarks: Sequence[Benchmark]
    ) -> None:
        self._connection = Connection(connection.detach())
        self._channel = _file_of(self._connection.fileno())
        self._progress = progress
        self._benchmarks = benchmarks
        self._send_lock = threading.Lock()
        self._finished_lock = threading.Lock()
        self._queue: queue.SimpleQueue[ScoreRequest] = queue.SimpleQueue()
        self._compute_permit = threading.Semaphore(1)
        self._n_idle_threads = 0
        self._finished: list[tuple[int, Result | None]] = []
        self._flushed_at = time.monotonic()
        self._questions: dict[int, Callable[[ScorerReply], object]] = {}
        self._question_numbers = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deadlines: dict[int, asyncio.Timeout] = {}
        """Of async scorings in flight."""
        self._directory = Path.cwd()
        self._pid = os.getpid()

    def run(self) -> None:
        """Read messages until the connection closes."""
        threading.stack_size(_STACK_BYTES)
        os.dup2(2, 1)  # standard output is the run's answer
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _limit_memory(pages * resource.getpagesize() + MEMORY_BYTES_MAX)
        self._start_thread(self._score_forever)
        with suppress(EOFError, OSError):
            while True:
                message = loads_order(self._connection.recv_bytes())
                if isinstance(message, ScoreRequest):
                    self._submit(message)
                else:
                    self._questions.pop(message.question)(message)

    def _submit(self, job: ScoreRequest) -> None:
        if not is_async(self._benchmarks[job.benchmark].scorer):
            self._queue.put(job)
            return
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.call_soon(self._beat)
            self._start_thread(self._loop.run_forever)
        asyncio.run_coroutine_threadsafe(self._score_async(job), self._loop)

    def _start_thread(self, work: Callable[[], None]) -> None:
        # A waiting scorer keeps its thread, since its stack cannot be moved: another thread
        # computes meanwhile. No scorer owns the memory of its stack.
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            _limit_memory(limit + _STACK_BYTES)
        threading.Thread(target=_endlessly, args=(work,), daemon=True).start()

    def _score_forever(self) -> None:
        recursion, streams = sys.getrecursionlimit(), (sys.stdout, sys.stderr)
        while True:
            self._n_idle_threads += 1
            job = self._queue.get()
            self._n_idle_threads -= 1
            with self._compute_permit:
                self._progress.begin(job.number)
                benchmark = self._benchmarks[job.benchmark]
                _connect(benchmark, job.inputs, partial(self._ask, _Scoring(job.number)))
                result = score_turns(benchmark, job.inputs)
                self._check_process()
                sys.setrecursionlimit(recursion)
                sys.stdout, sys.stderr = streams
                os.chdir(self._directory)
                self._progress.pause()
            self._finish(job.number, result)

    def _check_process(self) -> None:
        """End a process that a scorer forked, and one whose connection it closed: other files may
        get its descriptor.
        """
        if os.getpid() != self._pid or _file_of(self._connection.fileno()) != self._channel:
            os._exit(1)

    async def _score_async(self, job: ScoreRequest) -> None:
        scoring = _Scoring(job.number)
        result = None
        with suppress(TimeoutError):
            async with asyncio.timeout(job.seconds) as deadline:
                self._deadlines[job.number] = deadline
                benchmark = self._benchmarks[job.benchmark]
                ask = partial(self._ask_async, scoring, deadline, job.seconds)
                _connect(benchmark, job.inputs, ask)
                result = await score_turns_async(benchmark, job.inputs)
        is_late = self._deadlines.pop(job.number).expired()
        self._check_process()
        self._finish(job.number, None if is_late else result)
        self._flush()

    def _beat(self) -> None:
        """Show the run that the event loop goes on, unless a scorer does not let itself cancel."""
        loop = asyncio.get_running_loop()
        ends = [deadline.when() or loop.time() for deadline in self._deadlines.values()]
        if all(loop.time() <= end + GRACE_SECONDS for end in ends):
            self._progress.beat()
        loop.call_later(_BEAT_SECONDS, self._beat)

    def _ask(self, scoring: _Scoring, what: str, payload: object) -> object:
        """Ask the run from a sync scorer; while all of its threads wait, another one computes."""
        self._flush()  # the answer may take minutes: finished results must not wait for it
        replies: queue.SimpleQueue[ScorerReply] = queue.SimpleQueue()
        # A scorer may ask from several threads of its own: the first question gives the permit
        # back, and the last answer takes it again.
        with scoring.lock:
            scoring.n_asked += 1
            if scoring.n_asked == 1:
                self._progress.pause()
                self._compute_permit.release()
        if not self._n_idle_threads:
            with suppress(RuntimeError):  # no thread to be had: what is queued waits for this one
                self._start_thread(self._score_forever)
        self._send_question(scoring.number, what, payload, replies.put)
        reply = replies.get()
        with scoring.lock:
            scoring.n_asked -= 1
            if not scoring.n_asked:
                self._compute_permit.acquire()
                self._progress.begin(scoring.number)
        return _value_of(reply)

    async def _ask_async(
        self,
        scoring: _Scoring,
        deadline: asyncio.Timeout,
        seconds: float,
        what: str,
        payload: object,
    ) -> object:
        """Ask the run from an async scorer, whose time starts again after the last answer."""
        self._flush()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ScorerReply] = loop.create_future()
        self._send_question(
            scoring.number,
            what,
            payload,
            lambda reply: loop.call_soon_threadsafe(_set_once, future, reply),
        )
        scoring.n_asked += 1
        deadline.reschedule(None)  # the time of the run's answer is not the scorer's
        try:
            reply = await future
        finally:
            scoring.n_asked -= 1
            if not scoring.n_asked and not deadline.expired():
                deadline.reschedule(loop.time() + seconds)
        return _value_of(reply)

    def _send_question(
        self, number: int, what: str, payload: object, on_reply: Callable[[ScorerReply], object]
    ) -> None:
        question = next(self._question_numbers)
        self._questions[question] = on_reply
        self._send(ScorerQuestion(question, number, what, payload))

    def _finish(self, number: int, result: Result | None) -> None:
        """Queue a result; results go out in batches, at the latest when no work is left."""
        with self._finished_lock:
            self._finished.append((number, result))
        is_due = time.monotonic() - self._flushed_at > _FLUSH_SECONDS
        if self._queue.empty() or len(self._finished) >= _FLUSH_AT or is_due:
            self._flush()

    def _flush(self) -> None:
        with self._finished_lock:
            finished, self._finished = self._finished, []
            self._flushed_at = time.monotonic()
        if not finished:
            return
        try:
            self._send(Finished(finished))
        except OSError:
            raise
        except Exception:  # noqa: BLE001 - pickle raises what the objects of a scorer raise
            self._send(Finished([(number, _sendable(result)) for number, result in finished]))

    def _send(self, message: Message) -> None:
        data = dumps(message)
        with self._send_lock:
            self._connection.send_bytes(data)


def _endlessly(work: Callable[[], None]) -> None:
    """Do a thread's work; the process ends when the thread does, since nothing would come of what
    is queued for it.
    """
    try:
        work()
    finally:
        os._exit(1)


def _limit_memory(limit: int) -> None:
    """Cap the address space of the process; only Linux has a cap."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _file_of(handle: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(handle)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _sendable(result: Result | None) -> Result | None:
    """Return a result, or what takes its place where it holds an object that cannot be sent."""
    try:
        dumps(Finished([(0, result)]))
    except Exception as error:  # noqa: BLE001 - as above
        return Unscored(
            cause="scorer",
            kind="invalid_result",
            detail=f"the result cannot be sent: {error}"[:500],
        )
    return result


def _set_once(future: asyncio.Future[ScorerReply], reply: ScorerReply) -> None:
    if not future.done():  # the scoring that asked may have been cancelled
        future.set_result(reply)


def _value_of(reply: ScorerReply) -> object:
    if reply.error is not None:
        raise reply.error
    return reply.value
