"""`nel eval salvage`: what can be read of a damaged run.db stays, and a line says what was lost."""

from __future__ import annotations

import typer

from nel.cli.options import RunDir
from nel.core.paths import as_argument
from nel.engine.store.lock import own_directory
from nel.engine.store.salvage import salvage as salvage_store


def salvage(run_dir: RunDir) -> None:
    """Keep what can be read of a damaged run.db; what was lost is asked again by a resume.

    The damaged file stays beside it as run.db.damaged.
    """
    with own_directory(run_dir):
        salvaged = salvage_store(run_dir)
    counts = ", ".join(
        f"{salvaged.rows[name]:,} {name}"
        for name in ("samples", "answers", "verdicts", "further exchanges")
    )
    typer.echo(f"kept: {counts}; places that cannot be read: {salvaged.damaged_ranges:,}")
    for slot in salvaged.incomplete:
        typer.echo(f"{slot}: samples are lost, so it starts over")
    also_incomplete = " and all of these" if salvaged.incomplete else ""
    typer.echo(f"to be asked or scored again: {salvaged.pending:,}{also_incomplete}")
    typer.echo(f"the damaged file: {salvaged.damaged}")
    typer.echo(f"nel: to continue, run nel eval resume {as_argument(run_dir)}", err=True)
