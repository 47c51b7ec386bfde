"""Dispatches answers to scorers off the event loop; a scorer's fault stays with its sample.

nel's own rules run in a thread of this process, since their time is bounded. Every other scorer
runs in a worker process, see `nel.engine.scorers.supervisor`. `deliver` is called on the event loop
with a batch of outcomes, in any order.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import (
    Answer,
    Deliver,
    Result,
    ScoringTask,
    score_turns,
    scorer_inputs,
)
from nel.scoring.declarations import runs_in_process

if TYPE_CHECKING:
    from nel.engine.scorers.fork_server import WorkerForkServer
    from nel.engine.scorers.supervisor import WorkerSupervisor

_BATCH_WINDOW_SECONDS: Final = 0.002
"""Answers that arrive within it are scored together, with one switch to another thread."""


class Scorers:
    """All scorers of a run; make it before the run starts threads, `run` it on the event loop."""

    def __init__(self, benchmarks: Sequence[Benchmark]) -> None:
        """Fork the server of worker processes if any scorer needs one."""
        self._numbers = {id(benchmark): number for number, benchmark in enumerate(benchmarks)}
        self._in_process = [runs_in_process(benchmark.scorer) for benchmark in benchmarks]
        self._fork_server: WorkerForkServer | None = None
        if not all(self._in_process):
            from nel.engine.scorers.supervisor import fork_server_of  # noqa: PLC0415 - rules need no process

            self._fork_server = fork_server_of(benchmarks)
        self._supervisor: WorkerSupervisor | None = None
        self._waiting: list[ScoringTask] = []
        """For the thread of this process, which takes all at once."""
        self._has_waiting = asyncio.Event()
        self._put_before_run: list[tuple[int, ScoringTask]] = []

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        """Score what `put` brings, until cancelled.

        Args:
            timeout_seconds: For one sample; a scorer that computes for longer leaves it unscored.
            deliver: Gets outcomes in batches.
            answer: Answers what scorers ask.
        """
        self._deliver = deliver
        stopping = threading.Event()
        work = [self._score_in_process(stopping)]
        supervisor = None
        if self._fork_server is not None:
            from nel.engine.scorers.supervisor import (  # noqa: PLC0415 - rules of nel need no process
                WorkerSupervisor,
            )

            supervisor = self._supervisor = WorkerSupervisor(
                self._fork_server, timeout_seconds, deliver, answer
            )
            for number, item in self._put_before_run:
                supervisor.put(number, item)
            self._put_before_run.clear()
            work.append(supervisor.supervise())
        try:
            await asyncio.gather(*work)
        finally:
            stopping.set()
            if supervisor is not None:
                await supervisor.stop()

    def put(self, item: ScoringTask) -> None:
        """Take an item; its outcome is delivered later."""
        number = self._numbers[id(item.benchmark)]
        if self._in_process[number]:
            self._waiting.append(item)
            self._has_waiting.set()
        elif self._supervisor is None:
            self._put_before_run.append((number, item))
        else:
            self._supervisor.put(number, item)

    def close(self) -> None:
        """End the worker processes."""
        if self._fork_server is not None:
            self._fork_server.close()
            self._fork_server = None

    async def _score_in_process(self, stopping: threading.Event) -> None:
        while True:
            await self._has_waiting.wait()
            await asyncio.sleep(_BATCH_WINDOW_SECONDS)
            batch, self._waiting = self._waiting, []
            self._has_waiting.clear()
            outcomes = await asyncio.to_thread(_score_batch, batch, stopping)
            # Fewer outcomes than answers where the session ended meanwhile: a resume has the rest.
            self._deliver(list(zip(batch, outcomes, strict=False)))


def _score_batch(batch: Sequence[ScoringTask], stopping: threading.Event) -> list[Result]:
    outcomes: list[Result] = []
    for item in batch:
        if stopping.is_set():
            break
        inputs = scorer_inputs(item)
        for scorer_input in inputs:
            scorer_input.config = dict(item.benchmark.extra)
        outcomes.append(score_turns(item.benchmark, inputs))
    return outcomes
