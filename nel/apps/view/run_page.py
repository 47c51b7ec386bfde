"""What the page of one run says of each benchmark, from its artifacts or, before there are any,
from run.db.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.apps.view.summary import BenchmarkSummary, RunSummary
from nel.reports import numbers
from nel.reports.early_stop import stop_line
from nel.reports.extraction import band_text
from nel.reports.judge_section import judged_line
from nel.reports.page import accounting_segments, causes_of, failure_rows, reason_of
from nel.reports.selection import sample_line
from nel.reports.spread import spread_text

_LATENCIES: Final = (("Latency", "latency_seconds"), ("First token", "first_token_seconds"))


def benchmark_page(run: RunSummary, summary: BenchmarkSummary) -> dict[str, Any]:
    """Return what the page says of a benchmark, for its template: causes of the unscored and kinds
    of failures come most frequent first, ``alike`` are failures with one error text or one form of
    answer in common, and ``remarks`` say who judged and how far the score depends on the reading.
    """
    files = summary.files
    metrics: Mapping[str, Any] = files.metrics if files is not None else {}
    accounting = _accounting(summary, metrics)
    headline: Mapping[str, Any] = metrics.get("headline") or {}
    runtime: Mapping[str, Any] = files.runtime if files is not None else {}
    failures: Mapping[str, Any] = files.failures if files is not None else {}
    kinds = accounting.get("model_failures") or {}
    return {
        "summary": summary,
        "segments": accounting_segments(accounting),
        "causes": causes_of(accounting),
        "kinds": sorted(kinds.items(), key=lambda item: (-item[1], item[0])),
        "warnings": _warnings(run, summary),
        "reason": reason_of(metrics),
        "method": str(headline.get("ci_method") or ""),
        "categories": [
            {"name": name, **row} for name, row in (metrics.get("categories") or {}).items()
        ],
        "failures": failure_rows(failures),
        "alike": failures.get("clusters") or (),
        "n_unclustered": failures.get("n_unclustered") or 0,
        "metrics": list(metrics.get("metrics") or ()),
        "remarks": _remarks(metrics),
        "judging": metrics.get("judging"),
        "episodes": runtime.get("episodes"),
        "is_shard": bool(metrics.get("shard")),
        "latencies": [
            (title, runtime[key])
            for title, key in _LATENCIES
            if (runtime.get(key) or {}).get("max")
        ],
        "config": (files.bundle.get("config") or {}) if files is not None else {},
    }


def _remarks(metrics: Mapping[str, Any]) -> list[str]:
    judging = metrics.get("judging") or {}
    lines = (
        sample_line(metrics),
        stop_line(metrics),
        spread_text(metrics),
        judged_line(judging) if judging else "",
        band_text(metrics),
    )
    return [line for line in lines if line]


def _accounting(summary: BenchmarkSummary, metrics: Mapping[str, Any]) -> dict[str, Any]:
    names = ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")
    counts = {name: getattr(summary, name) for name in names}
    if summary.files is None:
        counts["n_not_asked"] = summary.n_total - summary.n_done
    return {**counts, **(metrics.get("accounting") or {})}


def _warnings(run: RunSummary, summary: BenchmarkSummary) -> list[str]:
    lines = []
    if summary.files is None and not run.is_live:
        left = numbers.count(summary.n_total - summary.n_done)
        lines.append(
            f"This run has no results yet: {left} answers are missing. nel eval resume"
            f" {run.run.path} goes on."
        )
    return [*lines, *summary.warnings]
