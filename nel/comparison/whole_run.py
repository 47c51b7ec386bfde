"""Reads the artifacts of a run of which a decision is made: of all its benchmarks, or of none.

A benchmark whose folder was deleted, or lost its metrics, would otherwise not be missed by
anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nel.artifacts.aggregates import AGGREGATES_NAME
from nel.artifacts.files import directory_name
from nel.comparison.agreement import check_files
from nel.core.paths import as_argument
from nel.engine.store.plans import StoredPlan
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import OutputError, StoreError
from nel.reports.run_files import BenchmarkFiles, read_run

_PARTS: Final = ("eval-*.json", "results.jsonl", "failure_analysis.json", "runtime_stats.json")
"""What stands beside metrics.json in the folder of a benchmark."""


def read_whole_run(run_dir: Path) -> list[BenchmarkFiles]:
    """Return the benchmarks of a run, sorted by directory name.

    Raises:
        OutputError: A benchmark of the run has no metrics.json or no results.jsonl, a file is not
            what it should be, or the files are of several runs.
    """
    run_files = read_run(run_dir)
    has_metrics = {files.directory.name for files in run_files}
    has_part = {path.parent.name for pattern in _PARTS for path in run_dir.glob(f"*/{pattern}")}
    plans, has_means = _read_store(run_dir)
    if has_means and not (run_dir / AGGREGATES_NAME).is_file():
        raise OutputError(
            f"{run_dir} has no {AGGREGATES_NAME}, and its configuration names means over its"
            f" benchmarks; write its files again with nel report {as_argument(run_dir)}"
        )
    lost_folders = sorted((has_part | set(map(directory_name, plans))) - has_metrics)
    if lost_folders:
        raise OutputError(
            f"{run_dir} has no metrics of {', '.join(lost_folders)}, and a run is decided on as a whole;"
            f" write its files again with nel report {as_argument(run_dir)}"
        )
    for files in run_files:
        if not (files.directory / "results.jsonl").is_file():
            raise OutputError(
                f"{files.directory} has no results.jsonl; make it again with nel report"
                f" {as_argument(run_dir)}"
            )
    check_files(run_dir, run_files, plans)
    return run_files


def _read_store(run_dir: Path) -> tuple[dict[str, StoredPlan], bool]:
    """Return the plans in the run's store by slot, and whether the run has means over benchmarks;
    nothing where the store cannot be read.
    """
    try:
        with Snapshot(run_dir / FILE_NAME, untouched=True) as snapshot:
            plans = {
                slot: plan for _, slot, _, plan in snapshot.benchmarks() if isinstance(plan, dict)
            }
            return plans, bool((snapshot.meta("config") or {}).get("aggregates"))
    except StoreError:
        return {}, False
