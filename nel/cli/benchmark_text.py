"""The output of `nel show`: the description of a benchmark, and the request for one row."""

from __future__ import annotations

from dataclasses import asdict

import typer

from nel.authoring.registry import find_benchmark
from nel.cli.request_text import indent
from nel.cli.terminal import plain
from nel.core.strict_json import dumps
from nel.engine.asking.benchmark_description import Description, Example, describe, example_of
from nel.errors import NelError


def show_benchmark(name: str, *, dataset: str | None, row: int, as_json: bool) -> None:
    """Print the description of a benchmark, and one row as it would be asked.

    Args:
        name: Name, file or URI.
        dataset: Rows to take the example from instead of the benchmark's own.
        row: Which row is the example, from 1.
        as_json: Print JSON.
    """
    benchmark = find_benchmark(name)
    description = describe(benchmark)
    if not as_json:
        # Before the dataset is read, which may take long or fail.
        typer.echo(_description_text(description))
    example, reason = None, None
    try:
        example = example_of(benchmark, dataset=dataset, row=row)
    except NelError as error:
        reason = str(error)
    if as_json:
        fields = {"example": None if example is None else asdict(example), "no_example": reason}
        typer.echo(dumps({**asdict(description), **fields}))
    elif example is None:
        typer.echo(f"\nno example: {plain(reason or '')}")
    else:
        typer.echo(_example_text(example))


def _description_text(description: Description) -> str:
    facts = [(fact.name, fact.text) for fact in description.facts]
    facts.append(("scoring", description.scoring or "not described"))
    if description.metrics:
        facts.append(("metrics", ", ".join(description.metrics)))
    width = max(len(name) for name, _ in facts)
    lines = [plain(f"{description.name}: {description.description}"), ""]
    lines += [plain(f"{name.ljust(width)}  {text}") for name, text in facts]
    prompt = description.prompt
    if prompt is None:
        prompt = "the messages that each row brings"
    lines += ["", "prompt:"]
    lines += [f"  {plain(line)}".rstrip() for line in prompt.split("\n")]
    return "\n".join(lines)


def _example_text(example: Example) -> str:
    lines = ["", f"row {example.row:,} as it is asked:"]
    if example.request is None:
        lines.append("  nothing: recorded responses are scored")
    else:
        lines.append(indent(example.request))
    lines += [plain(f"  [user, after the answer] {turn}") for turn in example.further_turns]
    return "\n".join([*lines, "", plain(f"target: {example.target}")])
