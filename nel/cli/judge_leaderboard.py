"""`nel judge leaderboard`: finished runs of several models in, a ranking by a judge out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nel.cli.flags import panel_of
from nel.cli.judge_flags import JudgeIds, JudgeKeys, JudgeUrls
from nel.errors import ConfigError

if TYPE_CHECKING:
    from nel.leaderboard.board import Contest
    from nel.leaderboard.standings import Settings

_RESAMPLES_MAX = 100_000


def leaderboard(
    runs: Annotated[list[str] | None, typer.Argument(help="Finished runs: DIR, or NAME=DIR; two at least.")] = None,
    judge_url: JudgeUrls = None,
    judge_id: JudgeIds = None,
    judge_api_key_env: JudgeKeys = None,
    bench: Annotated[str | None, typer.Option(help="Which benchmark, where the runs share several.")] = None,
    pairs: Annotated[
        str | None, typer.Option(help="all, baseline, or how many pairs are drawn for each question.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Compare the others with this run alone.")] = None,
    anchor: Annotated[str | None, typer.Option(help="The run that has Elo 1000; else the mean of all.")] = None,
    length_control: Annotated[
        bool, typer.Option("--length-control", help="Estimate what length does, and rank at equal lengths.")
    ] = False,
    prior: Annotated[
        float | None, typer.Option(help="So many ties of each model with an average one; ranks who never lost too.")
    ] = None,
    resamples: Annotated[int | None, typer.Option(help="Of the questions, for the intervals; 1000.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of drawn pairs, of sides and of the intervals; 0.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Requests in flight at once.")] = None,
    output_dir: Annotated[Path, typer.Option("--output-dir", "-o", help="Where leaderboards are written.")] = Path(
        "eval_results"
    ),
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last one in the output directory, and count anew.")
    ] = False,
    override: Annotated[list[str] | None, typer.Option("-O", help="key.path=value; repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be compared; send nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print leaderboard.json.")] = False,
) -> None:
    """Rank models by a judge that compares their answers in pairs, in both orders.

    Exit codes: 0 done; 2 wrong usage, or runs that cannot be compared; 3 done, but pairs have no verdict; 75 stopped
    early, resumable; 130 and 143 interrupted, resumable.
    """
    given = dict(locals())
    if resume and dry_run:
        raise ConfigError("--dry-run says what a new leaderboard would compare; leave out --resume")
    from nel.cli.leaderboard_show import show_leaderboard, show_planned  # noqa: PLC0415 - keeps --help fast
    from nel.leaderboard.board import plan_leaderboard  # noqa: PLC0415

    settings = _settings(given)
    if dry_run:
        show_planned(plan_leaderboard(_contest(given), settings), as_json=as_json)
    else:
        contest = _contest(given) if runs or not resume else None
        show_leaderboard(
            contest, settings, judge=_judge(given), output_dir=output_dir, resume=resume, overrides=override or [],
            as_json=as_json,
        )  # fmt: skip


def _settings(given: dict[str, Any]) -> Settings:
    from nel.leaderboard.standings import Settings  # noqa: PLC0415 - slow to import

    prior, resamples = given["prior"] or 0.0, given["resamples"]
    if not 0 <= prior < float("inf"):
        raise ConfigError(f"--prior {prior}: give a number of ties, 0 or more")
    if resamples is not None and not 0 <= resamples <= _RESAMPLES_MAX:
        raise ConfigError(f"--resamples {resamples}: give 0 to {_RESAMPLES_MAX:,}")
    return Settings(
        anchor=given["anchor"],
        baseline=given["baseline"],
        prior=prior,
        length_control=given["length_control"],
        n_resamples=1000 if resamples is None else resamples,
        seed=given["seed"] or 0,
    )


def _contest(given: dict[str, Any]) -> Contest:
    from nel.leaderboard.board import Contest  # noqa: PLC0415 - slow to import

    return Contest(
        runs=given["runs"] or [],
        bench=given["bench"],
        pairs=given["pairs"],
        judge=_judge(given),
        overrides=given["override"] or [],
    )


def _judge(given: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a run's configuration that flags give."""
    data: dict[str, Any] = {}
    panel = panel_of(given)
    if panel:
        data["judge"] = {"panel": panel}
    if given["concurrency"] is not None:
        data["engine"] = {"concurrency": given["concurrency"]}
    return data
