"""`nel export`: hands a run to other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel import plugins
from nel.artifacts.exporting.writers import export_run
from nel.cli.options import ReadRunDir, ShareFiles
from nel.cli.streams import stdout_kept
from nel.cli.terminal import plain
from nel.errors import UsageError
from nel.reports.run_files import stored_files
from nel.reports.whole_run import exit_code_of_run


def export(
    run_dir: ReadRunDir,
    to: Annotated[
        str | None, typer.Option("--to", help="The format; without it, the names of all.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output-dir",
            "-o",
            help="A directory that is new or empty; RUN-FORMAT in this one by default.",
        ),
    ] = None,
    share_permissions: ShareFiles = False,
) -> None:
    """Write the results of a run in the format of another tool.

    Exit codes: 0 done; 2 cannot be exported; 3 done, but samples are unscored or a metric failed; 75
    done, of a run that is PARTIAL.
    """
    if to is None:
        names = ", ".join(sorted({ref.name for ref in plugins.discover("exporters")}))
        raise UsageError(f"nel export needs a format: --to one of {names}")
    output = output or Path(f"{run_dir.resolve().name}-{to.rpartition(':')[2]}")
    with stdout_kept():
        exported = export_run(to, run_dir, output, shared=share_permissions)
    for path in exported.files:
        typer.echo(f"exported: {path}")
    for note in exported.notes:
        typer.echo(plain(f"note: {note}"), err=True)
    raise typer.Exit(exit_code_of_run(run_dir, stored_files(run_dir)))
