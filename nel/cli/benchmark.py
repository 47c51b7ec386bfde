"""`nel benchmark check`: a benchmark before it is run, its rows, prompt, scorer and, where it has
some, its tests.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from nel.cli.completion import names_of
from nel.errors import EXIT_USAGE

if TYPE_CHECKING:
    from nel.authoring.program_tests import BrokenTask
    from nel.discovery.benchmark_checks import Check

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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a benchmark without an endpoint: rows, prompt, scorer, and tests on a gold, an empty
    and a wrong program.

    Tests that fail the gold program, or pass another one, are listed in .nel/broken_tests.json; a
    run that is started in this directory leaves their tasks unscored.
    """
    from nel.cli.checks import show_checks  # noqa: PLC0415 - keeps --help fast
    from nel.cli.terminal import plain  # noqa: PLC0415

    checks = _checks(target, dataset, samples)
    broken = _broken_tests(target, dataset, samples)
    if as_json:
        from nel.core.strict_json import dumps  # noqa: PLC0415

        tasks = [{"sample": row.sample, "reason": row.reason} for row in broken or ()]
        typer.echo(
            dumps(
                {
                    "checks": list(map(asdict, checks)),
                    "broken_tests": None if broken is None else tasks,
                }
            )
        )
    else:
        show_checks(checks, indent="")
        for task in broken or ():
            typer.echo(plain(f"FAIL  the tests of sample {task.sample}: {task.reason}"))
        if broken == []:
            typer.echo(
                "ok    its tests pass the gold program, and neither an empty nor a wrong one"
            )
    if broken or not all(each.passed for each in checks):
        raise typer.Exit(EXIT_USAGE)


def _broken_tests(target: str, dataset: str | None, samples: int) -> list[BrokenTask] | None:
    """Return the tasks whose tests are of no use; None where the benchmark runs no programs."""
    from nel.authoring.program_tests import check_tests  # noqa: PLC0415
    from nel.authoring.registry import find_benchmark  # noqa: PLC0415 - keeps --help fast
    from nel.discovery.benchmark_checks import samples_of  # noqa: PLC0415

    benchmark = find_benchmark(target)
    return (
        check_tests(benchmark, samples_of(target, dataset, samples))
        if benchmark.languages
        else None
    )


def _checks(target: str, dataset: str | None, samples: int) -> list[Check]:
    """Return the checks of rows, prompt and scorer."""
    from nel.authoring.registry import split_file  # noqa: PLC0415 - keeps --help fast

    path, wanted = split_file(target)
    if path is not None:
        from nel.discovery.benchmark_checks import check_file  # noqa: PLC0415

        of_benchmarks = check_file(path, wanted, dataset=dataset, samples_max=samples)
        return [each for checks in of_benchmarks.values() for each in checks]
    from nel.discovery.conformance import check_plugin  # noqa: PLC0415

    return check_plugin(target, kind="benchmarks", dataset=dataset, samples_max=samples)
