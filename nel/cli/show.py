"""`nel show`: what a benchmark asks, how it scores, and where it comes from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from nel.cli.completion import names_of
from nel.cli.request_text import indent
from nel.cli.terminal import plain

if TYPE_CHECKING:
    from nel.engine.asking.benchmark_description import Description, Example


def show(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="Name, file or URI, as --bench takes it.", autocompletion=names_of("benchmarks")
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", help="Take the example from these rows instead of the benchmark's own."
        ),
    ] = None,
    row: Annotated[int, typer.Option("--row", min=1, help="Which row is the example.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a benchmark: prompt, scorer, licence, source, and one row as it would be asked; nothing
    is sent.
    """
    from nel.authoring.registry import find_benchmark  # noqa: PLC0415 - keeps --help fast
    from nel.core.strict_json import dumps  # noqa: PLC0415
    from nel.engine.asking.benchmark_description import describe, example_of  # noqa: PLC0415
    from nel.errors import NelError  # noqa: PLC0415

    plugin = find_benchmark(benchmark)
    described = describe(plugin)
    if not as_json:
        typer.echo(_description_text(described))
    example, reason = None, None
    try:
        example = example_of(plugin, dataset=dataset, row=row)
    except NelError as error:
        reason = str(error)
    if as_json:
        fields = {"example": None if example is None else asdict(example), "no_example": reason}
        typer.echo(dumps({**asdict(described), **fields}))
    else:
        typer.echo(
            f"\nno example: {plain(reason or '')}" if example is None else _example_text(example)
        )


def _description_text(described: Description) -> str:
    facts = [
        *((fact.name, fact.text) for fact in described.facts),
        ("scoring", described.scoring or "not described"),
    ]
    if described.metrics:
        facts.append(("metrics", ", ".join(described.metrics)))
    width = max(len(name) for name, _ in facts)
    lines = [plain(f"{described.name}: {described.description}"), ""]
    lines += [plain(f"{name.ljust(width)}  {text}") for name, text in facts]
    prompt = "the messages that each row brings" if described.prompt is None else described.prompt
    return "\n".join(
        [*lines, "", "prompt:", *(f"  {plain(line)}".rstrip() for line in prompt.split("\n"))]
    )


def _example_text(example: Example) -> str:
    asked = (
        "  nothing: recorded responses are scored"
        if example.request is None
        else indent(example.request)
    )
    turns = [plain(f"  [user, after the answer] {turn}") for turn in example.further_turns]
    return "\n".join(
        [
            "",
            f"row {example.row:,} as it is asked:",
            asked,
            *turns,
            "",
            plain(f"target: {example.target}"),
        ]
    )
