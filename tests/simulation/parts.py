"""The store and the scorers of a world: the real ones, without their threads and processes.

Trap: a batch is on disk only when its time is up; a kill before that loses all of it, as a kill of the process would.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nel.benchmarks.base import Benchmark
from nel.engine.scoring import Answer, Deliver, Scorers, ToScore, _blame, _score_turns, inputs_of
from nel.engine.store import OutcomeRow, Store, _disk_fault, _Entry, _Write
from nel.errors import NelError, StoreError
from nel.strictjson import loads
from nel.types import Outcome, Unscored
from tests.simulation.loop import Crash
from tests.simulation.script import Script, SessionScript


class SimulatedStore(Store):
    """Writes the same file with the same statements, on the loop's own time."""

    def __init__(self, path: Path, script: Script, session: SessionScript, rng: random.Random) -> None:
        self._script = script
        self._trouble = session
        self._rng = rng
        self._pending: list[_Entry] = []
        self._permits: list[asyncio.Future[None]] = []
        self._committing = False
        self._commits = 0
        self._writes = 0
        self._disk_full: Exception | None = None
        self.dead = False
        self.killed: Callable[[], None] = lambda: None
        self.outcomes_committed = 0
        super().__init__(path)

    @property
    def holding(self) -> int:
        """Return how many answers wait for the disk with their permit."""
        self._permits = [future for future in self._permits if not future.done()]
        return len(self._permits)

    def start_writer(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def stop_writer(self) -> None:
        while (self._pending or self._committing) and not self.dead:  # noqa: ASYNC110 - the clock is virtual
            await asyncio.sleep(0.01)

    def put_response(
        self,
        benchmark: int,
        idx: int,
        repeat: int,
        request: str | None,
        response: str,
        *,
        outcome: OutcomeRow | None = None,
    ) -> asyncio.Future[None]:
        future = super().put_response(benchmark, idx, repeat, request, response, outcome=outcome)
        if "error" not in loads(response):
            self._permits.append(future)
        return future

    def put_call(
        self, benchmark: int, idx: int, repeat: int, key: str, request: str, response: str
    ) -> asyncio.Future[None]:
        future = super().put_call(benchmark, idx, repeat, key, request, response)
        self._permits.append(future)
        return future

    def _put(self, writes: list[_Write]) -> asyncio.Future[None]:
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
                self._commit(batch)
            self.kill()
        if hit and self._trouble.trouble == "disk_full":
            self._disk_full = _disk_fault(self.path, sqlite3.OperationalError("database or disk is full"))
        failure = self._disk_full or self._commit(batch)
        if failure is None:
            self.outcomes_committed += sum(
                len(rows) for writes, _ in batch for sql, rows in writes if "INTO outcomes" in sql
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
    """Scores on the loop, with the engine's own blame for whatever a scorer does."""

    def __init__(self, benchmarks: Sequence[Benchmark], script: Script, rng: random.Random, now: Callable[[], float]):
        self._script = script
        self._rng = rng
        self._now = now
        self._waiting: list[ToScore] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = False

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        self._timeout_seconds, self._deliver, self._answer = timeout_seconds, deliver, answer
        self._running = True
        for item in self._waiting:
            self._start(item)
        try:
            await asyncio.Event().wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def put(self, item: ToScore) -> None:
        if self._running:
            self._start(item)
        else:
            self._waiting.append(item)

    def end(self) -> None:
        return None

    def _start(self, item: ToScore) -> None:
        task = asyncio.create_task(self._score(item))
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.result()

    async def _score(self, item: ToScore) -> None:
        outcome = await self._outcome(item)
        self._deliver([(item, outcome)])

    async def _outcome(self, item: ToScore) -> Outcome:
        kind = self._script.kinds[item.idx]
        if kind == "hangs":
            await asyncio.sleep(self._timeout_seconds)
            return Unscored(cause="scorer", kind="timeout", detail="the scorer took too long")
        await asyncio.sleep(self._rng.uniform(0.001, 0.5))
        if self._now() < self._script.faults_end and self._rng.random() < self._script.scorer_faults:
            return Unscored(cause="scorer", kind="unavailable", detail="the process of the scorer is gone")
        if kind == "asks":
            try:
                for question in ("is", "is not"):
                    await self._answer(item, "model", {"prompt": f"say whether this {question} so", "options": {}})
            except NelError as error:
                return _blame(error)
        return _score_turns(item.benchmark, inputs_of(item))
