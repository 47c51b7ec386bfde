"""The output of `nel compare`: the table, the evidence for each benchmark, JSON or a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from nel.cli.table import print_table
from nel.cli.terminal import report_text
from nel.comparison.baselines import with_baseline
from nel.comparison.compare import compare
from nel.comparison.document import comparison_json
from nel.comparison.fields import check_parts
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from nel.core.strict_json import dumps
from nel.errors import UsageError
from nel.reports.comparison import (
    HEADINGS,
    SHOWN_FLIPS,
    despite_note,
    flip_lines,
    lines,
    rows,
    settings_lines,
)
from nel.reports.comparison_page import write_comparison_page

_FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options ask for."""

    despite: Sequence[str]
    only: Sequence[str]
    margin: float
    level: float
    seed: int
    flips: int
    html: Path | None


def show_comparison(
    sides: Sequence[str], wanted: Wanted, *, baseline: str | None = None, as_json: bool
) -> None:
    """Compare and print.

    Args:
        sides: The baseline and its candidates.
        wanted: Of the options.
        baseline: The name of the baseline; the sides are candidates then.
        as_json: Print JSON.

    Raises:
        UsageError: The sides cannot be compared.
    """
    sides = with_baseline(baseline, sides)
    if len(sides) < _FEWEST:
        raise UsageError("nel compare needs a baseline and a candidate; give two run directories")
    despite = check_parts(wanted.despite)
    settings = Settings(margin=wanted.margin, level=wanted.level, seed=wanted.seed)
    compared = compare(read_sides(sides), settings, despite=despite, only=wanted.only)
    flips_max = (
        wanted.flips if as_json or wanted.html is not None else min(wanted.flips, SHOWN_FLIPS)
    )
    document = comparison_json(compared, flips_max=flips_max)
    if wanted.html is not None:
        write_comparison_page(document, wanted.html)
    if as_json:
        typer.echo(dumps(document))
        return
    for candidate in document["candidates"]:
        _show_candidate(document, candidate)
    if wanted.html is not None:
        typer.echo(f"page: {wanted.html}")


def _show_candidate(document: Mapping[str, Any], candidate: Mapping[str, Any]) -> None:
    typer.echo(
        f"{report_text(candidate['label'])} against {report_text(document['baseline']['label'])}"
    )
    level = f"{document['settings']['level'] * 100:g} %"
    headings = [heading.replace("95 %", level) for heading in HEADINGS]
    print_table(headings, rows(candidate), right=headings[1:-1])
    note = despite_note(document["settings"]["despite"])
    for line in [*([note] if note else ()), *settings_lines(candidate)]:
        typer.echo(report_text(line))
    for benchmark in candidate["benchmarks"]:
        typer.echo("")
        for line in [*lines(benchmark), *flip_lines(benchmark)]:
            typer.echo(report_text(line))
