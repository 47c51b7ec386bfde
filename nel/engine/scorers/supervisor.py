"""Supervises the worker process of a run's scorers, `nel.engine.scorers.worker_process`.

The worker is killed when a scorer hangs, and restarted when it died. The scorings in flight are
requeued; suspects, which may have caused it, then run one at a time: if a worker dies with a single
scoring in flight, that scoring is the culprit.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import Answer, Deliver, ScoringTask, scorer_inputs
from nel.engine.scorers.channel import (
    Finished,
    FrameError,
    Order,
    ScoreRequest,
    ScorerQuestion,
    encode_frame,
    read_frame,
    reply_to,
)
from nel.engine.scorers.fork_server import WorkerForkServer
from nel.engine.scorers.worker_process import GRACE_SECONDS, Worker
from nel.scoring.declarations import is_async
from nel.types import Unscored

_POLL_SECONDS_MAX: Final = 0.5
_DIED: Final = (
    "the scorer ended its process (exit, crash or too much memory), or broke the channel of its"
    " process"
)


def fork_server_of(benchmarks: Sequence[Benchmark]) -> WorkerForkServer:
    """Fork the server of worker processes; call this before the run starts threads."""
    declared = {name for benchmark in benchmarks for name in benchmark.env}
    return WorkerForkServer(
        lambda connection, progress: Worker(connection, progress, benchmarks).run(), declared
    )


class WorkerSupervisor:
    """Starts the worker process, sends it work, enforces timeouts, and restarts it when it died.

    A scoring in `_items` is waiting, a suspect (waiting to run alone), or in flight.
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
        self._late_detail = f"the scorer took longer than {timeout_seconds:g} s"
        self._deliver = deliver
        self._answer = answer
        self._items: dict[int, tuple[int, ScoringTask]] = {}
        self._waiting: deque[int] = deque()
        self._suspects: deque[int] = deque()
        self._in_flight: dict[int, None] = {}
        self._is_trial = False
        """Whether a suspect is in flight, alone."""
        self._numbers = itertools.count(1)
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._unavailable: str | None = None

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
        await asyncio.Event().wait()  # until cancelled, as while there is a worker

    async def _supervise(self) -> None:
        poll_seconds = min(_POLL_SECONDS_MAX, self._timeout_seconds / 4)
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), poll_seconds)
            self._wake.clear()
            if self._reading is not None and self._reading.done():
                await self._on_worker_death()
            elif self._writer is not None:
                await self._enforce_timeouts()
            if self._writer is None and (self._waiting or self._suspects):
                await self._start()

    async def _enforce_timeouts(self) -> None:
        """Kill the worker for a late sync scorer, or for a blocked event loop of async ones."""
        progress = self._fork_server.progress
        computing = progress.computing()
        if computing is not None and computing[1] > self._timeout_seconds:
            await self._restart([computing[0]], "timeout", self._late_detail, is_certain=True)
        elif progress.silence() > self._timeout_seconds + GRACE_SECONDS:
            await self._restart(self._async_in_flight(), "timeout", self._late_detail)

    async def _on_worker_death(self) -> None:
        computing = self._fork_server.progress.computing()
        suspects = self._async_in_flight()
        if computing is not None:
            suspects.append(computing[0])
        await self._restart(suspects, "died", _DIED)

    def _async_in_flight(self) -> list[int]:
        return [
            number
            for number in self._in_flight
            if is_async(self._items[number][1].benchmark.scorer)
        ]

    async def _restart(
        self, suspects: Sequence[int], kind: str, detail: str, *, is_certain: bool = False
    ) -> None:
        """Kill the process and requeue its work; `_supervise` starts it again.

        Args:
            suspects: Scorings that may be at fault; without any in flight, all in flight are.
            kind: Of a culprit's outcome.
            detail: Of a culprit's outcome.
            is_certain: Whether all suspects are culprits; else one is only if it ran alone.
        """
        self._disconnect()  # before all else, so that new items wait for the next process
        in_flight, self._in_flight = list(self._in_flight), {}
        suspected = set(suspects).intersection(in_flight)
        if not suspected:
            suspected = set(in_flight)
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
        await asyncio.to_thread(self._fork_server.kill)
        for number in in_flight:
            benchmark, item = self._items[number]
            self._items[number] = benchmark, item.restart()
            if number not in suspected:
                self._waiting.append(number)
            elif is_certain or len(in_flight) == 1:
                self._fail(number, kind, detail)
            else:
                self._suspects.append(number)

    async def stop(self) -> None:
        """Disconnect from the worker; scorings in flight get no outcome."""
        for task in self._answering:
            task.cancel()
        if self._reading is not None:
            self._reading.cancel()
        self._disconnect()

    def _dispatch_waiting(self) -> None:
        # While there are suspects nothing else starts: first what is in flight ends, then each
        # suspect runs alone, and what waits goes on after the last of them has ended.
        if self._suspects and not self._in_flight:
            self._dispatch(self._suspects.popleft())
            self._is_trial = True
        elif not self._suspects and not (self._is_trial and self._in_flight):
            self._is_trial = False
            while self._waiting:
                self._dispatch(self._waiting.popleft())

    def _dispatch(self, number: int) -> None:
        benchmark, item = self._items[number]
        self._in_flight[number] = None
        self._send(ScoreRequest(number, benchmark, scorer_inputs(item), self._timeout_seconds))

    def _send(self, message: Order) -> None:
        """Send a message; once the process is gone it is lost, and all items are requeued."""
        if self._writer is not None:
            # uvloop raises RuntimeError for a pipe that closed meanwhile.
            with suppress(RuntimeError, OSError):
                self._writer.write(encode_frame(message))

    async def _start(self) -> None:
        connection = await asyncio.to_thread(self._fork_server.start_worker)
        connection.setblocking(False)
        reader, self._writer = await asyncio.open_connection(sock=connection)
        self._reading = asyncio.create_task(self._read(reader))
        self._dispatch_waiting()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, FrameError):
            while True:
                message = await read_frame(reader)
                if isinstance(message, Finished):
                    self._on_finished(message)
                else:
                    task = asyncio.create_task(self._answer_question(message))
                    self._answering.add(task)
                    task.add_done_callback(self._answering.discard)
        self._wake.set()

    def _on_finished(self, finished: Finished) -> None:
        timed_out = Unscored(cause="scorer", kind="timeout", detail=self._late_detail)
        results = []
        for number, result in finished.results:
            if number in self._in_flight:
                del self._in_flight[number]
                results.append((self._items.pop(number)[1], result or timed_out))
        self._dispatch_waiting()
        if results:
            self._deliver(results)

    async def _answer_question(self, question: ScorerQuestion) -> None:
        asked_by = self._writer
        if question.number not in self._in_flight:
            return
        _, item = self._items[question.number]
        answering = self._answer(item, question.what, question.payload)
        reply = await reply_to(question.question, answering)
        if self._writer is asked_by:  # a later worker has questions of the same numbers
            self._send(reply)

    def _fail(self, number: int, kind: str, detail: str) -> None:
        self._in_flight.pop(number, None)
        _, item = self._items.pop(number)
        self._deliver([(item, Unscored(cause="scorer", kind=kind, detail=detail))])

    def _disconnect(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()  # what was not sent would keep it open
            self._writer = None
