"""`nel judge leaderboard`: rank the models of finished runs by a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nel.apps.leaderboard.run import LeaderboardRequest, plan_leaderboard
from nel.apps.leaderboard.standings import StandingsSettings
from nel.apps.leaderboard.tables import show_leaderboard, show_plan
from nel.cli.settings import JUDGE_FLAGS, chosen_settings, taking_settings
from nel.errors import ConfigError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


Runs = Annotated[
    list[str] | None, typer.Argument(help="Finished runs: DIR, or NAME=DIR; two at least.")
]
Bench = Annotated[str | None, typer.Option(help="Which benchmark, where the runs share several.")]
Baseline = Annotated[str | None, typer.Option(help="Compare the others with this run alone.")]
LengthControl = Annotated[
    bool,
    typer.Option(
        "--length-control", help="Estimate the effect of length, and rank at equal lengths."
    ),
]
Seed = Annotated[int, typer.Option(help="Of the sides and of the intervals.")]
OutputDir = Annotated[
    Path, typer.Option("--output-dir", "-o", help="Where leaderboards are written.")
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Continue the last one in the output directory, and compute it again."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be compared; send nothing.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print leaderboard.json.")]


@app.command(cls=taking_settings(*JUDGE_FLAGS, "--concurrency"))
def leaderboard(
    ctx: typer.Context,
    runs: Runs = None,
    bench: Bench = None,
    baseline: Baseline = None,
    length_control: LengthControl = False,
    seed: Seed = 0,
    output_dir: OutputDir = Path("eval_results"),
    resume: Resume = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Rank models by a judge that compares their answers in pairs, in both orders.

    Exit codes: 0 done; 2 wrong usage, or runs that cannot be compared; 3 done, but pairs have no
    verdict; 75 stopped early, resumable; 130 and 143 interrupted, resumable.
    """
    settled = {
        "the runs": runs,
        "--bench": bench,
        "--baseline": baseline,
        "--seed": seed,
        "--dry-run": dry_run,
    }
    unfit = [name for name, value in settled.items() if value]
    if resume and unfit:
        raise ConfigError(
            "--resume continues the leaderboard in the output directory, with its runs and its"
            f" pairs; leave out {', '.join(unfit)}"
        )
    choice = chosen_settings(ctx)
    settings = StandingsSettings(baseline=baseline, length_control=length_control, seed=seed)
    request = LeaderboardRequest(
        runs=runs or [], bench=bench, flags=choice.settings, overrides=choice.overrides
    )
    if dry_run:
        show_plan(plan_leaderboard(request, settings), as_json=as_json)
        return
    show_leaderboard(request, settings, output_dir=output_dir, resume=resume, as_json=as_json)
