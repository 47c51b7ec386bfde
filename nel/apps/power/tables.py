"""Makes the plan of `nel power` and prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from nel.apps.power.document import Wish, power_json, with_prices
from nel.apps.power.pilots import Assumptions, read_source
from nel.cli.terminal import plain, with_plain_spaces
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps
from nel.decide.plans import Resources
from nel.decide.power import Test
from nel.errors import OutputError, UsageError
from nel.reports.power import power_lines, power_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a person says one answer takes; None leaves it to the run."""

    prompt_tokens: float | None
    completion_tokens: float | None
    answers_per_hour: float | None
    prices: Mapping[str, float | None]

    def over(self, found: Resources) -> Resources:
        """Return what the run took with what is said over it."""
        said = {
            name: value
            for name in ("prompt_tokens", "completion_tokens", "answers_per_hour")
            if (value := getattr(self, name)) is not None
        }
        return with_prices(replace(found, **said), self.prices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options ask the comparison to find."""

    effect: float
    power: float
    alpha: float
    one_sided: bool
    repeats: Sequence[int]


def show_power(
    runs: Sequence[str],
    bench: str | None,
    assumed: Assumptions,
    taken: Taken,
    wanted: Wanted,
    *,
    labels_for: float | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Print the plan, and write its picture where one is wanted.

    Raises:
        OutputError: A run cannot be read.
        StoppedEarly: The picture cannot be written.
        UsageError: The numbers plan nothing.
    """
    try:
        test = Test(alpha=wanted.alpha, power=wanted.power, two_sided=not wanted.one_sided)
    except ValueError as error:
        raise UsageError(str(error)) from error
    source = read_source(runs, bench, assumed)
    source = replace(source, resources=taken.over(source.resources))
    wish = Wish(
        effect=wanted.effect,
        test=test,
        repeats=sorted(set(wanted.repeats)),
        judge_correlation=labels_for,
    )
    found = power_json(source, wish)
    if svg is not None:
        if not svg.parent.is_dir():
            raise OutputError(
                f"there is no directory {svg.parent}; make it, or write the picture elsewhere"
            )
        write_file(svg, [power_svg(found).encode()])
    if as_json:
        typer.echo(dumps(found))
        return
    for line in power_lines(found):
        typer.echo(plain(with_plain_spaces(line)))
    if svg is not None:
        typer.echo(plain(f"picture: {svg}"))
