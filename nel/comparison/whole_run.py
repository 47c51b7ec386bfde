"""Reads the artifacts of a run of which a decision is made: of all its benchmarks, or of none.

A benchmark whose folder was deleted, or lost its metrics, would otherwise not be missed by anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nel.artifacts.files import directory_name
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import OutputError, StoreError
from nel.reports.run_files import BenchmarkFiles, read_run

_PARTS: Final = ("eval-*.json", "results.jsonl", "failure_analysis.json", "runtime_stats.json")
"""What stands beside metrics.json in the folder of a benchmark."""


def read_whole_run(run_dir: Path) -> list[BenchmarkFiles]:
    """Return the benchmarks of a run, sorted by directory name.

    Raises:
        OutputError: A benchmark of the run has no metrics.json or no results.jsonl, or a file is not what it should be.
    """
    found = read_run(run_dir)
    has_metrics = {files.directory.name for files in found}
    has_part = {path.parent.name for part in _PARTS for path in run_dir.glob(f"*/{part}")}
    lost = sorted((has_part | _stored(run_dir)) - has_metrics)
    if lost:
        raise OutputError(
            f"{run_dir} has no metrics of {', '.join(lost)}, and a run is decided on as a whole; write its files again "
            f"with nel report {run_dir}"
        )
    for files in found:
        if not (files.directory / "results.jsonl").is_file():
            raise OutputError(f"{files.directory} has no results.jsonl; make it again with nel report {run_dir}")
    return found


def _stored(run_dir: Path) -> set[str]:
    """Return the folders of the benchmarks in the run's store; none where there is no store that can be read."""
    try:
        with Snapshot(run_dir / FILE_NAME, untouched=True) as snapshot:
            return {directory_name(slot) for _, slot, _, _ in snapshot.benchmarks()}
    except StoreError:
        return set()
