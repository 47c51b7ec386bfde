"""The pipeline: workers ask, scorers score and the store commits concurrently, joined by bounded
queues.

A fixed number of workers pulls from one iterator over the snapshot, so memory grows with the
concurrency and not with the dataset. A worker takes the next sample only when the last answer is on
disk, so a kill loses at most one request for each worker. Nothing here raises for the fault of one
sample; a run ends early by a stop, which is always resumable.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeAlias, TypeVar

from nel.config.schema import EngineConfig
from nel.core.failpoints import reached
from nel.core.observer import UNOBSERVED, Observer, Place
from nel.engine.abort_conditions import EndpointFaultCounter, TruncationProbe, is_sandbox_outage
from nel.engine.adaptation import Adaptation
from nel.engine.endpoint_trial import EndpointTrial
from nel.engine.executors import ProgramRunner, ScorerPool
from nel.engine.exit_status import ExitStatus, exit_status_of
from nel.engine.generate import STOP_ERRORS, Commit, SampleRunner, scoring_task
from nel.engine.judging.delegation import JudgeDelegation
from nel.engine.judging.judges import Judges
from nel.engine.progress import Progress
from nel.engine.response_outcomes import outcome_row, scored_row, verdict_before_scoring
from nel.engine.resume_checks import BackgroundChecks, RecordCheck
from nel.engine.scorers.call import Delegated, ScoringTask
from nel.engine.scorers.fork_server import SLOTS
from nel.engine.stop_rules import StopRules
from nel.engine.stopping import put_unless_stopped, until_stopped
from nel.engine.store.codec import decode_sample, encode_response
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.engine.work import Job, WorkItem, WorkQueue
from nel.errors import (
    EXIT_DONE,
    EXIT_STOPPED_EARLY,
    EndpointError,
    ScorerError,
    StoppedEarly,
    StoreError,
)
from nel.models.adaptation import tokens_max
from nel.models.client import Client
from nel.models.echo_probe import EchoSupport
from nel.models.pacing import GateClosed
from nel.types import Outcome, Response

T = TypeVar("T")
Sent: TypeAlias = "tuple[bytes | None, Response]"

_PARKED_MAX = 512
"""Samples that may wait for a retry while others are asked."""
_RAMP_FIRST = 8
"""Workers that start while the first request is still out; as many again as there are every
`_RAMP_SECONDS`.
"""
_RAMP_SECONDS = 0.1
_SCORING_BACKLOG = 256
"""Answers that may wait for scorers, beyond two for each request in flight."""
_PROGRAMS_MAX = 128
"""Programs that may wait for the sandbox; when there are this many, asking waits for scoring."""
_PROGRAMS_DRAIN_SECONDS = 1.0
"""After a stop programs may go on for so long: the same program can be run again for nothing by a
resume.
"""


class Pipeline:
    """One session of a run; call `run` once."""

    def __init__(
        self,
        *,
        jobs: list[Job],
        store: Store,
        snapshot: Snapshot,
        client: Client | None,
        scorers: ScorerPool,
        judges: Judges,
        sandbox: ProgramRunner,
        strict_verdicts: bool = False,
        config: EngineConfig,
        progress: Progress,
        observer: Observer = UNOBSERVED,
        scoring_only: bool = False,
        records: RecordCheck | None = None,
        stop_rules: StopRules | None = None,
    ) -> None:
        """Prepare a session; nothing is sent before `run`."""
        self._scorers = scorers
        self._sandbox = sandbox
        self._strict_verdicts = strict_verdicts
        self._jobs = jobs
        self._store = store
        self._snapshot = snapshot
        self._client = client
        self._config = config
        self._progress = progress
        self._observer = observer
        self._delegation = JudgeDelegation(
            judges, {job.key: job.plan for job in jobs}, stop=self.stop
        )
        self._n_parked = 0
        self._stop_rules = stop_rules or StopRules()
        self._queue = WorkQueue(snapshot, [] if scoring_only else jobs, self._stop_rules.of)
        self._last_stored = snapshot.last_response()
        self._scoring_queue: asyncio.Queue[ScoringTask] = asyncio.Queue(
            maxsize=2 * config.concurrency
        )
        runs_programs = any(job.plan.benchmark.languages for job in jobs)
        backlog = _PROGRAMS_MAX if runs_programs else 2 * config.concurrency + _SCORING_BACKLOG
        # Samples that wait for a judge that is down must not block those that need none.
        self._scoring_slots = asyncio.Semaphore(min(backlog + judges.n_slots, SLOTS))
        is_short = runs_programs and not any(job.plan.judge is not None for job in jobs)
        self._scoring_drain_seconds = _PROGRAMS_DRAIN_SECONDS if is_short else math.inf
        self._stopped: ExitStatus | None = None
        self._drain_until = 0.0
        self._stop_event = asyncio.Event()
        self._runner = SampleRunner(client=client, store=store, snapshot=snapshot)
        self._adaptation = Adaptation(jobs, self._runner, store, snapshot, progress)
        self._endpoint_faults = faults = EndpointFaultCounter(
            config, has_answered=snapshot.has_answers()
        )
        self._trial = (
            EndpointTrial(client, self._queue, faults, self, self._adaptation) if client else None
        )
        self._truncation = TruncationProbe(config)
        self._held: set[Place] = set()
        """Refused samples that are stored once it is known that not every one is refused."""
        self._workers: set[asyncio.Task[None]] = set()
        self._worker_ended = asyncio.Event()
        self._n_workers_started = 0
        self._n_workers = 0
        self._checks = BackgroundChecks(
            records=records,
            datasets=[(job.plan, job.check) for job in jobs],
            store=store,
            progress=progress,
            stopping=self._stop_event,
            stop=self.stop,
            is_asking=lambda: self._n_workers > 0,
        )

    async def run(self) -> ExitStatus:
        """Ask and score everything that is pending, and return how it ended.

        Raises:
            PreflightError: The very first request shows that none can succeed; nothing was
                recorded.
            StoppedEarly: Nothing answers at the endpoint, or the disk is full.
            ResumeRefused: The dataset is not what the run was started with.
        """
        self._store.start_writer()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        scoring = asyncio.create_task(self._run_scorers())
        watching = asyncio.create_task(self._delegation.judges.watch())
        first = asyncio.create_task(self._send_first_request())
        try:
            # Alone, so that a wrong key or model costs one request instead of one for each worker.
            await asyncio.wait({first}, timeout=self._config.first_request_seconds)
            if first.done():
                first.result()
            self._progress.stage = "running"
            self._progress.running_since = time.monotonic()
            if self._client is not None:
                self._client.gate.on_back_off = self._replace_parked
            self._watch(first)
            self.start(self._start_workers(first))
            self.start(self._check_and_rescore())
            self.start(self._checks.verify_datasets())
            await self._supervise(scoring)
            await self._finish_scoring(scoring)
            await self._judge_parked(scoring)
        finally:
            for task in (watching, scoring, first):
                task.cancel()
            await asyncio.gather(watching, scoring, first, return_exceptions=True)
            await self._delegation.stop()
            await self._store.stop_writer()
        return self._stopped or ExitStatus(exit_code=EXIT_DONE, reason="done")

    def use_echo(self, echo: EchoSupport) -> None:
        """Set what the server supports for ranking choices; call it before `run`."""
        self._runner.echo = echo

    def stop(self, status: ExitStatus) -> None:
        """Take no further samples; those in flight may finish within the drain time."""
        if self._stopped is None:  # the first reason counts
            self._stopped = status
            self._drain_until = asyncio.get_running_loop().time() + self._config.drain_seconds
            self._progress.stage = "stopping"
            self._observer.stopping(status.reason)
            self._stop_event.set()
            if self._client is not None:
                self._client.gate.close()
            self._delegation.judges.stop_asking()

    def _drain_seconds_left(self) -> float:
        """Return how long requests in flight may still take after a stop."""
        return max(0.0, self._drain_until - asyncio.get_running_loop().time())

    async def _send_first_request(self) -> None:
        if self._trial is None or not self._config.preflight or self._stopped is not None:
            return
        item = next(iter(self._queue), None)
        if item is None:
            return
        self._progress.stage = "first request"
        self._progress.in_flight[0] = time.monotonic()
        try:
            await self._until_stopped(self._trial.ask_first(item))
        except STOP_ERRORS as ending:
            if not isinstance(ending, GateClosed):
                self.stop(exit_status_of(ending))
        finally:
            self._progress.in_flight.pop(0, None)

    async def _start_workers(self, first: asyncio.Task[None]) -> None:
        """Start the workers: all at once after the first request, in doubling steps while it is
        out.
        """
        n_started, n_next = 0, _RAMP_FIRST
        while n_started < self._config.concurrency and self._stopped is None:
            if self._held and self._trial is not None and not await self._trial.accepts_some():
                return
            if first.done():
                n_next = self._config.concurrency
            for _ in range(min(n_next, self._config.concurrency - n_started)):
                self._start_worker()
                n_started += 1
            n_next = n_started
            await asyncio.wait({first}, timeout=_RAMP_SECONDS)

    async def _until_stopped(self, work: Coroutine[object, object, T]) -> T | None:
        """Return the result of the work, or None when a stop came and the drain time ran out."""
        return await until_stopped(work, self._stop_event, self._drain_seconds_left)

    async def _supervise(self, scoring: asyncio.Task[None]) -> None:
        """Wait until every worker has ended, or the drain time after a stop; workers may be added
        meanwhile.
        """
        stopping = asyncio.create_task(self._stop_event.wait())
        try:
            while self._workers:
                timeout = self._drain_seconds_left() if stopping.done() else None
                ended = asyncio.create_task(self._worker_ended.wait())
                watched: set[asyncio.Future[Any]] = {ended, scoring}
                if not stopping.done():  # done, it would end every wait at once
                    watched.add(stopping)
                await asyncio.wait(watched, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                ended.cancel()
                if scoring.done():
                    scoring.result()
                if stopping.done() and not self._drain_seconds_left():
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

    def _surplus_of_workers(self) -> int:
        """Return by how many workers exceed the concurrency, leaving out those whose request waits
        for a retry.
        """
        parked = self._client.gate.n_backing_off if self._client is not None else 0
        return self._n_workers - parked - self._config.concurrency

    def _start_worker(self) -> None:
        self._n_workers_started += 1
        self._n_workers += 1
        self.start(self._run_worker(self._n_workers_started))

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run a worker or a check; `_supervise` is woken when it ends."""
        self._watch(asyncio.create_task(work))

    def _watch(self, task: asyncio.Task[None]) -> None:
        task.add_done_callback(lambda _: self._worker_ended.set())
        self._workers.add(task)

    def _replace_parked(self) -> None:
        """Start a worker in place of one whose request waits for a retry, which holds no permit of
        the gate.
        """
        free = self._config.concurrency + _PARKED_MAX - self._n_workers
        if self._stopped is None and free > 0 and self._surplus_of_workers() < 0:
            self._start_worker()

    async def _finish_scoring(self, scoring: asyncio.Task[None]) -> None:
        joining = asyncio.create_task(self._scoring_queue.join())
        # After a stop, answers that are not scored within the drain time are scored by a resume.
        stopping = asyncio.create_task(self._stop_event.wait())
        await asyncio.wait({joining, scoring, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not (joining.done() or scoring.done()):
            timeout = min(self._drain_seconds_left(), self._scoring_drain_seconds)
            await asyncio.wait(
                {joining, scoring}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
        stopping.cancel()
        joining.cancel()
        if (
            self._failed.done()
        ):  # the write of the last outcomes may have failed after the queue was empty
            self._failed.result()
        if scoring.done():
            scoring.result()

    async def _judge_parked(self, scoring: asyncio.Task[None]) -> None:
        """Judge the samples that were parked while a judge was down; stop resumably when it stays
        down.
        """
        judges = self._delegation.judges
        judges.wait_for_stalled()
        while self._n_parked and self._stopped is None:
            self._progress.stage = "waiting for the judge"
            await self._until_stopped(judges.wait_until_up())
            self._n_parked = 0
            self._progress.stage = "judging"
            await self._rescore(upto=self._snapshot.last_response())
            await self._finish_scoring(scoring)
        if judges.disabled is not None:
            reason = (
                f"the judge is down: {judges.disabled}; every answer is kept, resume to have the"
                " rest judged"
            )
            self.stop(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))

    async def _run_worker(self, number: int) -> None:
        try:
            await self._run_samples(number)
        finally:
            # Here and not when `_supervise` sees the task done: of two workers that end together,
            # each would count the other as running, and both would end although one should stay.
            self._n_workers -= 1

    async def _run_samples(self, number: int) -> None:
        for item in self._queue:
            if self._stopped is not None:
                return
            self._progress.in_flight[number] = time.monotonic()
            try:
                await self.finish(item, *await self.request(item, partial(self.store, item)))
            except STOP_ERRORS as ending:
                if not isinstance(ending, GateClosed):
                    self.stop(exit_status_of(ending))
                return
            finally:
                self._progress.in_flight.pop(number, None)
            if self._trial is not None:
                await self._trial.wait()
            if (
                self._surplus_of_workers() > 0
            ):  # requests that waited for a retry are in flight again
                return

    async def request(self, item: WorkItem, commit: Commit) -> Sent:
        """Send a sample's requests; return the body sent last and the answer to it, which `commit`
        has stored.
        """
        self._observer.sample_started(item.place, item.sample.id)
        self._adaptation.asks(item.place)
        return await self._runner.run(item.job.plan, item.sample, item.place, commit)

    async def store(self, item: WorkItem, body: bytes | None, response: Response) -> None:
        """Commit a response, with its outcome where no scorer has to see it."""
        if self._adaptation.is_outdated(item.place):
            return
        if self._trial is not None and self._trial.holds(response.error):
            self._held.add(item.place)
            return
        verdict = verdict_before_scoring(
            response, truncated=item.job.plan.config.truncated, sample=item.sample
        )
        outcome = (
            None
            if verdict is None
            else outcome_row(item.job.key, item.stored.idx, item.repeat, verdict)
        )
        sent = None if body is None else body.decode()
        reached("before_commit")
        await self._store.put_response(
            item.job.key,
            item.stored.idx,
            item.repeat,
            sent,
            encode_response(response),
            outcome=outcome,
        )
        reached("after_commit")

    async def finish(self, item: WorkItem, body: bytes | None, response: Response) -> None:
        """Count a stored response and queue it for scoring."""
        while item.place in self._held or self._adaptation.is_outdated(item.place):
            body, response = await self._settle_held(item, body, response)
        self._adaptation.counted(item.place)
        job, plan = item.job, item.job.plan
        verdict = verdict_before_scoring(
            response, truncated=plan.config.truncated, sample=item.sample
        )
        self._progress.count_response(response)
        lost = self._endpoint_faults.add(response.error)
        if lost is not None and response.error is not None and self._trial is not None:
            self._trial.suspect(lost, item, body, response.error)
        are_wanted, limit = plan.config.truncated == "score", tokens_max(plan.generation)
        truncated = self._truncation.add(job.key, plan.slot, response, limit, are_wanted=are_wanted)
        if truncated is not None:
            self.stop(truncated)
        if verdict is not None:
            self._count_outcome((job.key, item.stored.idx, item.repeat), verdict)
        else:
            sent = None if body is None else body.decode()
            await self._queue_for_scoring(
                scoring_task(job, item.stored.idx, item.repeat, item.sample, sent, response)
            )

    async def _settle_held(self, item: WorkItem, body: bytes | None, response: Response) -> Sent:
        """Ask again what was asked with outdated settings; store a refusal unless every request is
        refused.
        """
        if (
            not self._adaptation.is_outdated(item.place)
            and self._trial
            and not await self._trial.accepts_some()
        ):
            raise GateClosed
        self._held.discard(item.place)
        if self._adaptation.is_outdated(item.place):
            return await self.request(item, partial(self.store, item))
        await self.store(item, body, response)
        return body, response

    async def _queue_for_scoring(self, item: ScoringTask) -> None:
        """Queue a stored answer; what a stop leaves out is scored by a resume."""
        await put_unless_stopped(self._scoring_queue, item, self._stop_event)

    def _count_outcome(self, place: Place, outcome: Outcome) -> None:
        """Count an outcome that is on disk."""
        self._progress.count_outcome(outcome, repeat=place[2], benchmark=place[0])
        self._observer.sample_finished(place, outcome)
        if (
            rule := self._stop_rules.ended_by(place, outcome)
        ) is not None:  # what is in flight does not count
            self._progress.total -= self._queue.n_left_out(
                next(j for j in self._jobs if j.key == place[0]), rule
            )

    def _stop_on_sandbox_outage(self, outcome: Outcome) -> None:
        """Stop resumably when no program can be run, rather than pay for answers that cannot be
        scored.
        """
        if is_sandbox_outage(outcome):
            self.stop(
                ExitStatus(
                    exit_code=EXIT_STOPPED_EARLY, reason=f"programs cannot be run: {outcome.detail}"
                )
            )

    async def _check_and_rescore(self) -> None:
        """Score the answers of earlier sessions, once the records of run.db are verified."""
        if await self._checks.verify_records():
            await self._rescore(upto=self._last_stored)

    async def _rescore(self, *, upto: int) -> None:
        for job in self._jobs:
            unscored = self._snapshot.unscored_responses(job.key, upto=upto)
            for stored, repeat, encoded, sent in unscored:
                if self._stopped is not None:
                    return
                sample = decode_sample(stored.sample_id, stored.content or "")
                response = await self._runner.stored_answer(
                    job.plan, sample, (job.key, stored.idx, repeat), encoded
                )
                verdict = verdict_before_scoring(
                    response, truncated=job.plan.config.truncated, sample=sample
                )
                if verdict is not None:
                    await self._store.put_outcomes(
                        [outcome_row(job.key, stored.idx, repeat, verdict)]
                    )
                    self._count_outcome((job.key, stored.idx, repeat), verdict)
                    continue
                await self._queue_for_scoring(
                    scoring_task(job, stored.idx, repeat, sample, sent, response)
                )

    async def _run_scorers(self) -> None:
        """Run the scorers until cancelled, or until something other than a scorer fails."""
        seconds = self._config.scorer_timeout_seconds
        scoring = self._scorers.run(
            timeout_seconds=seconds, deliver=self._on_scored, answer=self._answer
        )
        tasks = [asyncio.create_task(self._feed_scorers()), asyncio.create_task(scoring)]
        try:
            await asyncio.gather(*tasks, self._failed)
        except (
            StoppedEarly
        ) as error:  # what computes scores is gone; a resume scores what is stored
            if self._failed.done():  # the store, rather
                raise
            self._scoring_drain_seconds = 0.0
            self.stop(exit_status_of(error))
            await self._failed
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _feed_scorers(self) -> None:
        while True:
            item = await self._scoring_queue.get()
            await self._scoring_slots.acquire()
            reached("before_score")
            self._scorers.put(item)

    def _on_scored(self, found: list[tuple[ScoringTask, Outcome | Delegated]]) -> None:
        """Commit outcomes, which count once they are on disk; submit what scorers delegated to the
        judges.
        """
        reached("after_score")
        outcomes = []
        for item, outcome in found:
            if isinstance(outcome, Delegated):
                self._delegation.submit(item, outcome, partial(self._on_judged, item), self._fail)
            elif (final := self._delegation.finalize(item, outcome)) is None:
                # No outcome is stored, so that `_judge_parked`, or a resume, finds the answer among
                # the unscored ones.
                self._n_parked += 1
                self._release_scoring_slot()
            else:
                outcomes.append((item, final))
        if outcomes:
            rows = [scored_row(item, outcome) for item, outcome in outcomes]
            self._store.put_outcomes(rows).add_done_callback(partial(self._on_committed, outcomes))

    def _on_judged(self, item: ScoringTask, outcome: Outcome) -> None:
        self._on_scored([(item, outcome)])

    def _release_scoring_slot(self) -> None:
        self._scoring_slots.release()
        self._scoring_queue.task_done()

    def _on_committed(
        self, outcomes: list[tuple[ScoringTask, Outcome]], committed: asyncio.Future[None]
    ) -> None:
        error = None if committed.cancelled() else committed.exception()
        if error is not None:
            self._fail(error)
        # Slots are released after a failed commit too: `_finish_scoring` waits until the queue is
        # empty.
        for item, outcome in outcomes:
            self._stop_on_sandbox_outage(outcome)
            self._release_scoring_slot()
            if error is None:
                self._count_outcome((item.job, item.idx, item.repeat), outcome)

    def _fail(self, error: BaseException) -> None:
        """End the session by an error that is not the fault of a scorer."""
        if not self._failed.done():
            self._failed.set_exception(error)

    async def _answer(self, item: ScoringTask, what: str, payload: Any) -> object:
        """Answer what a scorer asks of the run; the payload is what
        `nel.engine.scorers.dispatch.Answer` says.
        """
        if what == "sandbox":
            ran = asyncio.wrap_future(self._sandbox.submit(payload))
            return (await ran).proven(is_required=self._strict_verdicts)
        if what not in ("model", "judge"):
            raise ScorerError(f"a scorer asked for {what}, which a run does not have")
        try:
            if what == "judge":
                return await self._delegation.judge(item, *payload)
            plan = next(job.plan for job in self._jobs if job.key == item.job)
            return await self._runner.answer_scorer(plan, item, payload)
        except (StoppedEarly, StoreError) as error:  # the answer cannot be stored
            self._fail(error)
            raise
        except EndpointError as error:
            if isinstance(error.__cause__, STOP_ERRORS) and not isinstance(
                error.__cause__, GateClosed
            ):
                self.stop(exit_status_of(error.__cause__))
            raise
