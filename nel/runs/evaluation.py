"""A whole evaluation as one call: configuration in, artifacts and numbers out. The command line is
a shell around it.

`evaluate` returns for every ending, also for a wrong key: check `RunResult.exit_code` before
reading the numbers.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nel.config.argument_words import arguments_for_flags
from nel.config.load import build_config, call_config
from nel.config.schema import RunConfig
from nel.config.settings import Assignment
from nel.core.failpoints import reach
from nel.engine.asking.resume_checks import check_records
from nel.engine.observability import run_log
from nel.engine.planning.plan import Plan
from nel.engine.planning.resolution import make_plans, with_members
from nel.engine.progress import Progress
from nel.engine.run import run_session
from nel.engine.run_directory import (
    config_before_begin,
    latest_run_dir,
    new_directory,
    refuse_imported,
)
from nel.engine.session_spec import Runtime, SessionSpec
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.store.projections.intact import check_integrity
from nel.engine.store.remote import is_remote, resumable, store_of, uploading
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import (
    EXIT_STOPPED_EARLY,
    ConfigError,
    NelError,
    StoreError,
    UsageError,
)
from nel.reports.writers import check_writers, write_reports
from nel.runs.background import run_awaited, run_blocking
from nel.runs.notebook import reporter
from nel.runs.objects import with_names
from nel.runs.result import RunResult
from nel.runs.run_inputs import inputs_of

if TYPE_CHECKING:
    from nel.authoring.benchmark import Benchmark


def evaluate(
    config: RunConfig | Benchmark | Mapping[str, object],
    *,
    resume: bool = False,
    progress: Progress | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    allowed_changes: frozenset[str] = frozenset(),
) -> RunResult:
    """Run or resume an evaluation and write all artifacts.

    Where an event loop runs already, as in a notebook, the run has a thread of its own and an
    interrupt stops it as Ctrl-C does.

    Args:
        config: A validated configuration, or the mapping that a YAML file holds, in which a
            benchmark may be a `nel.Benchmark` and a dataset a DataFrame or a list of mappings; what
            it leaves open may come from NEL_ variables and the user's configuration file. A
            benchmark alone stands for a configuration of it.
        resume: Continue the run in ``output.dir``: the one of ``output.run_id``, or the one started
            last.
        progress: Live counts, for a progress display.
        on_progress: Called with them four times a second and when the run has ended, from the
            calling thread in a notebook and from a thread of its own elsewhere. None: a notebook
            shows a bar.
        allowed_changes: Identity fields that may differ on a resume, such as ``endpoint.url``.

    Raises:
        NelError: The configuration, a plugin, a dataset or the run directory is unusable; nothing
            was sent.
    """
    with words_for(config):
        work, live = _work(config, resume, progress, allowed_changes)
        return run_blocking(work, reporter({"": live}, on_progress and _of_one(on_progress)))


async def evaluate_async(
    config: RunConfig | Benchmark | Mapping[str, object],
    *,
    resume: bool = False,
    progress: Progress | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    allowed_changes: frozenset[str] = frozenset(),
) -> RunResult:
    """Run `evaluate` beside the caller's event loop; signal handlers stay the caller's.

    The run has a thread and an event loop of its own, so that several may be awaited at once. Where
    the call is cancelled, requests in flight may finish within ``engine.drain_seconds``, the run is
    left ready to resume, and then the cancellation passes.

    Args:
        on_progress: Called on the caller's event loop.
    """
    with words_for(config):
        work, live = _work(config, resume, progress, allowed_changes)
        return await run_awaited(work, reporter({"": live}, on_progress and _of_one(on_progress)))


def words_for(config: object) -> AbstractContextManager[None]:
    """Return a block whose errors speak as the caller of a run does: of keys where the caller gave a
    mapping, of flags where the command line made a `RunConfig` of them.
    """
    return nullcontext() if isinstance(config, RunConfig) else arguments_for_flags()


def _of_one(
    on_progress: Callable[[Progress], None],
) -> Callable[[Mapping[str, Progress]], None]:
    return lambda live: on_progress(live[""])


def _work(
    config: RunConfig | Benchmark | Mapping[str, object],
    resume: bool,
    progress: Progress | None,
    allowed_changes: frozenset[str],
) -> tuple[Callable[[Runtime], RunResult], Progress]:
    """Return what runs an evaluation, and its live counts."""
    if isinstance(config, RunConfig):
        run_config = config
    else:
        run_config = call_config(with_names(config), where="evaluate()")
    if run_config.endpoints:
        raise ConfigError(
            "there are several endpoints; call nel.evaluate_matrix, which has a run for each"
        )
    run_config = with_members(run_config)
    live = progress or Progress()

    def work(runtime: Runtime) -> RunResult:
        return _evaluate(run_config, resume, live, allowed_changes, runtime)

    return work, live


def _evaluate(
    run_config: RunConfig,
    resume: bool,
    progress: Progress,
    allowed_changes: frozenset[str],
    runtime: Runtime,
) -> RunResult:
    check_writers(run_config.output.reports)
    plans = make_plans(run_config, resuming=resume)
    note_plans(plans, progress)
    run_dir = _resumed_dir(run_config) if resume else _new_dir(run_config, plans)
    progress.run_dir = run_dir
    spec = SessionSpec(
        run_dir=run_dir,
        config=run_config,
        plans=plans,
        progress=progress,
        allowed_changes=allowed_changes if resume else frozenset(),
        runtime=runtime,
    )
    # Before anything is sent: an input that changes while the run works is not one it was made of.
    inputs, n_notes = inputs_of(spec), len(progress.notes)
    result = None
    if resume:
        from nel.runs.finished import finished_result  # noqa: PLC0415 - of no use to a new run

        result = finished_result(spec, inputs)
        if result is None:
            check_records(run_dir / FILE_NAME)
    with uploading(run_dir, progress, every_seconds=run_config.output.upload_seconds) as upload:
        if result is None:
            ending = run_session(spec) if resume else _first_session(spec)
            result = written_results(spec, ending)
            from nel.runs.finished import note_finished  # noqa: PLC0415 - of no use to the first request

            note_finished(spec, inputs, result, n_notes)
    if upload is None:
        return result
    not_uploaded = 0 if upload.problem is None else EXIT_STOPPED_EARLY
    return replace(result, url=upload.url, exit_code=result.exit_code or not_uploaded)


def _resumed_dir(config: RunConfig) -> Path:
    """Return the directory of the run to resume, which is fetched where it is newer elsewhere."""
    output = config.output
    if not is_remote(output.dir):
        return latest_run_dir(Path(output.dir), output.run_id)
    if output.run_id is None:
        raise UsageError(
            f"--resume in {output.dir} needs --run-id; or give the run: nel eval resume URL"
        )
    return resumable(f"{output.dir.rstrip('/')}/{output.run_id}")


def _new_dir(config: RunConfig, plans: list[Plan]) -> Path:
    """Return a new directory of a run; one that is uploaded is worked on in the cache."""
    url = config.output.dir
    if not is_remote(url):
        return new_directory(config, plans[0].benchmark.name)
    store = store_of(url)
    live = config.output.model_copy(update={"dir": str(store.live_directory(url))})
    run_dir = new_directory(config.model_copy(update={"output": live}), plans[0].benchmark.name)
    store.keep(run_dir, url)
    return run_dir


def rescore(
    run_dir: Path,
    *,
    settings: Sequence[Assignment] = (),
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
) -> RunResult:
    """Score the stored answers of a run again, without a single request, and write its artifacts.

    Args:
        run_dir: The directory of the run.
        settings: What flags set, such as another scorer, laid over the run's configuration.
        overrides: ``key.path=value``, laid over both.
        progress: Live counts, for a progress display.

    Raises:
        NelError: There is no such run, or the scorer is unusable.
    """
    config = stored_config(run_dir, settings=settings, overrides=overrides)
    progress = progress or Progress()
    check_writers(config.output.reports)
    plans = make_plans(config, resuming=True)
    note_plans(plans, progress)
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        check_integrity(snapshot)
    spec = SessionSpec(
        run_dir=run_dir, config=config, plans=plans, progress=progress, scoring_only=True
    )
    return written_results(spec, run_session(spec))


def note_plans(plans: Sequence[Plan], progress: Progress) -> None:
    """Put what the user should know of the plans among the notes of a run."""
    progress.notes += [
        f"{plan.slot}: {plan.unreadable}; continuing with the copy in run.db"
        for plan in plans
        if plan.unreadable
    ]
    progress.notes += dict.fromkeys(note for plan in plans for note in plan.notes)


def written_results(spec: SessionSpec, ending: ExitStatus) -> RunResult:
    """Write the artifacts and reports of a finished session, and return the run's result."""
    run_dir, config, progress = spec.run_dir, spec.config, spec.progress
    progress.stage = "writing artifacts"
    from nel.artifacts.benchmark_result import exit_code_of  # noqa: PLC0415 - as below
    from nel.runs.rebuilding import (  # noqa: PLC0415 - the first request need not wait for it
        rebuild,
        share_as_configured,
    )

    reach("before_artifacts")
    benchmarks, report = rebuild(run_dir, {plan.slot: plan.statistics for plan in spec.plans})
    reach("after_artifacts")
    reports, problems = write_reports(config.output.reports, run_dir)
    progress.notes += problems
    share_as_configured(run_dir)
    progress.stage = "done"
    return RunResult(
        run_dir=run_dir,
        ending=ending,
        benchmarks=benchmarks,
        report=report,
        reports=tuple(reports),
        notes=tuple(progress.notes),
        exit_code=ending.exit_code
        or exit_code_of([item.metrics for item in benchmarks], config.engine.unscored_rate_max),
    )


def stored_config(
    run_dir: Path, *, settings: Sequence[Assignment] = (), overrides: Sequence[str] = ()
) -> RunConfig:
    """Return the configuration that a run started with, by its run.db, set to continue there.

    Args:
        run_dir: The directory of the run.
        settings: What flags set, laid over it.
        overrides: ``key.path=value``, laid over both.

    Raises:
        StoreError: There is no usable run.db, or the run was stopped before it had begun.
        ConfigError: A flag or an override is wrong.
    """
    first_config = config_before_begin(run_dir)
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        refuse_imported(snapshot, run_dir)
        data = snapshot.meta("config") or first_config
    if data is None:
        raise StoreError(f"{run_dir} {_why_empty(run_dir)}; start a new one")
    try:
        output = {key: data["output"][key] for key in ("reports", "share_permissions")}
        data = {**data, "output": {**output, "dir": str(run_dir)}}
        build_config(data, where=FILE_NAME)
    except (ConfigError, TypeError, KeyError) as error:
        raise StoreError(
            f"the configuration in {run_dir / FILE_NAME} is damaged or of another nel: {error};"
            " start a new run"
        ) from error
    return build_config(data, given=settings, overrides=overrides, where=str(run_dir))


def _why_empty(run_dir: Path) -> str:
    """Return why a run.db holds nothing: no session has begun, or one has and its log is gone."""
    log = run_dir / run_log.FILE_NAME
    if not log.exists() and not (run_dir / "progress.json").exists():
        return "holds no run that has begun"
    if log.exists() and not run_log.has_session_events(log):
        return "holds no run that has begun: it was stopped while its samples were read"
    return (
        f"held a run, but {FILE_NAME} is empty: its write-ahead log {FILE_NAME}-wal is missing or"
        " damaged"
    )


def _first_session(spec: SessionSpec) -> ExitStatus:
    try:
        return run_session(spec)
    except BaseException:
        # Without a session there is nothing to resume, and its name would be taken.
        if not has_begun(spec.run_dir):
            shutil.rmtree(spec.run_dir, ignore_errors=True)
        raise


def has_begun(run_dir: Path) -> bool:
    """Return whether a run directory holds a session."""
    with suppress(NelError), Snapshot(run_dir / FILE_NAME) as snapshot:
        return bool(snapshot.sessions())
    return False  # there is no store, or none that can be read
