"""The output of `nel judge leaderboard`: the plan of a dry run, the table, and the command that
resumes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nel.apps.leaderboard.pairing import pairing_json
from nel.apps.leaderboard.run import (
    LeaderboardPlan,
    LeaderboardRequest,
    LeaderboardResult,
    resume_leaderboard,
    start_leaderboard,
)
from nel.apps.leaderboard.standings import Settings
from nel.cli.progress import showing
from nel.cli.settings import Chosen
from nel.cli.terminal import plain
from nel.core.strict_json import dumps
from nel.engine.progress import Progress
from nel.errors import EXIT_USAGE
from nel.reports.leaderboard import (
    HTML_NAME,
    alpaca_eval_lines,
    banners,
    label_corrected_lines,
    shown_rows,
)
from nel.reports.numbers import THIN

_LOG_WIDTH = 200
_ORDERS = 2


def show_leaderboard(
    request: LeaderboardRequest | None,
    settings: Settings,
    *,
    chosen: Chosen,
    output_dir: Path,
    resume: bool,
    as_json: bool,
) -> None:
    """Judge, show progress on stderr and the result on stdout, and exit with the exit code of the
    judging.
    """
    progress = Progress()
    with showing(progress):
        if resume:
            result = resume_leaderboard(
                output_dir,
                settings,
                request=request,
                given=chosen.given,
                overrides=chosen.overrides,
                progress=progress,
            )
        elif request is not None:
            result = start_leaderboard(request, settings, output_dir=output_dir, progress=progress)
    if as_json:
        typer.echo(dumps(result.board))
    else:
        Console(width=None if sys.stdout.isatty() else _LOG_WIDTH, highlight=False).print(
            _table(result.board)
        )
        for line in [*label_corrected_lines(result.board), *alpaca_eval_lines(result.board)]:
            typer.echo(_shown(line))
        typer.echo(f"page: {result.directory / HTML_NAME}")
    for line in [*progress.notes, *banners(result.board), *_next_step(result)]:
        typer.echo(f"nel: {_shown(line)}", err=True)
    raise typer.Exit(result.exit_code)


def show_planned(planned: LeaderboardPlan, *, as_json: bool) -> None:
    """Print what would be compared, without sending requests."""
    found = pairing_json(planned.pairing)
    judge = planned.config.judge_of(planned.config.benchmarks[0])
    panel = [] if judge is None else judge.panel
    repeats, orders = (
        (1, _ORDERS) if judge is None else (judge.repeats, _ORDERS if judge.swap else 1)
    )
    counts = {
        "questions": found["n_questions"],
        "questions that not all runs have": found["n_questions_apart"],
        "pairs for the judge": found["n_to_judge"],
        "pairs settled by a failed answer": len(found["forfeits"]),
        "pairs left out": sum(one["n"] for one in found["left_out"]),
        "requests": found["n_to_judge"] * orders * repeats * len(panel),
    }
    entries = [entry.label for entry in planned.entries]
    if as_json:
        typer.echo(dumps({"dry_run": True, "entries": entries, "counts": counts}))
        return
    typer.echo(f"models: {', '.join(map(plain, entries))}")
    typer.echo(f"judge: {', '.join(plain(member.label) for member in panel)}")
    for name, count in counts.items():
        typer.echo(f"{name}: {count:,}")
    typer.echo("dry run: nothing was sent")


def _table(board: Mapping[str, Any]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    has_length = board["length_control"] is not None
    columns = {
        "rank": "rank",
        "model": "label",
        **({"Elo at equal length": "controlled_elo"} if has_length else {}),
        "Elo": "elo",
        "win rate": "rate",
        **({"win rate at equal length": "controlled_rate"} if has_length else {}),
        "won / tied / lost": "won",
        "flips": "flips",
        "left out": "left_out",
    }
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "model" else "right", no_wrap=True)
    for row in shown_rows(board):
        table.add_row(*(Text(_shown(str(row[name]))) for name in columns.values()))
    return table


def _shown(text: str) -> str:
    """Return text for a terminal; the thin spaces of numbers become plain ones."""
    return plain(text.replace(THIN, " "))


def _next_step(result: LeaderboardResult) -> list[str]:
    ending = result.judging.ending
    said = [] if ending.reason == "done" else [ending.reason]
    resume = f"nel judge leaderboard --resume -o {result.directory}"
    if result.exit_code == EXIT_USAGE:
        said.append(f"fix it, then: {resume} (with --judge-url and --judge-id for another judge)")
    elif result.exit_code:
        said.append(f"resume with: {resume}")
    return said
