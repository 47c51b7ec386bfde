"""The result of a run as `nel eval` prints it: a table or JSON, and remarks beside the numbers.

Note: imported when a run has ended, since its first request need not wait for the modules that it
imports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from nel.cli.table import print_table
from nel.cli.terminal import report_text
from nel.core.strict_json import dumps
from nel.errors import EXIT_UNSCORED, EXIT_USAGE
from nel.judges.types import SETTING_FAULTS
from nel.reports.run_warnings import texts_of
from nel.reports.selection import stop_line
from nel.reports.tables.headline import remarks_of
from nel.reports.tables.results import results_table
from nel.runs.result import RunResult
from nel.types import JsonObject

_IN_RESULT = (
    "headline",
    "accounting",
    "complete",
    "stop_rule",
    "selection",
    "shard",
    "warnings",
    "judging",
    "repeat_check",
    "spread",
)
"""Keys of metrics.json that ``--json`` prints of a benchmark, those that it has."""
_ROW = "bad_row"
"""The cause of what no resume can score: no sample can be made of the row."""
_SHARED = "shared_verdict"
"""The kind of what no resume can score: a pass that --strict-verdicts does not count."""


def print_result(result: RunResult, *, as_json: bool) -> None:
    """Print the table of a run and the paths of its reports, or its result as JSON."""
    if as_json:
        typer.echo(dumps(result_json(result)))
        return
    metrics_by_slot = {item.slot: item.metrics for item in result.benchmarks}
    print_table(results_table(metrics_by_slot, result.aggregates))
    for line in _lines_below(result):
        typer.echo(report_text(line))
    for report in (result.report, *result.reports):
        typer.echo(f"report: {report}")


def result_json(result: RunResult) -> dict[str, Any]:
    """Return a run's result as ``--json`` prints it."""
    return {
        "run_dir": str(result.run_dir),
        "report": str(result.report),
        "reports": [str(path) for path in result.reports],
        "exit_code": result.exit_code,
        "ended": result.ending.reason,
        "benchmarks": {item.slot: _benchmark_json(item.metrics) for item in result.benchmarks},
        "aggregates": result.aggregates,
    }


def _benchmark_json(metrics: JsonObject) -> dict[str, Any]:
    fields = {name: metrics[name] for name in _IN_RESULT if name in metrics}
    fields["metrics"] = {metric["name"]: metric["value"] for metric in metrics["metrics"]}
    return fields


def _lines_below(result: RunResult) -> Iterator[str]:
    """Yield lines on each benchmark's doubt, judges, ways of reading, and repeated requests."""
    remarks_by_slot = {item.slot: remarks_of(item.metrics) for item in result.benchmarks}
    for name in ("spread", "judged", "extraction", "repeat_check"):
        for slot, remark in remarks_by_slot.items():
            if remark[name]:
                yield f"{slot}: {remark[name]}"


def remarks(result: RunResult) -> list[str]:
    """Return what a user has to know of a run beside its table, one line each."""
    from nel.runs.other_scorers import other_scorers  # noqa: PLC0415 - as the table, after a run

    lines = []
    for item in result.benchmarks:
        lines += [f"{item.slot}: {text}" for text in texts_of(item.metrics)]
        if line := stop_line(item.metrics):
            lines.append(f"{item.slot}: {line}")
    lines += other_scorers(result)
    if result.ending.reason in ("SIGINT", "SIGTERM", "SIGHUP"):
        lines.append(f"interrupted by {result.ending.reason}; every answer so far is kept")
    elif result.ending.reason != "done":
        lines.append(result.ending.reason)
    if result.exit_code == EXIT_USAGE:
        hint = "" if result.ending.fix else " (-O key=value changes a setting)"
        lines.append(f"fix it, then: {result.resume_command}{hint}")
    elif result.exit_code:
        # 3 ends a run that asked everything: a resume can do no more than retry what is unscored.
        advice = "resume with"
        if _is_judge_misused(result):
            advice = "fix that, then"
        elif result.exit_code == EXIT_UNSCORED:
            advice = resume_effect(result)
        judges = " --judge-url URL --judge-id NAME" if _lacks_judge(result) else ""
        if advice:
            lines.append(f"{advice}: {result.resume_command}{judges}")
    return lines


def resume_effect(result: RunResult) -> str:
    """Return what a resume does for a finished run whose exit code is not 0; empty for nothing."""
    causes = set()
    for item in result.benchmarks:
        for cause, counts in item.accounting["unscored"].items():
            if cause != _ROW and counts["kinds"].keys() - {_SHARED}:
                causes.add(cause)
    if causes == {"scorer"}:
        return "correct the scorer, then"
    if causes:
        return "retry the unscored samples with"
    is_failed = any(item.failed_metrics for item in result.benchmarks)
    return "fix the metrics, then compute them with" if is_failed else ""


def _lacks_judge(result: RunResult) -> bool:
    return any("no_judge" in kinds for kinds in _judge_faults(result))


def _is_judge_misused(result: RunResult) -> bool:
    """Return whether judge settings are unusable: a resume alone would fail in the same way."""
    return any((SETTING_FAULTS - {"no_judge"}) & kinds.keys() for kinds in _judge_faults(result))


def _judge_faults(result: RunResult) -> list[dict[str, int]]:
    return [
        item.accounting["unscored"].get("judge", {}).get("kinds", {}) for item in result.benchmarks
    ]
