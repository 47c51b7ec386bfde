"""`nel report`: every artifact of a run again, from its run.db alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(run_dir: Annotated[Path, typer.Argument(help="The directory of the run.")]) -> None:
    """Rebuild all artifacts and the report page of a run from its run.db."""
    from nel.evaluation import rebuild  # noqa: PLC0415 - keeps --help fast

    benchmarks, page = rebuild(run_dir)
    for item in benchmarks:
        typer.echo(f"{item.directory}")
    typer.echo(f"report: {page}")
