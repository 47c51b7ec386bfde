"""`nel judge`: commands about judges, apart from a run."""

from __future__ import annotations

import typer

from nel.cli.plugin_commands import PluginGroup

app = typer.Typer(
    cls=PluginGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Calibrate a judge, or rank models by one.",
)


@app.callback()
def _judge() -> None:
    pass
