"""A whole evaluation as one call: configuration in, artifacts and numbers out. The command line does no more than this.

Trap: `evaluate` returns for every ending, also for a wrong key; read `RunResult.exit_code` before the numbers.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.artifacts.write import BenchmarkResult, write_artifacts
from nel.config.load import build_config, with_panel
from nel.config.schema import JudgeConfig, RunConfig
from nel.core.failpoints import reached
from nel.engine.exit_status import ExitStatus
from nel.engine.plan import Digests, Plan, duplicate_id, make_plans, stream_samples
from nel.engine.progress import Progress
from nel.engine.resume_checks import check_records
from nel.engine.run import latest_run_dir, new_run_dir, run_session
from nel.engine.store.codec import decode_sample
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import EXIT_UNSCORED, NelError, StoreError
from nel.metrics.requested import Choice
from nel.reports.writers import HTML, check_writers, write_report, write_reports

_CHARACTERS_PER_TOKEN = 4
"""Of English text, for the estimate of a dry run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run came to."""

    run_dir: Path
    ending: ExitStatus
    benchmarks: list[BenchmarkResult]
    report: Path
    """The page report.html."""
    exit_code: int
    """0 done; 2 refused; 3 more unscored than tolerated; 75 stopped early; 130 or 143 interrupted."""
    reports: tuple[Path, ...] = ()
    """The further reports of ``output.reports`` that were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBenchmark:
    """What a dry run says of one benchmark."""

    name: str
    dataset: str
    revision: str | None
    samples: int
    bad_rows: int
    repeats: int
    requests: int
    prompt_tokens: int
    """Estimated at four characters a token."""
    completion_tokens_max: int | None
    """From max_tokens; None where it is not set and the endpoint decides."""
    generation: Mapping[str, Any]
    """The settings that are sent, the benchmark's own included; what is not here the endpoint decides."""
    judges: tuple[str, ...] = ()
    """Who judges, by name."""
    judge_requests: int = 0
    """Where each answer is put to each judge as one question."""


def evaluate(
    config: RunConfig | Mapping[str, Any],
    *,
    resume: bool = False,
    progress: Progress | None = None,
    allowed_changes: frozenset[str] = frozenset(),
) -> RunResult:
    """Run an evaluation, new or resumed, to its end and write all artifacts.

    Args:
        config: A validated configuration, or the mapping that a YAML file would hold.
        resume: Continue the run in ``output.dir`` (the named one, or the one started last).
        progress: Live counts, for whoever shows them.
        allowed_changes: Identity fields that may differ on a resume; only ``endpoint.url`` makes sense.

    Raises:
        NelError: The configuration, a plugin, a dataset or the run directory is unusable; nothing was sent.
    """
    run_config = config if isinstance(config, RunConfig) else build_config(config, where="evaluate()")
    progress = progress or Progress()
    check_writers(run_config.output.reports)
    plans = make_plans(run_config, resuming=resume)
    _note_plans(plans, progress)
    if resume:
        run_dir = latest_run_dir(Path(run_config.output.dir), run_config.output.run_id)
        check_records(run_dir / FILE_NAME)
        ending = run_session(run_dir, run_config, plans, progress=progress, allowed_changes=allowed_changes)
    else:
        run_dir = new_run_dir(run_config, plans)
        ending = _first_session(run_dir, run_config, plans, progress)
    return _written(run_dir, run_config, plans, ending, progress)


def rescore(
    run_dir: Path, *, scorer: str | None = None, overrides: Sequence[str] = (), progress: Progress | None = None
) -> RunResult:
    """Score the stored answers of a run, without a single request, and write its artifacts anew.

    Args:
        run_dir: The directory of the run.
        scorer: ``NAME`` or ``NAME:key=value,...`` instead of the scorer the run has; every answer is scored anew.
        overrides: ``key.path=value``, laid over the run's configuration.
        progress: Live counts, for whoever shows them.

    Raises:
        NelError: There is no such run, or the scorer is unusable.
    """
    chosen = [f"benchmarks.{number}.scorer={scorer}" for number in range(_count_benchmarks(run_dir)) if scorer]
    config = stored_config(run_dir, overrides=[*overrides, *chosen])
    progress = progress or Progress()
    check_writers(config.output.reports)
    plans = make_plans(config, resuming=True)
    _note_plans(plans, progress)
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        snapshot.check_integrity()
    ending = run_session(run_dir, config, plans, progress=progress, scoring_only=True)
    return _written(run_dir, config, plans, ending, progress)


def _note_plans(plans: Sequence[Plan], progress: Progress) -> None:
    progress.notes += [
        f"{plan.slot}: {plan.unreadable}; going on with the copy in run.db" for plan in plans if plan.unreadable
    ]
    progress.notes += dict.fromkeys(note for plan in plans for note in plan.notes)


def _written(
    run_dir: Path, config: RunConfig, plans: Sequence[Plan], ending: ExitStatus, progress: Progress
) -> RunResult:
    """Write the artifacts of a session that ended, and return what the run came to."""
    progress.stage = "writing artifacts"
    reached("before_artifacts")
    benchmarks, report = rebuild(run_dir, {plan.slot: plan.statistics for plan in plans})
    reached("after_artifacts")
    reports, problems = write_reports(config.output.reports, run_dir)
    progress.notes += problems
    return RunResult(
        run_dir=run_dir,
        ending=ending,
        benchmarks=benchmarks,
        report=report,
        reports=tuple(reports),
        exit_code=ending.exit_code or _exit_code(benchmarks, config.engine.unscored_rate_max),
    )


def _count_benchmarks(run_dir: Path) -> int:
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        return len((snapshot.meta("config") or {}).get("benchmarks", ()))


def stored_config(
    run_dir: Path, *, overrides: Sequence[str] = (), panel: Sequence[Mapping[str, Any]] = ()
) -> RunConfig:
    """Return the configuration a run was started with, from its run.db, set to continue in that directory.

    Args:
        overrides: ``key.path=value``, laid over it.
        panel: Who judges instead; empty: as it was.

    Raises:
        StoreError: There is no usable run.db, or the run was stopped before it had begun.
        ConfigError: An override is wrong.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        data = snapshot.meta("config")
    if data is None:
        raise StoreError(f"{run_dir} holds no run that has begun; start a new one")
    if panel:
        data = with_panel(data, panel)
    output = {"dir": str(run_dir), "reports": list(_reports_in(data))}
    return build_config({**data, "output": output}, overrides=overrides, where=str(run_dir))


def stored_reports(run_dir: Path) -> tuple[str, ...]:
    """Return the names of the further reports that a run was configured with.

    Raises:
        StoreError: There is no usable run.db.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        return _reports_in(snapshot.meta("config") or {})


def _reports_in(config: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple((config.get("output") or {}).get("reports") or ())  # runs of an older version have none


async def evaluate_async(config: RunConfig | Mapping[str, Any], *, resume: bool = False) -> RunResult:
    """Run `evaluate` in a thread, for callers that have an event loop; signals stay with the caller."""
    return await asyncio.to_thread(evaluate, config, resume=resume)


def rebuild(run_dir: Path, statistics: Mapping[str, Choice] | None = None) -> tuple[list[BenchmarkResult], Path]:
    """Write every artifact of a run again, from its run.db alone; return its benchmarks and the report's path.

    Args:
        statistics: The metrics and reducers of each benchmark; without it those that the run names.

    Raises:
        StoreError: There is no usable run.db.
        StoppedEarly: The disk is full.
    """
    benchmarks = write_artifacts(run_dir, statistics)
    return benchmarks, write_report(HTML, run_dir)


def preview(config: RunConfig) -> list[PlannedBenchmark]:
    """Return what a run would do, after reading every dataset and sending nothing.

    Raises:
        NelError: As `evaluate` does before it sends anything.
    """
    check_writers(config.output.reports)
    return [_preview(plan, config) for plan in make_plans(config)]


def _preview(plan: Plan, config: RunConfig) -> PlannedBenchmark:
    digests = Digests()
    ids: dict[str, int] = {}
    characters = 0
    for sample in stream_samples(plan, digests, ids.get):
        if sample.sample_id in ids:
            raise duplicate_id(plan, sample, ids[sample.sample_id])
        ids[sample.sample_id] = sample.row_number
        characters += _prompt_characters(plan, sample.content)
    answers = digests.good * plan.config.repeats
    requests = 0 if plan.eval_only else answers
    judge = plan.judge or JudgeConfig()
    limit = plan.generation.max_tokens
    settings = config.generation_of(plan.config).model_dump()
    return PlannedBenchmark(
        name=plan.slot,
        dataset=plan.dataset.uri,
        revision=plan.dataset.revision,
        samples=digests.good,
        bad_rows=digests.rows - digests.good,
        repeats=plan.config.repeats,
        requests=requests,
        prompt_tokens=0 if plan.eval_only else characters * plan.config.repeats // _CHARACTERS_PER_TOKEN,
        completion_tokens_max=None if limit is None else limit * requests,
        generation={key: value for key, value in settings.items() if value not in (None, {})},
        judges=tuple(member.label for member in judge.panel),
        judge_requests=answers * judge.repeats * len(judge.panel),
    )


def _prompt_characters(plan: Plan, content: str | None) -> int:
    if content is None:
        return 0
    asked = decode_sample("", content).input
    length = len(asked) if isinstance(asked, str) else sum(len(str(message.content)) for message in asked)
    return length + len(plan.config.system_prompt or "")


def _first_session(run_dir: Path, config: RunConfig, plans: list[Plan], progress: Progress) -> ExitStatus:
    try:
        return run_session(run_dir, config, plans, progress=progress)
    except BaseException:
        if not _has_begun(run_dir):
            shutil.rmtree(run_dir, ignore_errors=True)
        raise


def _has_begun(run_dir: Path) -> bool:
    with suppress(NelError), Snapshot(run_dir / FILE_NAME) as snapshot:
        return bool(snapshot.sessions())
    return False


def _exit_code(benchmarks: list[BenchmarkResult], unscored_rate_max: float) -> int:
    for benchmark in benchmarks:
        accounting = benchmark.accounting
        if accounting["n_unscored"] > unscored_rate_max * accounting["n_total"]:
            return EXIT_UNSCORED
    return 0
