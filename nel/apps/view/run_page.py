"""What the page of a run says of each benchmark, from its artifacts or else from run.db."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from nel.apps.view.summary import BenchmarkSummary, RunSummary
from nel.core.paths import as_argument
from nel.reports import numbers
from nel.reports.page import (
    METRICS,
    accounting_segments,
    categories_of,
    failure_rows,
)
from nel.reports.tables.columns import ReportTable
from nel.reports.tables.headline import HeadlineRow, headline_rows, metric_rows
from nel.types import JsonObject

_LATENCIES: Final = (("Latency", "latency_seconds"), ("First token", "first_token_seconds"))


def benchmark_page(
    run: RunSummary, summary: BenchmarkSummary, link: Callable[[HeadlineRow], str]
) -> dict[str, Any]:
    """Return what the page says of a benchmark, for its template.

    ``alike`` are failures with one error text or one form of answer in common.

    Args:
        run: The run.
        summary: Of the benchmark.
        link: Where a category leads.
    """
    files, row = summary.files, summary.row
    rows = [row]
    metrics: JsonObject = {}
    runtime: JsonObject = {}
    failures: JsonObject = {}
    bundle: JsonObject = {}
    if files is not None:
        metrics, runtime = files.metrics, files.runtime
        failures, bundle = files.failures, files.bundle
        rows = list(headline_rows(metrics, bundle, files.title))
    n_missing = row.accounting["n_total"] - summary.n_done
    n_not_asked = row.accounting["n_not_asked"] + n_missing
    return {
        "summary": summary,
        "row": row,
        "n_missing": n_missing,
        "segments": accounting_segments({**row.accounting, "n_not_asked": n_not_asked}),
        "warnings": _warnings(run, summary, n_missing),
        "categories": categories_of(rows, link),
        "failures": failure_rows(failures),
        "alike": failures.get("clusters") or (),
        "n_unclustered": failures.get("n_unclustered") or 0,
        "metrics": ReportTable(METRICS, list(metric_rows(metrics, row))),
        "judging": metrics.get("judging"),
        "episodes": runtime.get("episodes"),
        "latencies": [
            (title, runtime[key])
            for title, key in _LATENCIES
            if (runtime.get(key) or {}).get("max")
        ],
        "config": bundle.get("config") or {},
    }


def _warnings(run: RunSummary, summary: BenchmarkSummary, n_missing: int) -> list[str]:
    lines = []
    if summary.files is None and not run.is_live:
        lines.append(
            f"This run has no results yet: {numbers.count(n_missing)} answers are missing. nel eval"
            f" resume {as_argument(run.run.path)} goes on."
        )
    return [*lines, *summary.warnings]
