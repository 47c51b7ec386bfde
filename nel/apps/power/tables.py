"""Makes the plan of `nel power` and prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from nel.apps.power.document import Wish, power_json, with_prices
from nel.apps.power.pilots import Assumptions, read_source
from nel.apps.power.report import power_lines, power_svg
from nel.cli.terminal import plain, report_text
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps
from nel.decide.plans import Resources
from nel.errors import OutputError


@dataclass(frozen=True, slots=True, kw_only=True)
class PerAnswer:
    """What a person says one answer takes; None leaves it to the run."""

    prompt_tokens: float | None
    completion_tokens: float | None
    answers_per_hour: float | None
    prices: Mapping[str, float | None]

    def over(self, resources: Resources) -> Resources:
        """Return what the run took with what is said over it."""
        assumed = {
            name: value
            for name in ("prompt_tokens", "completion_tokens", "answers_per_hour")
            if (value := getattr(self, name)) is not None
        }
        return with_prices(replace(resources, **assumed), self.prices)


def show_power(
    runs: Sequence[str],
    bench: str | None,
    assumed: Assumptions,
    per_answer: PerAnswer,
    wish: Wish,
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
    source = read_source(runs, bench, assumed)
    source = replace(source, resources=per_answer.over(source.resources))
    document = power_json(source, wish)
    if svg is not None:
        if not svg.parent.is_dir():
            raise OutputError(
                f"there is no directory {svg.parent}; make it, or write the picture elsewhere"
            )
        write_file(svg, [power_svg(document).encode()])
    if as_json:
        typer.echo(dumps(document))
        return
    for line in power_lines(document):
        typer.echo(report_text(line))
    if svg is not None:
        typer.echo(plain(f"picture: {svg}"))
