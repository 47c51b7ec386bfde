"""`nel eval merge`: the shards of a run in, one run directory out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.cli.eval_show import show_result
from nel.cli.options import ResultAsJson, run_path
from nel.engine.progress import Progress
from nel.runs.merging import merge_shards


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            parser=run_path,
            help="The directories or URLs of all shards, or one that holds them.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new directory of the run.")],
    as_json: ResultAsJson = False,
) -> None:
    """Put the shards of a run together: one run, with the artifacts of one that was never divided.

    The shards are only read. One that is missing, there twice, not finished or of another run is
    refused.

    Exit codes: 0 done; 2 refused; 3 done, but samples are unscored or a metric failed.
    """
    progress = Progress()
    show_result(merge_shards(shards, output, progress=progress), progress, as_json=as_json)
