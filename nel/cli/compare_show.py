"""The output of `nel compare`: the table, the evidence for each benchmark, JSON or a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from nel.cli.table import print_table
from nel.cli.terminal import report_text
from nel.comparison.baselines import with_baseline
from nel.comparison.calls import comparison_of
from nel.comparison.document import comparison_json
from nel.comparison.measures import Settings
from nel.core.strict_json import dumps
from nel.errors import UsageError
from nel.reports.comparison import (
    SHOWN_FLIPS,
    benchmarks_table,
    despite_note,
    flip_lines,
    lines,
    rows_of,
    settings_lines,
)
from nel.reports.comparison_page import write_comparison_page
from nel.types import JsonObject

_SIDES_MIN = 2


def show_comparison(
    sides: Sequence[str],
    settings: Settings,
    *,
    flips: int,
    as_json: bool,
    baseline: str | None = None,
    despite: Sequence[str] = (),
    only: Sequence[str] = (),
    html: Path | None = None,
) -> None:
    """Compare and print.

    Args:
        sides: The baseline and its candidates.
        settings: How the differences are measured.
        flips: So many changed samples of each benchmark are in JSON and on the page.
        as_json: Print JSON.
        baseline: The name of the baseline; the sides are candidates then.
        despite: Parts that may differ.
        only: Names of benchmarks; empty for all.
        html: A page to write.

    Raises:
        UsageError: The sides cannot be compared.
    """
    sides = with_baseline(baseline, sides)
    if len(sides) < _SIDES_MIN:
        raise UsageError("nel compare needs a baseline and a candidate; give two run directories")
    compared = comparison_of(sides, settings, despite=despite, only=only)
    # On a terminal a few examples are enough; JSON and the page have as many as were asked for.
    flips_max = flips if as_json or html is not None else min(flips, SHOWN_FLIPS)
    document = comparison_json(compared, flips_max=flips_max)
    if html is not None:
        write_comparison_page(document, html)
    if as_json:
        typer.echo(dumps(document))
        return
    for candidate in document["candidates"]:
        _show_candidate(document, candidate)
    if html is not None:
        typer.echo(f"page: {html}")


def _show_candidate(document: JsonObject, candidate: JsonObject) -> None:
    typer.echo(
        f"{report_text(candidate['label'])} against {report_text(document['baseline']['label'])}"
    )
    print_table(benchmarks_table(candidate, document["settings"]["level"]))
    note = despite_note(document["settings"]["despite"])
    if note:
        typer.echo(report_text(note))
    for line in settings_lines(candidate):
        typer.echo(report_text(line))
    for row in rows_of(candidate):
        typer.echo("")
        for line in [*lines(row), *flip_lines(row)]:
            typer.echo(report_text(line))
