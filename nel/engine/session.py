"""One session with the endpoint: clients, pre-flight, pipeline and signals; stores how it ended.

Whatever is raised here, the store is left consistent and holds why the session ended.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from nel.config.openai_environment import key_variable
from nel.config.redaction import read_key, redact_url
from nel.config.schema import BudgetConfig, RunConfig
from nel.core.event_loop import run
from nel.core.observer import UNOBSERVED, Observer, SessionInfo
from nel.core.strict_json import dumps_bytes
from nel.engine.doubtful_answers import take_back
from nel.engine.executors import Executor, LocalExecutor, ProgramRunner, ScorerPool, ScoringWork
from nel.engine.exit_status import ExitStatus, exit_status_of, with_last_words
from nel.engine.judging.adaptation import JudgeAdaptation
from nel.engine.judging.cases import is_same_endpoint, judge_models
from nel.engine.judging.endpoints import JudgeEndpoint
from nel.engine.judging.judges import Judges, endpoint_key
from nel.engine.observability import monitor_gate, observing
from nel.engine.pipeline import Pipeline
from nel.engine.progress import Progress
from nel.engine.repeat_check import pending_checks
from nel.engine.resume_checks import BYTES_FIRST, RecordCheck
from nel.engine.shared_limits import SharedLimits
from nel.engine.stop_rules import StopRules
from nel.engine.stop_signals import StopSignals
from nel.engine.store.codec import decode_response, encode_response
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.engine.store.spending import price_of, spent_before
from nel.engine.work import Job, n_unanswered
from nel.errors import (
    EXIT_USAGE,
    NelError,
    PreflightError,
    ResumeRefused,
    SandboxError,
    StoppedEarly,
)
from nel.models.budget import BudgetSpent, Ledger, Spend
from nel.models.cache import ResponseCache
from nel.models.client import Client, ClientCounters
from nel.models.echo_probe import EchoSupport
from nel.models.pacing import EndpointDown
from nel.models.preflight import check_echo, check_endpoint
from nel.models.transport import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a session depends on: event loop, store, scorers, transport, randomness. A simulation
    replaces them.
    """

    run: Callable[[Coroutine[Any, Any, ExitStatus]], ExitStatus] = run
    """Runs the session's coroutine on an event loop of its own."""
    store: Callable[[Path], Store] = Store
    """Opens or creates a run.db for writing."""
    scorers: Callable[[ScoringWork], ScorerPool] | None = None
    """Prepares the scorers of a run; its executor does when None."""
    observing: Callable[..., AbstractContextManager[Observer]] = observing
    """Opens the observers of the session; takes what `nel.engine.observability.observing` takes."""
    transport: Transport | None = None
    """Sends requests; over HTTP when None."""
    verify_first_bytes_max: int = BYTES_FIRST
    """A run.db up to this size is verified before anything is asked."""
    jitter: Callable[[], float] = random.random
    """Numbers in [0, 1), for the jitter of waits."""


DEFAULT_RUNTIME: Final = Runtime()
"""The real event loop, disk and network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the sessions of several runs on one event loop have in common."""

    ledger: Ledger
    """Of all runs together: one budget."""
    sandbox: ProgramRunner
    signals: StopSignals


@dataclass(slots=True)
class _Ended:
    """How a session ended, once it has."""

    status: ExitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session of a run and everything it works with."""

    store: Store
    snapshot: Snapshot
    jobs: list[Job]
    scorers: ScorerPool
    config: RunConfig
    api_key: str | None
    progress: Progress
    run_id: str
    concurrency_max: int
    """Requests in flight to one endpoint that the limit of open files allows."""
    observer: Observer = UNOBSERVED
    secrets: tuple[str | None, ...] = ()
    """Of all endpoints of the run; what one of them answers may hold the key of another."""
    scoring_only: bool = False
    """Score stored answers and ask nothing."""
    records: RecordCheck | None = None
    """Verifies run.db in the background."""
    stop_rules: StopRules = field(default_factory=StopRules)
    runtime: Runtime = DEFAULT_RUNTIME
    executor: Executor = field(default_factory=LocalExecutor)
    """Where scores are computed."""
    shared: Shared | None = None
    """With other sessions; None for one alone."""

    def run(self) -> ExitStatus:
        """Do the session's work on an event loop of its own and return how it ended, which the
        store holds too.
        """
        counters, ledger = ClientCounters(), self._ledger()
        with self._recording(counters, ledger) as ended:
            ended.status = self.runtime.run(self._work(counters, ledger))
        return ended.status

    async def run_beside_others(self) -> ExitStatus:
        """Do the session's work on the running event loop and return how it ended, which the store
        holds too.
        """
        counters, ledger = ClientCounters(), self._ledger()
        with self._recording(counters, ledger) as ended:
            ended.status = await self._work(counters, ledger)
        return ended.status

    def refuse(self, reason: str) -> None:
        """Store that nothing was asked in this session, and why."""
        with self._recording(ClientCounters(), Ledger(BudgetConfig())) as ended:
            ended.status = ExitStatus(exit_code=EXIT_USAGE, reason=reason)

    async def find_problem(self) -> PreflightError | None:
        """Return what is wrong with the endpoint's key or model; None where nothing is, or nothing
        answers.

        Asks for the list of models and for no answer, so that it costs nothing.
        """
        endpoint = self.config.endpoint
        if endpoint is None or not self.config.engine.preflight or not self._has_pending():
            return None
        client = Client(
            endpoint,
            api_key=self.api_key,
            connections=1,
            counters=ClientCounters(),
            ledger=Ledger(BudgetConfig()),
            transport=self.runtime.transport,
            run_id=self.run_id,
            secrets=self.secrets,
        )
        async with client:
            try:
                await check_endpoint(client)
            except PreflightError as error:
                return error
            except NelError:  # the session says it
                return None
        return None

    @contextmanager
    def _recording(self, counters: ClientCounters, ledger: Ledger) -> Iterator[_Ended]:
        """Store how the block ended; what a resume can continue from is no exception."""
        started = time.monotonic()
        ended = _Ended(ExitStatus(exit_code=1, reason="crashed"))
        self.observer.session_started(self._info())
        try:
            yield ended
            ended.status = self._with_usable_fix(ended.status)
        except (PreflightError, StoppedEarly, EndpointDown, BudgetSpent) as error:
            ended.status = self._with_usable_fix(exit_status_of(error))
        except ResumeRefused as error:
            ended.status = ExitStatus(exit_code=error.exit_code, reason=str(error))
            raise
        except (
            BaseException
        ) as error:  # a bug: the session ends as "crashed", and the traceback is in run.log
            self.observer.failed(error)
            raise
        finally:
            with suppress(NelError):  # the disk may be full; the original error matters more
                self.store.set_meta("not_run", ended.status.unscored_reason())
                self.stop_rules.store(self.store)
                self.store.end_session(
                    elapsed=time.monotonic() - started,
                    ended=ended.status.reason,
                    attempts=counters.attempts,
                    retries=counters.retries,
                    spent=ledger.spent.as_json(),
                )
            self.progress.notes += self.stop_rules.notes()
            self.observer.session_ended(ended.status.reason, ended.status.exit_code)

    def spent_before(self) -> Spend:
        """Return what the earlier sessions of this run spent."""
        return spent_before(self.snapshot.sessions())

    def _with_usable_fix(self, ending: ExitStatus) -> ExitStatus:
        """Return the ending with a fix that a resume takes: stored answers keep the model, and may
        move to a URL.
        """
        if not ending.fix or not any(self.snapshot.has_answer(job.key) for job in self.jobs):
            return ending
        if "--model-id" in ending.fix:
            return replace(ending, fix=())
        return (
            replace(ending, fix=(*ending.fix, "--allow-url-change"))
            if "--model-url" in ending.fix
            else ending
        )

    def _ledger(self) -> Ledger:
        """Return the run's ledger, which includes what its earlier sessions spent."""
        if self.shared is None:
            return Ledger(self.config.budget, before=self.spent_before())
        return self.shared.ledger.share(before=self.spent_before())

    @contextmanager
    def _cache(self) -> Iterator[ResponseCache | None]:
        directory = self.config.cache.dir
        if directory is None:
            yield None
            return
        cache = ResponseCache(
            Path(directory).expanduser(), encode=encode_response, decode=decode_response
        )
        try:
            yield cache
        finally:
            cache.close()

    def _info(self) -> SessionInfo:
        config = self.config
        endpoint = config.endpoint
        stored = self.snapshot.benchmarks()
        return SessionInfo(
            run_id=self.run_id,
            session=len(self.snapshot.sessions()),
            benchmarks={key: slot for key, slot, _, _ in stored},
            identities={slot: plan.get("digest", "") for _, slot, _, plan in stored},
            config_digest=hashlib.sha256(dumps_bytes(config.model_dump(mode="json"))).hexdigest(),
            planned=self.progress.total,
            concurrency=self._concurrency(),
            model=endpoint.model if endpoint else None,
            url=redact_url(endpoint.url) if endpoint else None,
        )

    async def _work(self, counters: ClientCounters, ledger: Ledger) -> ExitStatus:
        endpoint = self.config.endpoint
        if self.scoring_only:
            return await self._run_pipeline(None, {})
        self.progress.counters = counters
        with self._cache() as cache:
            open_client = partial(
                Client,
                counters=counters,
                jitter=self.runtime.jitter,
                transport=self.runtime.transport,
                ledger=ledger,
                cache=cache,
                run_id=self.run_id,
                secrets=self.secrets,
                scratch_directory=self.store.path.parent,
            )
            limits = SharedLimits(config=self.config, jitter=self.runtime.jitter)
            async with self._noting(limits), AsyncExitStack() as clients:
                client = None
                if endpoint is not None and not all(job.plan.eval_only for job in self.jobs):
                    most = self._concurrency()
                    gate = await limits.gate(
                        clients, endpoint, concurrency=self.config.engine.concurrency, own_max=most
                    )
                    client = open_client(
                        endpoint,
                        gate=gate,
                        api_key=self.api_key,
                        connections=most,
                        price=price_of(self.config),
                        observer=self.observer,
                    )
                    await clients.enter_async_context(client)
                    self.progress.gate = client.gate
                    monitor = monitor_gate(
                        client.gate, self.observer, reason=lambda: client.trouble
                    )
                    clients.callback(asyncio.create_task(monitor).cancel)
                judge_endpoints = await self._open_judges(clients, client, open_client, limits)
                status = await self._run_pipeline(client, judge_endpoints)
                return status if client is None else with_last_words(status, client.trouble)

    @asynccontextmanager
    async def _noting(self, limits: SharedLimits) -> AsyncIterator[None]:
        """Store and say what became of the limiter, once its gates are closed."""
        try:
            yield
        finally:
            self.progress.notes += limits.notes()
            with suppress(NelError):  # the disk may be full; the original error matters more
                for used in limits.facts():
                    self._note_used("limiters", used)

    async def _open_judges(
        self,
        clients: AsyncExitStack,
        client: Client | None,
        open_client: Callable[..., Client],
        limits: SharedLimits,
    ) -> dict[str, JudgeEndpoint]:
        """Open a client for each judge; one that is also the evaluated endpoint shares its client
        and its limiter.
        """
        judge_endpoints: dict[str, JudgeEndpoint] = {}
        for member in judge_models([job.plan for job in self.jobs], self.config.endpoint):
            concurrency = self._concurrency(member.concurrency)
            key = endpoint_key(member)
            if key in judge_endpoints:
                continue
            if client is not None and is_same_endpoint(member, client.endpoint):
                judge_endpoints[key] = JudgeEndpoint.of(client, concurrency)
                continue
            wanted = member.concurrency or self.config.engine.concurrency
            judge = open_client(
                member,
                gate=await limits.gate(clients, member, concurrency=wanted, own_max=concurrency),
                api_key=read_key(key_variable(member)),
                connections=concurrency,
                price=self.config.budget.prices.get(member.model),
            )
            judge_endpoints[key] = JudgeEndpoint.of(
                await clients.enter_async_context(judge), concurrency
            )
            clients.callback(self._monitor_judge(judge_endpoints[key]).cancel)
        return judge_endpoints

    def _concurrency(self, wanted: int | None = None) -> int:
        """Return how many requests may be in flight to an endpoint.

        Args:
            wanted: Of the endpoint's own settings; those of the run where they say nothing.
        """
        return min(wanted or self.config.engine.concurrency, self.concurrency_max)

    def _monitor_judge(self, endpoint: JudgeEndpoint) -> asyncio.Task[None]:
        client = endpoint.client
        return asyncio.create_task(
            monitor_gate(
                client.gate, self.observer, judge=endpoint.name, reason=lambda: client.trouble
            )
        )

    def _has_pending(self) -> bool:
        """Return whether any sample has no answer yet; scoring stored answers needs no endpoint."""
        for job in self.jobs:
            if job.plan.eval_only:
                continue
            rule = self.stop_rules.of(job.key)
            if rule is not None and rule.has_ended:
                if n_unanswered(self.snapshot, job, rule, last=rule.n_wanted):
                    return True
                continue
            for _ in self.snapshot.pending(job.key, job.plan.config.repeats):
                return True
            if (
                next(pending_checks(self.snapshot, job.key, job.plan.config.repeat_check), None)
                is not None
            ):
                return True
        return False

    async def _run_pipeline(
        self, client: Client | None, judge_endpoints: Mapping[str, JudgeEndpoint]
    ) -> ExitStatus:
        sandbox = (
            self.executor.open_sandbox(self.config.sandbox)
            if self.shared is None
            else self.shared.sandbox
        )
        judges = Judges(
            store=self.store,
            snapshot=self.snapshot,
            endpoint=self.config.endpoint,
            judge_endpoints=judge_endpoints,
            plugin_timeout_seconds=self.config.engine.scorer_timeout_seconds,
            adaptation=JudgeAdaptation(self.jobs, self.store, self.snapshot, self.progress),
            panels=[job.plan.judge for job in self.jobs if job.plan.judge is not None],
        )
        self.progress.judges = judges
        try:
            return await self._run_in(client, sandbox, judges)
        finally:
            self._take_back(client, judge_endpoints)
            self.progress.notes += self.executor.notes()
            judges.close()
            if self.shared is None:
                await asyncio.to_thread(sandbox.close)

    def _take_back(
        self, client: Client | None, judge_endpoints: Mapping[str, JudgeEndpoint]
    ) -> None:
        with suppress(NelError):  # the disk may be full; the original error matters more
            judging = [(endpoint.name, endpoint.client) for endpoint in judge_endpoints.values()]
            self.progress.notes += take_back(self.store, client, judging)

    async def _check_sandbox(self, sandbox: ProgramRunner) -> None:
        """Raise PreflightError, before anything is paid for, when programs cannot be run."""
        wanted = sorted(
            {language for job in self.jobs for language in job.plan.benchmark.languages}
        )
        if not wanted or not self.progress.total:
            return
        self.progress.stage = "checking the sandbox"
        try:
            engine = await asyncio.to_thread(sandbox.check, wanted)
        except SandboxError as error:
            raise PreflightError(f"programs cannot be run: {error}", endpoint_kind=None) from error
        self._note_used(
            "sandboxes",
            {"engine": engine.as_json(), "limits": self.config.sandbox.limits.model_dump()},
        )

    async def _start_executor(self) -> None:
        self.progress.stage = "starting scorers"
        await self.executor.start()
        self._note_used("executors", dict(self.executor.facts()))

    def _note_used(self, key: str, used: Mapping[str, object]) -> None:
        """Store what a session works with, once for all sessions that work with the same."""
        before = self.snapshot.meta(key) or []
        if used not in before:
            self.store.set_meta(key, [*before, used])

    async def _check_endpoint(self, client: Client) -> EchoSupport | None:
        started = time.monotonic()
        problem: str | None = None
        try:
            await check_endpoint(client)
            ranks = any(
                job.plan.benchmark.loglikelihood and not job.plan.eval_only for job in self.jobs
            )
            return await check_echo(client) if ranks else None
        except NelError as error:
            problem = str(error)
            raise
        finally:
            self.observer.preflight_finished(problem, time.monotonic() - started)

    async def _run_in(
        self, client: Client | None, sandbox: ProgramRunner, judges: Judges
    ) -> ExitStatus:
        pipeline = Pipeline(
            jobs=self.jobs,
            store=self.store,
            snapshot=self.snapshot,
            client=client,
            scorers=self.scorers,
            judges=judges,
            sandbox=sandbox,
            strict_verdicts=self.config.sandbox.strict_verdicts,
            config=self.config.engine.model_copy(update={"concurrency": self._concurrency()}),
            progress=self.progress,
            observer=self.observer,
            scoring_only=self.scoring_only,
            records=self.records,
            stop_rules=self.stop_rules,
        )
        signals = StopSignals() if self.shared is None else self.shared.signals
        with signals.stopping(pipeline.stop):
            await self._start_executor()
            await self._check_sandbox(sandbox)
            if client is not None and self.config.engine.preflight and self._has_pending():
                self.progress.stage = "pre-flight"
                echo = await self._check_endpoint(client)
                if echo is not None:
                    pipeline.use_echo(echo)
            if self.config.engine.preflight and self.progress.total:
                self.progress.notes += await judges.check()
            return await pipeline.run()
