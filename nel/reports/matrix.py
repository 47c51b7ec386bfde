"""The table over the runs of several endpoints, and matrix_results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from nel.config.redaction import redact_url
from nel.config.schema import RunConfig
from nel.engine.matrix import worst
from nel.reports import numbers
from nel.reports.run_files import by_title
from nel.reports.tables.columns import NO_SCORE, Column, Figure, ReportTable
from nel.types import JsonObject

_SCORES: Final = ("benchmarks", "aggregates")
"""Keys of a run in matrix_results.json whose scores have a row each."""


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
    benchmarks: Mapping[str, JsonObject]
    """The content of metrics.json by benchmark."""
    aggregates: Sequence[JsonObject] = ()
    """Of aggregates.json."""


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


def matrix_table(document: JsonObject) -> ReportTable:
    """Return the table over the runs: a row for each benchmark and each of its prompts, for each
    mean over several, and how the runs ended; a column for each endpoint.
    """
    # A row is ("benchmarks", slot) or ("aggregates", title); the last one, None, is how runs ended.
    runs = document["runs"]
    slots = dict.fromkeys((of, slot) for of in _SCORES for run in runs for slot in run[of])
    name = Column("benchmark", of=lambda row: row[1] if row else "ended")
    columns = [Column(run["name"], of=partial(_cell, run), heading=run["name"]) for run in runs]
    return ReportTable([name, *columns], [*slots, None])


def _cell(run: JsonObject, row: tuple[str, str] | None) -> str:
    """Return a run's score of a benchmark or a mean; without one how the run ended."""
    if row is None:
        return "done" if run["ended"] == "done" else f"exit {run['exit_code']}"
    of, slot = row
    score = run[of].get(slot)
    if score is None:
        return NO_SCORE
    texts = [Figure.of(score, score["unit"]).with_span]
    if score["n_unscored"]:
        texts.append(f"{numbers.count(score['n_unscored'])} unscored")
    if score["selection"]:
        texts.append(score["selection"])
    return ", ".join(texts)


def _run_json(result: EndpointResult) -> dict[str, Any]:
    endpoint = result.config.endpoint
    benchmarks = {slot: _benchmark_json(metrics) for slot, metrics in result.benchmarks.items()}
    aggregates = {}
    for title, row in by_title(result.aggregates).items():
        # A mean over several benchmarks is its own headline.
        headline = {**row, "metric": row["name"]}
        selection = {"text": row["reason"] or ""}
        aggregates[title] = _benchmark_json({**row, "headline": headline, "selection": selection})
    return {
        "name": result.name,
        "model": None if endpoint is None else endpoint.model,
        "url": None if endpoint is None else redact_url(endpoint.url),
        "directory": result.directory,
        "exit_code": result.exit_code,
        "ended": result.ended,
        "benchmarks": benchmarks,
        "aggregates": aggregates,
    }


def _benchmark_json(metrics: JsonObject) -> dict[str, Any]:
    names = ("metric", "unit", "value", "ci_lower", "ci_upper", "ci_method", "bounds")
    counts = ("n_total", "n_scored", "n_model_failure", "n_unscored")
    return {
        **{name: metrics["headline"][name] for name in names},
        **{name: metrics["accounting"][name] for name in counts},
        "complete": metrics["complete"],
        "selection": str((metrics["selection"] or {}).get("text") or ""),
    }
