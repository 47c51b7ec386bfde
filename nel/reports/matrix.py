"""The table over the runs of several endpoints, and matrix_results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nel.config.redaction import redact_url
from nel.config.schema import RunConfig
from nel.engine.matrix import worst
from nel.reports import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointResult:
    """What the run of one endpoint came to."""

    name: str
    config: RunConfig
    directory: str
    """The name of the run's directory."""
    exit_code: int
    ended: str
    """``done``, the name of a signal, or why the run stopped."""
    benchmarks: Mapping[str, Mapping[str, Any]]
    """The content of metrics.json by benchmark."""


def matrix_json(matrix_id: str, results: Sequence[EndpointResult]) -> dict[str, Any]:
    """Return the content of matrix_results.json.

    Args:
        matrix_id: The name of the directory over the runs.
        results: At least one.
    """
    return {
        "matrix_id": matrix_id,
        "exit_code": worst([result.exit_code for result in results]),
        "runs": [_run_json(result) for result in results],
    }


def matrix_rows(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the table: a row for each benchmark and each of its
    prompts, a column for each endpoint.
    """
    runs = document["runs"]
    slots = list(dict.fromkeys(slot for run in runs for slot in run["benchmarks"]))
    rows = [[slot, *(_cell(run["benchmarks"].get(slot)) for run in runs)] for slot in slots]
    ended = ["done" if run["ended"] == "done" else f"exit {run['exit_code']}" for run in runs]
    return ["benchmark", *(run["name"] for run in runs)], [*rows, ["ended", *ended]]


def _cell(score: Mapping[str, Any] | None) -> str:
    if score is None or score["value"] is None:
        return "no score"
    share = score["bounds"] is not None
    lower, upper = score["ci_lower"], score["ci_upper"]
    figure = numbers.figure(score["value"], share=share, lower=lower, upper=upper)
    if score["ci_lower"] is not None:
        figure += f" ({numbers.interval(lower, upper, share=share)})"
    marks = [f"{numbers.count(score['n_unscored'])} unscored"] if score["n_unscored"] else []
    marks += [score["selection"]] if score["selection"] else []
    return ", ".join([figure, *marks])


def _run_json(result: EndpointResult) -> dict[str, Any]:
    endpoint = result.config.endpoint
    return {
        "name": result.name,
        "model": None if endpoint is None else endpoint.model,
        "url": None if endpoint is None else redact_url(endpoint.url),
        "directory": result.directory,
        "exit_code": result.exit_code,
        "ended": result.ended,
        "benchmarks": {
            slot: _benchmark_json(metrics) for slot, metrics in result.benchmarks.items()
        },
    }


def _benchmark_json(metrics: Mapping[str, Any]) -> dict[str, Any]:
    names = ("metric", "value", "ci_lower", "ci_upper", "ci_method", "bounds")
    counts = ("n_total", "n_scored", "n_model_failure", "n_unscored")
    return {
        **{name: metrics["headline"][name] for name in names},
        **{name: metrics["accounting"][name] for name in counts},
        "complete": metrics["complete"],
        "selection": str((metrics["selection"] or {}).get("text") or ""),
    }
