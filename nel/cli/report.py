"""`nel report`: rebuilds the artifacts of a run from its run.db, or prints a table of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.cli.options import run_path
from nel.cli.streams import stdout_kept
from nel.cli.terminal import say
from nel.engine.asking.resume_checks import check_records
from nel.engine.store.snapshot import FILE_NAME
from nel.errors import PluginError, UsageError
from nel.reports.run_files import stored_files
from nel.reports.run_warnings import texts_of
from nel.reports.summary_tables import table_of_runs
from nel.reports.whole_run import exit_code_of_run, read_run
from nel.reports.writers import check_writers, write_reports
from nel.runs.rebuilding import rebuild, share_as_configured, stored_reports

_TABLE = "markdown"
"""Format of several runs."""


def report(
    run_dirs: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            parser=run_path,
            help="The directory or URL of the run; of several runs: one table of them.",
        ),
    ],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            help=(
                "Further report beside report.html (nel list reports); repeatable. Default: the"
                " run's. Of several "
                "runs markdown, csv, json, latex or junit; default: markdown."
            ),
        ),
    ] = None,
) -> None:
    """Rebuild all artifacts and the reports of a run from its run.db; of several runs, print one
    table.

    Several runs are only read: their artifacts stay as they are, and ones that do not agree are
    refused.

    Exit codes: 0 done; 2 no run, or files that do not agree; 3 samples are unscored or a metric
    failed; 75 a run is PARTIAL.
    """
    if len(run_dirs) > 1:
        code = _print_table(run_dirs, formats or [_TABLE])
    else:
        code = _rebuild(run_dirs[0], formats)
    raise typer.Exit(code)


def _print_table(run_dirs: list[Path], formats: list[str]) -> int:
    if len(formats) > 1:
        raise UsageError(
            f"several runs are printed in one format, not as {', '.join(formats)}; give --format"
            " once"
        )
    runs = {run_dir: read_run(run_dir) for run_dir in run_dirs}
    typer.echo(table_of_runs(runs, formats[0]), nl=False)
    return max(exit_code_of_run(run_dir, files) for run_dir, files in runs.items())


def _rebuild(run_dir: Path, formats: list[str] | None) -> int:
    check_records(run_dir / FILE_NAME)
    names = stored_reports(run_dir) if formats is None else formats
    # Writers of the run itself that are gone are reported below; the artifacts are rebuilt first.
    if formats is not None:
        check_writers(formats)
    notes: list[str] = []
    with stdout_kept():
        benchmarks, page = rebuild(run_dir, notes=notes)
    for item in benchmarks:
        notes += [f"{item.slot}: {text}" for text in texts_of(item.metrics)]
        typer.echo(f"{item.directory}")
    typer.echo(f"report: {page}")
    with stdout_kept():
        paths, problems = write_reports(names, run_dir)
    share_as_configured(run_dir)
    for path in paths:
        typer.echo(f"report: {path}")
    say(notes)
    if problems:
        raise PluginError("; ".join(problems))
    return exit_code_of_run(run_dir, stored_files(run_dir))
