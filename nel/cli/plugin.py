"""`nel plugin check` and `nel plugin new`: conformance tests, and a package to start from."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from nel.authoring.plugin_template import first_plugin, write_plugin
from nel.cli.checks import show_checks
from nel.cli.completion import names_of
from nel.discovery.conformance import check_plugin
from nel.errors import EXIT_USAGE

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check plugins, or start one.",
)


@app.command(name="check")
def check(
    target: Annotated[
        str,
        typer.Argument(
            help="Installed plugin, NAME or package:NAME, or path.py[:name] of a benchmark.",
            autocompletion=names_of(),
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of plugin (nel list), where plugins of several kinds have the name."
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Check a benchmark on this dataset instead of its own.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Score at most this many samples.", min=1)] = 50,
) -> None:
    """Check a plugin: a gold answer scores 1, an empty one does not, ids are unique, the prompt's
    fields exist.

    Of metrics, reducers, datasets, bridges and reports the signature is checked.
    """
    checks = check_plugin(target, kind=kind, dataset=dataset, samples_max=samples)
    show_checks(checks, indent="")
    if not all(check.passed for check in checks):
        raise typer.Exit(EXIT_USAGE)


@app.command(name="new")
def new(
    name: Annotated[str, typer.Argument(help="Of the package, such as nel-mine.")],
    folder: Annotated[Path | None, typer.Option(help="The folder to write; NAME.")] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Kinds of plugins that it has, such as benchmark,scorer,judge; every kind."
        ),
    ] = None,
) -> None:
    """Write a plugin package to start from, with one small plugin for every extension point and its
    tests.
    """
    where = folder or Path(name)
    kinds = [kind.strip() for kind in only.split(",")] if only else []
    for path in write_plugin(name, where, kinds):
        typer.echo(f"wrote {path}")
    target = quote(str(where) if where.is_absolute() else f"./{where}")
    typer.echo(f"\ninstall it:  python -m pip install -e {target}")
    typer.echo(f"check it:    nel plugin check {first_plugin(where / 'pyproject.toml')}")
    if not kinds:
        typer.echo("leave out what it does not need: nel plugin new NAME --only benchmark,scorer")
