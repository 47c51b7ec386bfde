"""`nel eval watch`: shows a run in progress from another terminal; read-only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.cli.options import local_path
from nel.cli.watch_show import show_status

_WAIT_SECONDS = 30.0
"""For a run that is only beginning: its directory is there once its datasets are opened."""


def watch(
    run_dir: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            parser=local_path,
            help="The directory of a run, or a directory of runs: then the active one.",
        ),
    ],
    interval: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=3600, help="Seconds between two updates; 1, and 10 when stdout is a file."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print the state once and exit.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each update as one line of JSON.")
    ] = False,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=86400,
            help="Seconds to wait for a run that is only beginning; 30, and 0 with --once.",
        ),
    ] = None,
) -> None:
    """Show a run in progress until it ends, from any terminal; read-only.

    Exit codes: 0 the run ended, in any way, or --once was given; 2 there is no run, and none
    begins.
    """
    if wait is None:
        wait = 0.0 if once else _WAIT_SECONDS
    show_status(run_dir, interval, once=once, as_json=as_json, wait_seconds=wait)
