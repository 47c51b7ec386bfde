"""`nel import`: makes a run directory of another tool's results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.artifacts.importing.writers import import_results
from nel.cli.options import ShareFiles
from nel.cli.terminal import plain


def import_(
    source: Annotated[
        Path, typer.Argument(help="A file or directory of another tool; it is only read.")
    ],
    output: Annotated[
        Path, typer.Option("--output-dir", "-o", help="A directory that does not exist.")
    ],
    importer: Annotated[
        str | None,
        typer.Option("--from", help="The format (nel list importers); without it each is tried."),
    ] = None,
    share_permissions: ShareFiles = False,
) -> None:
    """Make a run directory of another tool's results, to view and compare; it cannot be resumed."""
    imported = import_results(source, output, name=importer, shared=share_permissions)
    names = ", ".join(benchmark.name for benchmark in imported.benchmarks)
    typer.echo(plain(f"imported: {output} ({imported.format}: {names})"))
    for note in imported.notes:
        typer.echo(plain(f"note: {note}"), err=True)
