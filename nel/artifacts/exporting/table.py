"""The tables of CSV and Parquet exports: a row per sample and repeat, and per metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from nel.artifacts.exporting.run import RunToExport, storable
from nel.core.strict_json import dumps
from nel.reports.run_files import BenchmarkFiles
from nel.reports.tables.headline import headline_of
from nel.reports.tables.headline import metric_rows as of_metrics
from nel.types import JsonObject

Kind = Literal["text", "integer", "number"]

SAMPLE_COLUMNS: Final[Mapping[str, Kind]] = {
    "run_id": "text", "benchmark": "text", "sample_id": "text", "problem_idx": "integer",
    "repeat": "integer", "state": "text", "kind": "text", "cause": "text", "detail": "text",
    "reward": "number", "category": "text", "group": "text", "prompt": "text",
    "expected_answer": "text", "model_response": "text", "reasoning": "text",
    "extracted_answer": "text", "finish_reason": "text", "model": "text", "served_model": "text",
    "prompt_tokens": "integer", "completion_tokens": "integer", "reasoning_tokens": "integer",
    "cached_tokens": "integer", "started": "text", "ended": "text", "latency_seconds": "number",
    "first_token_seconds": "number", "attempts": "integer", "scoring_details": "text",
    "metadata": "text",
}  # fmt: skip
"""Columns of a sample in order.

``state`` is scored, model_failure, unscored or not_asked; the last two have no reward. A text
column has compact JSON where results.jsonl has another type, such as a conversation."""

METRIC_COLUMNS: Final[Mapping[str, Kind]] = {
    "run_id": "text", "benchmark": "text", "model": "text", "started": "text", "ended": "text",
    "metric": "text", "headline": "text", "value": "number", "ci_level": "number",
    "ci_lower": "number", "ci_upper": "number", "ci_method": "text", "bound_lower": "number",
    "bound_upper": "number", "n": "integer", "n_questions": "integer", "repeats": "integer",
    "n_total": "integer", "n_scored": "integer", "n_model_failure": "integer",
    "n_unscored": "integer", "n_not_asked": "integer", "complete": "text", "reason": "text",
}  # fmt: skip
"""Columns of a metric in order. A missing value is an empty cell, never 0, with its ``reason``."""

Row = dict[str, Any]


def sample_rows(run: RunToExport) -> Iterator[Row]:
    """Yield a row for each sample and repeat of all benchmarks, in the order of results.jsonl."""
    for files in run.benchmarks:
        for result in files.results():
            yield _sample_row(run.run_id, files.title, result)


def metric_rows(run: RunToExport) -> Iterator[Row]:
    """Yield a row for each metric of each benchmark; the headline is first, even without value."""
    for files in run.benchmarks:
        yield from _metric_rows(run.run_id, files)


def _sample_row(run_id: str, benchmark: str, result: JsonObject) -> Row:
    metadata, outcome = result["metadata"], result["outcome"]
    tokens, timing = result["tokens"], result["timing"]
    columns: Row = {**result, **outcome, **timing, "run_id": run_id, "benchmark": benchmark}
    columns |= {
        f"{name}_tokens": tokens.get(name)
        for name in ("prompt", "completion", "reasoning", "cached")
    }
    columns |= {"category": metadata.get("category"), "metadata": metadata or None}
    return {name: _cell(columns.get(name), kind) for name, kind in SAMPLE_COLUMNS.items()}


def _metric_rows(run_id: str, files: BenchmarkFiles) -> Iterator[Row]:
    headline = headline_of(files.metrics, files.bundle, files.title)
    for position, row in enumerate(of_metrics(files.metrics, headline)):
        columns = {
            **row.accounting,
            **row.details,
            **files.metrics["timing"],
            "run_id": run_id,
            "benchmark": row.benchmark,
            "model": row.model,
            "metric": row.metric,
            "headline": "false" if position else "true",
            "bound_lower": row.bounds.lower,
            "bound_upper": row.bounds.upper,
            "complete": "true" if row.complete else "false",
        }
        yield {name: _cell(columns.get(name), kind) for name, kind in METRIC_COLUMNS.items()}


def _cell(value: object, kind: Kind) -> object:
    """Return a value as its column's type; a missing one stays None, and is never a number."""
    if value is None:
        return None
    if kind == "number":
        return float(value) if isinstance(value, int | float) else None
    if kind == "integer":
        return int(value) if isinstance(value, int) else None
    return storable(value) if isinstance(value, str) else dumps(value)
