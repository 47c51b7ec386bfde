"""The output of `nel leaderboard`: a table for each benchmark, JSON or a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from nel.apps.leaderboard.ranked_runs import standings_json
from nel.apps.leaderboard.standings_page import (
    method_line,
    open_lines,
    ranked_table,
    write_standings_page,
)
from nel.cli.table import print_table
from nel.cli.terminal import plain, report_text
from nel.comparison.fields import check_parts
from nel.comparison.reading import read_sides
from nel.core.strict_json import dumps
from nel.runs.matrix import is_matrix, run_directories


def show_standings(
    runs: Sequence[str],
    despite: Sequence[str],
    benchmarks: Sequence[str],
    *,
    level: float,
    seed: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Rank and print.

    Raises:
        UsageError: The runs cannot be compared.
    """
    directories: list[str] = []
    for run in runs:
        directories += run_directories(Path(run)) if is_matrix(Path(run)) else [run]
    document = standings_json(
        read_sides(directories),
        despite=check_parts(despite),
        only=benchmarks,
        level=level,
        seed=seed,
    )
    if html is not None:
        write_standings_page(document, html)
    if as_json:
        typer.echo(dumps(document))
        return
    for benchmark in document["benchmarks"]:
        typer.echo(plain(benchmark["name"]))
        print_table(ranked_table(document, benchmark))
    typer.echo(report_text(method_line(document)))
    for line in open_lines(document):
        typer.echo(plain(line))
    if html is not None:
        typer.echo(f"page: {html}")
