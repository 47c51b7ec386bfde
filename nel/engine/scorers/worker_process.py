"""A worker process, in which scorers of users and plugins run, so that one that hangs or crashes
loses only its sample.

It runs one sync scorer at a time (another one runs while the first waits for the run's answer) and
any number of async ones. What runs at the moment stands in shared memory, and after each scoring
the process is put right again, or ends where its channel is no longer the run's.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import os
import queue
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import Result, score_turns, score_turns_async
from nel.engine.scorers.channel import (
    Ask,
    CancelRequest,
    Finished,
    ScoreRequest,
    ScorerQuestion,
    ScorerReply,
    encode_frame,
    receive_frame,
)
from nel.engine.scorers.fork_server import RunningJobs
from nel.engine.scorers.process_state import ProcessState
from nel.errors import EndpointError, NelError
from nel.scoring.declarations import is_async
from nel.types import ScorerInput, Unscored

_FLUSH_AT: Final = 64
_FLUSH_SECONDS: Final = 0.01
_STACK_BYTES: Final = 8 << 20
"""Stack of each thread in which a sync scorer computes or waits; a main thread's usual size."""


@dataclass(frozen=True, slots=True)
class _SandboxProxy:
    """The run's sandbox, as a scorer in a worker process sees it."""

    ask: Ask

    def run(self, program: object) -> object:
        """Return the verdict of a program; in an async scorer, an awaitable of it."""
        return self.ask("sandbox", program)


def _connect(benchmark: Benchmark, inputs: Sequence[ScorerInput], ask: Ask) -> None:
    """Give each input its ways to ask the run."""
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
        self,
        connection: socket.socket,
        running_jobs: RunningJobs,
        benchmarks: Sequence[Benchmark],
    ) -> None:
        self._connection = connection
        self._running_jobs = running_jobs
        self._benchmarks = benchmarks
        self._send_lock = threading.Lock()
        self._finished_lock = threading.Lock()
        self._queue: queue.SimpleQueue[ScoreRequest] = queue.SimpleQueue()
        self._compute_permit = threading.Semaphore(1)
        self._n_idle_threads = 0
        self._slot_numbers = itertools.count()
        self._free_slots: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._finished: list[tuple[int, Result | None]] = []
        self._flushed_at = time.monotonic()
        self._questions: dict[int, Callable[[ScorerReply], object]] = {}
        self._question_numbers = itertools.count(1)
        self._n_awaited: Counter[int] = Counter()
        self._awaited_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._async_jobs: dict[int, concurrent.futures.Future[None]] = {}
        self._pid = os.getpid()
        self._state: ProcessState
        self._is_spoiled = False

    def run(self) -> None:
        """Read messages until the connection closes.

        Where a scorer closed it, the process goes on until that scoring ends it or its time is
        over, whether or not the next message was being read at that moment.
        """
        threading.stack_size(_STACK_BYTES)
        os.dup2(2, 1)  # standard output is the run's answer
        self._state = ProcessState(self._connection.fileno())
        self._running_jobs.write_pid()
        self._start_thread(self._score_forever)
        try:
            self._read_forever()
        except OSError:
            threading.Event().wait()

    def _read_forever(self) -> None:
        with self._connection.makefile("rb") as stream:
            while (message := receive_frame(stream)) is not None:
                if isinstance(message, ScoreRequest):
                    self._submit(message)
                elif isinstance(message, CancelRequest):
                    self._cancel(message.number)
                else:
                    self._questions.pop(message.question)(message)

    def _check_process(self) -> None:
        """Put right what a scorer did to the process; end the process where that is impossible.

        It ends while the scoring stands in the table of running jobs, so that the run knows which
        one it was. A process that a scorer forked, and that came back from it, ends here, too.
        """
        if os.getpid() != self._pid:
            os._exit(0)
        if not self._state.is_channel_intact():
            os._exit(1)
        self._is_spoiled = not self._state.restore() or self._is_spoiled

    def _submit(self, job: ScoreRequest) -> None:
        if is_async(self._benchmarks[job.benchmark].scorer):
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._start_thread(self._loop.run_forever)
            self._async_jobs[job.number] = asyncio.run_coroutine_threadsafe(
                self._score_async(job), self._loop
            )
        else:
            self._queue.put(job)

    def _cancel(self, number: int) -> None:
        running = self._async_jobs.get(number)
        if running is not None:
            running.cancel()

    def _start_thread(self, work: Callable[[], None]) -> None:
        # A waiting scorer keeps its thread, since its stack cannot be moved: another thread
        # computes meanwhile.
        self._state.allow_stack(_STACK_BYTES)
        threading.Thread(target=_endlessly, args=(work,), daemon=True).start()

    def _score_forever(self) -> None:
        while True:
            self._n_idle_threads += 1
            job = self._queue.get()
            self._n_idle_threads -= 1
            with self._compute_permit, self._slot(job.number) as slot:
                benchmark = self._benchmarks[job.benchmark]
                _connect(benchmark, job.inputs, partial(self._ask, job.number, slot))
                result = score_turns(benchmark, job.inputs)
                self._check_process()
            self._finish(job.number, result)

    async def _score_async(self, job: ScoreRequest) -> None:
        with self._slot(job.number) as slot:
            benchmark = self._benchmarks[job.benchmark]
            _connect(benchmark, job.inputs, partial(self._ask_async, job.number, slot))
            result = await score_turns_async(benchmark, job.inputs)
            self._check_process()
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
        replies: queue.SimpleQueue[ScorerReply] = queue.SimpleQueue()
        self._send_question(number, what, payload, replies.put)
        with self._clock_stopped(slot, number):
            self._compute_permit.release()
            if not self._n_idle_threads:
                with suppress(
                    RuntimeError
                ):  # no thread to be had: queued scorings wait until this one goes on
                    self._start_thread(self._score_forever)
            try:
                reply = replies.get()
            finally:
                self._compute_permit.acquire()
        return _value_of(reply)

    async def _ask_async(self, number: int, slot: int, what: str, payload: object) -> object:
        self._flush()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ScorerReply] = loop.create_future()
        self._send_question(
            number, what, payload, lambda reply: loop.call_soon_threadsafe(_set_once, future, reply)
        )
        with self._clock_stopped(slot, number):
            reply = await future
        return _value_of(reply)

    @contextmanager
    def _clock_stopped(self, slot: int, number: int) -> Iterator[None]:
        """Stop a scorer's clock while any of its questions is unanswered; it restarts from zero
        after the last one.
        """
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

    def _send_question(
        self, number: int, what: str, payload: object, on_reply: Callable[[ScorerReply], object]
    ) -> None:
        question = next(self._question_numbers)
        self._questions[question] = on_reply
        self._send(encode_frame(ScorerQuestion(question, number, what, payload)))

    def _finish(self, number: int, result: Result | None) -> None:
        """Queue a result; results go out in batches, at the latest when no work is left."""
        with self._finished_lock:
            self._finished.append((number, result))
        is_due = time.monotonic() - self._flushed_at > _FLUSH_SECONDS
        if self._queue.empty() or len(self._finished) >= _FLUSH_AT or is_due or self._is_spoiled:
            self._flush()

    def _flush(self) -> None:
        with self._finished_lock:
            finished, self._finished = self._finished, []
            self._flushed_at = time.monotonic()
        if finished:
            try:
                frame = encode_frame(Finished(finished))
            except Exception:  # noqa: BLE001 - pickle raises what the objects of a scorer raise
                frame = encode_frame(
                    Finished([(number, _sendable(result)) for number, result in finished])
                )
            self._send(frame)
        if self._is_spoiled:
            os._exit(1)  # a limit that cannot be raised again: the next scoring gets a new process

    def _send(self, frame: bytes) -> None:
        with self._send_lock:
            self._connection.sendall(frame)


def _endlessly(work: Callable[[], None]) -> None:
    """Do a thread's work; the process ends when the thread does, since nothing would come of what
    is queued for it.
    """
    try:
        work()
    finally:
        os._exit(1)


def _sendable(result: Result | None) -> Result | None:
    """Return a result, or what takes its place where it holds an object that cannot be sent."""
    try:
        encode_frame(Finished([(0, result)]))
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
    if not reply.is_answer:
        raise reply.value if isinstance(reply.value, NelError) else EndpointError(str(reply.value))
    return reply.value
