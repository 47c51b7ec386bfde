"""`nel eval archive`: a run as one file, to keep or to hand on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.artifacts.exporting.archive import write_archive
from nel.cli.options import ReadRunDir
from nel.core.paths import as_argument


def archive(
    run_dir: ReadRunDir,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A new file. Default: DIR.tar.gz beside the directory."
        ),
    ] = None,
    share_permissions: Annotated[
        bool,
        typer.Option(
            "--share-permissions", help="Let everyone on this machine read the file (0644)."
        ),
    ] = False,
) -> None:
    """Put a run into one file, which `nel view FILE` opens.

    It holds run.db and every artifact. A run stores the names of variables that hold keys, never a
    key.
    """
    path = write_archive(run_dir, output, shared=share_permissions)
    typer.echo(
        f"archived: {path} ({path.stat().st_size:,} bytes); nel view {as_argument(path)} opens it"
    )
