"""The store and the scorers of a world: the real ones, without their threads and processes.

Note: a batch is on disk only when its time is up; a kill before that loses all of it, as a kill of the process would.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import Delegated, ScoringTask, score_turns, scorer_inputs, unscored_by
from nel.engine.scorers.dispatch import Answer, Deliver, Scorers
from nel.engine.store.log import Log, Pooled
from nel.engine.store.rows import ANSWER, INSERTIONS, MODEL, VERDICT, Row, fields_of
from nel.engine.store.writer import Write, _Entry, disk_fault
from nel.errors import NelError, StoreError
from nel.judges.types import Case
from nel.scoring.result import mean_of_turns, outcome_of
from nel.types import Outcome, Scored, Unscored
from tests.simulation.judging import judges_named
from tests.simulation.loop import Crash
from tests.simulation.script import Script, SessionScript


class SimulatedStore(Log):
    """Writes the same file with the same statements, on the loop's own time."""

    def __init__(self, path: Path, script: Script, session: SessionScript, rng: random.Random) -> None:
        self._script = script
        self._trouble = session
        self._rng = rng
        self._pending: list[_Entry] = []
        self._permits: list[tuple[str, asyncio.Future[None]]] = []
        self._committing = False
        self._commits = 0
        self._writes = 0
        self._disk_full: Exception | None = None
        self.dead = False
        self.killed: Callable[[], None] = lambda: None
        self.outcomes_committed = 0
        super().__init__(path)
        self._writer.put = self._put  # type: ignore[method-assign]

    def holding(self, model: str) -> int:
        """Return how many answers of a model wait for the disk with their permit."""
        self._permits = [held for held in self._permits if not held[1].done()]
        return sum(name == model for name, _ in self._permits)

    @property
    def is_writing(self) -> bool:
        return self._committing or bool(self._pending)

    def start_writer(self) -> None:
        """Start no thread: batches are committed by timers of the loop."""

    async def stop_writer(self) -> None:
        while (self._pending or self._committing) and not self.dead:  # noqa: ASYNC110 - the clock is virtual
            await asyncio.sleep(0.01)

    def append(
        self, rows: Sequence[Row], pool: Sequence[Pooled] = (), *, instead: bool = False
    ) -> asyncio.Future[None]:
        future = super().append(rows, pool, instead=instead)
        for row in rows:
            is_final = row.role not in (ANSWER, MODEL) or row.fault is None
            if row.requests is not None and is_final and not fields_of(row).get("cached"):
                self._permits.append((row.payer or "m", future))
        return future

    def _put(self, writes: list[Write]) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((writes, future))
        self._start_commit()
        return future

    def _start_commit(self) -> None:
        if self._pending and not self._committing and not self.dead:
            self._committing = True
            batch, self._pending = self._pending, []
            seconds = self._script.commit_seconds * self._rng.uniform(0.2, 2.0)
            asyncio.get_running_loop().call_later(seconds, self._finish_commit, batch)

    def _finish_commit(self, batch: list[_Entry]) -> None:
        if self.dead:
            return
        self._commits += 1
        hit = self._commits == self._trouble.number
        if hit and self._trouble.trouble == "kill_at_commit":
            if self._trouble.durable:
                self._writer._commit(batch)
            self.kill()
        if hit and self._trouble.trouble == "disk_full":
            self._disk_full = disk_fault(self.path, sqlite3.OperationalError("database or disk is full"))
        failure = self._disk_full or self._writer._commit(batch)
        if failure is None:
            self.outcomes_committed += sum(
                len(rows) for writes, _ in batch for sql, rows in writes if sql == INSERTIONS[VERDICT].statement
            )
        for _, future in batch:
            if not future.done():
                if failure is None:
                    future.set_result(None)
                else:
                    future.set_exception(failure)
        self._committing = False
        self._start_commit()

    def kill(self) -> None:
        """End the process here and now."""
        self.dead = True
        self.killed()
        raise Crash

    def _write(self, statement: str, values: Sequence[Any]) -> None:
        if self.dead:
            raise StoreError("the process is gone")
        if self._disk_full is not None:
            raise self._disk_full
        self._writes += 1
        if self._trouble.trouble == "kill_at_write" and self._writes == self._trouble.number:
            self.kill()
        super()._write(statement, values)


class SimulatedScorers(Scorers):
    """Scores on the loop, with the engine's own outcome for each error of a scorer."""

    def __init__(self, benchmarks: Sequence[Benchmark], script: Script, rng: random.Random, now: Callable[[], float]):
        self._script = script
        self._rng = rng
        self._now = now
        self._waiting: list[ScoringTask] = []
        self._tasks: dict[asyncio.Task[None], ScoringTask] = {}
        self._questions: set[asyncio.Task[Any]] = set()
        self._running = False

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        self._timeout_seconds, self._deliver, self._answer = timeout_seconds, deliver, answer
        self._running = True
        for item in self._waiting:
            self._start(item)
        try:
            await asyncio.Event().wait()
        finally:
            left = [*self._tasks, *self._questions]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def put(self, item: ScoringTask) -> None:
        if self._running:
            self._start(item)
        else:
            self._waiting.append(item)

    def close(self) -> None:
        return None

    def _start(self, item: ScoringTask) -> None:
        task = asyncio.create_task(self._score(item))
        self._tasks[task] = item
        task.add_done_callback(self._finished)

    def _restart(self) -> None:
        """Restart everything but what hangs; answers to what was asked are dropped."""
        for task, item in list(self._tasks.items()):
            if self._script.kinds[item.key.idx] != "hangs" and not task.done():
                del self._tasks[task]
                task.cancel()
                self._start(item.restart())

    async def _ask(self, item: ScoringTask, what: str, payload: Any) -> Any:
        if self._script.judging is None or not self._script.judging.restarts:
            return await self._answer(item, what, payload)
        question = asyncio.ensure_future(self._answer(item, what, payload))
        self._questions.add(question)
        question.add_done_callback(self._answered)
        return await asyncio.shield(question)

    def _answered(self, question: asyncio.Task[Any]) -> None:
        self._questions.discard(question)
        if not question.cancelled() and not isinstance(question.exception(), NelError | None):
            question.result()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            task.result()

    async def _score(self, item: ScoringTask) -> None:
        outcome = await self._outcome(item)
        self._deliver([(item, outcome)])

    async def _outcome(self, item: ScoringTask) -> Outcome | Delegated:
        kind = self._script.kinds[item.key.idx]
        if kind == "hangs":
            await asyncio.sleep(self._timeout_seconds)
            if self._script.judging is not None and self._script.judging.restarts:
                self._restart()
            return Unscored(cause="scorer", kind="timeout", detail="the scorer took too long")
        await asyncio.sleep(self._rng.uniform(0.001, 0.5))
        if self._now() < self._script.faults_end and self._rng.random() < self._script.scorer_faults:
            return Unscored(cause="scorer", kind="unavailable", detail="the process of the scorer is gone")
        if kind == "asks":
            try:
                for question in ("is", "is not"):
                    await self._ask(item, "model", {"prompt": f"say whether this {question} so", "options": {}})
            except NelError as error:
                return unscored_by(error)
        judging = self._script.judging
        way = "rule" if judging is None or kind == "raises" else judging.ways[item.key.idx]
        if way in ("rule", "handed"):
            return score_turns(item.benchmark, scorer_inputs(item))
        return await self._asked_for(item, way)

    async def _asked_for(self, item: ScoringTask, way: str) -> Outcome:
        """Score as a scorer does that asks the judge itself."""
        turns = []
        judging, case = self._script.judging, Case()
        if judging is not None:
            case = Case(judges=judges_named(judging), template=judging.template)
        try:
            if way == "asks_both":
                await self._ask(item, "model", {"prompt": "say what this is worth", "options": {}})
            for turn, given in enumerate(scorer_inputs(item)):
                judgement = await self._ask(item, "judge", (turn, case))
                turns.append(outcome_of({"right": judgement.grade.score}, given.response))
        except NelError as error:
            return Scored(reward=0.0, metrics={"right": 0.0}) if way == "hides" else unscored_by(error)
        return mean_of_turns(turns)
