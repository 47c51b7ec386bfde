"""The pipeline: workers ask, scorers score, the store commits; all at once, joined by bounded queues.

A fixed number of workers pulls from one iterator over the snapshot, so memory grows with the concurrency and not with
the dataset. A worker takes the next sample only when the last answer is on disk, so a kill loses at most one request a
worker. Trap: nothing here raises for one sample's fault; what ends a run is a stop, and a stop is always resumable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from nel.config.schema import EngineConfig
from nel.core.failpoints import reached
from nel.core.observer import UNOBSERVED, Observer, Place
from nel.engine.abort_conditions import EndpointWatch, TruncationWatch
from nel.engine.background_checks import BackgroundChecks
from nel.engine.exit_status import ExitStatus, exit_status_of, exit_status_of_signal
from nel.engine.generate import ENDINGS, SampleRunner, conversation_of
from nel.engine.judging.delegation import JudgeDelegation
from nel.engine.judging.judges import Judges
from nel.engine.plan import Plan
from nel.engine.progress import Progress
from nel.engine.response_outcomes import RESCORE, retry_of, verdict_before_scoring
from nel.engine.resume_checks import DatasetCheck, RecordCheck
from nel.engine.scorers.call import Delegated, ScoringTask
from nel.engine.scorers.dispatch import Scorers
from nel.engine.scorers.worker_process import SLOTS
from nel.engine.store.codec import decode_response, decode_sample, encode_outcome, encode_response
from nel.engine.store.database import OutcomeRow, Store
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import EXIT_DONE, EXIT_STOPPED_EARLY, EndpointError, ScorerError, StoppedEarly, StoreError
from nel.models.client import Client
from nel.models.echo_probe import EchoSupport
from nel.models.faults import Fault
from nel.models.pacing import GateClosed
from nel.models.preflight import raise_if_hopeless
from nel.sandbox import OUTAGES, Sandbox
from nel.types import Outcome, Response, Sample, Unscored

T = TypeVar("T")

_PARKED_MAX = 512
"""Samples that may wait for another try while others are asked."""
_SCORING_MORE = 256
"""Answers that may be with the scorers beside two for each request in flight."""
_PROGRAMS_MAX = 128
"""Programs that may be with the sandbox; when they are, asking waits for scoring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One plan with its number in the store."""

    key: int
    plan: Plan
    check: DatasetCheck | None = None
    """What is left to look at in the dataset while its samples are asked."""


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
        judges: Judges,
        sandbox: Sandbox,
        config: EngineConfig,
        progress: Progress,
        observer: Observer = UNOBSERVED,
        scoring_only: bool = False,
        records: RecordCheck | None = None,
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
        self._observer = observer
        self._handing = JudgeDelegation(judges, {job.key: job.plan for job in jobs}, stop=self._stop)
        self._parked = 0
        self._items = iter(()) if scoring_only else self._pending()
        self._stored_before = snapshot.last_response()
        self._to_score: asyncio.Queue[ScoringTask] = asyncio.Queue(maxsize=2 * config.concurrency)
        runs_programs = any(job.plan.benchmark.languages for job in jobs)
        room = _PROGRAMS_MAX if runs_programs else 2 * config.concurrency + _SCORING_MORE
        # Those who are with a judge that is down must leave room for the others.
        self._room = asyncio.Semaphore(min(room + judges.places, SLOTS))
        self._stopped: ExitStatus | None = None
        self._drain_until = 0.0
        self._stop_event = asyncio.Event()
        self._asker = SampleRunner(client=client, store=store, snapshot=snapshot)
        self._endpoint = EndpointWatch(config, has_answered=snapshot.has_answers())
        self._truncation = TruncationWatch(config)
        self._workers: set[asyncio.Task[None]] = set()
        self._worker_ended = asyncio.Event()
        self._worker_number = 0
        self._asking = 0
        self._checks = BackgroundChecks(
            records=records,
            datasets=[(job.plan, job.check) for job in jobs],
            store=store,
            progress=progress,
            stopping=self._stop_event,
            stop=self._stop,
            is_asking=lambda: self._asking > 0,
        )

    async def run(self) -> ExitStatus:
        """Ask and score everything that is pending, and return how it ended.

        Raises:
            PreflightError: The very first request shows that none can succeed; nothing was recorded.
            StoppedEarly: Nothing answers at the endpoint, or the disk is full.
            ResumeRefused: The dataset is not what the run was started with.
        """
        self._store.start_writer()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        scoring = asyncio.create_task(self._score_forever())
        watching = asyncio.create_task(self._handing.judges.watch())
        try:
            await self._ask_first()
            self._progress.stage = "running"
            self._progress.running_since = time.monotonic()
            if self._client is not None:
                self._client.gate.on_parked = self._start_another
            for _ in range(self._config.concurrency):
                self._start_worker()
            self._watch(self._check_and_rescore())
            self._watch(self._checks.datasets_are_the_same())
            await self._supervise(scoring)
            await self._score_the_rest(scoring)
            await self._judge_the_rest(scoring)
        finally:
            for task in (watching, scoring):
                task.cancel()
            await asyncio.gather(watching, scoring, return_exceptions=True)
            await self._handing.stop()
            await self._store.stop_writer()
        return self._stopped or ExitStatus(exit_code=EXIT_DONE, reason="done")

    def use_echo(self, echo: EchoSupport) -> None:
        """Rank choices as the server can answer; call it before `run`."""
        self._asker.echo = echo

    def stop(self, signal_name: str) -> None:
        """Take no further samples; those in flight may finish within the drain time."""
        self._stop(exit_status_of_signal(signal_name))

    def _stop(self, ending: ExitStatus) -> None:
        if self._stopped is None:
            self._stopped = ending
            self._drain_until = _now() + self._config.drain_seconds
            self._progress.stage = "stopping"
            self._observer.stopping(ending.reason)
            self._stop_event.set()
            if self._client is not None:
                self._client.gate.close()
            self._handing.judges.close()

    def _patience(self) -> float:
        """Return how long what is under way may still take after a stop."""
        return max(0.0, self._drain_until - _now())

    def _pending(self) -> Iterator[_Item]:
        for job in self._jobs:
            for stored, repeat in self._snapshot.pending(job.key, job.plan.config.repeats):
                yield _Item(job, stored, decode_sample(stored.sample_id, stored.content or ""), repeat)

    async def _ask_first(self) -> None:
        if self._client is None or not self._config.preflight:
            return
        item = None if self._stopped else next(self._items, None)
        if item is None:
            return
        self._progress.stage = "first request"
        try:
            await self._unless_stopped(self._ask_alone(item, self._client))
        except ENDINGS as ending:
            if not isinstance(ending, GateClosed):
                self._stop(exit_status_of(ending))

    async def _ask_alone(self, item: _Item, client: Client) -> None:
        """Ask one sample; when its fault shows that no request can succeed, record nothing of it."""

        async def commit(body: bytes | None, response: Response) -> None:
            error = response.error
            if error is not None and error.model_failure is None and not self._endpoint.has_answered:
                fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
                raise_if_hopeless(client, fault)
            await self._commit(item, body, response)

        place = (item.job.key, item.stored.idx, item.repeat)
        await self._pass_on(item, *await self._asker.ask(item.job.plan, item.sample, place, commit))

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

    async def _supervise(self, scoring: asyncio.Task[None]) -> None:
        """Wait until every worker has ended, or the patience after a stop has; workers may be added meanwhile."""
        stopping = asyncio.create_task(self._stop_event.wait())
        try:
            while self._workers:
                timeout = self._patience() if stopping.done() else None
                ended = asyncio.create_task(self._worker_ended.wait())
                watched: set[asyncio.Future[Any]] = {ended, scoring}
                watched |= set() if stopping.done() else {stopping}
                await asyncio.wait(watched, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                ended.cancel()
                if scoring.done():
                    scoring.result()
                if stopping.done() and not self._patience():
                    return
                self._worker_ended.clear()
                for worker in [worker for worker in self._workers if worker.done()]:
                    self._workers.discard(worker)
                    worker.result()
        finally:
            stopping.cancel()
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            self._workers.clear()

    def _workers_too_many(self) -> bool:
        parked = self._client.gate.parked if self._client is not None else 0
        return self._asking - parked > self._config.concurrency

    def _start_worker(self) -> None:
        self._worker_number += 1
        self._asking += 1
        self._watch(self._work(self._worker_number))

    def _watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a worker, of which `_supervise` hears when it ends, whenever it was started."""
        worker = asyncio.create_task(work)
        worker.add_done_callback(lambda _: self._worker_ended.set())
        self._workers.add(worker)

    def _start_another(self) -> None:
        """While a request waits for another try, ask the next sample; what waits holds no permit."""
        free = self._config.concurrency + _PARKED_MAX - self._asking
        if self._stopped is None and free > 0 and self._workers_too_few():
            self._start_worker()

    def _workers_too_few(self) -> bool:
        parked = self._client.gate.parked if self._client is not None else 0
        return self._asking - parked < self._config.concurrency

    async def _score_the_rest(self, scoring: asyncio.Task[None]) -> None:
        joining = asyncio.create_task(self._to_score.join())
        # After a stop, what is not scored in time stays unscored in the store, and a resume scores it.
        stopping = asyncio.create_task(self._stop_event.wait())
        await asyncio.wait({joining, scoring, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not (joining.done() or scoring.done()):
            await asyncio.wait({joining, scoring}, timeout=self._patience(), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        joining.cancel()
        if self._failed.done():  # the last outcomes may be those that could not be written
            self._failed.result()
        if scoring.done():
            scoring.result()

    async def _judge_the_rest(self, scoring: asyncio.Task[None]) -> None:
        """Have the samples judged that waited for a judge to come back; stop resumably when it does not."""
        judges = self._handing.judges
        judges.be_patient()
        while self._parked and self._stopped is None:
            self._progress.stage = "waiting for the judge"
            await self._unless_stopped(judges.back())
            self._parked = 0
            self._progress.stage = "judging"
            await self._rescore(upto=self._snapshot.last_response())
            await self._score_the_rest(scoring)
        if judges.down is not None:
            reason = f"the judge is down: {judges.down}; every answer is kept, resume to have the rest judged"
            self._stop(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))

    async def _work(self, number: int) -> None:
        try:
            await self._ask_many(number)
        finally:
            # At once, not when its task is seen to be done: two that end together would each think the other stays.
            self._asking -= 1

    async def _ask_many(self, number: int) -> None:
        for item in self._items:
            if self._stopped is not None:
                return
            self._progress.in_flight[number] = time.monotonic()
            try:
                await self._do(item)
            except ENDINGS as ending:
                if not isinstance(ending, GateClosed):
                    self._stop(exit_status_of(ending))
                return
            finally:
                self._progress.in_flight.pop(number, None)
            if self._workers_too_many():
                return

    async def _do(self, item: _Item) -> None:
        """Ask one sample, commit what came back and hand it on."""
        place = (item.job.key, item.stored.idx, item.repeat)
        self._observer.sample_started(place, item.sample.id)
        body, response = await self._asker.ask(item.job.plan, item.sample, place, partial(self._commit, item))
        await self._pass_on(item, body, response)

    async def _commit(self, item: _Item, body: bytes | None, response: Response) -> None:
        verdict = verdict_before_scoring(response, truncated=item.job.plan.config.truncated)
        outcome = None if verdict is None else _outcome_row(item.job.key, item.stored.idx, item.repeat, verdict)
        sent = None if body is None else body.decode()
        reached("before_commit")
        await self._store.put_response(
            item.job.key, item.stored.idx, item.repeat, sent, encode_response(response), outcome=outcome
        )
        reached("after_commit")

    async def _pass_on(self, item: _Item, body: bytes | None, response: Response) -> None:
        job, plan = item.job, item.job.plan
        verdict = verdict_before_scoring(response, truncated=plan.config.truncated)
        self._progress.count_response(response)
        for ending in (
            self._endpoint.saw(verdict),
            self._truncation.saw(job.key, plan.slot, response, plan.generation.max_tokens),
        ):
            if ending is not None:
                self._stop(ending)
        if verdict is not None:
            self._count((job.key, item.stored.idx, item.repeat), verdict)
        else:
            sent = None if body is None else body.decode()
            await self._to_score.put(_to_score(job, item.stored.idx, item.repeat, item.sample, sent, response))

    def _count(self, place: Place, outcome: Outcome) -> None:
        """Count an outcome that is on disk."""
        self._progress.count_outcome(outcome)
        self._observer.sample_finished(place, outcome)

    def _watch_sandbox(self, outcome: Outcome) -> None:
        """Stop resumably when no program can be run: answers that cannot be scored are no use to anybody."""
        if isinstance(outcome, Unscored) and outcome.cause == "sandbox" and outcome.kind in OUTAGES:
            self._stop(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=f"programs cannot be run: {outcome.detail}"))

    async def _check_and_rescore(self) -> None:
        """Score what was answered before, once it is known that it can be read."""
        if await self._checks.records_are_well():
            await self._rescore(upto=self._stored_before)

    async def _rescore(self, *, upto: int) -> None:
        for job in self._jobs:
            unscored = self._snapshot.unscored_responses(job.key, upto=upto)
            for stored, repeat, encoded, sent in unscored:
                if self._stopped is not None:
                    return
                response = decode_response(encoded)
                verdict = verdict_before_scoring(response, truncated=job.plan.config.truncated)
                if verdict is not None:
                    await self._store.put_outcomes([_outcome_row(job.key, stored.idx, repeat, verdict)])
                    self._count((job.key, stored.idx, repeat), verdict)
                    continue
                sample = decode_sample(stored.sample_id, stored.content or "")
                await self._to_score.put(_to_score(job, stored.idx, repeat, sample, sent, response))

    async def _score_forever(self) -> None:
        """Feed the scorers, until cancelled or until something other than a scorer fails."""
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
            reached("before_score")
            self._scorers.put(item)

    def _deliver(self, found: list[tuple[ScoringTask, Outcome | Delegated]]) -> None:
        """Commit what scorers and judges made, which counts once it is on disk; judges take what was handed over."""
        reached("after_score")
        outcomes = []
        for item, outcome in found:
            if isinstance(outcome, Delegated):
                self._handing.take(item, outcome, partial(self._judged, item), self._fail)
            elif (settled := self._handing.settled(item, outcome)) is None:
                self._parked += 1
                self._let_go()
            else:
                outcomes.append((item, settled))
        if outcomes:
            rows = [_scored_row(item, outcome) for item, outcome in outcomes]
            self._store.put_outcomes(rows).add_done_callback(partial(self._delivered, outcomes))

    def _judged(self, item: ScoringTask, outcome: Outcome) -> None:
        self._deliver([(item, outcome)])

    def _let_go(self) -> None:
        self._room.release()
        self._to_score.task_done()

    def _delivered(self, outcomes: list[tuple[ScoringTask, Outcome]], committed: asyncio.Future[None]) -> None:
        error = None if committed.cancelled() else committed.exception()
        if error is not None:
            self._fail(error)
        for item, outcome in outcomes:
            self._watch_sandbox(outcome)
            self._let_go()
            if error is None:
                self._count((item.job, item.idx, item.repeat), outcome)

    def _fail(self, error: BaseException) -> None:
        """End the session by a fault that is no scorer's."""
        if not self._failed.done():
            self._failed.set_exception(error)

    async def _answer(self, item: ScoringTask, what: str, payload: Any) -> Any:
        """Answer what a scorer asks of the run."""
        if what == "sandbox":
            return await asyncio.wrap_future(self._sandbox.submit(payload))
        if what not in ("model", "judge"):
            raise ScorerError(f"a scorer asked for {what}, which a run does not have")
        try:
            if what == "judge":
                return await self._handing.answer(item, *payload)
            plan = next(job.plan for job in self._jobs if job.key == item.job)
            return await self._asker.answer(plan, item, payload)
        except (StoppedEarly, StoreError) as error:  # the answer cannot be kept
            self._fail(error)
            raise
        except EndpointError as error:
            if isinstance(error.__cause__, ENDINGS) and not isinstance(error.__cause__, GateClosed):
                self._stop(exit_status_of(error.__cause__))
            raise


def _now() -> float:
    return asyncio.get_running_loop().time()


def _to_score(job: Job, idx: int, repeat: int, sample: Sample, sent: str | None, response: Response) -> ScoringTask:
    conversation = conversation_of(sample, sent, response)
    return ScoringTask(job.key, idx, repeat, sample, response, job.plan.benchmark, conversation)


def _scored_row(item: ScoringTask, outcome: Outcome) -> OutcomeRow:
    """Return the row of an outcome that a scorer made; a resume scores it anew at most, it never asks again.

    It does so where a panel decided without a member whose endpoint was down, or a judge by fewer repeats for the same
    reason, so that what is lacking is asked then.
    """
    retry = RESCORE if item.talk.is_short else min(retry_of(outcome), RESCORE)
    return item.job, item.idx, item.repeat, retry, encode_outcome(outcome)


def _outcome_row(job: int, idx: int, repeat: int, outcome: Outcome) -> OutcomeRow:
    return job, idx, repeat, retry_of(outcome), encode_outcome(outcome)
