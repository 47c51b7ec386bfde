"""Asks one sample after the other: requests, the commit of the answer, and what follows from it.

Whether a refusal is the sample's or the endpoint's is decided by
`nel.engine.asking.endpoint_trial`; until it is, nothing of it is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import NamedTuple

from nel.core.failpoints import reach
from nel.core.observer import UNOBSERVED, Observer
from nel.engine.asking.generate import Exchange, SampleRunner, scoring_task
from nel.engine.asking.response_outcomes import unscored_row, verdict_before_scoring
from nel.engine.asking.resume_checks import RecordCheck
from nel.engine.asking.stop_rules import StopRules
from nel.engine.asking.work import Job, WorkItem
from nel.engine.progress import Progress
from nel.engine.scoring_stage import OutcomeCounter, ScoringStage
from nel.engine.stopping.abort_conditions import EndpointFaultCounter, TruncationProbe
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.session_end import Stop
from nel.engine.store.log import Log
from nel.engine.store.projections.pending import Pending
from nel.engine.store.rows import answer_row
from nel.engine.store.snapshot import Snapshot
from nel.models.client import keep_nothing
from nel.models.faults import is_unanswered
from nel.models.pacing import GateClosed
from nel.types import ResponseError


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run whose directory this process owns: its store, its benchmarks and its live counts."""

    store: Log
    snapshot: Snapshot
    jobs: list[Job]
    progress: Progress
    observer: Observer = UNOBSERVED
    stop_rules: StopRules = field(default_factory=StopRules)
    records: RecordCheck | None = None
    """Verifies run.db in the background."""

    @property
    def pending(self) -> Pending:
        """Return what is still to be asked and scored."""
        return Pending(self.snapshot)


class Suspicion(NamedTuple):
    """That the endpoint refuses every request, or answers none any more."""

    status: ExitStatus
    """How the session ends if so."""
    body: bytes | None
    """The request after which it arose."""
    error: ResponseError


class Acceptance:
    """Whether the endpoint may still turn out to refuse every request; use it on one event loop."""

    def __init__(self) -> None:
        self._is_decided = asyncio.Event()
        self._is_decided.set()
        self.refuses_all = False
        """Whether no request is accepted; set before `decide`."""
        self.has_held = False
        """Whether any refusal was not stored yet, for `holds`."""

    @property
    def is_decided(self) -> bool:
        """Return whether it is known, or not in doubt."""
        return self._is_decided.is_set()

    def doubt(self) -> None:
        """Hold refusals back from now on."""
        self._is_decided.clear()

    def decide(self) -> None:
        """Let what was held back go on: to the store, or to the session's end."""
        self._is_decided.set()

    def holds(self, error: ResponseError | None) -> bool:
        """Return whether to hold a refusal back until it is known that not all are refused.

        Where all are, those of requests that were in flight then are held back too.
        """
        if error is None:
            self._is_decided.set()
            return False
        is_in_doubt = self.refuses_all or not self._is_decided.is_set()
        holds = is_in_doubt and is_unanswered(error)
        self.has_held |= holds
        return holds

    async def accepts_some(self) -> bool:
        """Wait until it is known whether all requests are refused; return whether some are not."""
        await self._is_decided.wait()
        return not self.refuses_all


@dataclass(slots=True, kw_only=True)
class Asker:
    """Asks the samples of one session; use it on one event loop."""

    opened: OpenRun
    runner: SampleRunner
    acceptance: Acceptance
    faults: EndpointFaultCounter
    truncation: TruncationProbe
    counter: OutcomeCounter
    scoring: ScoringStage
    stop: Stop

    async def ask(self, item: WorkItem) -> Exchange:
        """Send a sample's requests, and store the last answer unless `Acceptance.holds` it back."""
        self.opened.observer.sample_started(item.key, item.sample.id)

        def keep(exchange: Exchange) -> Awaitable[None]:
            if self._is_outdated(exchange) or self.acceptance.holds(
                exchange.response.endpoint_error
            ):
                return keep_nothing(exchange.response)
            return self.store(item, exchange)

        return await self.runner.ask(item.job.plan, item.sample, item.key, keep)

    def _is_outdated(self, exchange: Exchange) -> bool:
        return exchange.settings != self.runner.version

    async def store(self, item: WorkItem, exchange: Exchange) -> None:
        """Commit a response, with its outcome where no scorer has to see it."""
        exchange.verdict = verdict = verdict_before_scoring(
            exchange.response, truncated=item.job.plan.config.truncated, sample=item.sample
        )
        reach("before_commit")
        rows = [answer_row(item.key, exchange.sent, exchange.response)]
        if verdict is not None:
            rows.append(unscored_row(item.key, verdict))
        await self.opened.store.append(rows)
        exchange.is_stored = True
        reach("after_commit")

    async def finish(self, item: WorkItem, exchange: Exchange) -> Suspicion | None:
        """Count a stored response and queue it for scoring; return what it makes one suspect."""
        while self._is_outdated(exchange) or not exchange.is_stored:
            exchange = await self._settle(item, exchange)
        plan, response = item.job.plan, exchange.response
        self.opened.progress.count_response(response)
        error = response.endpoint_error
        suspicion_status = self.faults.add(error)
        truncated = self.truncation.add(
            item.job.key,
            plan.slot,
            response,
            plan.generation,
            are_wanted=plan.config.truncated == "score",
        )
        if truncated is not None:
            self.stop.request(truncated)
        if exchange.verdict is not None:
            self.counter.count(item.key, exchange.verdict)
        else:
            await self.scoring.put(
                scoring_task(
                    item.job, item.key, item.sample, exchange.body, response, self.opened.snapshot
                )
            )
        if suspicion_status is None or error is None:
            return None
        return Suspicion(suspicion_status, exchange.body, error)

    async def _settle(self, item: WorkItem, exchange: Exchange) -> Exchange:
        """Ask again after a change of settings; else store a refusal, unless all are refused."""
        if self._is_outdated(exchange):
            return await self.ask(item)
        if not await self.acceptance.accepts_some():
            raise GateClosed
        if not self._is_outdated(exchange):
            await self.store(item, exchange)
        return exchange
