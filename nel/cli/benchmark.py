"""`nel benchmark check`: a benchmark before it is run, its rows, prompt, scorer and, where it has
some, its tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nel.cli.completion import names_of
from nel.errors import EXIT_USAGE

if TYPE_CHECKING:
    from nel.authoring.program_tests import BrokenTask

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
    from nel.cli.terminal import plain  # noqa: PLC0415 - keeps --help fast

    findings = _checks(target, dataset, samples)
    broken = _broken_tests(target, dataset, samples)
    if as_json:
        from nel.core.strict_json import dumps  # noqa: PLC0415

        checks = [dict(zip(("name", "passed", "detail"), row, strict=True)) for row in findings]
        tasks = [{"sample": row.sample, "reason": row.reason} for row in broken or ()]
        typer.echo(dumps({"checks": checks, "broken_tests": None if broken is None else tasks}))
    else:
        for name, passed, detail in findings:
            typer.echo(
                plain(f"{'ok  ' if passed else 'FAIL'}  {name}" + (f": {detail}" if detail else ""))
            )
        for task in broken or ():
            typer.echo(plain(f"FAIL  the tests of sample {task.sample}: {task.reason}"))
        if broken == []:
            typer.echo(
                "ok    its tests pass the gold program, and neither an empty nor a wrong one"
            )
    if broken or not all(passed for _, passed, _ in findings):
        raise typer.Exit(EXIT_USAGE)


def _broken_tests(target: str, dataset: str | None, samples: int) -> list[BrokenTask] | None:
    """Return the tasks whose tests are of no use; None where the benchmark runs no programs."""
    from nel.authoring.program_tests import check_tests  # noqa: PLC0415
    from nel.authoring.registry import find_benchmark  # noqa: PLC0415 - keeps --help fast
    from nel.discovery.conformance import samples_of  # noqa: PLC0415

    benchmark = find_benchmark(target)
    return (
        check_tests(benchmark, samples_of(target, dataset, samples))
        if benchmark.languages
        else None
    )


def _checks(target: str, dataset: str | None, samples: int) -> list[tuple[str, bool, str]]:
    """Return name, outcome and detail of each check of rows, prompt and scorer."""
    if ".py" in target:
        from nel.authoring.validation import validate_file  # noqa: PLC0415 - keeps --help fast

        head, _, name = target.rpartition(":") if ".py:" in target else (target, "", "")
        checks_of = validate_file(Path(head), name or None, dataset=dataset)
        return [
            (each.name, each.passed, each.detail)
            for checks in checks_of.values()
            for each in checks
        ]
    from nel.discovery.conformance import check_plugin  # noqa: PLC0415

    findings = check_plugin(target, kind="benchmarks", dataset=dataset, samples_max=samples)
    return [(each.check, each.passed, each.detail) for each in findings]
