"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunDir = Annotated[Path, typer.Argument(help="The directory of the run.")]
UntouchedRunDir = Annotated[
    Path, typer.Argument(help="The directory of the run; nothing is written there.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ResultAsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ComparisonAsJson = Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")]
ShareFiles = Annotated[
    bool,
    typer.Option(
        "--share-permissions", help="Let everyone on this machine read it (0644 and 0755)."
    ),
]
