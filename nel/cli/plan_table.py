"""The plan of a run as a dry run prints it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from nel.cli.request_text import indented
from nel.cli.streams import stdout_kept
from nel.cli.table import print_table
from nel.cli.terminal import plain
from nel.config.openai_environment import taken_from_environment
from nel.config.redaction import redact_url
from nel.config.schema import RunConfig
from nel.core.strict_json import dumps
from nel.runs.evaluation import PlannedBenchmark, preview
from nel.runs.remote.objects import is_remote

_PREVIEW_COLUMNS = (
    "benchmark",
    "dataset",
    "samples",
    "bad rows",
    "repeats",
    "requests",
    "prompt tokens",
    "completion tokens",
)


def show_preview(config: RunConfig, *, as_json: bool) -> None:
    """Print the plan of a run without sending requests."""
    with stdout_kept():
        planned = preview(config)
    if as_json:
        rows = [planned_json(plan) for plan in planned]
        typer.echo(
            dumps({"dry_run": True, "config": config.model_dump(mode="json"), "benchmarks": rows})
        )
        return
    print_plan(config, planned)
    for plan in planned:
        if plan.first_requests:
            typer.echo(plain(f"first request of {plan.name}:"))
            typer.echo(indented(plan.first_requests[0]))
    typer.echo("dry run: nothing was sent")
    for note in dict.fromkeys(note for plan in planned for note in plan.notes):
        typer.echo(f"nel: {plain(note)}", err=True)


def planned_json(plan: PlannedBenchmark) -> dict[str, Any]:
    """Return the plan of one benchmark as ``--json`` prints it."""
    return {name: getattr(plan, name) for name in PlannedBenchmark.__dataclass_fields__}


def print_plan(config: RunConfig, planned: list[PlannedBenchmark]) -> None:
    """Print what one endpoint is going to be asked."""
    endpoint = config.endpoint
    spoken = " and ".join(sorted({plan.protocol for plan in planned}))
    where = f"{redact_url(endpoint.url)} ({spoken}), model {endpoint.model}" if endpoint else "none"
    typer.echo(f"endpoint: {where}")
    if endpoint is not None and (sources := taken_from_environment(endpoint)):
        typer.echo(f"from the environment: {'; '.join(sources)}")
    for line in _settings(config, planned):
        typer.echo(line)
    print_table(_PREVIEW_COLUMNS, list(map(_row, planned)), right=_PREVIEW_COLUMNS[2:])


def _row(plan: PlannedBenchmark) -> list[str]:
    limit = plan.completion_tokens_max
    completion = "not limited" if limit is None else f"≤ {limit:,}"
    return [
        plan.name,
        f"{plan.dataset} @ {plan.revision}" if plan.revision else plan.dataset,
        f"{plan.samples:,}",
        f"{plan.bad_rows:,}",
        f"{plan.repeats:,}",
        f"{plan.requests:,}",
        f"≈ {plan.prompt_tokens:,}",
        completion if plan.requests else "0",
    ]


def _settings(config: RunConfig, planned: Sequence[PlannedBenchmark]) -> list[str]:
    lines = [
        f"concurrency: {config.engine.concurrency}",
        f"output: {config.output.dir if is_remote(config.output.dir) else Path(config.output.dir)}",
    ]
    if config.stop.when:
        conditions = " or ".join(condition.name for condition in config.stop.conditions)
        lines.append(f"stops asking at {conditions}; what stands below is the most that it may ask")
    for benchmark, plan in zip(config.benchmarks, planned, strict=True):
        settings = dict(plan.generation)
        lines.append(
            f"{benchmark.name}: {settings or 'the endpoint decides every sampling setting'}"
        )
        if plan.solver:
            most = ", ".join(f"{name} {value:g}" for name, value in plan.limits.items())
            lines.append(
                f"{benchmark.name}: episodes by the solver {plan.solver}, limited to {most}; the"
                " requests below are the most that they may take: a first run with --sample 20 shows"
                " how many they do"
            )
        if plan.judges:
            asked = (
                f"{plan.judge_requests:,} requests where each answer is one question to each judge"
            )
            lines.append(f"{benchmark.name}: judges {', '.join(plan.judges)}; {asked}")
    return lines
