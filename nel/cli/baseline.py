"""`nel baseline`: names for results that candidates are compared with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nel.comparison.baselines import remove_baseline, set_baseline
from nel.config.named_baselines import baselines_file, read_baselines
from nel.core.strict_json import dumps

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Name the results that candidates are compared with.",
)

Name = Annotated[str, typer.Argument(help="Its name, as --baseline takes it.")]
Named = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="The baseline by its name (nel baseline set); give the others.",
    ),
]


@app.command(name="set")
def set_name(
    name: Name,
    result: Annotated[
        Path, typer.Argument(metavar="DIR", help="A finished run, or a result of another tool.")
    ],
) -> None:
    """Let NAME stand for a result; kept in NEL_BASELINES, else in nel/baselines.json of the user's
    configuration.
    """
    typer.echo(f"{name}: {set_baseline(name, result).directory}")


@app.command(name="list")
def list_names(
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """List the baselines, and say which are gone."""
    baselines = read_baselines()
    if as_json:
        rows = {
            name: {**asdict(baseline), "exists": Path(baseline.directory).exists()}
            for name, baseline in baselines.items()
        }
        typer.echo(dumps({"file": str(baselines_file()), "baselines": rows}))
        return
    for name, baseline in baselines.items():
        note = "" if Path(baseline.directory).exists() else " (gone)"
        typer.echo(f"{name}: {baseline.directory}{note}")
    if not baselines:
        typer.echo(
            f"nel: no baseline is set in {baselines_file()}; set one with nel baseline set"
            " NAME DIR",
            err=True,
        )


@app.command(name="remove")
def remove(name: Name) -> None:
    """Forget NAME; the result it stands for stays."""
    remove_baseline(name)
