"""The output of `nel gate`: the decision on stdout, its files, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from nel.cli.table import print_table
from nel.cli.terminal import report_text
from nel.comparison.decision import Decision, decision_json
from nel.comparison.fields import check_parts
from nel.comparison.floors import Floor, hold, read_floors
from nel.comparison.gate import gate
from nel.comparison.policy_file import read_policy
from nel.comparison.reading import read_sides
from nel.core.paths import exists
from nel.core.strict_json import dumps
from nel.errors import EXIT_DONE, EXIT_UNSCORED, ConfigError
from nel.reports.decision import HEADINGS, reason_lines, rows, write_decision

_SIDES = 2


def show_gate(
    sides: Sequence[str],
    policy: Path | None,
    despite: Sequence[str],
    *,
    seed: int,
    output_dir: Path | None,
    as_json: bool,
) -> None:
    """Decide by a policy, write the files and exit with the decision's code.

    Raises:
        ConfigError: The arguments are not a baseline, a candidate and a policy.
    """
    if policy is None:
        raise ConfigError(
            "nel gate needs a policy: --policy FILE, or --fail-under METRIC=VALUE for one run"
            " alone; nel docs compare-and-gate has a policy to copy"
        )
    if len(sides) != _SIDES:
        raise ConfigError(f"nel gate needs a baseline and a candidate, not {len(sides)} results")
    demanded, parts = read_policy(policy), check_parts(despite)
    baseline, candidate = read_sides(sides)
    decision = gate(baseline, candidate, demanded, despite=parts, seed=seed)
    document = decision_json(
        decision, baseline=baseline, candidate=candidate, policy=demanded, despite=sorted(parts)
    )
    _show(decision, document, output_dir or _directory(sides[1]), as_json=as_json)


def show_floors(
    sides: Sequence[str],
    floors: Sequence[str],
    *,
    policy: Path | str | None,
    output_dir: Path | None,
    as_json: bool,
) -> None:
    """Hold one run against floors, write the files and exit with the decision's code.

    Raises:
        ConfigError: The arguments are not one run.
    """
    if policy is not None or len(sides) != 1:
        raise ConfigError(
            "--fail-under holds one run alone; leave --policy, --baseline and the second run away"
        )
    wanted = read_floors(floors)
    (side,) = read_sides(sides)
    if side.kind != "nel":
        raise ConfigError(
            f"--fail-under reads metrics.json of a run of nel; {sides[0]} is a result of"
            f" {side.kind}"
        )
    directory = _directory(sides[0])
    decision = hold(directory, wanted)
    document = decision_json(decision, baseline=None, candidate=side, policy=None)
    _show(decision, document, output_dir or directory, as_json=as_json)


def decide_floors(run_dir: Path, exit_code: int, floors: Sequence[Floor], *, err: bool) -> int:
    """Hold a run that has just ended against floors, and return the exit code of both.

    Args:
        run_dir: Of the run.
        exit_code: Of the run; one that did not finish keeps it.
        floors: At least one.
        err: Whether the decision goes to stderr.
    """
    if exit_code not in (EXIT_DONE, EXIT_UNSCORED):
        typer.echo(
            "nel: the run is not finished, so it was not held against --fail-under", err=True
        )
        return exit_code
    (side,) = read_sides([str(run_dir)])
    decision = hold(run_dir, floors)
    document = decision_json(decision, baseline=None, candidate=side, policy=None)
    write_decision(document, run_dir)
    show_decision(document, err=err)
    return decision.exit_code or exit_code


def _show(
    decision: Decision, document: Mapping[str, Any], directory: Path, *, as_json: bool
) -> None:
    paths = write_decision(document, directory)
    if as_json:
        typer.echo(dumps(document))
    else:
        show_decision(document)
        for path in paths:
            typer.echo(f"decision: {path}")
    raise typer.Exit(decision.exit_code)


def show_decision(document: Mapping[str, Any], *, err: bool = False) -> None:
    """Print the decision, its table and its reasons."""
    typer.echo(document["decision"], err=err)
    print_table(HEADINGS, rows(document), right=HEADINGS[4:], err=err)
    for line in reason_lines(document):
        typer.echo(report_text(line), err=err)


def _directory(argument: str) -> Path:
    """Return the directory of a result: that of its file where it is one."""
    path = Path(argument)
    if not exists(path):
        path = Path(argument.partition("=")[2])
    return path if path.is_dir() else path.parent
