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
from nel.comparison.reading import named_path, read_sides
from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.errors import EXIT_STOPPED_EARLY, UsageError
from nel.reports.whole_run import is_unfinished
from nel.runs.matrix import is_matrix, run_directories
from nel.types import JsonObject

_FEWEST = 2


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
    """Rank and print; of a directory over several endpoints those that are finished, by name what is
    not.

    Raises:
        UsageError: The runs cannot be compared.
        typer.Exit: A run of such a directory was left out.
    """
    directories, left_out = _runs_to_rank(runs)
    document = standings_json(
        read_sides(directories),
        despite=check_parts(despite),
        only=benchmarks,
        level=level,
        seed=seed,
    )
    document["warnings"] = left_out + document["warnings"]
    if html is not None:
        write_standings_page(document, html)
    if as_json:
        typer.echo(dumps(document))
    else:
        _print(document)
        if html is not None:
            typer.echo(f"page: {html}")
    if left_out:
        raise typer.Exit(EXIT_STOPPED_EARLY)


def _print(document: JsonObject) -> None:
    for benchmark in document["benchmarks"]:
        typer.echo(plain(benchmark["name"]))
        print_table(ranked_table(document, benchmark))
    typer.echo(report_text(method_line(document)))
    for line in open_lines(document):
        typer.echo(plain(line))


def _runs_to_rank(runs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the runs to rank, and a line for each one of a directory over several endpoints that
    is left out; a run that is named by itself is refused where it is not finished.
    """
    directories: list[str] = []
    left_out: list[str] = []
    for run in runs:
        if not is_matrix(Path(run)):
            directories.append(run)
            continue
        for member in run_directories(Path(run)):
            name, path = named_path(member)
            if is_unfinished(path):
                command = f"nel eval resume {as_argument(run)}"
                left_out.append(f"{name} is not finished and is not ranked; {command}")
            else:
                directories.append(member)
    if left_out and len(directories) < _FEWEST:
        raise UsageError("; ".join(left_out))
    return directories, left_out
