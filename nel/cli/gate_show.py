"""The output of `nel gate`: the decision on stdout, its files, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from nel.cli.table import print_table
from nel.cli.terminal import report_text, say
from nel.comparison.calls import directory_of, floors_decision, gate_decision
from nel.comparison.floors import Floor, read_floors
from nel.comparison.policy_file import read_policy
from nel.core.strict_json import dumps
from nel.engine.progress import Progress
from nel.engine.store.remote import uploading
from nel.errors import EXIT_DONE, EXIT_STOPPED_EARLY, EXIT_UNSCORED, ConfigError
from nel.reports.decision import gated_table, reason_lines, write_decision
from nel.types import JsonObject

_SIDES = 2
_UPLOAD_SECONDS = 60.0


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
    document = gate_decision(sides, read_policy(policy), despite=despite, seed=seed)
    _show(document, output_dir or directory_of(sides[1]), as_json=as_json)


def show_floors(
    sides: Sequence[str],
    floors: Sequence[str],
    *,
    of_two_runs: Sequence[object],
    output_dir: Path | None,
    as_json: bool,
) -> None:
    """Hold one run against floors, write the files and exit with the decision's code.

    Args:
        sides: One run.
        floors: At least one.
        of_two_runs: Values of the options that are about two runs, none of which may be set.
        output_dir: For the files; None: the run's directory.
        as_json: Print the decision as JSON.

    Raises:
        ConfigError: The arguments are not one run.
    """
    if any(of_two_runs) or len(sides) != 1:
        raise ConfigError(
            "--fail-under holds one run alone; leave out --policy, --baseline, --despite and the"
            " second run"
        )
    document = floors_decision(sides[0], read_floors(floors))
    _show(document, output_dir or directory_of(sides[0]), as_json=as_json)


def decide_floors(run_dir: Path, exit_code: int, floors: Sequence[Floor], *, err: bool) -> int:
    """Hold a run that has just ended against floors, and return the exit code of both.

    Of a run that is kept at a URL, the decision is uploaded as well.

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
    document = floors_decision(str(run_dir), floors)
    progress = Progress()
    with uploading(run_dir, progress, every_seconds=_UPLOAD_SECONDS) as upload:
        write_decision(document, run_dir)
    show_decision(document, err=err)
    if upload is not None and upload.problem is not None:
        say(progress.notes)
        exit_code = EXIT_STOPPED_EARLY
    # GO is 0, which leaves the code of the run: it may have unscored samples.
    return int(document["exit_code"]) or exit_code


def _show(document: JsonObject, directory: Path, *, as_json: bool) -> None:
    paths = write_decision(document, directory)
    if as_json:
        typer.echo(dumps(document))
    else:
        show_decision(document)
        for path in paths:
            typer.echo(f"decision: {path}")
    raise typer.Exit(document["exit_code"])


def show_decision(document: JsonObject, *, err: bool = False) -> None:
    """Print the decision, its table and its reasons."""
    typer.echo(document["decision"], err=err)
    print_table(gated_table(document), err=err)
    for line in reason_lines(document):
        typer.echo(report_text(line), err=err)
