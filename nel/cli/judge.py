"""`nel judge`: commands about judges, apart from a run."""

from __future__ import annotations

import typer

from nel.cli.judge_calibrate import calibrate

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _judge() -> None:
    pass


app.command(name="calibrate", short_help="Measure a judge by labels of people.")(calibrate)
