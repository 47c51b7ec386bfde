"""The output of `nel benchmark check`: each benchmark's checks, and the trial of its tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import typer

from nel.authoring.program_tests import TestsCheck, check_tests
from nel.authoring.registry import benchmarks_in_file, find_benchmark, split_file
from nel.cli.checks import show_checks
from nel.cli.terminal import plain
from nel.core.strict_json import dumps
from nel.discovery.benchmark_checks import Check, check_file, samples_of
from nel.discovery.conformance import check_plugin
from nel.errors import EXIT_UNSCORED, EXIT_USAGE


def show_benchmark_checks(
    target: str, *, dataset: str | None, samples_max: int, as_json: bool
) -> None:
    """Check a benchmark, or all of a file; print the checks, and exit with their code."""
    checks: list[Check] = []
    test_checks: list[TestsCheck] = []
    names = _names(target)
    for name in names:
        benchmark_checks = _checks(name, dataset, samples_max)
        checks += benchmark_checks
        tests = _tests_check(name, dataset, samples_max)
        if tests is not None:
            test_checks.append(tests)
        # Line by line, since each benchmark may take minutes; JSON is one document.
        if not as_json:
            if len(names) > 1:
                typer.echo(plain(f"{name}:"))
            show_checks(benchmark_checks, indent="")
            _show_tests(tests)
    if as_json:
        _print_json(checks, test_checks)
    if any(tests.broken for tests in test_checks) or not all(check.passed for check in checks):
        raise typer.Exit(EXIT_USAGE)
    if not all(tests.n_golds for tests in test_checks):
        raise typer.Exit(EXIT_UNSCORED)


def _print_json(checks: Sequence[Check], test_checks: Sequence[TestsCheck]) -> None:
    document: dict[str, object] = {"checks": list(map(asdict, checks)), "broken_tests": None}
    if test_checks:
        document["broken_tests"] = [
            {"sample": task.sample, "reason": task.reason}
            for tests in test_checks
            for task in tests.broken
        ]
        document["gold_programs"] = sum(tests.n_golds for tests in test_checks)
    typer.echo(dumps(document))


def _show_tests(tests: TestsCheck | None) -> None:
    """Print the result of trying a benchmark's tests; nothing where it runs no programs."""
    if tests is None:
        return
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
    """Return the target; for a file without the name of a benchmark, each benchmark of it."""
    path, name = split_file(target)
    if path is None or name is not None:
        return [target]
    return [f"{path}:{name}" for name in benchmarks_in_file(path)]


def _tests_check(target: str, dataset: str | None, samples_max: int) -> TestsCheck | None:
    benchmark = find_benchmark(target)
    if not benchmark.languages:
        return None
    return check_tests(benchmark, samples_of(target, dataset, samples_max))


def _checks(target: str, dataset: str | None, samples_max: int) -> list[Check]:
    path, name = split_file(target)
    if path is None:
        return check_plugin(target, kind="benchmarks", dataset=dataset, samples_max=samples_max)
    by_benchmark = check_file(path, name, dataset=dataset, samples_max=samples_max)
    return [check for checks in by_benchmark.values() for check in checks]
