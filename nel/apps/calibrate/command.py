"""`nel judge calibrate`: draws judged answers for human labels, and measures the judge by them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nel.apps.calibrate.labelling import ImportedLabels
    from nel.artifacts.write import BenchmarkResult


def calibrate(
    run_dir: Annotated[Path, typer.Argument(help="The directory of the run.")],
    bench: Annotated[
        str | None, typer.Option(help="The benchmark, where several were judged.")
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            help=(
                "The labelled file, .csv or .jsonl, or one for each annotator; without it one is"
                " created."
            )
        ),
    ] = None,
    borrowed: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A calibrated run of the same benchmark and judge, whose labels are used.",
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", help="Answers to draw for labelling.", min=1, max=1_000_000)
    ] = 200,
    out: Annotated[
        Path | None,
        typer.Option(help="The file to create, .csv or .jsonl; BENCH-to-label.csv in the run."),
    ] = None,
) -> None:
    """Draw judged answers for human labels; or, with --labels, measure the judge by them and
    correct the score.
    """
    from nel.engine.store.lock import own_directory  # noqa: PLC0415 - keeps --help fast
    from nel.engine.store.snapshot import FILE_NAME  # noqa: PLC0415
    from nel.errors import StoreError, UsageError  # noqa: PLC0415

    if not (run_dir / FILE_NAME).is_file():
        raise StoreError(f"there is no {FILE_NAME} in {run_dir}; give the directory of a run")
    if sum(source is not None for source in (labels or None, out, borrowed)) > 1:
        raise UsageError(
            "--out is the file to label, --labels the labelled one, --from a run; give one of them"
        )
    with own_directory(run_dir):
        if borrowed is not None:
            _borrow(run_dir, borrowed, bench)
        elif not labels:
            _draw(run_dir, out, bench, n)
        else:
            _measure(run_dir, labels, bench)


def _draw(run_dir: Path, out: Path | None, bench: str | None, n: int) -> None:
    from nel.apps.calibrate.drawing import draw_labels  # noqa: PLC0415 - keeps --help fast
    from nel.cli.terminal import plain  # noqa: PLC0415

    drawn = draw_labels(run_dir, out, slot=bench, n=n)
    all_of_them = " (all there are)" if drawn.n < n else ""
    typer.echo(
        f"{plain(str(drawn.path))}: {drawn.n:,} of {drawn.n_judged:,} judged answers to"
        f" label{all_of_them}"
    )
    grades = (
        "A, B or tie: the better answer"
        if drawn.is_pair
        else "1 or 0, C or I, yes or no, or a grade of the judge"
    )
    typer.echo(f"fill in the column label ({grades}), then:")
    where = f" --bench {bench}" if bench else ""
    typer.echo(plain(f"  nel judge calibrate {run_dir}{where} --labels {drawn.path}"))


def _measure(run_dir: Path, labels: list[Path], bench: str | None) -> None:
    from nel.apps.calibrate.labelling import import_labels  # noqa: PLC0415 - keeps --help fast
    from nel.cli.terminal import plain, report_text  # noqa: PLC0415
    from nel.reports.run_warnings import CALIBRATION, texts_of  # noqa: PLC0415

    imported = import_labels(run_dir, labels, slot=bench)
    benchmarks = _rebuilt(run_dir)
    (item,) = (benchmark for benchmark in benchmarks if benchmark.directory == imported.directory)
    judging: dict[str, Any] = item.metrics["judging"]
    for line in _lines(imported, judging, item.headline):
        typer.echo(report_text(line))
    for warning in [*imported.skipped, *texts_of(item.metrics, (CALIBRATION,))]:
        typer.echo(plain(f"nel: {warning}"), err=True)
    typer.echo(plain(str(imported.directory / "calibration.json")))


def _lines(
    imported: ImportedLabels, judging: dict[str, Any], headline: dict[str, Any]
) -> list[str]:
    from nel.reports.corrected import (  # noqa: PLC0415 - keeps --help fast
        annotator_lines,
        calibration_measures,
        measure_text,
        panel_lines,
        unit_of_agreement,
    )

    calibration = judging["calibration"]
    empty = f", {imported.n_empty:,} lines without one" if imported.n_empty else ""
    lines = [f"labels: {imported.n:,} of {calibration['n_judged']:,} judged answers{empty}"]
    lines += [
        f"  {name}: {measure_text(measure, unit_of_agreement(name))}"
        for name, measure in calibration_measures(calibration).items()
    ]
    if "panel" in calibration:
        lines += panel_lines(calibration["panel"])
    if "annotators" in calibration:
        lines += annotator_lines(calibration["annotators"])
    return lines + _headline_lines(judging["corrected"], headline)


def _borrow(run_dir: Path, other: Path, bench: str | None) -> None:
    from nel.apps.calibrate.labelling import borrow_calibration  # noqa: PLC0415
    from nel.artifacts.files import BORROWED_NAME  # noqa: PLC0415 - keeps --help fast
    from nel.cli.terminal import plain, report_text  # noqa: PLC0415
    from nel.judges.stats.calibration import LABELS_FEW, few_labels  # noqa: PLC0415

    directory = borrow_calibration(run_dir, other, slot=bench)
    benchmarks = _rebuilt(run_dir)
    (item,) = (benchmark for benchmark in benchmarks if benchmark.directory == directory)
    corrected: dict[str, Any] = item.metrics["judging"]["corrected"]
    typer.echo(plain(f"labels: {corrected['n_labelled']:,} of {corrected['labels_of']}"))
    for line in _headline_lines(corrected, item.headline):
        typer.echo(report_text(line))
    if corrected["n_labelled"] < LABELS_FEW:
        typer.echo(f"nel: {few_labels(corrected['n_labelled'])}", err=True)
    typer.echo(plain(str(directory / BORROWED_NAME)))


def _headline_lines(corrected: dict[str, Any], headline: dict[str, Any]) -> list[str]:
    from nel.reports.corrected import (  # noqa: PLC0415 - keeps --help fast
        ASSUMPTIONS,
        METHODS,
        measure_text,
    )

    unit = headline["unit"]
    lines = [f"{headline['metric']}, as judged: {measure_text(corrected['raw'], unit)}"]
    for key, name in METHODS.items():
        if key in corrected:
            best = ", the one to quote" if key == corrected.get("best") else ""
            lines.append(f"  corrected, {name}: {measure_text(corrected[key], unit)}{best}")
            lines.append(f"    if {ASSUMPTIONS[key]}")
    return lines


def _rebuilt(run_dir: Path) -> list[BenchmarkResult]:
    from nel.runs.evaluation import rebuild  # noqa: PLC0415 - keeps --help fast

    notes: list[str] = []
    benchmarks, _ = rebuild(run_dir, notes=notes)
    for note in notes:
        typer.echo(f"nel: {note}", err=True)
    return benchmarks
