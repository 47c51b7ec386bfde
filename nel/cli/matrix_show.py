"""The output of `nel eval` for several endpoints: their plans, progress, and one table of runs."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from nel.cli.plan_table import (
    plan_json,
    preview_json,
    print_plan,
    print_requests,
    print_values,
)
from nel.cli.progress import QUIET, showing
from nel.cli.run_table import remarks, resume_effect
from nel.cli.streams import stdout_kept
from nel.cli.table import print_table
from nel.cli.terminal import plain, say
from nel.config.layers import SourcedValue
from nel.config.matrix import split_config
from nel.config.schema import RunConfig
from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.core.texts import count_text
from nel.engine.matrix import MatrixRefused
from nel.engine.progress import Progress
from nel.errors import EXIT_DONE, EXIT_UNSCORED, ConfigError
from nel.reports.matrix import matrix_table
from nel.runs.matrix import MatrixResult, evaluate_matrix, preview_matrix


def show_matrix(
    config: RunConfig,
    *,
    resume: bool,
    as_json: bool,
    allowed: frozenset[str],
    fail_under: Sequence[str] = (),
    verbosity: int = 0,
) -> None:
    """Run all endpoints with a line of progress for each; exit with the worst exit code.

    Raises:
        ConfigError: A floor is given; it holds for one run.
    """
    if fail_under:
        raise ConfigError(
            "--fail-under holds one run; hold each with nel gate RUN --fail-under METRIC=VALUE"
        )
    progress = {name: Progress() for name, _ in split_config(config)}
    try:
        with showing(progress, verbosity), stdout_kept():
            result = evaluate_matrix(
                config, progress=progress, resume=resume, allowed_changes=allowed
            )
    except MatrixRefused as refused:
        say(refused.problems)
        raise typer.Exit(refused.exit_code) from refused
    _print(result, as_json=as_json)
    if verbosity > QUIET or result.exit_code:
        say(_remarks(result, progress))
    raise typer.Exit(result.exit_code)


def show_matrix_preview(
    config: RunConfig, *, values: Sequence[SourcedValue], as_json: bool, pilot: str | None
) -> None:
    """Print the plan of each endpoint's run, and what set each value, without sending requests."""
    with stdout_kept():
        plans_by_name = preview_matrix(config, pilot=pilot)
    if as_json:
        endpoints = {name: list(map(plan_json, plans)) for name, plans in plans_by_name.items()}
        typer.echo(dumps({**preview_json(config, values), "endpoints": endpoints}))
        return
    for name, endpoint_config in split_config(config):
        typer.echo(plain(name))
        print_plan(endpoint_config, plans_by_name[name])
    print_values(values)
    # The requests of one endpoint stand for those of all.
    name, plans = next(iter(plans_by_name.items()))
    print_requests(plans, f" at {name}")
    n_requests = 0
    notes: list[str] = []
    for name, plans in plans_by_name.items():
        for plan in plans:
            n_requests += plan.requests + plan.judge_requests
            notes += [f"{name}: {note}" for note in plan.notes]
    typer.echo(
        f"dry run: nothing was sent; {count_text(n_requests, 'request')} in all, under one budget"
    )
    say(notes)


def _print(result: MatrixResult, *, as_json: bool) -> None:
    if as_json:
        typer.echo(dumps({"directory": str(result.directory), **result.document}))
        return
    print_table(matrix_table(result.document))
    for name, run in result.runs.items():
        typer.echo(f"{plain(name)}: {run.report}")


def _remarks(result: MatrixResult, progress: dict[str, Progress]) -> list[str]:
    """Return the remarks on each run, and one command that resumes all."""
    lines = []
    for name, run in result.runs.items():
        texts = [*progress[name].notes, *remarks(run)]
        # In the place of the command of each run, one for all of them follows.
        lines += [f"{name}: {text}" for text in texts if "nel eval resume" not in text]
    advice = "resume all with"
    if result.exit_code == EXIT_UNSCORED:
        advice = next(filter(None, map(resume_effect, result.runs.values())), "")
    if result.exit_code != EXIT_DONE and advice:
        lines.append(f"{advice}: nel eval resume {as_argument(result.directory)}")
    return lines
