"""The stage that scores stored answers: slots that bound how many wait, and commits of outcomes.

Nothing here raises for the fault of one sample. An outcome counts once it is on disk.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from nel.config.redaction import Redactor
from nel.config.schema import EngineConfig
from nel.core.failpoints import reach
from nel.core.observer import Observer
from nel.engine.asking.generate import STOP_ERRORS, SampleRunner
from nel.engine.asking.response_outcomes import scored_row, settle_outcome
from nel.engine.asking.stop_rules import StopRules
from nel.engine.asking.work import Job, WorkQueue
from nel.engine.executors import ProgramRunner, ScorerPool
from nel.engine.progress import Progress
from nel.engine.scorers.call import SLOTS, Delegated, ScoringTask, no_judge, unscored_by
from nel.engine.stopping.exit_status import ExitStatus, exit_status_of
from nel.engine.stopping.session_end import Stop
from nel.engine.store.log import Log
from nel.errors import (
    EXIT_STOPPED_EARLY,
    EndpointError,
    ScorerError,
    StoppedEarly,
    StoreError,
)
from nel.types import Outcome, SampleKey, Unscored

if TYPE_CHECKING:
    from nel.engine.judging.judges import Judges

_SCORING_BACKLOG = 256
"""Answers that may wait for an outcome, beyond two for each request in flight."""
_PROGRAMS_MAX: Final = 128
"""Programs that may wait for the sandbox; when there are this many, asking waits for scoring."""
_PROGRAMS_DRAIN_SECONDS: Final = 1.0
"""Seconds for programs to go on after a stop: a resume can run the same ones again for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """What computes scores."""

    scorers: ScorerPool
    sandbox: ProgramRunner
    judges: Judges | None
    """None where no scorer of the run can ask a judge."""
    strict_verdicts: bool = False
    """A verdict that the program could have forged does not count."""


@dataclass(frozen=True, slots=True)
class OutcomeCounter:
    """Counts outcomes that are on disk, for the display, the observers and the stop rules."""

    progress: Progress
    observer: Observer
    stop_rules: StopRules
    queue: WorkQueue
    jobs: Sequence[Job]
    redactor: Redactor
    """Removes secrets from what a scorer or a tool raised, as the store does."""

    def count(self, key: SampleKey, outcome: Outcome) -> None:
        """Count an outcome that is on disk."""
        if isinstance(outcome, Unscored):
            outcome = replace(outcome, detail=self.redactor.text(outcome.detail))
        self.progress.count_outcome(outcome, repeat=key.repeat, benchmark=key.benchmark)
        self.observer.sample_finished(key, outcome)
        rule = self.stop_rules.ended_by(key, outcome)
        if rule is not None:  # what is in flight does not count
            job = next(job for job in self.jobs if job.key == key.benchmark)
            self.progress.total -= self.queue.n_left_out(job, rule)


class ScoringStage:
    """The scoring of one session; use it on one event loop."""

    def __init__(
        self,
        machinery: Machinery,
        *,
        config: EngineConfig,
        jobs: Sequence[Job],
        store: Log,
        runner: SampleRunner,
        counter: OutcomeCounter,
        stop: Stop,
    ) -> None:
        self._machinery = machinery
        self._timeout_seconds = config.scorer_timeout_seconds
        self._plans = {job.key: job.plan for job in jobs}
        self._store = store
        self._runner = runner
        self._counter = counter
        self._stop = stop
        self._judges = judges = machinery.judges
        # Samples that wait for a judge that is down must not block those that need none.
        n_judged = 0
        if judges is not None:
            judges.on_end = stop.request
            n_judged = judges.n_slots
        self.n_parked = 0
        """Samples that wait for a judge that is down: stored, and without an outcome."""
        runs_programs = any(plan.benchmark.languages for plan in self._plans.values())
        backlog = _PROGRAMS_MAX if runs_programs else 2 * config.concurrency + _SCORING_BACKLOG
        self._n_slots = min(backlog + n_judged, SLOTS)
        self._n_waiting = 0
        """Answers that have a slot and no outcome yet."""
        self._has_slot = asyncio.Event()
        self._all_scored = asyncio.Event()
        self._all_scored.set()
        is_short = runs_programs and not any(plan.judge for plan in self._plans.values())
        self._drain_seconds = _PROGRAMS_DRAIN_SECONDS if is_short else math.inf
        self._judged: set[asyncio.Task[Outcome]] = set()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Run the scorers until cancelled, or until something other than a scorer fails."""
        scoring = asyncio.create_task(
            self._machinery.scorers.run(
                timeout_seconds=self._timeout_seconds, deliver=self._on_scored, answer=self._answer
            )
        )
        try:
            await asyncio.gather(scoring, self._failed)
        except StoppedEarly as error:
            # What computes scores is gone; a resume scores what is stored.
            if self._failed.done():  # the store, rather
                raise
            self._drain_seconds = 0.0
            self._all_scored.set()
            self._stop.request(exit_status_of(error))
            await self._failed
        finally:
            tasks = (scoring, *self._judged)  # a resume makes the judgements in flight
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._all_scored.set()  # `drain` waits for no more

    async def put(self, item: ScoringTask) -> None:
        """Have a stored answer scored; what a stop leaves out is scored by a resume."""
        # One release wakes all that wait here, so each looks whether the slot is still free.
        while self._n_waiting >= self._n_slots:
            self._has_slot.clear()
            if not await self._stop.wait_for(self._has_slot.wait(), seconds_max=0.0):
                return
        self._n_waiting += 1
        self._all_scored.clear()
        reach("before_score")
        self._machinery.scorers.put(item)

    async def drain(self, scoring: asyncio.Task[None]) -> None:
        """Wait until all that was put is scored; after a stop, for the drain time.

        Args:
            scoring: The task of `run`, whose error is raised.
        """
        if not scoring.done():
            # After a stop, answers not scored within the drain time are scored by a resume.
            await self._stop.wait_for(self._all_scored.wait(), seconds_max=self._drain_seconds)
        if self._failed.done():  # by the commit of the last outcomes, perhaps
            self._failed.result()
        if scoring.done():
            scoring.result()

    def _on_scored(self, results: list[tuple[ScoringTask, Outcome | Delegated]]) -> None:
        """Commit outcomes, which count once they are on disk; have the judges judge the rest."""
        reach("after_score")
        judges, outcomes = self._judges, []
        for item, result in results:
            outcome: Outcome | None
            if not isinstance(result, Delegated):
                outcome = result
            elif judges is None:
                outcome = unscored_by(no_judge())
            else:
                task = asyncio.create_task(judges.verdict(item, result))
                self._judged.add(task)
                task.add_done_callback(partial(self._on_judged, item))
                continue
            if judges is not None:
                outcome = judges.finalize(item, outcome)
            if outcome is None:
                # No outcome is stored, so that the next session, or the end of this one, has the
                # answer among the unscored ones.
                self.n_parked += 1
                self._release_slot()
            else:
                outcomes.append((item, settle_outcome(item.response, outcome)))
        if outcomes:
            rows = [scored_row(item, outcome) for item, outcome in outcomes]
            self._store.append(rows).add_done_callback(partial(self._on_committed, outcomes))

    def _on_judged(self, item: ScoringTask, judged: asyncio.Task[Outcome]) -> None:
        self._judged.discard(judged)
        if judged.cancelled():  # the session has ended; a resume has the answer judged
            return
        try:
            self._on_scored([(item, judged.result())])
        except Exception as error:  # noqa: BLE001 - not a judge's: it ends the session
            self._fail(error)

    def _release_slot(self) -> None:
        self._n_waiting -= 1
        self._has_slot.set()
        if not self._n_waiting:
            self._all_scored.set()

    def _on_committed(
        self, outcomes: list[tuple[ScoringTask, Outcome]], committed: asyncio.Future[None]
    ) -> None:
        error = None if committed.cancelled() else committed.exception()
        if error is not None:
            self._fail(error)
        # Slots are released after a failed commit too: `drain` waits until all are.
        for item, outcome in outcomes:
            if isinstance(outcome, Unscored) and outcome.cause == "sandbox":
                self._stop_on_outage(outcome)
            self._release_slot()
            if error is None:
                self._counter.count(item.key, outcome)

    def _stop_on_outage(self, outcome: Unscored) -> None:
        """Stop resumably when no program can be run, since paid answers could not be scored."""
        from nel.sandbox import OUTAGES  # noqa: PLC0415 - the first request need not wait for it

        if outcome.kind in OUTAGES:
            reason = f"programs cannot be run: {outcome.detail}"
            self._stop.request(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))

    def _fail(self, error: BaseException) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)

    async def _answer(self, item: ScoringTask, what: str, payload: Any) -> object:
        """Answer a scorer's question; for the payload see `nel.engine.scorers.call.Answer`."""
        if what == "sandbox":
            verdict = await asyncio.wrap_future(self._machinery.sandbox.submit(payload))
            return verdict.proven(is_required=self._machinery.strict_verdicts)
        if what not in ("model", "judge"):
            raise ScorerError(f"a scorer asked for {what}, which a run does not have")
        try:
            if what == "model":
                return await self._runner.answer_scorer(
                    self._plans[item.key.benchmark], item, payload
                )
            if self._judges is None:
                raise no_judge()
            return await self._judges.judge(item, *payload)
        except (StoppedEarly, StoreError) as error:  # the answer cannot be stored
            self._fail(error)
            raise
        except EndpointError as error:
            if isinstance(error.__cause__, STOP_ERRORS):
                self._stop.request_after(error.__cause__)
            raise
