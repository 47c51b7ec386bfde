"""`nel judge leaderboard`: finished runs of several models in, a ranking by a judge out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nel.cli.settings import JUDGE_FLAGS, chosen_settings, taking_settings
from nel.errors import ConfigError

if TYPE_CHECKING:
    from nel.apps.leaderboard.standings import Settings

_RESAMPLES_MAX = 100_000

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=taking_settings(*JUDGE_FLAGS, "--concurrency"))
def leaderboard(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None, typer.Argument(help="Finished runs: DIR, or NAME=DIR; two at least.")
    ] = None,
    bench: Annotated[
        str | None, typer.Option(help="Which benchmark, where the runs share several.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(help="all, baseline, or how many pairs are drawn for each question."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare the others with this run alone.")
    ] = None,
    anchor: Annotated[
        str | None, typer.Option(help="The run that has Elo 1000; else the mean of all.")
    ] = None,
    length_control: Annotated[
        bool,
        typer.Option(
            "--length-control", help="Estimate the effect of length, and rank at equal lengths."
        ),
    ] = False,
    prior: Annotated[
        float | None,
        typer.Option(
            help=(
                "So many ties of each model with an average one; ranks models that never lost, too."
            )
        ),
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="Of the questions, for the intervals; 1000.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of drawn pairs, of sides and of the intervals; 0.")
    ] = None,
    output_dir: Annotated[
        Path, typer.Option("--output-dir", "-o", help="Where leaderboards are written.")
    ] = Path("eval_results"),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue the last one in the output directory, and compute it again."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be compared; send nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print leaderboard.json.")] = False,
) -> None:
    """Rank models by a judge that compares their answers in pairs, in both orders.

    Exit codes: 0 done; 2 wrong usage, or runs that cannot be compared; 3 done, but pairs have no
    verdict; 75 stopped early, resumable; 130 and 143 interrupted, resumable.
    """
    if resume and dry_run:
        raise ConfigError(
            "--dry-run shows what a new leaderboard would compare; leave out --resume"
        )
    from nel.apps.leaderboard.run import LeaderboardRequest, plan_leaderboard  # noqa: PLC0415
    from nel.apps.leaderboard.tables import (  # noqa: PLC0415 - keeps --help fast
        show_leaderboard,
        show_planned,
    )

    chosen = chosen_settings(ctx)
    settings = _settings(
        anchor=anchor,
        baseline=baseline,
        prior=prior,
        length_control=length_control,
        resamples=resamples,
        seed=seed,
    )
    request = LeaderboardRequest(
        runs=runs or [], bench=bench, pairs=pairs, given=chosen.given, overrides=chosen.overrides
    )
    if dry_run:
        show_planned(plan_leaderboard(request, settings), as_json=as_json)
        return
    named = request if runs or not resume else None
    show_leaderboard(
        named, settings, chosen=chosen, output_dir=output_dir, resume=resume, as_json=as_json
    )


def _settings(
    *,
    anchor: str | None,
    baseline: str | None,
    prior: float | None,
    length_control: bool,
    resamples: int | None,
    seed: int | None,
) -> Settings:
    from nel.apps.leaderboard.standings import Settings  # noqa: PLC0415 - slow to import

    ties = prior or 0.0
    if not 0 <= ties < float("inf"):
        raise ConfigError(f"--prior {prior}: give a number of ties, 0 or more")
    if resamples is not None and not 0 <= resamples <= _RESAMPLES_MAX:
        raise ConfigError(f"--resamples {resamples}: give 0 to {_RESAMPLES_MAX:,}")
    return Settings(
        anchor=anchor,
        baseline=baseline,
        prior=ties,
        length_control=length_control,
        n_resamples=1000 if resamples is None else resamples,
        seed=seed or 0,
    )
