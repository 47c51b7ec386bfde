"""One session with the endpoint: clients, pre-flight, pipeline and signals; stores how it ended.

Whatever is raised here, the store is left consistent and holds why the session ended.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nel.config.redaction import redact_url
from nel.config.schema import BudgetConfig
from nel.core.observer import SessionInfo
from nel.core.strict_json import dumps_bytes
from nel.engine.asking.asker import OpenRun
from nel.engine.asking.doubtful_answers import take_back
from nel.engine.asking.repeat_check import pending_checks
from nel.engine.asking.work import n_unanswered
from nel.engine.executors import Executor, LocalExecutor, ProgramRunner, ScorerPool
from nel.engine.observability import monitor_gate
from nel.engine.pipeline import Pipeline
from nel.engine.planning.plan_judges import may_ask_judge
from nel.engine.scoring_stage import Machinery
from nel.engine.session_spec import SessionSpec, Shared
from nel.engine.shared_limits import SharedLimits
from nel.engine.stopping.exit_status import (
    ExitStatus,
    exit_status_of,
    exit_status_of_signal,
    with_last_attempt,
)
from nel.engine.store.codec import decode_response, decode_sample, encode_response
from nel.engine.store.spending import price_of, spent_before
from nel.errors import (
    EXIT_USAGE,
    NelError,
    PreflightError,
    ResumeRefused,
    SandboxError,
    StoppedEarly,
)
from nel.models.budget import BudgetSpent, Ledger, Spend
from nel.models.client import Client
from nel.models.client_context import ClientContext, ClientCounters
from nel.models.pacing import EndpointDown
from nel.models.preflight import check_echo, check_endpoint

if TYPE_CHECKING:
    from nel.engine.episodes.tool_server import ToolServer
    from nel.engine.judging.judges import Judges
    from nel.models.cache import ResponseCache
    from nel.models.echo_probe import EchoSupport


_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _SessionEnd:
    """How a session ended, once it has."""

    status: ExitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session of a run and everything it works with."""

    spec: SessionSpec
    opened: OpenRun
    scorers: ScorerPool
    api_key: str | None
    run_id: str
    concurrency_max: int
    """Requests in flight to one endpoint that the limit of open files allows."""
    secrets: tuple[str | None, ...] = ()
    """Of all endpoints of the run; what one of them answers may hold the key of another."""
    tools: ToolServer | None = None
    """Forks the processes of episodes' tools."""
    executor: Executor = field(default_factory=LocalExecutor)
    """Where scores are computed."""
    shared: Shared | None = None
    """With other sessions; None for one alone."""

    def run(self) -> ExitStatus:
        """Do the session's work on its own event loop; return, and store, how it ended."""
        return self.spec.runtime.run(self.run_beside_others())

    async def run_beside_others(self) -> ExitStatus:
        """Do the session's work on the running event loop; return, and store, how it ended."""
        config, progress = self.spec.config, self.opened.progress
        counters, ledger = ClientCounters(), self._ledger()
        # Left in reverse: signals; doubtful answers, while the clients are open; the sandbox; the
        # clients; and last the record of how the session ended.
        async with AsyncExitStack() as stack:
            ended = stack.enter_context(self._recording(counters, ledger))
            client, judges = await self._open_clients(stack, counters, ledger)
            sandbox = self._open_sandbox(stack)
            stack.callback(self._take_back, client, judges)
            pipeline = Pipeline(
                self.opened,
                client=client,
                machinery=Machinery(
                    scorers=self.scorers,
                    sandbox=sandbox,
                    judges=judges,
                    strict_verdicts=config.sandbox.strict_verdicts,
                ),
                config=config.engine.model_copy(update={"concurrency": self._concurrency()}),
                scoring_only=self.spec.scoring_only,
                tools=self.tools,
                price=price_of(config),
            )
            signals = self.spec.runtime.signals() if self.shared is None else self.shared.signals
            stack.enter_context(signals.stopping(pipeline.stop, self._say_at_once))
            progress.stage = "starting scorers"
            await self.executor.start()
            self._note_used("executors", dict(self.executor.facts()))
            await self._check_sandbox(sandbox)
            if config.engine.preflight:
                await self._check_endpoints(pipeline, client, judges)
            await self._prepare_environments()
            status = await pipeline.run()
            if status.cause == "budget":  # what was in flight is spent by now too
                status = replace(status, reason=ledger.reason())
            ended.status = status if client is None else with_last_attempt(status, client.trouble)
        return ended.status

    def refuse(self, reason: str) -> None:
        """Store that nothing was asked in this session, and why."""
        with self._recording(ClientCounters(), Ledger(BudgetConfig())) as ended:
            ended.status = ExitStatus(exit_code=EXIT_USAGE, reason=reason)

    async def find_problem(self) -> PreflightError | None:
        """Return what is wrong with the endpoint's key or model; None also if nothing answers.

        Asks for the list of models and for no answer, so that it costs nothing.
        """
        endpoint = self.spec.config.endpoint
        if endpoint is None or not self.spec.config.engine.preflight or not self._has_pending():
            return None
        context = ClientContext(
            transport=self.spec.runtime.transport, run_id=self.run_id, secrets=self.secrets
        )
        client = Client(endpoint, api_key=self.api_key, connections=1, context=context)
        async with client:
            try:
                await check_endpoint(client)
            except PreflightError as error:
                return error
            except NelError:  # the session says it
                return None
        return None

    @contextmanager
    def _recording(self, counters: ClientCounters, ledger: Ledger) -> Iterator[_SessionEnd]:
        """Store how the block ended; what a resume can continue from is not an exception."""
        ended = _SessionEnd(ExitStatus(exit_code=1, reason="crashed"))
        self.opened.observer.session_started(self._info())
        try:
            yield ended
            ended.status = self._with_usable_fix(ended.status)
        except (PreflightError, StoppedEarly, EndpointDown, BudgetSpent) as error:
            ended.status = self._with_usable_fix(exit_status_of(error))
        except ResumeRefused as error:
            ended.status = ExitStatus(exit_code=error.exit_code, reason=str(error))
            raise
        except (KeyboardInterrupt, asyncio.CancelledError):  # Ctrl-C before signals are received
            ended.status = exit_status_of_signal("SIGINT")
            raise
        except BaseException as error:
            # A bug: the session ends as "crashed", and the traceback is in run.log.
            ended.status = ExitStatus(exit_code=1, reason="crashed")
            self.opened.observer.session_failed(error)
            raise
        finally:
            with suppress(NelError):  # the disk may be full; the original error matters more
                self.opened.store.set_meta("not_run", ended.status.unscored_reason())
                self.opened.stop_rules.store(self.opened.store)
                # Last: a session that has an end is over for whatever reads the run.
                self.opened.store.end_session(
                    ended=ended.status.reason,
                    attempts=counters.attempts,
                    retries=counters.retries,
                    spent=ledger.spent.as_json(),
                )
            self.opened.progress.notes += self.opened.stop_rules.notes()
            self.opened.observer.session_ended(ended.status.reason, ended.status.exit_code)

    def spent_before(self) -> Spend:
        """Return what the earlier sessions of this run spent."""
        return spent_before(self.opened.snapshot.sessions())

    def _with_usable_fix(self, ending: ExitStatus) -> ExitStatus:
        """Return the ending with a fix that a resume takes: stored answers keep the model, and may
        move to a URL.
        """
        if not ending.fix or not any(
            self.opened.pending.has_answer(job.key) for job in self.opened.jobs
        ):
            return ending
        if "--model-id" in ending.fix:
            return replace(ending, fix=())
        if "--model-url" in ending.fix:
            return replace(ending, fix=(*ending.fix, "--allow-url-change"))
        return ending

    def _ledger(self) -> Ledger:
        if self.shared is None:
            return Ledger(self.spec.config.budget, before=self.spent_before())
        return self.shared.ledger.share(before=self.spent_before())

    def _cache(self) -> AbstractContextManager[ResponseCache | None]:
        if self.spec.config.cache.dir is None:
            return nullcontext()
        from nel.models.cache import ResponseCache  # noqa: PLC0415 - few runs have a cache

        directory = Path(self.spec.config.cache.dir).expanduser()
        return closing(ResponseCache(directory, encode=encode_response, decode=decode_response))

    def _info(self) -> SessionInfo:
        config = self.spec.config
        endpoint = config.endpoint
        stored = self.opened.snapshot.benchmarks()
        return SessionInfo(
            run_id=self.run_id,
            session=len(self.opened.snapshot.sessions()),
            benchmarks={key: slot for key, slot, _, _ in stored},
            identities={slot: plan.get("digest", "") for _, slot, _, plan in stored},
            config_digest=hashlib.sha256(dumps_bytes(config.model_dump(mode="json"))).hexdigest(),
            planned=self.opened.progress.total,
            concurrency=self._concurrency(),
            model=endpoint.model if endpoint else None,
            url=redact_url(endpoint.url) if endpoint else None,
        )

    async def _open_clients(
        self, stack: AsyncExitStack, counters: ClientCounters, ledger: Ledger
    ) -> tuple[Client | None, Judges | None]:
        """Open the clients of the evaluated endpoint and of the judges; where only what is stored
        is scored, the judges have none.
        """
        config, opened, runtime = self.spec.config, self.opened, self.spec.runtime
        if self.spec.scoring_only:
            if not self._is_judged:
                return None, None
            from nel.engine.judging.opening import judges_of  # noqa: PLC0415 - few runs judge

            return None, judges_of(opened, config, {})
        opened.progress.counters = counters
        context = ClientContext(
            counters=counters,
            jitter=runtime.jitter,
            transport=runtime.transport,
            ledger=ledger,
            cache=stack.enter_context(self._cache()),
            run_id=self.run_id,
            secrets=self.secrets,
            scratch_directory=opened.store.path.parent,
        )
        limits = SharedLimits(config=config, jitter=runtime.jitter)
        stack.callback(self._note_limits, limits)
        client = await self._open_client(stack, context, limits)
        if not self._is_judged:
            return client, None
        from nel.engine.judging.opening import open_judges  # noqa: PLC0415 - as above

        judges = await open_judges(
            opened, config, self._concurrency, stack, client, context, limits
        )
        return client, judges

    @property
    def _is_judged(self) -> bool:
        plans = [job.plan for job in self.opened.jobs]
        return any(
            plan.judge is not None or plan.model_roles or may_ask_judge(plan.benchmark.scorer)
            for plan in plans
        )

    async def _open_client(
        self, clients: AsyncExitStack, context: ClientContext, limits: SharedLimits
    ) -> Client | None:
        endpoint, opened = self.spec.config.endpoint, self.opened
        if endpoint is None or all(job.plan.eval_only for job in opened.jobs):
            return None
        client = await limits.open_client(
            clients,
            endpoint,
            concurrency=self.spec.config.engine.concurrency,
            own_max=self._concurrency(),
            api_key=self.api_key,
            observer=opened.observer,
            context=context,
        )
        opened.progress.gate = client.gate
        monitor = monitor_gate(client.gate, opened.observer, reason=lambda: client.trouble)
        clients.callback(asyncio.create_task(monitor).cancel)
        return client

    def _note_limits(self, limits: SharedLimits) -> None:
        """Store and report what became of the limiter, once its gates are closed."""
        self.opened.progress.notes += limits.notes()
        with suppress(NelError):  # the disk may be full; the original error matters more
            for used in limits.facts():
                self._note_used("limiters", used)

    def _concurrency(self, wanted: int | None = None) -> int:
        """Return how many requests may be in flight to an endpoint.

        Args:
            wanted: Of the endpoint's own settings; those of the run where they say nothing.
        """
        return min(wanted or self.spec.config.engine.concurrency, self.concurrency_max)

    def _has_pending(self) -> bool:
        """Return whether any sample has no answer yet; scoring stored answers needs no endpoint."""
        for job in self.opened.jobs:
            if job.plan.eval_only:
                continue
            rule = self.opened.stop_rules.of(job.key)
            # Unscored questions of its prefix may have been taken back, to be asked again.
            if rule is not None and rule.has_ended:
                if n_unanswered(self.opened.snapshot, job, rule, last=rule.n_wanted):
                    return True
                continue
            for _ in self.opened.pending.samples(job.key, job.plan.config.repeats):
                return True
            for _ in pending_checks(self.opened.snapshot, job.key, job.plan.config.repeat_check):
                return True
        return False

    def _open_sandbox(self, stack: AsyncExitStack) -> ProgramRunner:
        """Return where programs run; one that is not shared is closed at the session's end."""
        if self.shared is not None:
            return self.shared.sandbox
        sandbox = self.executor.open_sandbox(self.spec.config.sandbox)
        stack.push_async_callback(asyncio.to_thread, sandbox.close)
        return sandbox

    def _take_back(self, client: Client | None, judges: Judges | None) -> None:
        """Take back doubtful answers while clients are open; note what the executor says."""
        with suppress(NelError):  # the disk may be full; the original error matters more
            self.opened.progress.notes += take_back(
                self.opened.store, client, [] if judges is None else judges.clients()
            )
        self.opened.progress.notes += self.executor.notes()

    async def _check_sandbox(self, sandbox: ProgramRunner) -> None:
        """Raise PreflightError, before anything is paid for, when programs cannot be run."""
        languages = sorted(
            {language for job in self.opened.jobs for language in job.plan.benchmark.languages}
        )
        if not languages or not self.opened.progress.total:
            return
        self.opened.progress.stage = "checking the sandbox"
        try:
            engine = await asyncio.to_thread(sandbox.check, languages)
        except SandboxError as error:
            raise PreflightError(f"programs cannot be run: {error}", endpoint_kind=None) from error
        self._note_used(
            "sandboxes",
            {"engine": engine.as_json(), "limits": self.spec.config.sandbox.limits.model_dump()},
        )

    async def _prepare_environments(self) -> None:
        """Have what episodes need, such as images, before anything is paid for; raises as
        `_check_sandbox`.
        """
        for job in self.opened.jobs:
            prepare = getattr(job.plan.benchmark.environment, "prepare", None)
            if prepare is None or job.plan.solver is None or self.spec.scoring_only:
                continue
            self.opened.progress.stage = "preparing environments"
            pending = self.opened.pending.samples(job.key, job.plan.config.repeats)
            samples = {
                stored.sample_id: decode_sample(stored.sample_id, stored.content or "")
                for stored, _ in pending
            }
            try:
                notes = await asyncio.to_thread(prepare, list(samples.values()), self._say_stage)
            except SandboxError as error:
                raise PreflightError(
                    f"no container can be had: {error}", endpoint_kind=None
                ) from error
            self.opened.progress.notes += notes

    def _say_stage(self, stage: str) -> None:
        self.opened.progress.stage = stage

    def _note_used(self, key: str, used: Mapping[str, object]) -> None:
        """Store what a session works with, once for all sessions that work with the same."""
        before = self.opened.snapshot.meta(key) or []
        if used not in before:
            self.opened.store.set_meta(key, [*before, used])

    async def _check_endpoints(
        self, pipeline: Pipeline, client: Client | None, judges: Judges | None
    ) -> None:
        """Check the evaluated endpoint, and then the judges, where any of them is to be asked."""
        progress = self.opened.progress
        if client is not None and self._has_pending():
            progress.stage = "pre-flight"
            echo = await self._check_endpoint(client)
            if echo is not None:
                pipeline.use_echo(echo)
        if judges is not None and progress.total:
            progress.notes += await judges.check()

    async def _check_endpoint(self, client: Client) -> EchoSupport | None:
        started = time.monotonic()
        problem: str | None = None
        try:
            await check_endpoint(client)
            ranks = any(
                job.plan.benchmark.loglikelihood and not job.plan.eval_only
                for job in self.opened.jobs
            )
            return await check_echo(client) if ranks else None
        except NelError as error:
            problem = str(error)
            raise
        finally:
            self.opened.observer.preflight_finished(problem, time.monotonic() - started)

    def _say_at_once(self, text: str) -> None:
        self.opened.progress.alerts.append(text)
        _LOG.warning("%s", text)
