"""The output of `nel leaderboard`: a table for each benchmark, JSON or a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from nel.cli.console import wide_console
from nel.cli.terminal import plain, with_plain_spaces
from nel.comparison.fields import check_parts
from nel.comparison.reading import read_sides
from nel.comparison.standings import standings_json
from nel.core.strict_json import dumps
from nel.reports.standings import HEADINGS, method_line, open_lines, rows, write_page
from nel.runs.matrix import is_matrix, run_directories


def show_standings(
    runs: Sequence[str],
    despite: Sequence[str],
    only: Sequence[str],
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
    each = [
        one
        for run in runs
        for one in (run_directories(Path(run)) if is_matrix(Path(run)) else [run])
    ]
    document = standings_json(
        read_sides(each), despite=check_parts(despite), only=only, level=level, seed=seed
    )
    if html is not None:
        write_page(document, html)
    if as_json:
        typer.echo(dumps(document))
        return
    console = wide_console()
    for benchmark in document["benchmarks"]:
        typer.echo(plain(benchmark["name"]))
        table = Table(box=SIMPLE_HEAD)
        for heading in HEADINGS:
            table.add_column(heading)
        for row in rows(document, benchmark):
            table.add_row(*(Text(plain(with_plain_spaces(cell))) for cell in row))
        console.print(table)
    typer.echo(with_plain_spaces(method_line(document)))
    for line in open_lines(document):
        typer.echo(plain(line))
    if html is not None:
        typer.echo(f"page: {html}")
