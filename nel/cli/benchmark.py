"""`nel benchmark check`: a benchmark before it is run: its rows, prompt, scorer and tests."""

from __future__ import annotations

from typing import Annotated

import typer

from nel.cli.benchmark_show import show_benchmark_checks
from nel.cli.completion import names_of
from nel.cli.options import AsJson

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check a benchmark before it is run.",
)


@app.callback()
def benchmark() -> None:
    """Benchmarks before they are run."""


@app.command()
def check(
    target: Annotated[
        str,
        typer.Argument(
            help="Installed benchmark, or path.py[:name] of one.", autocompletion=names_of()
        ),
    ],
    dataset: Annotated[
        str | None, typer.Option(help="Check these rows instead of the benchmark's own.")
    ] = None,
    samples: Annotated[
        int, typer.Option(help="Score, or try the tests of, at most this many samples.", min=1)
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Check a benchmark without an endpoint: rows, prompt, scorer, and tests on a gold, an empty
    and a wrong program.

    Tests that fail the gold program, or pass another one, are listed in .nel/broken_tests.json; a
    run that is started in this directory leaves their tasks unscored. The exit code is 3 where no
    gold program was there to be tried.
    """
    show_benchmark_checks(target, dataset=dataset, samples_max=samples, as_json=as_json)
