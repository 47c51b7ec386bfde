"""The work and the output of `nel judge calibrate`: drawing answers, and measuring the judge."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from nel.apps.calibrate.drawing import draw_labels
from nel.apps.calibrate.labelling import ImportedLabels, borrow_calibration, import_labels
from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.files import BORROWED_NAME, CALIBRATION_NAME
from nel.cli.terminal import plain, report_text
from nel.core.texts import count_text
from nel.engine.store.lock import own_directory
from nel.engine.store.snapshot import FILE_NAME
from nel.errors import StoreError
from nel.judges.stats.calibration import LABELS_FEW, few_labels
from nel.reports.corrected import (
    ASSUMPTIONS,
    METHODS,
    annotator_lines,
    calibration_measures,
    measure_text,
    panel_lines,
    unit_of_agreement,
)
from nel.reports.run_warnings import CALIBRATION, texts_of
from nel.runs.rebuilding import rebuild


def show_calibration(
    run_dir: Path,
    bench: str | None,
    *,
    labels: Sequence[Path],
    source_run: Path | None,
    out: Path | None,
    n_max: int,
) -> None:
    """Draw answers to label, or correct a run by its own labels or those of another run.

    Args:
        run_dir: The directory of the run.
        bench: The benchmark, where several were judged.
        labels: Labelled files.
        source_run: A run whose labels are used.
        out: The file to label, where there are neither labels nor such a run.
        n_max: How many answers are drawn.

    Raises:
        StoreError: The directory holds no run.
        UsageError: There is nothing to draw, or labels cannot be used.
    """
    if not (run_dir / FILE_NAME).is_file():
        raise StoreError(f"there is no {FILE_NAME} in {run_dir}; give the directory of a run")
    with own_directory(run_dir):
        if source_run is not None:
            _borrow(run_dir, source_run, bench)
        elif labels:
            _measure(run_dir, labels, bench)
        else:
            _draw(run_dir, out, bench, n_max)


def _draw(run_dir: Path, out: Path | None, bench: str | None, n: int) -> None:
    draw = draw_labels(run_dir, out, slot=bench, n=n)
    note = " (all there are)" if draw.n < n else ""
    typer.echo(
        f"{plain(str(draw.path))}: {draw.n:,} of {draw.n_judged:,} judged answers to label{note}"
    )
    grades = "1 or 0, C or I, yes or no, or a grade of the judge"
    if draw.is_pair:
        grades = "A, B or tie: the better answer"
    typer.echo(f"fill in the column label ({grades}), then:")
    flag = ["--bench", bench] if bench else []
    command = ["nel", "judge", "calibrate", str(run_dir), *flag, "--labels", str(draw.path)]
    typer.echo(plain(f"  {shlex.join(command)}"))


def _measure(run_dir: Path, labels: Sequence[Path], bench: str | None) -> None:
    imported = import_labels(run_dir, labels, slot=bench)
    result = _rebuild(run_dir, imported.directory)
    for line in _lines(imported, result.metrics["judging"], result.headline):
        typer.echo(report_text(line))
    for warning in [*imported.skipped, *texts_of(result.metrics, (CALIBRATION,))]:
        typer.echo(plain(f"nel: {warning}"), err=True)
    typer.echo(plain(str(imported.directory / CALIBRATION_NAME)))


def _lines(
    labelled: ImportedLabels, judging: dict[str, Any], headline: dict[str, Any]
) -> list[str]:
    calibration = judging["calibration"]
    note = f", {count_text(labelled.n_empty, 'line')} without one" if labelled.n_empty else ""
    lines = [f"labels: {labelled.n:,} of {calibration['n_judged']:,} judged answers{note}"]
    lines += [
        f"  {name}: {measure_text(measure, unit_of_agreement(name))}"
        for name, measure in calibration_measures(calibration).items()
    ]
    if "panel" in calibration:
        lines += panel_lines(calibration["panel"])
    if "annotators" in calibration:
        lines += annotator_lines(calibration["annotators"])
    return lines + _headline_lines(judging["corrected"], headline)


def _borrow(run_dir: Path, source_run: Path, bench: str | None) -> None:
    directory = borrow_calibration(run_dir, source_run, slot=bench)
    result = _rebuild(run_dir, directory)
    corrected: dict[str, Any] = result.metrics["judging"]["corrected"]
    typer.echo(plain(f"labels: {corrected['n_labelled']:,} of {corrected['labels_of']}"))
    for line in _headline_lines(corrected, result.headline):
        typer.echo(report_text(line))
    if corrected["n_labelled"] < LABELS_FEW:
        typer.echo(f"nel: {few_labels(corrected['n_labelled'])}", err=True)
    typer.echo(plain(str(directory / BORROWED_NAME)))


def _headline_lines(corrected: dict[str, Any], headline: dict[str, Any]) -> list[str]:
    unit = headline["unit"]
    lines = [f"{headline['metric']}, as judged: {measure_text(corrected['raw'], unit)}"]
    for key, name in METHODS.items():
        if key in corrected:
            remark = ", the one to quote" if key == corrected.get("best") else ""
            lines.append(f"  corrected, {name}: {measure_text(corrected[key], unit)}{remark}")
            lines.append(f"    if {ASSUMPTIONS[key]}")
    return lines


def _rebuild(run_dir: Path, directory: Path) -> BenchmarkResult:
    notes: list[str] = []
    benchmarks, _ = rebuild(run_dir, notes=notes)
    for note in notes:
        typer.echo(f"nel: {note}", err=True)
    (result,) = (benchmark for benchmark in benchmarks if benchmark.directory == directory)
    return result
