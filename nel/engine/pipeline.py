"""The pipeline: workers ask, scorers score and the store commits, joined by bounded queues.

A fixed number of workers pulls from one iterator over the snapshot, so memory grows with the
concurrency and not with the dataset. A worker takes the next sample only when the last answer is on
disk, so a kill loses at most one request for each worker. Nothing here raises for the fault of one
sample; a run ends early by a stop, which is always resumable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nel.config.schema import EngineConfig, Price
from nel.engine.asking.asker import Acceptance, Asker, OpenRun
from nel.engine.asking.endpoint_trial import EndpointTrial
from nel.engine.asking.generate import STOP_ERRORS, SampleRunner, scoring_task
from nel.engine.asking.response_outcomes import unscored_row, verdict_before_scoring
from nel.engine.asking.work import Job, WorkQueue
from nel.engine.asking.workers import Workers
from nel.engine.scoring_stage import Machinery, OutcomeCounter, ScoringStage
from nel.engine.stopping.abort_conditions import EndpointFaultCounter, TruncationProbe
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.session_end import Stop
from nel.engine.store.codec import decode_sample
from nel.errors import EXIT_DONE, EXIT_STOPPED_EARLY
from nel.models.client import Client

if TYPE_CHECKING:
    from nel.engine.episodes.runner import EpisodeRunner
    from nel.engine.episodes.tool_server import ToolServer
    from nel.models.echo_probe import EchoSupport


class Pipeline:
    """One session of a run; make it on the event loop and call `run` once."""

    def __init__(
        self,
        opened: OpenRun,
        *,
        client: Client | None,
        machinery: Machinery,
        config: EngineConfig,
        scoring_only: bool = False,
        tools: ToolServer | None = None,
        price: Price | None = None,
    ) -> None:
        self._opened = opened
        self._client = client
        self._config = config
        self._judges = machinery.judges
        self._stop = Stop(config.drain_seconds, self._on_stop)
        jobs, store, snapshot = opened.jobs, opened.store, opened.snapshot
        self._queue = WorkQueue(snapshot, [] if scoring_only else jobs, opened.stop_rules.of)
        self._last_stored = opened.pending.last_answer()
        self._counter = OutcomeCounter(
            opened.progress, opened.observer, opened.stop_rules, self._queue, jobs, store.redactor
        )
        self._runner = SampleRunner(client=client, store=store, snapshot=snapshot)
        n_workers = config.concurrency
        if client is not None and any(job.plan.solver is not None for job in jobs):
            self._runner.episodes = self._open_episodes(client, tools, price)
            n_workers = _n_workers_with_episodes(jobs, config)
        self._scoring = ScoringStage(
            machinery,
            config=config,
            jobs=jobs,
            store=store,
            runner=self._runner,
            counter=self._counter,
            stop=self._stop,
        )
        gate = None if client is None else client.gate
        self._workers = Workers(n_workers, gate, self._stop, self._ask_samples)
        faults = EndpointFaultCounter(config, has_answered=opened.pending.has_answers())
        self._asker = Asker(
            opened=opened,
            runner=self._runner,
            acceptance=Acceptance(),
            faults=faults,
            truncation=TruncationProbe(config, [job.key for job in jobs]),
            counter=self._counter,
            scoring=self._scoring,
            stop=self._stop,
        )
        self._trial = (
            None
            if client is None
            else EndpointTrial(client, self._queue, faults, self._asker, self._stop, self._workers)
        )

    def _open_episodes(
        self, client: Client, tools: ToolServer | None, price: Price | None
    ) -> EpisodeRunner:
        from nel.engine.episodes.runner import EpisodeRunner  # noqa: PLC0415 - few runs have any

        return EpisodeRunner(
            client=client,
            store=self._opened.store,
            snapshot=self._opened.snapshot,
            tools=tools,
            price=price,
            episodes=self._config.episodes,
            progress=self._opened.progress,
        )

    async def run(self) -> ExitStatus:
        """Ask and score everything that is pending, and return how it ended.

        Raises:
            PreflightError: The very first request shows that none can succeed; nothing was
                recorded.
            StoppedEarly: Nothing answers at the endpoint, or the disk is full.
        """
        progress = self._opened.progress
        self._opened.store.start_writer()
        scoring = asyncio.create_task(self._scoring.run())
        first = asyncio.create_task(self._send_first_request())
        watched_tasks = [scoring, first]
        if self._judges is not None:
            watched_tasks.append(asyncio.create_task(self._judges.watch()))
        try:
            # Alone, so that a wrong key or model costs one request instead of one for each worker.
            await asyncio.wait({first}, timeout=self._config.first_request_seconds)
            if first.done():
                first.result()
            progress.stage = "running"
            progress.running_since = time.monotonic()
            self._workers.watch(first)
            self._workers.start(self._workers.ramp_up(first, self._may_go_on))
            self._workers.start(self._check_and_rescore())
            await self._workers.supervise(scoring)
            await self._scoring.drain(scoring)
            await self._judge_parked(scoring)
        finally:
            # The writer last: it still commits what these tasks have queued.
            for task in watched_tasks:
                task.cancel()
            await asyncio.gather(*watched_tasks, return_exceptions=True)
            await self._opened.store.stop_writer()
        return self._stop.status or ExitStatus(exit_code=EXIT_DONE, reason="done")

    def use_echo(self, echo: EchoSupport) -> None:
        """Set what the server supports for ranking choices; call it before `run`."""
        self._runner.echo = echo

    def stop(self, status: ExitStatus) -> None:
        """Take no further samples; those in flight may finish within the drain time."""
        self._stop.request(status)

    def _on_stop(self, status: ExitStatus) -> None:
        self._opened.progress.stage = "stopping"
        self._opened.observer.stopping(status.reason)
        if self._client is not None:
            self._client.gate.close()
        if self._judges is not None:
            self._judges.stop_asking()

    async def _send_first_request(self) -> None:
        if self._trial is None or not self._config.preflight or self._stop.status is not None:
            return
        item = next(iter(self._queue), None)
        if item is None:
            return
        progress = self._opened.progress
        progress.stage = "first request"
        progress.in_flight[0] = time.monotonic()
        try:
            await self._stop.wait_for(self._trial.ask_first(item))
        except STOP_ERRORS as ending:
            self._stop.request_after(ending)
        finally:
            progress.in_flight.pop(0, None)

    async def _may_go_on(self) -> bool:
        """Return whether some request may be accepted; waits while that is in doubt."""
        acceptance = self._asker.acceptance
        return not acceptance.has_held or await acceptance.accepts_some()

    async def _ask_samples(self, number: int) -> None:
        in_flight, asker, trial = self._opened.progress.in_flight, self._asker, self._trial
        # All workers share this iterator, so that each item goes to one of them.
        for item in self._queue:
            if self._stop.status is not None:
                return
            in_flight[number] = time.monotonic()
            try:
                suspicion = await asker.finish(item, await asker.ask(item))
            except STOP_ERRORS as ending:
                self._stop.request_after(ending)
                return
            finally:
                in_flight.pop(number, None)
            if trial is not None:
                if suspicion is not None:
                    trial.suspect(item, suspicion)
                await trial.wait()
            if self._workers.surplus > 0:  # requests that waited for a retry are in flight again
                return

    async def _check_and_rescore(self) -> None:
        """Score the answers of earlier sessions, once the records of run.db are verified."""
        records = self._opened.records
        if records is None or await records.verify(self._opened.store, self._stop):
            # What this session stores goes to the scorers as it comes.
            await self._rescore(upto=self._last_stored)

    async def _judge_parked(self, scoring: asyncio.Task[None]) -> None:
        """Judge the samples parked while a judge was down; stop resumably if it stays down."""
        judges, progress = self._judges, self._opened.progress
        if judges is None:
            return
        judges.wait_for_stalled()
        # A judge may fail again while these are judged: those are parked once more.
        while self._scoring.n_parked and self._stop.status is None:
            progress.stage = "waiting for the judge"
            await self._stop.wait_for(judges.wait_until_up())
            self._scoring.n_parked = 0
            progress.stage = "judging"
            await self._rescore(upto=self._opened.pending.last_answer())
            await self._scoring.drain(scoring)
        if judges.disabled is not None:
            reason = (
                f"the judge is down: {judges.disabled}; every answer is kept, resume to have the"
                " rest judged"
            )
            self.stop(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))

    async def _rescore(self, *, upto: int) -> None:
        for job in self._opened.jobs:
            for stored, answer in self._opened.pending.unscored_answers(job.key, upto=upto):
                if self._stop.status is not None:
                    return
                key = answer.key
                sample = decode_sample(stored.sample_id, stored.content or "")
                response = await self._runner.stored_answer(job.plan, sample, key, answer)
                verdict = verdict_before_scoring(
                    response, truncated=job.plan.config.truncated, sample=sample
                )
                if verdict is not None:
                    await self._opened.store.append([unscored_row(key, verdict)])
                    self._counter.count(key, verdict)
                    continue
                await self._scoring.put(
                    scoring_task(job, key, sample, answer.request, response, self._opened.snapshot)
                )


def _n_workers_with_episodes(jobs: Sequence[Job], config: EngineConfig) -> int:
    """Return how many samples are worked on at once where some benchmark has episodes."""
    is_mixed = any(job.plan.solver is None for job in jobs)
    return max(config.concurrency, config.episodes) if is_mixed else config.episodes
