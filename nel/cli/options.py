"""Arguments and options that several commands have, and the run that a directory or a URL names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.errors import UsageError

Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[
    int,
    typer.Option("--port", "-p", min=0, max=65535, help="Port to listen on; 0 picks a free one."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ResultAsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ComparisonAsJson = Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")]
ConfigFile = Annotated[Path | None, typer.Argument(help="A YAML configuration; flags win over it.")]
TokenEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Environment variable with the token that clients must send."
    ),
]
ShareFiles = Annotated[
    bool,
    typer.Option(
        "--share-permissions", help="Let everyone on this machine read it (0644 and 0755)."
    ),
]


def run_path(location: str) -> Path:
    """Return the directory of a run; of one at a URL, a copy of its newest snapshot for reading."""
    if "://" not in location:
        return Path(location)
    from nel.engine.store.remote import local_copy  # noqa: PLC0415 - keeps --help fast

    return local_copy(location)


def local_path(location: str) -> Path:
    """Return a directory of this machine; raises UsageError for a URL, which it does not fetch."""
    if "://" in location:
        raise UsageError(
            f"{location} is a URL, and this command takes a directory of this machine; nel report,"
            " verify, export, compare, gate and eval resume take runs at URLs"
        )
    return Path(location)


def resumed_path(location: str) -> Path:
    """Return the directory in which a run goes on, fetched where its URL has a newer state."""
    if "://" not in location:
        return Path(location)
    from nel.engine.store.remote import resumable  # noqa: PLC0415 - keeps --help fast

    return resumable(location)


RunDir = Annotated[
    Path,
    typer.Argument(metavar="RUN_DIR", parser=local_path, help="The directory of the run."),
]
ReadRunDir = Annotated[
    Path,
    typer.Argument(metavar="RUN_DIR", parser=run_path, help="The directory or URL of the run."),
]
