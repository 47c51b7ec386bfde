"""The pipeline: workers ask, scorers score, the store commits; all at once, joined by bounded queues.

A fixed number of workers pulls from one iterator over the snapshot, so memory grows with the concurrency and not with
the dataset. A worker takes the next sample only when the last answer is on disk, so a kill loses at most one request a
worker. Trap: nothing here raises for one sample's fault; what ends a run is a stop, and a stop is always resumable.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from nel.config.schema import EngineConfig
from nel.engine.asking import Asker, conversation_of
from nel.engine.codec import decode_response, decode_sample, encode_outcome, encode_response
from nel.engine.plan import Plan
from nel.engine.progress import Progress
from nel.engine.scorer_process import SLOTS
from nel.engine.scoring import Scorers, ToScore
from nel.engine.store import OutcomeRow, Snapshot, Store, StoredSample
from nel.engine.verdict import RESCORE, retry_of, verdict_before_scoring
from nel.errors import (
    EXIT_DONE,
    EXIT_SIGINT,
    EXIT_SIGTERM,
    EXIT_STOPPED_EARLY,
    PreflightError,
    ScorerError,
    StoppedEarly,
)
from nel.models.client import Client
from nel.models.faults import FATAL_KINDS, Fault
from nel.models.preflight import raise_if_hopeless
from nel.sandbox import OUTAGES, Sandbox
from nel.types import Outcome, Response, Sample, Unscored

T = TypeVar("T")

_FAULTS_MIN = 32
_SCORING_MORE = 256
"""Answers that may be with the scorers beside two for each request in flight."""
_PROGRAMS_MAX = 128
"""Programs that may be with the sandbox; when they are, asking waits for scoring."""
_EXIT_OF_SIGNAL = {"SIGINT": EXIT_SIGINT, "SIGTERM": EXIT_SIGTERM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One plan with its number in the store."""

    key: int
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a session of a run ended."""

    exit_code: int
    reason: str
    """``done``, the name of a signal, or why the run stopped early."""
    endpoint_kind: str | None = None
    """What was wrong with the endpoint, when that ended the session."""


@dataclass(frozen=True, slots=True)
class _Item:
    job: Job
    stored: StoredSample
    sample: Sample
    repeat: int


class Pipeline:
    """One session of a run; call `run` once."""

    def __init__(
        self,
        *,
        jobs: list[Job],
        store: Store,
        snapshot: Snapshot,
        client: Client | None,
        scorers: Scorers,
        sandbox: Sandbox,
        config: EngineConfig,
        progress: Progress,
    ) -> None:
        """Prepare a session; nothing is sent before `run`."""
        self._scorers = scorers
        self._sandbox = sandbox
        self._jobs = jobs
        self._store = store
        self._snapshot = snapshot
        self._client = client
        self._config = config
        self._progress = progress
        self._items = self._pending()
        self._stored_before = snapshot.last_response()
        self._to_score: asyncio.Queue[ToScore] = asyncio.Queue(maxsize=2 * config.concurrency)
        runs_programs = any(job.plan.benchmark.languages for job in jobs)
        room = _PROGRAMS_MAX if runs_programs else min(2 * config.concurrency + _SCORING_MORE, SLOTS)
        self._room = asyncio.Semaphore(room)
        self._asked_by_scorer: dict[int, Counter[str]] = {}
        self._stopped: Ending | None = None
        self._drain_until = 0.0
        self._stop_event = asyncio.Event()
        self._asker = Asker(client=client, store=store, snapshot=snapshot, stop=self._stop_event)
        self._faults_in_a_row = 0
        self._faults_in_a_row_max = config.faults_in_a_row_max or max(_FAULTS_MIN, 3 * config.concurrency)
        self._has_answered = snapshot.has_answers()

    async def run(self) -> Ending:
        """Ask and score everything that is pending, and return how it ended.

        Raises:
            PreflightError: The very first request shows that none can succeed; nothing was recorded.
            StoppedEarly: Nothing answers at the endpoint, or the disk is full.
        """
        self._store.start_writer()
        scoring = asyncio.create_task(self._score_forever())
        try:
            await self._ask_first()
            self._progress.stage = "running"
            workers = [asyncio.create_task(self._work(number)) for number in range(self._config.concurrency)]
            rescoring = asyncio.create_task(self._rescore())
            await self._supervise([*workers, rescoring], scoring)
            await self._score_the_rest(scoring)
        finally:
            scoring.cancel()
            await asyncio.gather(scoring, return_exceptions=True)
            await self._store.stop_writer()
        return self._stopped or Ending(exit_code=EXIT_DONE, reason="done")

    def stop(self, signal_name: str) -> None:
        """Take no further samples; those in flight may finish within the drain time."""
        self._stop(Ending(exit_code=_EXIT_OF_SIGNAL.get(signal_name, EXIT_STOPPED_EARLY), reason=signal_name))

    def _stop(self, ending: Ending) -> None:
        if self._stopped is None:
            self._stopped = ending
            self._drain_until = time.monotonic() + self._config.drain_seconds
            self._progress.stage = "stopping"
            self._stop_event.set()

    def _patience(self) -> float:
        """Return how long what is under way may still take after a stop."""
        return max(0.0, self._drain_until - time.monotonic())

    def _pending(self) -> Iterator[_Item]:
        for job in self._jobs:
            for stored, repeat in self._snapshot.pending(job.key, job.plan.config.repeats, have="responses"):
                yield _Item(job, stored, decode_sample(stored.sample_id, stored.content or ""), repeat)

    async def _ask_first(self) -> None:
        if self._client is None or not self._config.preflight:
            return
        item = None if self._stopped else next(self._items, None)
        if item is None:
            return
        self._progress.stage = "first request"
        asked = await self._unless_stopped(self._ask(item))
        if asked is None:
            return
        body, response = asked
        error = response.error
        if error is not None and error.model_failure is None and not self._has_answered:
            fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
            raise_if_hopeless(self._client, fault)
        await self._keep(item, body, response)

    async def _unless_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return what the work gives, or None when a stop came and the drain time ran out."""
        task = asyncio.create_task(work)
        stopping = asyncio.create_task(self._stop_event.wait())
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=self._patience())
        stopping.cancel()
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return None

    async def _supervise(self, workers: list[asyncio.Task[None]], scoring: asyncio.Task[None]) -> None:
        everything = asyncio.gather(*workers)
        stopping = asyncio.create_task(self._stop_event.wait())
        try:
            watched: set[asyncio.Future[Any]] = {everything, scoring, stopping}
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            if scoring.done():
                scoring.result()
            if not everything.done():
                await asyncio.wait({everything}, timeout=self._patience())
            if not everything.done():
                everything.cancel()
            with suppress(asyncio.CancelledError):
                await everything
        finally:
            stopping.cancel()
            everything.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _score_the_rest(self, scoring: asyncio.Task[None]) -> None:
        joining = asyncio.create_task(self._to_score.join())
        # After a stop, what is not scored in time stays unscored in the store, and a resume scores it.
        stopping = asyncio.create_task(self._stop_event.wait())
        await asyncio.wait({joining, scoring, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not (joining.done() or scoring.done()):
            await asyncio.wait({joining, scoring}, timeout=self._patience(), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        joining.cancel()
        if scoring.done():
            scoring.result()

    async def _work(self, number: int) -> None:
        for item in self._items:
            if self._stopped is not None:
                return
            self._progress.in_flight[number] = time.monotonic()
            try:
                body, response = await self._ask(item)
            finally:
                del self._progress.in_flight[number]
            await self._keep(item, body, response)

    async def _ask(self, item: _Item) -> tuple[bytes | None, Response]:
        asked = await self._asker.ask(item.job.plan, item.sample, (item.job.key, item.stored.idx, item.repeat))
        if self._client is not None:
            self._progress.retries = self._client.counters.retries
        return asked

    async def _keep(self, item: _Item, body: bytes | None, response: Response) -> None:
        job, stored = item.job, item.stored
        sent = None if body is None else body.decode()
        verdict = verdict_before_scoring(response, truncated=job.plan.config.truncated)
        outcome = None if verdict is None else _outcome_row(job.key, stored.idx, item.repeat, verdict)
        await self._store.put_response(
            job.key, stored.idx, item.repeat, sent, encode_response(response), outcome=outcome
        )
        self._progress.count_response(response)
        self._watch_endpoint(verdict)
        if verdict is not None:
            self._progress.count_outcome(verdict)
        else:
            await self._to_score.put(_to_score(job, stored.idx, item.repeat, item.sample, sent, response))

    def _watch_endpoint(self, verdict: Outcome | None) -> None:
        if not (isinstance(verdict, Unscored) and verdict.cause == "infra"):
            self._faults_in_a_row = 0
            self._has_answered = True
            return
        if self._has_answered and verdict.kind == "bad_request":
            return  # an endpoint that answers others refuses this one sample
        self._faults_in_a_row += 1
        lost = f"{self._faults_in_a_row} samples in a row were lost to the endpoint, the last one by"
        if verdict.kind in FATAL_KINDS and not self._has_answered:
            lost = "the endpoint refuses every request"
        elif self._faults_in_a_row < self._faults_in_a_row_max:
            return
        reason = f"{lost}: {verdict.detail}"
        self._stop(Ending(exit_code=EXIT_STOPPED_EARLY, reason=reason, endpoint_kind=verdict.kind))

    def _watch_sandbox(self, outcome: Outcome) -> None:
        """Stop resumably when no program can be run: answers that cannot be scored are no use to anybody."""
        if isinstance(outcome, Unscored) and outcome.cause == "sandbox" and outcome.kind in OUTAGES:
            self._stop(Ending(exit_code=EXIT_STOPPED_EARLY, reason=f"programs cannot be run: {outcome.detail}"))

    async def _rescore(self) -> None:
        for job in self._jobs:
            unscored = self._snapshot.unscored_responses(job.key, upto=self._stored_before)
            for stored, repeat, encoded, sent in unscored:
                if self._stopped is not None:
                    return
                response = decode_response(encoded)
                verdict = verdict_before_scoring(response, truncated=job.plan.config.truncated)
                if verdict is not None:
                    await self._store.put_outcomes([_outcome_row(job.key, stored.idx, repeat, verdict)])
                    self._progress.count_outcome(verdict)
                    continue
                sample = decode_sample(stored.sample_id, stored.content or "")
                await self._to_score.put(_to_score(job, stored.idx, repeat, sample, sent, response))

    async def _score_forever(self) -> None:
        """Feed the scorers, until cancelled or until something other than a scorer fails."""
        self._failed = asyncio.get_running_loop().create_future()
        scoring = self._scorers.run(
            timeout_seconds=self._config.scorer_timeout_seconds, deliver=self._deliver, answer=self._answer
        )
        tasks = [asyncio.create_task(self._feed()), asyncio.create_task(scoring)]
        try:
            await asyncio.gather(*tasks, self._failed)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _feed(self) -> None:
        while True:
            item = await self._to_score.get()
            await self._room.acquire()
            self._scorers.put(item)

    def _deliver(self, outcomes: list[tuple[ToScore, Outcome]]) -> None:
        """Commit what scorers made; it counts once it is on disk."""
        rows = [_scored_row(item, outcome) for item, outcome in outcomes]
        self._store.put_outcomes(rows).add_done_callback(partial(self._delivered, outcomes))

    def _delivered(self, outcomes: list[tuple[ToScore, Outcome]], committed: asyncio.Future[None]) -> None:
        error = None if committed.cancelled() else committed.exception()
        if error is not None and not self._failed.done():
            self._failed.set_exception(error)
        for item, outcome in outcomes:
            self._watch_sandbox(outcome)
            self._asked_by_scorer.pop(id(item), None)
            self._room.release()
            self._to_score.task_done()
            if error is None:
                self._progress.count_outcome(outcome)

    async def _answer(self, item: ToScore, what: str, payload: Any) -> Any:
        """Answer what a scorer asks of the run."""
        if what == "sandbox":
            return await asyncio.wrap_future(self._sandbox.submit(payload))
        if what != "model":
            raise ScorerError(f"a scorer asked for {what}, which a run does not have")
        plan = next(job.plan for job in self._jobs if job.key == item.job)
        counts = self._asked_by_scorer.setdefault(id(item), Counter())
        return await self._asker.answer(plan, item, counts, payload)


def _to_score(job: Job, idx: int, repeat: int, sample: Sample, sent: str | None, response: Response) -> ToScore:
    conversation = conversation_of(sample, sent, response)
    return ToScore(job.key, idx, repeat, sample, response, job.plan.benchmark, conversation)


def _scored_row(item: ToScore, outcome: Outcome) -> OutcomeRow:
    """Return the row of an outcome that a scorer made; a resume scores it anew at most, it never asks again."""
    return item.job, item.idx, item.repeat, min(retry_of(outcome), RESCORE), encode_outcome(outcome)


def _outcome_row(job: int, idx: int, repeat: int, outcome: Outcome) -> OutcomeRow:
    return job, idx, repeat, retry_of(outcome), encode_outcome(outcome)


def ending_of(error: PreflightError | StoppedEarly) -> Ending:
    """Return the ending that an error which stops a run stands for."""
    return Ending(exit_code=error.exit_code, reason=str(error), endpoint_kind=error.endpoint_kind)
