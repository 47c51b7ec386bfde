"""Makes the plan of `nel power` and prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from nel.apps.power.document import PowerRequest, power_json, with_prices
from nel.apps.power.pilots import Assumptions, read_source
from nel.apps.power.report import power_lines, power_svg
from nel.cli.terminal import plain, report_text
from nel.core.strict_json import dumps
from nel.reports.static_page import write_page


def show_power(
    runs: Sequence[str],
    bench: str | None,
    assumptions: Assumptions,
    prices: Mapping[str, float | None],
    request: PowerRequest,
    *,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Print the plan, and write its picture to ``svg``.

    Raises:
        OutputError: A run cannot be read.
        StoppedEarly: The picture cannot be written.
        UsageError: The numbers plan nothing.
    """
    source = read_source(runs, bench, assumptions)
    source = replace(source, resources=with_prices(source.resources, prices))
    document = power_json(source, request)
    if svg is not None:
        write_page(svg, iter([power_svg(document)]))
    if as_json:
        typer.echo(dumps(document))
        return
    for line in power_lines(document):
        typer.echo(report_text(line))
    if svg is not None:
        typer.echo(plain(f"picture: {svg}"))
