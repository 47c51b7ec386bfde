"""Reads the artifacts of a run whose numbers are shown: of all its benchmarks, or of none.

A benchmark whose folder was deleted, or lost its metrics, would otherwise not be missed by
anything. Whether a run is finished is decided here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from nel.artifacts.aggregates import AGGREGATES_NAME
from nel.artifacts.benchmark_result import exit_code_of
from nel.artifacts.files import directory_name
from nel.core.paths import as_argument
from nel.engine.store.lock import owner_of
from nel.engine.store.plans import StoredPlan
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import EXIT_STOPPED_EARLY, OutputError, StoreError
from nel.reports.agreement import check_files
from nel.reports.run_files import BenchmarkFiles, stored_files
from nel.reports.selection import MERGE, shard_title

_PARTS: Final = ("eval-*.json", "results.jsonl", "failure_analysis.json", "runtime_stats.json")
"""What stands beside metrics.json in the folder of a benchmark."""
IMPORTED: Final = "imported.format"
"""A field of the identity of results that another tool made."""


class _Planned(NamedTuple):
    """What a run's store says of the run; nothing where it cannot be read."""

    run_id: str | None = None
    plans: Mapping[str, StoredPlan] = MappingProxyType({})
    """By slot; empty for a benchmark whose dataset was not read yet."""
    has_means: bool = False
    """Whether the run has means over its benchmarks."""
    unscored_rate_max: float = 0.0
    """The share of unscored samples that the run tolerates."""


def read_run(run_dir: Path) -> list[BenchmarkFiles]:
    """Return the benchmarks of a run, finished or not, sorted by directory name.

    Raises:
        OutputError: A process works on the run, a benchmark of it has no metrics.json or no
            results.jsonl, a file is not what it should be, or the files are of several runs.
    """
    return _read(run_dir, _read_store(run_dir))


def read_finished_run(run_dir: Path) -> list[BenchmarkFiles]:
    """Return the benchmarks of a run of which a decision may be made; see `read_run`.

    Raises:
        OutputError: As `read_run`; the run is not finished, or is a shard.
    """
    planned = _read_store(run_dir)
    run_files = _read(run_dir, planned)
    for files in run_files:
        _refuse_unfinished(run_dir, files)
    absent_slots = _absent_slots(run_files, planned)
    if absent_slots:
        raise OutputError(
            f"{run_dir} is not finished: it has not begun with {', '.join(absent_slots)}; nel eval"
            f" resume {as_argument(run_dir)}"
        )
    return run_files


def is_unfinished(run_dir: Path) -> bool:
    """Return whether a run goes on, or has to be resumed before a decision may be made of it.

    Raises:
        OutputError: As `read_run`.
    """
    if owner_of(run_dir) is not None or not any(run_dir.glob("*/metrics.json")):
        return True
    return exit_code_of_run(run_dir, read_run(run_dir)) == EXIT_STOPPED_EARLY


def exit_code_of_run(run_dir: Path, run_files: Sequence[BenchmarkFiles]) -> int:
    """Return the exit code for showing the numbers of a run, as `nel eval run` has ended with it:
    75 where it is not finished, 3 where too much is unscored or a metric failed.

    Args:
        run_dir: Of the run.
        run_files: Of all its benchmarks.
    """
    planned = _read_store(run_dir)
    all_metrics = [files.metrics for files in run_files]
    # Of a shard its own part counts; whether all are there is seen when they are put together.
    is_partial = any(not (of.get("shard") or of)["complete"] for of in all_metrics)
    if is_partial or _absent_slots(run_files, planned):
        return EXIT_STOPPED_EARLY
    return exit_code_of(all_metrics, planned.unscored_rate_max)


def _absent_slots(run_files: Sequence[BenchmarkFiles], planned: _Planned) -> list[str]:
    folders = {files.directory.name for files in run_files}
    return [slot for slot in planned.plans if directory_name(slot) not in folders]


def _read(run_dir: Path, planned: _Planned) -> list[BenchmarkFiles]:
    owner = owner_of(run_dir) if run_dir.is_dir() else None
    if owner is not None:
        raise OutputError(
            f"{run_dir} is still written by process {owner.pid}; wait until it ends (nel eval"
            " watch)"
        )
    if (run_dir / FILE_NAME).is_file() and not any(run_dir.glob("*/metrics.json")):
        raise OutputError(
            f"{run_dir} is not finished: it has no results yet; finish it with nel eval resume"
            f" {as_argument(run_dir)}"
        )
    run_files = stored_files(run_dir)
    has_metrics = {files.directory.name for files in run_files}
    has_part = {path.parent.name for pattern in _PARTS for path in run_dir.glob(f"*/{pattern}")}
    if planned.has_means and not (run_dir / AGGREGATES_NAME).is_file():
        raise OutputError(
            f"{run_dir} has no {AGGREGATES_NAME}, and its configuration names means over its"
            f" benchmarks; write its files again with nel report {as_argument(run_dir)}"
        )
    of_plans = {directory_name(slot): plan for slot, plan in planned.plans.items()}
    strange_folders = sorted((has_part | has_metrics) - of_plans.keys()) if of_plans else []
    if strange_folders:
        raise OutputError(
            f"{run_dir} has results in {', '.join(strange_folders)}, which no benchmark of its"
            " run.db has; move them away"
        )
    begun = {folder for folder, plan in of_plans.items() if plan}
    lost_folders = sorted((has_part | begun) - has_metrics)
    if lost_folders:
        raise OutputError(
            f"{run_dir} has no metrics of {', '.join(lost_folders)}, and a run is shown and decided"
            f" on as a whole; write its files again with nel report {as_argument(run_dir)}"
        )
    for files in run_files:
        if not (files.directory / "results.jsonl").is_file():
            raise OutputError(
                f"{files.directory} has no results.jsonl; make it again with nel report"
                f" {as_argument(run_dir)}"
            )
    check_files(run_dir, run_files, planned.plans, planned.run_id)
    return run_files


def _refuse_unfinished(run_dir: Path, files: BenchmarkFiles) -> None:
    where, fields = files.directory, files.bundle.get("identity_fields") or {}
    is_complete = files.metrics["complete"] and files.bundle.get("complete", True)
    if fields.get(IMPORTED) is not None and not is_complete:
        raise OutputError(
            f"{where} was imported of a run that did not end; import the finished one"
        )
    if files.metrics.get("shard"):
        raise OutputError(
            f"{where} is of {shard_title(files.metrics)}, which decides nothing by itself; put all"
            f" shards together with {MERGE}"
        )
    if not is_complete:
        raise OutputError(
            f"{where} is not finished: planned samples were not run, or not by every judge; nel"
            f" eval resume {as_argument(run_dir)}"
        )


def _read_store(run_dir: Path) -> _Planned:
    try:
        with Snapshot(run_dir / FILE_NAME, untouched=True) as snapshot:
            config = snapshot.meta("config") or {}
            engine = config.get("engine") or {}
            return _Planned(
                run_id=snapshot.meta("run_id"),
                plans={
                    slot: plan
                    for _, slot, _, plan in snapshot.benchmarks()
                    if isinstance(plan, dict)
                },
                has_means=bool(config.get("aggregates")),
                unscored_rate_max=float(engine.get("unscored_rate_max") or 0.0),
            )
    except StoreError:
        return _Planned()
