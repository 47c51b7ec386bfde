"""`nel benchmark check`: a benchmark before it is run, its rows, prompt, scorer and, where it has
some, its tests.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from nel.cli.completion import names_of
from nel.errors import EXIT_UNSCORED, EXIT_USAGE

if TYPE_CHECKING:
    from nel.authoring.program_tests import TestsCheck
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
    run that is started in this directory leaves their tasks unscored. The exit code is 3 where no
    gold program was there to be tried.
    """
    from nel.cli.checks import show_checks  # noqa: PLC0415 - keeps --help fast
    from nel.cli.terminal import plain  # noqa: PLC0415

    results = [
        (name, _checks(name, dataset, samples), _broken_tests(name, dataset, samples))
        for name in _names(target)
    ]
    all_checks = [each for _, checks, _ in results for each in checks]
    tried = [tests for _, _, tests in results if tests is not None]
    all_broken = [
        {"sample": task.sample, "reason": task.reason} for tests in tried for task in tests.broken
    ]
    n_golds = sum(tests.n_golds for tests in tried)
    if as_json:
        from nel.core.strict_json import dumps  # noqa: PLC0415

        findings = {"broken_tests": all_broken, "gold_programs": n_golds} if tried else {}
        typer.echo(
            dumps({"checks": list(map(asdict, all_checks)), "broken_tests": None, **findings})
        )
    for name, checks, tests in () if as_json else results:
        if len(results) > 1:
            typer.echo(plain(f"{name}:"))
        show_checks(checks, indent="")
        if tests is not None:
            _show_tests(tests)
    if all_broken or not all(each.passed for each in all_checks):
        raise typer.Exit(EXIT_USAGE)
    if not all(tests.n_golds for tests in tried):
        raise typer.Exit(EXIT_UNSCORED)


def _show_tests(tests: TestsCheck) -> None:
    """Print what came of a benchmark's tests."""
    from nel.cli.terminal import plain  # noqa: PLC0415 - keeps --help fast

    for task in tests.broken:
        typer.echo(plain(f"FAIL  the tests of sample {task.sample}: {task.reason}"))
    if not tests.n_golds:
        typer.echo(
            "none  its tests were not tried on a gold program: no target and no field"
            " canonical_solution holds one"
        )
    elif not tests.broken:
        golds = "gold program" if tests.n_golds == 1 else "gold programs"
        typer.echo(
            f"ok    its tests pass {tests.n_golds} {golds}, and neither an empty nor a wrong one"
        )


def _names(target: str) -> list[str]:
    """Return the benchmark, or each one of a file that is named without one."""
    from nel.authoring.registry import benchmarks_in_file, split_file  # noqa: PLC0415

    path, wanted = split_file(target)
    if path is None or wanted is not None:
        return [target]
    return [f"{path}:{name}" for name in benchmarks_in_file(path)]


def _broken_tests(target: str, dataset: str | None, samples: int) -> TestsCheck | None:
    """Return what came of a benchmark's tests; None where it runs no programs."""
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
