"""The output of a dry run: the plan, the settings with their sources, the first requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer

from nel.cli.request_text import indent
from nel.cli.streams import stdout_kept
from nel.cli.table import print_table
from nel.cli.terminal import plain, say
from nel.config.layers import SourcedValue
from nel.config.openai_environment import taken_from_environment
from nel.config.redaction import redact_url
from nel.config.schema import RunConfig
from nel.core.strict_json import dumps, dumps_unless_text
from nel.core.texts import cost_text, count_text
from nel.reports.tables.columns import Column, Counted, ReportTable, ValueKind
from nel.runs.preview import PlannedBenchmark, preview
from nel.types import JsonObject


def _completion_tokens(plan: PlannedBenchmark) -> Counted | str:
    if not plan.requests:
        return Counted(0)
    limit = plan.completion_tokens_max
    return "not limited" if limit is None else Counted(limit, before="≤")


PLAN_COLUMNS: Final = (
    Column("name", heading="benchmark"),
    Column("dataset", of=lambda plan: " @ ".join(filter(None, [plan.dataset, plan.revision]))),
    *(Column(name, ValueKind.COUNT) for name in ("samples", "bad_rows", "repeats", "requests")),
    Column("prompt_tokens", ValueKind.COUNT, lambda plan: Counted(plan.prompt_tokens, before="≈")),
    Column("completion_tokens", ValueKind.COUNT, _completion_tokens),
)


def show_preview(
    config: RunConfig, *, values: Sequence[SourcedValue], as_json: bool, pilot: str | None
) -> None:
    """Print the plan of a run, and the source of each setting, without sending requests."""
    with stdout_kept():
        plans = preview(config, pilot=pilot)
    if as_json:
        rows = [plan_json(plan) for plan in plans]
        typer.echo(dumps({**preview_json(config, values), "benchmarks": rows}))
        return
    print_plan(config, plans)
    print_values(values)
    print_requests(plans)
    typer.echo("dry run: nothing was sent")
    say(note for plan in plans for note in plan.notes)


def preview_json(config: RunConfig, values: Sequence[SourcedValue]) -> dict[str, Any]:
    """Return the fields that a dry run with ``--json`` prints beside its plans."""
    settings = {row.key: {"value": _printable(row), "source": row.source} for row in values}
    return {"dry_run": True, "config": config.model_dump(mode="json"), "settings": settings}


def print_values(values: Sequence[SourcedValue]) -> None:
    """Print every setting and its source."""
    columns = (
        Column("key", heading="setting"),
        Column("value", of=lambda row: _text(_printable(row))),
        Column("source", heading="set by"),
    )
    print_table(ReportTable(columns, values))


def print_requests(plans: Sequence[PlannedBenchmark], where: str = "") -> None:
    """Print the first request of each benchmark as it would be sent.

    Args:
        plans: Of one endpoint.
        where: Follows the name of each.
    """
    for plan in plans:
        if plan.first_requests:
            typer.echo(plain(f"first request of {plan.name}{where}:"))
            typer.echo(indent(plan.first_requests[0]))


def _printable(row: SourcedValue) -> object:
    # A URL may hold a password, or a key among its parameters.
    is_url = row.key.endswith(".url") and isinstance(row.value, str)
    return redact_url(str(row.value)) if is_url else row.value


def _text(value: object) -> str:
    return "not set" if value is None else dumps_unless_text(value)


def plan_json(plan: PlannedBenchmark) -> dict[str, Any]:
    """Return the plan of one benchmark as ``--json`` prints it."""
    return {name: getattr(plan, name) for name in PlannedBenchmark.__dataclass_fields__}


def print_plan(config: RunConfig, plans: list[PlannedBenchmark]) -> None:
    """Print the plan for one endpoint."""
    endpoint = config.endpoint
    if endpoint is None:
        typer.echo("endpoint: none")
    else:
        protocols = " and ".join(sorted({plan.protocol for plan in plans}))
        typer.echo(f"endpoint: {redact_url(endpoint.url)} ({protocols}), model {endpoint.model}")
        if sources := taken_from_environment(endpoint):
            typer.echo(f"from the environment: {'; '.join(sources)}")
    for line in _settings(config, plans):
        typer.echo(line)
    print_table(ReportTable(PLAN_COLUMNS, plans))


def _estimate(estimate: JsonObject | None) -> str:
    if estimate is None:
        return "for an estimate, run --sample 20 first, and give its directory as --pilot"
    n = estimate["episodes_measured"]
    source = (
        f"by {count_text(n, 'episode')} of {estimate['source']}"
        if n
        else f"at {estimate['source']} each"
    )
    # Without a measured episode only the prompts are known, so figures are lower bounds.
    bound = "" if n else "at least "
    requests = count_text(estimate["requests"], "request")
    text = f"estimated {source}: {requests} ({estimate['steps']:g} an episode)"
    prompt, completion = estimate["prompt_tokens"], estimate["completion_tokens"]
    if prompt is None or completion is None:
        return f"{text}; its endpoint did not report tokens"
    text += f", {bound}{prompt:,} prompt tokens"
    if n:
        text += f" and {completion:,} completion tokens"
    if estimate["cost"] is None:
        return f"{text}; no price is set"
    return f"{text}, cost {bound}{cost_text(estimate['cost'])}"


def _settings(config: RunConfig, plans: Sequence[PlannedBenchmark]) -> list[str]:
    lines = []
    if config.stop.when:
        conditions = " or ".join(condition.name for condition in config.stop.conditions)
        lines.append(f"stops asking at {conditions}; what stands below is the most that it may ask")
    for plan in plans:
        settings = dict(plan.generation)
        lines.append(f"{plan.name}: {settings or 'the endpoint decides every sampling setting'}")
        if plan.solver:
            limits = ", ".join(f"{name} {value:g}" for name, value in plan.limits.items())
            lines.append(
                f"{plan.name}: episodes by the solver {plan.solver}, limited to {limits}; the"
                " requests below are the most that they may take"
            )
            lines.append(f"{plan.name}: {_estimate(plan.estimate)}")
        if plan.judges:
            lines.append(
                f"{plan.name}: judges {', '.join(plan.judges)}; {plan.judge_requests:,} requests"
                " where each answer is one question to each judge"
            )
    return lines
