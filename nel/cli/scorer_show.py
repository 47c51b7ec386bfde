"""The output of `nel scorer audit`: how the answers of a run can be read, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import typer

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.extraction import request_audit
from nel.artifacts.files import AUDIT_NAME
from nel.cli.progress import showing
from nel.cli.run_table import remarks
from nel.cli.terminal import plain, report_text
from nel.core.strict_json import dumps, loads
from nel.core.texts import shorten
from nel.engine.progress import Progress
from nel.engine.store.lock import own_directory
from nel.engine.store.snapshot import FILE_NAME
from nel.errors import StoreError
from nel.reports.extraction import MEANINGS, band_text, reading_rows
from nel.reports.tables.columns import Figure
from nel.runs.answer_reading import ReaderRequest, audited_slots, read_with_model
from nel.runs.rebuilding import rebuild
from nel.types import JsonObject

_DIFFERENCES_MAX: Final = 10
_VALUE_MAX: Final = 40
"""Characters of a value that are printed."""


def show_audit(run_dir: Path, reader: ReaderRequest | None, *, as_json: bool) -> None:
    """Audit a run, print the result, and exit with the code of the reader's run.

    Raises:
        StoreError: The directory holds no run.
    """
    if not (run_dir / FILE_NAME).is_file():
        raise StoreError(f"there is no {FILE_NAME} in {run_dir}; give the directory of a run")
    with own_directory(run_dir):
        refused = request_audit(run_dir)
        exit_code = 0 if reader is None else _read_answers(run_dir, reader, refused)
        notes: list[str] = []
        benchmarks, _ = rebuild(run_dir, notes=notes)
    notes += [f"{slot} is not audited: {why}" for slot, why in refused.items()]
    for note in notes:
        typer.echo(plain(f"nel: {note}"), err=True)
    audits = [
        (item, loads((item.directory / AUDIT_NAME).read_bytes()))
        for item in benchmarks
        if "extraction" in item.metrics
    ]
    if as_json:
        documents = {item.slot: document for item, document in audits}
        typer.echo(
            dumps({"run_dir": str(run_dir), "benchmarks": documents, "not_audited": refused})
        )
        raise typer.Exit(exit_code)
    for item, document in audits:
        for line in _lines(item, document):
            typer.echo(report_text(line))
    raise typer.Exit(exit_code)


def _read_answers(run_dir: Path, reader: ReaderRequest, refused: Mapping[str, str]) -> int:
    """Ask the model that reads answers, print problems, and return the worst exit code."""
    progress = Progress()
    with showing(progress):
        runs = read_with_model(run_dir, reader, audited_slots(run_dir, refused), progress)
    problems: list[str] = []
    for run in runs:
        # The last remark of a run says how to resume it: here the same command is given again.
        if run.exit_code:
            problems += remarks(run)[:-1]
    if problems:
        problems.append(
            "fix that, then give the same command again; what was read is not sent again"
        )
    for line in [*progress.notes, *problems]:
        typer.echo(f"nel: reader: {plain(line)}", err=True)
    return max((run.exit_code for run in runs), default=0)


def _lines(benchmark: BenchmarkResult, document: JsonObject) -> Iterator[str]:
    kinds = ", ".join(f"{kind} {n:,}" for kind, n in document["kinds"].items())
    yield f"{benchmark.slot}: {document['n_answers']:,} answers read ({kinds})"
    for why, n in document["without_reading"].items():
        yield f"  not read: {n:,}, {why}"
    if document["reader"]:
        yield (
            f"  what the scorer could not read was read by {document['reader']['model']}"
            f" ({document['reader']['reader']})"
        )
    if document["n_ran_on"]:
        yield f"  {document['n_ran_on']:,} go on with a question of their own, which is not read"
    for row in reading_rows(document):
        yield f"  {row['name']:<9} finds an answer in {row['found']}; score {row['score']}"
    yield f"  {_headline(benchmark.headline)}; {band_text(benchmark.metrics)}"
    yield from map(_difference_line, document["differences"][:_DIFFERENCES_MAX])
    if len(document["differences"]) > _DIFFERENCES_MAX:
        yield f"    and {document['n_differ'] - _DIFFERENCES_MAX:,} more in the file below"
    if document["n_differ"]:
        yield "  how one was read: nel eval score RUN --explain ID"
    yield f"{benchmark.directory}/{AUDIT_NAME}"


def _difference_line(difference: JsonObject) -> str:
    readings = difference["readings"]
    values = ", ".join(
        f"{name} {shorten(readings[name]['value'] or 'none', _VALUE_MAX)}"
        for name in MEANINGS
        if name in readings
    )
    repeat = f", repeat {difference['repeat']}" if difference["repeat"] else ""
    expected = " or ".join(difference["expected"])
    return f"    {difference['sample_id']}{repeat}: {values}; expected {expected}"


def _headline(headline: JsonObject) -> str:
    figure = Figure.of(headline, headline["unit"])
    span = "" if figure.lower is None else f"; 95 % interval {figure.span}"
    return f"{headline['metric']}: {figure.text}{span}"
