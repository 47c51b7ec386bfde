"""Runs one session of a new or resumed run, from its directory to its last commit.

Writes no artifact.

Responsible for the order of steps: plans, directory and lock, dataset snapshot, identity,
pre-flight, pipeline. The snapshot comes before the pre-flight, so that bad rows are found before
the endpoint is asked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from nel.config.identity import ALLOW_JUDGE
from nel.config.openai_environment import key_variable, taken_from_environment
from nel.config.process_environment import hide_environment
from nel.config.redaction import Redactor, read_key, read_secret, secrets_of_environment
from nel.config.schema import RunConfig
from nel.config.schema.stop import StopConfig
from nel.core.observer import Observer
from nel.core.start_up import end_start_up
from nel.core.strict_json import dumps
from nel.engine.asking.asker import OpenRun
from nel.engine.asking.repeat_check import count_pending_checks
from nel.engine.asking.resume_checks import UNREADABLE, RecordCheck
from nel.engine.asking.stop_rules import StopRules
from nel.engine.asking.work import Job
from nel.engine.executors import Executor, ScorerPool, ScoringWork
from nel.engine.executors.find import opened_executor
from nel.engine.local_paths import with_absolute_paths
from nel.engine.planning.category_members import check_categories
from nel.engine.planning.plan import Plan, judging_models
from nel.engine.planning.plan_judges import is_same_endpoint
from nel.engine.preparation import ResumeOptions, prepare_job
from nel.engine.process_limits import check_memory, fit_open_files
from nel.engine.progress import BenchmarkProgress, Progress
from nel.engine.run_directory import note_begin, store_config
from nel.engine.session import Session
from nel.engine.session_spec import Runtime, SessionSpec
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.store.lock import own_directory
from nel.engine.store.log import Log
from nel.engine.store.projections.pending import Pending
from nel.engine.store.projections.replies import has_reply
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.engine.store.spending import price_of, spent_by_killed
from nel.errors import ConfigError, ResumeRefused
from nel.models.budget import Spend

if TYPE_CHECKING:
    from nel.engine.episodes.tool_server import ToolServer

_LOG = logging.getLogger(__name__)
_SECRET_LENGTH_MIN = 8


def run_session(spec: SessionSpec) -> ExitStatus:
    """Do the work of one session in a run directory, new or resumed, and return how it ended.

    Raises:
        NelError: As `opened_session`.
    """
    with (
        opened_executor(spec.config.engine.executor) as executor,
        open_scorers(spec, executor) as scorers,
        open_tools(spec.plans) as tools,
        opened_session(spec, executor=executor, scorers=scorers, tools=tools) as session,
    ):
        return session.run()


@contextmanager
def opened_session(
    spec: SessionSpec, *, executor: Executor, scorers: ScorerPool, tools: ToolServer | None
) -> Iterator[Session]:
    """Hold a run directory and yield its next session: samples stored, nothing asked yet.

    Args:
        spec: Of the session.
        executor: Where scores are computed.
        scorers: Of the plans, from the executor.
        tools: Forks the processes of their tools.

    Raises:
        NelError: Before anything was sent: the key is not set, the dataset is unusable, the resume
            is refused, another process holds the directory.
    """
    config, progress, runtime = spec.config, spec.progress, spec.runtime
    endpoint = config.endpoint
    api_key = read_key(key_variable(endpoint)) if endpoint is not None and spec.asks else None
    secrets = () if spec.scoring_only else _secrets(config, spec.plans, api_key)
    refuse_secrets(config, secrets)
    secrets = (*secrets, *secrets_of_environment())
    most, note = _fitted_concurrency(spec)
    run_db = spec.run_dir / FILE_NAME
    with (
        own_directory(spec.run_dir),
        runtime.observing(
            spec.run_dir, config.observability, progress, secrets=secrets
        ) as observer,
        closing(runtime.store(run_db)) as store,
        Snapshot(run_db) as snapshot,
    ):
        store.redactor = Redactor(secrets)
        progress.stage = "reading datasets"
        _say(note, progress)
        if endpoint is not None and spec.asks:
            _say("; ".join(taken_from_environment(endpoint)) or None, progress)
        records = _records_to_check(store, snapshot, runtime) if spec.asks else None
        if records is None:
            _drop_unreadable(store, snapshot, progress)
        jobs = _prepared_jobs(store, snapshot, spec)
        yield Session(
            spec=spec,
            opened=_begin(store, snapshot, jobs, spec, observer, records),
            executor=executor,
            scorers=scorers,
            tools=tools,
            api_key=api_key,
            secrets=secrets,
            concurrency_max=most,
            run_id=str(snapshot.meta("run_id") or spec.run_dir.name),
        )


def _prepared_jobs(store: Log, snapshot: Snapshot, spec: SessionSpec) -> list[Job]:
    """Prepare every benchmark, or leave the run as it was where a resume is refused."""
    allowed = _allow_first_judge(snapshot, spec.allowed_changes)
    options = ResumeOptions(allowed, spec.scoring_only, spec.progress, snapshot)
    with store.transaction():
        _refuse_missing_benchmarks(snapshot, spec.plans)
        _settle_killed(store, snapshot, spec.config, spec.plans)
        jobs = [prepare_job(store, snapshot, plan, options) for plan in spec.plans]
        store_config(store, snapshot, spec.run_dir.name, spec.config)
    for note in [] if spec.scoring_only else check_categories(spec.config, jobs, snapshot):
        _say(note, spec.progress)
    return jobs


def _begin(
    store: Log,
    snapshot: Snapshot,
    jobs: list[Job],
    spec: SessionSpec,
    observer: Observer,
    records: RecordCheck | None,
) -> OpenRun:
    """Begin the session in the store, from which the run can be resumed without its log."""
    stop_rules = _open_rules(store, snapshot, jobs, spec.config.stop)
    store.begin_session()
    store.checkpoint()
    note_begin(store.path.parent)
    _plan_progress(spec.progress, snapshot, jobs, stop_rules)
    return OpenRun(
        store=store,
        snapshot=snapshot,
        jobs=jobs,
        progress=spec.progress,
        observer=observer,
        stop_rules=stop_rules,
        records=records,
    )


def _open_rules(store: Log, snapshot: Snapshot, jobs: list[Job], config: StopConfig) -> StopRules:
    """Return the rules of a session; without one, their statistics are not imported."""
    if not config.when:
        return StopRules()
    from nel.engine.asking.stop_rule_opening import open_rules  # noqa: PLC0415

    return open_rules(store, snapshot, jobs, config)


def _say(note: str | None, progress: Progress) -> None:
    if note is not None:
        progress.notes.append(note)
        _LOG.warning("%s", note)


def _settle_killed(
    store: Log, snapshot: Snapshot, config: RunConfig, plans: Sequence[Plan]
) -> None:
    prices = config.budget.prices
    of_judges = {
        member.label: prices[member.model]
        for member in judging_models(plans)
        if member.model in prices
    }
    price = price_of(config)
    if price is not None and config.endpoint is not None:  # it may judge itself
        of_judges.setdefault(config.endpoint.model, price)
    killed = spent_by_killed(snapshot.spent_by_killed(), price, of_judges)
    store.settle_killed(killed.as_json(), Spend().as_json())


def _fitted_concurrency(spec: SessionSpec) -> tuple[int, str | None]:
    """Return the most requests in flight to one endpoint, and why not as many as configured."""
    check_memory()
    config = spec.config
    demands = [config.engine.concurrency] if spec.asks else []
    judges = [] if spec.scoring_only else judging_models(spec.plans)
    # A judge at the evaluated endpoint shares its connections.
    demands += [
        member.concurrency or config.engine.concurrency
        for member in judges
        if config.endpoint is None or not is_same_endpoint(member, config.endpoint)
    ]
    if not demands:
        return config.engine.concurrency, None
    runs_programs = any(plan.benchmark.languages for plan in spec.plans)
    programs = config.sandbox.workers or os.cpu_count() or 1
    fitted = fit_open_files(demands * spec.n_runs, programs=programs if runs_programs else 0)
    return fitted.most, fitted.note


def _drop_unreadable(store: Log, snapshot: Snapshot, progress: Progress) -> None:
    dropped = store.drop_damaged()
    if dropped:
        progress.notes.append(
            f"{dropped:,} records of run.db could not be read; their samples are repeated"
        )
    if snapshot.meta(UNREADABLE):
        store.set_meta(UNREADABLE, 0)


def _records_to_check(store: Log, snapshot: Snapshot, runtime: Runtime) -> RecordCheck | None:
    """Return a large run's background check of records; None if they are verified at once."""
    # What the last session found damaged is dropped before this one asks.
    if store.path.stat().st_size <= runtime.verify_first_bytes_max or snapshot.meta(UNREADABLE):
        return None
    return RecordCheck(store.path)


def _secrets(
    config: RunConfig, plans: Sequence[Plan], api_key: str | None
) -> tuple[str | None, ...]:
    judges = judging_models(plans)
    headers = [name for member in judges for name in member.headers_env.values()]
    variables = [*map(key_variable, judges), *headers]
    if config.endpoint is not None:
        variables += [config.limiter.token_env, *config.endpoint.headers_env.values()]
    return (api_key, *map(read_secret, variables))


def refuse_secrets(config: RunConfig, secrets: Iterable[str | None]) -> None:
    """Raise ConfigError where the configuration, which is stored, holds a secret's value."""
    text = dumps(config.model_dump(mode="json"))
    redactor = Redactor(
        secret for secret in secrets if secret and len(secret) >= _SECRET_LENGTH_MIN
    )
    if redactor.text(text) != text:
        raise ConfigError(
            "the configuration holds the value of a key that api_key_env or headers_env names; take"
            " it out, since a run's configuration is stored"
        )


def _refuse_missing_benchmarks(snapshot: Snapshot, plans: Sequence[Plan]) -> None:
    stored_slots = {slot for _, slot, _, _ in snapshot.benchmarks()}
    absent = stored_slots.difference(plan.slot for plan in plans)
    if absent:
        raise ResumeRefused(
            f"cannot resume without {', '.join(sorted(absent))}, which this run holds too; name it"
            " as well (nel eval resume DIR does)"
        )


def _allow_first_judge(snapshot: Snapshot, allowed: frozenset[str]) -> frozenset[str]:
    """Return what may change on a resume, which includes the judges where none has answered yet."""
    has_answered = any(has_reply(snapshot, key) for key, *_ in snapshot.benchmarks())
    return allowed if has_answered else allowed | {ALLOW_JUDGE}


@contextmanager
def open_scorers(spec: SessionSpec, executor: Executor) -> Iterator[ScorerPool]:
    """Fork the workers before the run has locks, files or threads that they could inherit."""
    work = ScoringWork(
        benchmarks=[plan.benchmark for plan in spec.plans],
        digests=[str(plan.fields["scorer.rules"]) for plan in spec.plans],
        config=with_absolute_paths(spec.config),
    )
    hide_environment()
    end_start_up()  # in the workers too, where scorers may hold much that only a search frees
    scorers = (spec.runtime.scorers or executor.open_scorers)(work)
    try:
        yield scorers
    finally:
        scorers.close()


@contextmanager
def open_tools(plans: Sequence[Plan]) -> Iterator[ToolServer | None]:
    """Fork the server of the tools' processes, as `open_scorers`; None where no plan has tools."""
    benchmarks = [
        plan.benchmark
        for plan in plans
        if plan.solver is not None and (plan.benchmark.tools or plan.benchmark.environment)
    ]
    if not benchmarks:
        yield None
        return
    from nel.engine.episodes.tool_server import ToolServer  # noqa: PLC0415 - few runs have tools

    server = ToolServer(benchmarks)
    try:
        yield server
    finally:
        server.close()


def _plan_progress(
    progress: Progress, snapshot: Snapshot, jobs: list[Job], stop_rules: StopRules
) -> None:
    """Set how much the session sets out to do, of each benchmark and in all."""
    progress.total = 0
    for job in jobs:
        total = Pending(snapshot).count_pending(job.key, job.plan.config.repeats)
        progress.benchmarks[job.key] = BenchmarkProgress(slot=job.plan.slot, total=total)
        progress.total += total + count_pending_checks(
            snapshot, job.key, job.plan.config.repeat_check
        )
    progress.total -= stop_rules.n_left_out(snapshot, jobs)
