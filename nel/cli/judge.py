"""`nel judge`: commands about judges, apart from a run."""

from __future__ import annotations

import typer

from nel.cli.judge_calibrate import calibrate
from nel.cli.judge_leaderboard import leaderboard
from nel.cli.settings import JUDGE_FLAGS, taking_settings

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.command(name="calibrate", short_help="Measure a judge by labels of people.")(calibrate)
app.command(
    name="leaderboard",
    short_help="Rank models by a judge of pairs.",
    cls=taking_settings(*JUDGE_FLAGS, "--concurrency"),
)(leaderboard)
