"""`nel scorer`: commands about scorers, apart from a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from nel.artifacts.write import BenchmarkResult
    from nel.runs.answer_reading import ReaderRequest

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Audit how scorers read answers.",
)
_LISTED_MAX: Final = 10

ReaderUrl = Annotated[
    str | None,
    typer.Option("--reader", help="Base URL of an endpoint that reads what no rule could read."),
]
ReaderId = Annotated[str | None, typer.Option("--reader-id", help="The model there.")]
ReaderKey = Annotated[
    str | None,
    typer.Option("--reader-api-key-env", help="The environment variable that holds its key."),
]
ReaderForm = Annotated[
    str, typer.Option("--reader-form", help="How it is asked: a plugin of the group nel.readers.")
]
Override = Annotated[
    list[str] | None,
    typer.Option("-O", "--override", help="key.path=value of the reader's run; repeatable."),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.callback()
def _root() -> None:
    pass


@app.command(name="audit")
def audit(
    run_dir: Annotated[Path, typer.Argument(help="The directory of the run.")],
    reader: ReaderUrl = None,
    reader_id: ReaderId = None,
    reader_key: ReaderKey = None,
    reader_form: ReaderForm = "extract",
    override: Override = None,
    as_json: AsJson = False,
) -> None:
    """Read the stored answers of a run in every way that applies, and show what the score owes to
    the way.

    Writes extraction_audit.json beside metrics.json, which gets the band; from then on both follow
    the run's answers. With --reader a model reads the answers in which the run's scorer found none.
    Its readings are counted apart: they
    change no score and no band. Exit codes: 0 done; 2 wrong usage; 3 the reader did not answer all;
    75 stopped early.
    """
    from nel.artifacts.extraction import request_audit  # noqa: PLC0415 - keeps --help fast
    from nel.artifacts.files import AUDIT_NAME  # noqa: PLC0415
    from nel.cli.terminal import plain, report_text  # noqa: PLC0415
    from nel.core.strict_json import dumps, loads  # noqa: PLC0415
    from nel.engine.store.lock import own_directory  # noqa: PLC0415
    from nel.engine.store.snapshot import FILE_NAME  # noqa: PLC0415
    from nel.errors import StoreError  # noqa: PLC0415
    from nel.runs.evaluation import rebuild  # noqa: PLC0415

    if not (run_dir / FILE_NAME).is_file():
        raise StoreError(f"there is no {FILE_NAME} in {run_dir}; give the directory of a run")
    asked = _reader_request(reader, reader_id, reader_key, reader_form, override)
    with own_directory(run_dir):
        refused = request_audit(run_dir)
        exit_code = 0 if asked is None else _have_read(run_dir, asked, refused)
        notes: list[str] = []
        benchmarks, _ = rebuild(run_dir, notes=notes)
    notes += [f"{slot} is not audited: {why}" for slot, why in refused.items()]
    audits = {
        item.slot: (item, loads((item.directory / AUDIT_NAME).read_bytes()))
        for item in benchmarks
        if "extraction" in item.metrics
    }
    for note in notes:
        typer.echo(plain(f"nel: {note}"), err=True)
    if as_json:
        documents = {slot: document for slot, (_, document) in audits.items()}
        result = {"run_dir": str(run_dir), "benchmarks": documents, "not_audited": refused}
        typer.echo(dumps(result))
        raise typer.Exit(exit_code)
    for item, document in audits.values():
        for line in _lines(item, document):
            typer.echo(report_text(line))
    raise typer.Exit(exit_code)


def _reader_request(
    url: str | None, model: str | None, key: str | None, form: str, overrides: Sequence[str] | None
) -> ReaderRequest | None:
    from nel.errors import ConfigError  # noqa: PLC0415
    from nel.runs.answer_reading import ReaderRequest  # noqa: PLC0415 - keeps --help fast

    if url is None and (model or key or overrides):
        raise ConfigError(
            "--reader-id, --reader-api-key-env and -O are about a reader; give its URL:"
            " --reader URL"
        )
    if url is None:
        return None
    if model is None:
        raise ConfigError("--reader names an endpoint; give the model there, too: --reader-id NAME")
    return ReaderRequest(
        url=url, model=model, api_key_env=key, form=form, overrides=overrides or ()
    )


def _have_read(run_dir: Path, asked: ReaderRequest, refused: Mapping[str, str]) -> int:
    """Ask the reader, say what went wrong, and return the worst exit code."""
    from nel.cli.progress import showing  # noqa: PLC0415
    from nel.cli.run_table import remarks  # noqa: PLC0415
    from nel.cli.terminal import plain  # noqa: PLC0415
    from nel.engine.progress import Progress  # noqa: PLC0415
    from nel.runs.answer_reading import (  # noqa: PLC0415 - keeps --help fast
        audited_slots,
        read_with_model,
    )

    progress = Progress()
    with showing(progress):
        runs = read_with_model(run_dir, asked, audited_slots(run_dir, refused), progress)
    # The last remark says how to resume that run; here the same command does.
    failed = [line for result in runs if result.exit_code for line in remarks(result)[:-1]]
    again = (
        ["fix that, then give the same command again; what was read is not sent again"]
        if failed
        else []
    )
    for line in [*progress.notes, *failed, *again]:
        typer.echo(f"nel: reader: {plain(line)}", err=True)
    return max((result.exit_code for result in runs), default=0)


def _lines(benchmark: BenchmarkResult, document: Mapping[str, Any]) -> Iterator[str]:
    from nel.reports.extraction import band_text, reading_rows  # noqa: PLC0415 - keeps --help fast

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
    yield from map(_difference_line, document["differences"][:_LISTED_MAX])
    if len(document["differences"]) > _LISTED_MAX:
        yield f"    and {document['n_differ'] - _LISTED_MAX:,} more in the file below"
    if document["n_differ"]:
        yield "  how one was read: nel eval score RUN --explain ID"
    yield f"{benchmark.directory}/extraction_audit.json"


def _difference_line(difference: Mapping[str, Any]) -> str:
    from nel.reports.extraction import MEANINGS  # noqa: PLC0415 - keeps --help fast

    ways = difference["readings"]
    values = ", ".join(f"{name} {_cut(ways[name]['value'])}" for name in MEANINGS if name in ways)
    repeat = f", repeat {difference['repeat']}" if difference["repeat"] else ""
    expected = " or ".join(difference["expected"])
    return f"    {difference['sample_id']}{repeat}: {values}; expected {expected}"


def _headline(headline: Mapping[str, Any]) -> str:
    from nel.reports.tables.columns import Figure  # noqa: PLC0415 - keeps --help fast

    figure = Figure.of(headline, headline["unit"])
    span = "" if figure.lower is None else f"; 95 % interval {figure.span}"
    return f"{headline['metric']}: {figure.text}{span}"


def _cut(value: str | None, *, characters_max: int = 40) -> str:
    if value is None:
        return "none"
    return value if len(value) <= characters_max else f"{value[:characters_max]}…"
