"""Supervises the worker process of a run's scorers (`nel.engine.scorers.worker_process`): it is
killed when a scorer hangs, and restarted when a scorer ends it.

Scorings that were in flight then are requeued; those that may have caused it run one at a time, so
that only the culprit fails.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import Answer, Deliver, ScoringTask, scorer_inputs
from nel.engine.scorers.channel import (
    CancelRequest,
    Finished,
    FrameError,
    ScoreRequest,
    ScorerQuestion,
    ScorerReply,
    encode_frame,
    read_frame,
)
from nel.engine.scorers.fork_server import WorkerForkServer
from nel.engine.scorers.worker_process import Worker
from nel.errors import NelError
from nel.scoring.declarations import is_async
from nel.types import Unscored

_GRACE_SECONDS: Final = 1.0
"""Grace after async scorers' timeout, before a process with a blocked event loop is killed."""
_POLL_SECONDS_MAX: Final = 0.5
_POLL_SECONDS_CLOSED: Final = 0.05
"""For the end of a worker whose channel is closed, and whose scoring may still compute."""
_ATTEMPTS_MAX: Final = 3
_DIED: Final = (
    "the scorer ended its process (exit, crash or too much memory), or broke the channel of its"
    " process"
)


def fork_server_of(benchmarks: Sequence[Benchmark]) -> WorkerForkServer:
    """Fork the server of worker processes; call this before the run starts threads."""
    declared = {name for benchmark in benchmarks for name in benchmark.env}
    return WorkerForkServer(
        lambda connection, jobs: Worker(connection, jobs, benchmarks).run(), declared
    )


class WorkerSupervisor:
    """Starts the worker process, sends it work, enforces timeouts, and restarts it when it died.

    A scoring is in one of four states: waiting; suspect (it ran when the worker died, and waits
    until it can run alone); in flight, when it is in `_items` but in neither queue; or finished,
    when it is no longer in `_items`.
    """

    def __init__(
        self,
        fork_server: WorkerForkServer,
        timeout_seconds: float,
        deliver: Deliver,
        answer: Answer,
    ) -> None:
        self._fork_server = fork_server
        self._timeout_seconds = timeout_seconds
        self._deliver = deliver
        self._answer = answer
        self._items: dict[int, tuple[int, ScoringTask]] = {}
        self._attempts: dict[int, int] = {}
        self._suspects: deque[int] = deque()
        self._waiting: deque[int] = deque()
        self._suspect_in_flight: int | None = None
        self._cancelled: set[int] = set()
        self._numbers = itertools.count(1)
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._unavailable: str | None = None
        self._n_finished = 0
        """By the worker that runs now."""
        self._active_at = time.monotonic()
        """When the worker was last seen to work, or the run to work for it."""
        self._is_channel_broken = False

    def put(self, benchmark: int, item: ScoringTask) -> None:
        """Take an item of a benchmark; its outcome is delivered later."""
        number = next(self._numbers)
        self._items[number] = (benchmark, item)
        if self._unavailable is not None:
            self._fail(number, "unavailable", self._unavailable)
            return
        self._waiting.append(number)
        if self._writer is None:
            self._wake.set()
        else:
            self._dispatch_waiting()

    async def supervise(self) -> None:
        """Start and restart the worker as needed; once that is impossible, fail all scorings."""
        try:
            await self._supervise()
        except OSError as error:
            self._unavailable = (
                f"the process that runs scorers is gone ({error}); resume to score what is left"
            )
        for number in list(self._items):
            self._fail(number, "unavailable", self._unavailable or "")
        await asyncio.Event().wait()

    async def _supervise(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._poll_seconds())
            self._wake.clear()
            if self._is_channel_closed() and not self._is_still_computing():
                await self._on_worker_death()
            await self._enforce_timeouts()
            await self._restart_if_silent()
            if self._writer is None and (self._waiting or self._suspects):
                await self._start()

    def _poll_seconds(self) -> float:
        usual = _POLL_SECONDS_CLOSED if self._is_channel_closed() else _POLL_SECONDS_MAX
        return min(usual, self._timeout_seconds / 4)

    def _is_channel_closed(self) -> bool:
        return self._reading is not None and self._reading.done()

    def _is_still_computing(self) -> bool:
        """Return whether a worker with a closed channel still computes, to end or time out."""
        running = self._fork_server.running_jobs
        is_computing = any(job.seconds is not None for job in running.read())
        return is_computing and not self._is_channel_broken and running.is_worker_alive()

    async def _enforce_timeouts(self) -> None:
        """Cancel late async scorers; kill the process for a sync one or a blocked event loop."""
        hanging, blocked = [], []
        running = self._fork_server.running_jobs
        for job in running.read():
            if job.seconds is not None:
                self._active_at = time.monotonic()
            if job.seconds is None or job.seconds <= self._timeout_seconds:
                continue
            known = self._items.get(job.number)
            if known is not None and not is_async(known[1].benchmark.scorer):
                hanging.append(job.number)
            elif job.seconds > self._timeout_seconds + _GRACE_SECONDS:
                blocked.append(job.number)
            elif job.number not in self._cancelled and self._writer is not None:
                self._cancelled.add(job.number)
                self._send(CancelRequest(job.number))
        # All async scorings on a blocked loop look late. A single one must be the culprit; of
        # several, each is tried alone after the restart.
        if len(blocked) == 1:
            hanging += blocked
        if hanging and running.is_worker_stopped():  # perhaps by a thread of an earlier scoring
            await self._restart_without(hanging, "timeout", self._timeout_detail)
        elif hanging:
            await self._restart(suspects=[])
            for number in hanging:
                self._fail(number, "timeout", self._timeout_detail)
        elif blocked:
            await self._restart(suspects=blocked)

    async def _restart_if_silent(self) -> None:
        """Restart a worker that has work and runs nothing: its channel was closed or emptied."""
        in_flight = self._in_flight()
        if not in_flight or self._writer is None or self._answering:
            self._active_at = time.monotonic()
        elif time.monotonic() - self._active_at > self._timeout_seconds + _GRACE_SECONDS:
            await self._restart_without(in_flight, "died", _DIED)

    def _in_flight(self) -> list[int]:
        queued = {*self._waiting, *self._suspects}
        return [number for number in self._items if number not in queued]

    async def _restart_without(self, suspects: Sequence[int], kind: str, detail: str) -> None:
        """Restart the worker; fail a lone suspect in a new process, else try each alone."""
        is_culprit = (
            len(suspects) == 1 and self._in_flight() == list(suspects) and not self._n_finished
        )
        await self._restart(suspects=[] if is_culprit else suspects)
        if is_culprit:
            self._fail(suspects[0], kind, detail)

    @property
    def _timeout_detail(self) -> str:
        return f"the scorer took longer than {self._timeout_seconds:g} s"

    async def stop(self) -> None:
        """Leave the worker; what is in flight gets no outcome."""
        for task in (*self._answering, *([self._reading] if self._reading else [])):
            task.cancel()
        self._disconnect()

    def _dispatch_waiting(self) -> None:
        if self._writer is None:
            return
        # A suspect runs alone: only when nothing is in flight, which is when every item is in one
        # of the two queues.
        nothing_in_flight = len(self._items) == len(self._suspects) + len(self._waiting)
        if self._suspect_in_flight is None and self._suspects and nothing_in_flight:
            self._suspect_in_flight = self._suspects.popleft()
            self._dispatch(self._suspect_in_flight)
        while self._waiting and self._suspect_in_flight is None and not self._suspects:
            self._dispatch(self._waiting.popleft())

    def _dispatch(self, number: int) -> None:
        benchmark, item = self._items[number]
        self._send(ScoreRequest(number, benchmark, scorer_inputs(item)))

    def _send(self, message: ScoreRequest | CancelRequest | ScorerReply) -> None:
        """Send a message; once the process is gone it is lost, and all items are requeued."""
        if self._writer is not None:
            with suppress(
                RuntimeError, OSError
            ):  # uvloop raises RuntimeError for a pipe that closed meanwhile
                self._writer.write(encode_frame(message))

    async def _start(self) -> None:
        connection = await asyncio.to_thread(self._fork_server.start_worker)
        connection.setblocking(False)
        self._n_finished, self._active_at, self._is_channel_broken = 0, time.monotonic(), False
        reader, self._writer = await asyncio.open_connection(sock=connection)
        self._reading = asyncio.create_task(self._read(reader))
        self._dispatch_waiting()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                try:
                    message = await read_frame(reader)
                except FrameError:
                    self._is_channel_broken = True
                    break
                self._active_at = time.monotonic()
                if isinstance(message, Finished):
                    self._on_finished(message)
                else:
                    task = asyncio.create_task(self._answer_question(message))
                    self._answering.add(task)
                    task.add_done_callback(self._answering.discard)
        self._wake.set()

    def _on_finished(self, finished: Finished) -> None:
        self._n_finished += len(finished.results)
        timed_out = Unscored(cause="scorer", kind="timeout", detail=self._timeout_detail)
        results = [
            (self._items.pop(number)[1], result or timed_out)
            for number, result in finished.results
            if number in self._items
        ]
        if any(number == self._suspect_in_flight for number, _ in finished.results):
            self._suspect_in_flight = None
        self._dispatch_waiting()
        if results:
            self._deliver(results)

    async def _answer_question(self, question: ScorerQuestion) -> None:
        asked_by = self._writer
        try:
            known = self._items.get(question.number)
            if known is None:
                return
            reply = ScorerReply(
                question.question,
                True,
                await self._answer(known[1], question.what, question.payload),
            )
        except NelError as error:
            reply = ScorerReply(question.question, False, error)
        if (
            self._writer is asked_by
        ):  # a worker that was started since then has questions of the same numbers
            self._send(reply)

    async def _on_worker_death(self) -> None:
        """Restart a process that ended by itself, and find the scoring that ended it."""
        running = [
            job for job in self._fork_server.running_jobs.read() if job.number in self._items
        ]
        suspects = [job.number for job in running if job.seconds is not None] or [
            job.number for job in running
        ]
        if self._is_channel_broken or not suspects:  # by any that is not known to be over
            suspects = self._in_flight()
        await self._restart_without(suspects, "died", _DIED)

    def _fail(self, number: int, kind: str, detail: str) -> None:
        known = self._items.pop(number, None)
        for queued in (self._waiting, self._suspects):
            with suppress(ValueError):
                queued.remove(number)
        if known is not None:
            self._deliver([(known[1], Unscored(cause="scorer", kind=kind, detail=detail))])

    async def _restart(self, *, suspects: Sequence[int]) -> None:
        """Kill the process and requeue its work, suspects singly; `_supervise` starts it again."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
        self._disconnect()
        await asyncio.to_thread(self._fork_server.kill)
        self._fork_server.running_jobs.clear()
        self._cancelled.clear()
        self._suspect_in_flight = None
        suspected = set(suspects)
        for number in self._in_flight():
            benchmark, item = self._items[number]
            self._items[number] = benchmark, item.restart()
            if number not in suspected:
                self._waiting.append(number)
                continue
            self._attempts[number] = self._attempts.get(number, 0) + 1
            if self._attempts[number] > _ATTEMPTS_MAX:
                self._fail(number, "died", "the process of the scorer ended again and again")
            else:
                self._suspects.append(number)

    def _disconnect(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()  # what was not sent would keep it open
            self._writer = None
