"""Remembers the result of a finished run, so that a resume of an unchanged run need not work.

A run is unchanged if its inputs (`nel.runs.run_inputs`) and all of its files are. Only this module
decides that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.files import directory_name
from nel.core.atomic_files import write_file
from nel.core.paths import share
from nel.core.strict_json import loads, pretty
from nel.engine.asking.resume_checks import makes_samples
from nel.engine.planning.plan import Plan
from nel.engine.session_spec import SessionSpec
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.store.lock import own_directory
from nel.engine.store.projections.pending import Pending
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import EXIT_DONE, NelError
from nel.runs.result import RunResult
from nel.runs.run_inputs import file_digest

_MARK: Final = ".finished.json"
_ROWS_RENDERED: Final = 200
"""Rows whose prompts are compared. Code and datasets are compared by digests; templates are not."""


def note_finished(spec: SessionSpec, inputs: str | None, result: RunResult, n_notes: int) -> None:
    """Store the result of a run, if a resume of it would have nothing to do.

    Args:
        spec: Of the session, which has ended and has written the artifacts.
        inputs: Digest of the run's inputs before the session.
        result: Of the run.
        n_notes: The number of notes of plans, which come first; a resume makes them itself.
    """
    notes = result.notes[n_notes:]
    report_paths = (result.report, *result.reports)
    names = [path.name for path in report_paths if path == spec.run_dir / path.name]
    # The page and each report that was asked for: one that failed must be tried by a resume.
    is_whole = len(names) == 1 + len(set(spec.config.output.reports))
    # Notes on work that a session did would be wrong for a resume that does none.
    if inputs is None or result.exit_code or not is_whole or (notes and spec.progress.total):
        return
    with suppress(NelError, OSError):  # the run is done; a resume of it takes longer
        if not _is_pending(spec.run_dir / FILE_NAME):
            files = _files(spec, names)
            mark = {"inputs": inputs, "notes": notes, "reports": names, "files": files}
            write_file(spec.run_dir / _MARK, [pretty(mark)])
            if spec.config.output.share_permissions:
                share(spec.run_dir / _MARK)


def finished_result(spec: SessionSpec, inputs: str | None) -> RunResult | None:
    """Return the stored result of a run if a resume would change nothing, else None.

    Raises:
        OutputError: Another process works on the run.
    """
    try:
        mark = loads((spec.run_dir / _MARK).read_bytes())
        names, notes = mark["reports"], mark["notes"]
        if inputs is None or mark["inputs"] != inputs:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # without a mark that can be read the work is done
    with own_directory(spec.run_dir):
        if mark["files"] != _files(spec, names) or not _asks_the_same(spec):
            return None
        spec.progress.notes += notes
        page, *reports = (spec.run_dir / name for name in names)
        return RunResult(
            run_dir=spec.run_dir,
            ending=ExitStatus(exit_code=EXIT_DONE, reason="done"),
            benchmarks=[_benchmark_of(spec.run_dir, plan) for plan in spec.plans],
            report=page,
            reports=tuple(reports),
            notes=tuple(spec.progress.notes),
            exit_code=EXIT_DONE,
        )


def _benchmark_of(run_dir: Path, plan: Plan) -> BenchmarkResult:
    directory, name = run_dir / directory_name(plan.slot), plan.benchmark.name
    return BenchmarkResult(
        name=name,
        slot=plan.slot,
        directory=directory,
        metrics=loads((directory / "metrics.json").read_bytes()),
        bundle=loads((directory / f"eval-{directory_name(name)}.json").read_bytes()),
    )


def _files(spec: SessionSpec, reports: Sequence[str]) -> dict[str, str]:
    """Return the digests of a run's artifacts and of the files that they are made of, by name."""
    run_dir = spec.run_dir
    names = (FILE_NAME, f"{FILE_NAME}-wal", "run.yaml", *reports)
    files = [run_dir / name for name in names]
    # Left by a writer that was killed: a session would remove them.
    files += run_dir.glob(".*.tmp")
    for plan in spec.plans:
        files += (run_dir / directory_name(plan.slot)).rglob("*")
    return {
        str(file.relative_to(run_dir)): file_digest(file)
        for file in sorted(files)
        if file.is_file() and file.stat().st_size
    }


def _is_pending(run_db: Path) -> bool:
    """Return whether a resume would ask, score or void anything."""
    with Snapshot(run_db) as snapshot:
        pending, benchmarks = Pending(snapshot), snapshot.benchmarks()
        return any(pending.is_left(key, plan["repeats"]) for key, _, _, plan in benchmarks)


def _asks_the_same(spec: SessionSpec) -> bool:
    """Return whether the first rows of each dataset still make the stored samples."""
    plans = {plan.slot: plan for plan in spec.plans}
    try:
        with Snapshot(spec.run_dir / FILE_NAME, untouched=True) as snapshot:
            return all(
                makes_samples(
                    plans[slot], stored_plan, snapshot.samples(key, last=_ROWS_RENDERED - 1)
                )
                for key, slot, _, stored_plan in snapshot.benchmarks()
            )
    except NelError:  # the session raises and reports it
        return False
