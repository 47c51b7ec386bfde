"""The output of `nel judge leaderboard`: the plan of a dry run, the table, and what to do next."""

from __future__ import annotations

from pathlib import Path

import typer

from nel.apps.leaderboard.pages import (
    HTML_NAME,
    alpaca_eval_lines,
    banners,
    board_table,
    label_corrected_lines,
)
from nel.apps.leaderboard.pairing import pairing_json
from nel.apps.leaderboard.run import (
    LeaderboardPlan,
    LeaderboardRequest,
    LeaderboardResult,
    resume_leaderboard,
    start_leaderboard,
)
from nel.apps.leaderboard.standings import StandingsSettings
from nel.cli.progress import showing
from nel.cli.table import print_table
from nel.cli.terminal import plain, report_text
from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.engine.progress import Progress
from nel.errors import EXIT_USAGE

_ORDERS = 2


def show_leaderboard(
    request: LeaderboardRequest,
    settings: StandingsSettings,
    *,
    output_dir: Path,
    resume: bool,
    as_json: bool,
) -> None:
    """Judge, print the progress and the result, and exit with the exit code of the judging."""
    progress = Progress()
    with showing(progress):
        if resume:
            result = resume_leaderboard(
                output_dir,
                settings,
                flags=request.flags,
                overrides=request.overrides,
                progress=progress,
            )
        else:
            result = start_leaderboard(request, settings, output_dir=output_dir, progress=progress)
    if as_json:
        typer.echo(dumps(result.board))
    else:
        print_table(board_table(result.board))
        for line in [*label_corrected_lines(result.board), *alpaca_eval_lines(result.board)]:
            typer.echo(report_text(line))
        typer.echo(f"page: {result.directory / HTML_NAME}")
    for line in [*progress.notes, *banners(result.board), *_next_step(result)]:
        typer.echo(f"nel: {report_text(line)}", err=True)
    raise typer.Exit(result.exit_code)


def show_plan(plan: LeaderboardPlan, *, as_json: bool) -> None:
    """Print what would be compared, without sending requests."""
    pairing = pairing_json(plan.pairing)
    judge = plan.config.judge_of(plan.config.benchmarks[0])
    panel, n_requests = [], _ORDERS  # of one pair, to each member of the panel
    if judge is not None:
        panel = judge.panel
        n_requests = judge.repeats * (_ORDERS if judge.swap else 1)
    counts = {
        "questions": pairing["n_questions"],
        "questions that not all runs have": pairing["n_questions_apart"],
        "pairs for the judge": pairing["n_to_judge"],
        "pairs settled by a failed answer": len(pairing["forfeits"]),
        "pairs left out": sum(omission["n"] for omission in pairing["left_out"]),
        "requests": pairing["n_to_judge"] * n_requests * len(panel),
    }
    entries = [entry.label for entry in plan.entries]
    if as_json:
        typer.echo(dumps({"dry_run": True, "entries": entries, "counts": counts}))
        return
    typer.echo(f"models: {', '.join(map(plain, entries))}")
    typer.echo(f"judge: {', '.join(plain(member.label) for member in panel)}")
    for name, count in counts.items():
        typer.echo(f"{name}: {count:,}")
    typer.echo("dry run: nothing was sent")


def _next_step(result: LeaderboardResult) -> list[str]:
    ending = result.judging.ending
    lines = [] if ending.reason == "done" else [ending.reason]
    resume = f"nel judge leaderboard --resume -o {as_argument(result.directory)}"
    if result.exit_code == EXIT_USAGE:
        lines.append(f"fix it, then: {resume} (with --judge-url and --judge-id for another judge)")
    elif result.exit_code:
        lines.append(f"resume with: {resume}")
    return lines
