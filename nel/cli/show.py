"""`nel show`: what a benchmark asks, how it scores, and where it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from nel.cli.benchmark_text import show_benchmark
from nel.cli.completion import names_of
from nel.cli.options import AsJson


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
    as_json: AsJson = False,
) -> None:
    """Show a benchmark: prompt, scorer, licence, source, and one row as it would be asked; nothing
    is sent.
    """
    show_benchmark(benchmark, dataset=dataset, row=row, as_json=as_json)
