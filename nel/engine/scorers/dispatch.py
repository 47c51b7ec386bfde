"""Calls scorers, off the event loop, each one's faults kept to its own sample.

nel's own rules run in a thread of this process: their time is bounded. Everything else runs in a process of its own
(`nel.engine.scorers.worker_process`), which is killed when a scorer hangs and restarted when a scorer ends it. What was
in flight then is scored again, one at a time, so that only the culprit fails. `deliver` is called on the event loop
with a batch of outcomes, in any order.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from nel.benchmarks.api.benchmark import Benchmark
from nel.engine.scorers.call import (
    Delegated,
    ScoringTask,
    inputs_of,
    is_own_rule,
    score_turns,
    score_turns_async,
    unjudged,
)
from nel.engine.scorers.worker_process import Ask, WorkerForkServer, framed, receive
from nel.errors import EndpointError, NelError, ScorerError
from nel.judges.types import Case
from nel.scoring.protocol import is_async
from nel.types import Outcome, ScorerInput, Unscored

_GRACE_SECONDS: Final = 1.0
"""After the time limit of async scorers, before the process of one that blocks its loop is killed."""
_WATCH_SECONDS_MAX: Final = 0.5
_TRIES_MAX: Final = 3
_GATHER_SECONDS: Final = 0.002
"""Answers that arrive together are scored together: one hand-over to another thread instead of one each."""


Deliver = Callable[[list[tuple[ScoringTask, "Outcome | Delegated"]]], None]
Answer = Callable[[ScoringTask, str, Any], Awaitable[Any]]
"""Answers what a scorer asks of the run: ``model`` with text or messages, ``sandbox`` with a program, ``judge`` with a
number of the turn and a case."""


class Scorers:
    """All scorers of a run; make it before the run starts threads, `run` it on the event loop."""

    def __init__(self, benchmarks: Sequence[Benchmark]) -> None:
        """Prepare the process for scorers that are not nel's own, if there are any."""
        self._numbers = {id(benchmark): number for number, benchmark in enumerate(benchmarks)}
        self._benchmarks = list(benchmarks)
        self._own = [is_own_rule(benchmark.scorer) and not benchmark.languages for benchmark in benchmarks]
        self._nursery: WorkerForkServer | None = None
        if not all(self._own):
            self._nursery = WorkerForkServer([benchmark.scorer for benchmark in benchmarks], self._score_one)
        self._worker: _Worker | None = None
        self._home: asyncio.Queue[ScoringTask] = asyncio.Queue()
        self._early: list[tuple[int, ScoringTask]] = []

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        """Score what `put` brings, until cancelled.

        Args:
            timeout_seconds: For one sample; a scorer that computes for longer leaves it unscored.
        """
        self._deliver = deliver
        stopping = threading.Event()
        worker = None
        if self._nursery is not None:
            worker = self._worker = _Worker(self._nursery, timeout_seconds, deliver, answer)
            for number, item in self._early:
                worker.put(number, item)
            self._early.clear()
        try:
            await asyncio.gather(self._score_in_process(stopping), *([worker.watch()] if worker else []))
        finally:
            stopping.set()
            if worker is not None:
                await worker.stop()

    def put(self, item: ScoringTask) -> None:
        """Take an item; its outcome is delivered later."""
        number = self._numbers[id(item.benchmark)]
        if self._own[number]:
            self._home.put_nowait(item)
        elif self._worker is None:
            self._early.append((number, item))
        else:
            self._worker.put(number, item)

    def end(self) -> None:
        """End the process for scorers."""
        if self._nursery is not None:
            self._nursery.close()
            self._nursery = None

    async def _score_in_process(self, stopping: threading.Event) -> None:
        while True:
            batch = [await self._home.get()]
            await asyncio.sleep(_GATHER_SECONDS)
            while not self._home.empty():
                batch.append(self._home.get_nowait())
            outcomes = await asyncio.to_thread(_score_batch, batch, stopping)
            self._deliver(list(zip(batch, outcomes, strict=False)))

    def _score_one(self, number: int, inputs: Sequence[ScorerInput], ask: Ask) -> Any:
        """Score in the worker: every turn of one answer, none of whose faults gets out."""
        benchmark = self._benchmarks[number]
        for turn, given in enumerate(inputs):
            given.config = dict(benchmark.extra)
            given.sandbox = _SandboxProxy(ask)
            given.model_call_fn = lambda prompt, **options: ask("model", {"prompt": prompt, "options": options})
            given.judge_fn = partial(_ask_judge, ask, turn)
        score = score_turns_async if is_async(benchmark.scorer) else score_turns
        return score(benchmark, inputs)


@dataclass(frozen=True, slots=True)
class _SandboxProxy:
    """The run's sandbox, as a scorer in a process of its own sees it."""

    ask: Ask

    def run(self, program: Any) -> Any:
        """Return the verdict of a program; in an async scorer, an awaitable of it."""
        return self.ask("sandbox", program)


def _ask_judge(ask: Ask, turn: int, case: Case) -> Any:
    return ask("judge", (turn, case))


class _Worker:
    """The run's end of the process in which scorers run."""

    def __init__(self, nursery: WorkerForkServer, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        self._nursery = nursery
        self._timeout_seconds = timeout_seconds
        self._deliver = deliver
        self._answer = answer
        self._items: dict[int, tuple[int, ScoringTask]] = {}
        self._tries: dict[int, int] = {}
        self._suspects: deque[int] = deque()
        self._waiting: deque[int] = deque()
        self._alone: int | None = None
        self._cancelled: set[int] = set()
        self._numbers = itertools.count(1)
        self._pid: int | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._gone: str | None = None

    def put(self, benchmark: int, item: ScoringTask) -> None:
        number = next(self._numbers)
        self._items[number] = (benchmark, item)
        if self._gone is not None:
            self._give_up(number, "unavailable", self._gone)
            return
        self._waiting.append(number)
        if self._writer is None:
            self._wake.set()
        else:
            self._send_waiting()

    async def watch(self) -> None:
        """Start the process when there is work, and kill it when a scorer hangs."""
        try:
            await self._watch()
        except (ScorerError, OSError) as error:
            self._gone = f"the process that runs scorers is gone ({error}); resume to score what is left"
        for number in list(self._items):
            self._give_up(number, "unavailable", self._gone or "")
        await asyncio.Event().wait()

    async def _watch(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), min(_WATCH_SECONDS_MAX, self._timeout_seconds / 4))
            self._wake.clear()
            if self._reading is not None and self._reading.done():
                await self._on_worker_death()
            await self._end_late()
            if self._writer is None and (self._waiting or self._suspects):
                await self._start()

    async def _end_late(self) -> None:
        """Cancel async scorers that take too long; kill the process for a sync one, or for a loop that is blocked."""
        hanging, blocked = [], []
        for one in self._nursery.board.running():
            if one.seconds is None or one.seconds <= self._timeout_seconds:
                continue
            known = self._items.get(one.number)
            if known is not None and not is_async(known[1].benchmark.scorer):
                hanging.append(one.number)
            elif one.seconds > self._timeout_seconds + _GRACE_SECONDS:
                blocked.append(one.number)
            elif one.number not in self._cancelled and self._writer is not None:
                self._cancelled.add(one.number)
                self._say(("cancel", one.number))
        if len(blocked) == 1:
            hanging += blocked
        if hanging:
            await self._restart(lost=[])
            for number in hanging:
                self._give_up(number, "timeout", self._too_long)
        elif blocked:
            await self._restart(lost=blocked)

    @property
    def _too_long(self) -> str:
        return f"the scorer took longer than {self._timeout_seconds:g} s"

    async def stop(self) -> None:
        for task in (*self._answering, *([self._reading] if self._reading else [])):
            task.cancel()
        self._hang_up()
        if self._pid is not None:
            with suppress(ScorerError, OSError):
                self._nursery.kill(self._pid)

    def _send_waiting(self) -> None:
        if self._writer is None:
            return
        if self._alone is None and self._suspects and len(self._items) == len(self._suspects) + len(self._waiting):
            self._alone = self._suspects.popleft()
            self._write(self._alone)
        while self._waiting and self._alone is None and not self._suspects:
            self._write(self._waiting.popleft())

    def _write(self, number: int) -> None:
        benchmark, item = self._items[number]
        self._say(("score", number, benchmark, inputs_of(item)))

    def _say(self, message: tuple[Any, ...]) -> None:
        """Send a message; to a process that is gone it is lost, and `_read` has it started again with all it had."""
        if self._writer is not None:
            with suppress(RuntimeError, OSError):  # uvloop raises RuntimeError for a pipe that closed meanwhile
                self._writer.write(framed(message))

    async def _start(self) -> None:
        connection, self._pid = self._nursery.new_worker()
        connection.setblocking(False)
        reader, self._writer = await _streams(connection)
        self._reading = asyncio.create_task(self._read(reader))
        self._send_waiting()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind, *rest = await receive(reader)
                if kind == "done":
                    self._take(*rest)
                else:
                    task = asyncio.create_task(self._reply(*rest))
                    self._answering.add(task)
                    task.add_done_callback(self._answering.discard)
        self._wake.set()

    def _take(self, done: Sequence[tuple[int, Outcome | Delegated | None]]) -> None:
        found = [
            (self._items.pop(number)[1], outcome or Unscored(cause="scorer", kind="timeout", detail=self._too_long))
            for number, outcome in done
            if number in self._items
        ]
        if any(number == self._alone for number, _ in done):
            self._alone = None
        self._send_waiting()
        if found:
            self._deliver(found)

    async def _reply(self, asked: int, number: int, what: str, payload: Any) -> None:
        asker = self._writer
        try:
            known = self._items.get(number)
            if known is None:
                return
            reply = (True, await self._answer(known[1], what, payload))
        except NelError as error:
            reply = (False, error)
        if self._writer is asker:  # a process that was started since has questions of the same numbers
            self._say(("answer", asked, *reply))

    async def _on_worker_death(self) -> None:
        """The process ended by itself: whoever ran then is to blame, or is tried alone when it is not clear who."""
        running = self._nursery.board.running()
        computing = [one.number for one in running if one.seconds is not None] or [one.number for one in running]
        culprits = [number for number in computing if number in self._items]
        if len(culprits) == 1:
            await self._restart(lost=[])
            self._give_up(culprits[0], "died", "the scorer ended its process (exit, crash or too much memory)")
        else:
            await self._restart(lost=culprits)

    def _give_up(self, number: int, kind: str, detail: str) -> None:
        known = self._items.pop(number, None)
        for waiting in (self._waiting, self._suspects):
            with suppress(ValueError):
                waiting.remove(number)
        if known is not None:
            self._deliver([(known[1], Unscored(cause="scorer", kind=kind, detail=detail))])

    async def _restart(self, *, lost: Sequence[int]) -> None:
        """End the process; what it had taken is sent again, the suspects one at a time."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
        self._hang_up()
        if self._pid is not None:
            await asyncio.to_thread(self._nursery.kill, self._pid)
            self._pid = None
        self._nursery.board.clear()
        self._cancelled.clear()
        self._alone = None
        for number in [
            number for number in self._items if number not in self._waiting and number not in self._suspects
        ]:
            self._tries[number] = self._tries.get(number, 0) + 1
            benchmark, item = self._items[number]
            self._items[number] = benchmark, item.anew()
            if self._tries[number] > _TRIES_MAX:
                self._give_up(number, "died", "the process of the scorer ended again and again")
            else:
                (self._suspects if number in lost else self._waiting).append(number)

    def _hang_up(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


async def _streams(connection: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(sock=connection)


async def score_all(batch: Sequence[ScoringTask], *, timeout_seconds: float) -> list[Outcome]:
    """Return the outcome of each item, in order; never raises for a fault of a scorer, and asks no judge."""
    found: dict[tuple[int, ...], Outcome] = {}
    finished = asyncio.Event()

    def deliver(outcomes: list[tuple[ScoringTask, Outcome | Delegated]]) -> None:
        for item, outcome in outcomes:
            found[_place(item)] = unjudged(outcome) if isinstance(outcome, Delegated) else outcome
        if len(found) == len(batch):
            finished.set()

    async def answer(item: ScoringTask, what: str, payload: Any) -> Any:
        raise EndpointError(f"there is no model to ask here ({what} of sample {item.sample.id}: {payload})")

    scorers = Scorers(list({id(item.benchmark): item.benchmark for item in batch}.values()))
    running = asyncio.create_task(scorers.run(timeout_seconds=timeout_seconds, deliver=deliver, answer=answer))
    try:
        for item in batch:
            scorers.put(item)
        done = asyncio.create_task(finished.wait())
        await asyncio.wait({running, done}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        scorers.end()
    return [found[_place(item)] for item in batch]


def _place(item: ScoringTask) -> tuple[int, ...]:
    return id(item.benchmark), item.job, item.idx, item.repeat


def _score_batch(batch: Sequence[ScoringTask], stopping: threading.Event) -> list[Outcome | Delegated]:
    outcomes: list[Outcome | Delegated] = []
    for item in batch:
        if stopping.is_set():
            break
        inputs = inputs_of(item)
        for given in inputs:
            given.config = dict(item.benchmark.extra)
        outcomes.append(score_turns(item.benchmark, inputs))
    return outcomes
