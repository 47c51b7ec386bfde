"""Prepares the artifacts of a benchmark for the page's template.

A value of null is "no score" with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final

from nel.reports.corrected import corrected_line
from nel.reports.run_files import BenchmarkFiles
from nel.reports.run_warnings import OF_JUDGES, texts_of
from nel.reports.samples import Selection
from nel.reports.tables.columns import Column, ReportTable, ValueKind
from nel.reports.tables.headline import (
    HeadlineRow,
    ScoreOf,
    aggregate_rows,
    headline_rows,
    metric_rows,
)
from nel.reports.tables.results import (
    BENCHMARK,
    BOUNDS,
    INTERVAL,
    METRIC,
    N_MODEL_FAILURE,
    N_TOTAL,
    N_UNSCORED,
    SCORE,
    STATE,
    N,
)
from nel.reports.text import as_text, one_line, preview
from nel.types import JsonObject

_BAR_PERCENT_MIN: Final = 0.8
"""The least width of a part of a bar, so that one sample of a thousand is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One coloured part of a bar; both numbers are percent of its width."""

    name: str
    start: float
    width: float


METRICS: Final = (
    METRIC,
    SCORE,
    INTERVAL,
    Column(
        "ci_method",
        of=lambda row: row.details["ci_method"],
        heading="method",
        note=lambda row: "; ".join(
            filter(None, [row.details.get("ci_covers"), row.details.get("reason")])
        ),
    ),
    BOUNDS,
    N,
    Column("n_questions", ValueKind.COUNT, lambda row: row.details["n_questions"], "questions"),
    Column("denominator", of=lambda row: row.details["denominator"], heading="counted over"),
)


BAR: Final = Column("bar", ValueKind.BAR, attrgetter("score"), "on 0–100 %")


def categories_of(
    rows: Iterable[HeadlineRow], link: Callable[[HeadlineRow], str] | None = None
) -> ReportTable:
    """Return the table of a benchmark's categories.

    Args:
        rows: Of the benchmark.
        link: Where a category leads.
    """
    category_rows = [row for row in rows if row.what is ScoreOf.CATEGORY]
    are_rates = all(row.score.unit == "rate" for row in category_rows)
    columns = (
        replace(METRIC, heading="category", link=link),
        SCORE,
        *([BAR] if are_rates else []),
        INTERVAL,
        N_TOTAL,
        N_MODEL_FAILURE,
        N_UNSCORED,
    )
    return ReportTable(columns, category_rows)


def view_of(files: BenchmarkFiles, position: int, selection: Selection) -> dict[str, Any]:
    """Return everything that the template needs of a benchmark: ``row`` is its headline;
    ``corrected`` is a line, empty where there is nothing to say.

    Args:
        position: Counts from 1; names the benchmark's anchor, since names can hold anything.
        selection: Of its samples.
    """
    metrics = files.metrics
    rows = list(headline_rows(metrics, files.bundle, files.title))
    return {
        "anchor": f"benchmark-{position}",
        "title": files.title,
        "files": files,
        "selection": selection,
        "row": rows[0],
        "segments": accounting_segments(rows[0].accounting),
        "banners": [
            *_stop_notes(rows[0]),
            *map(one_line, texts_of(metrics, but=OF_JUDGES)),
        ],
        "judge_warnings": texts_of(metrics, OF_JUDGES),
        "config": files.bundle.get("config") or {},
        "corrected": corrected_line(metrics),
        "metrics": ReportTable(METRICS, list(metric_rows(metrics, rows[0]))),
        "categories": categories_of(rows),
    }


def overview_of(
    views: Sequence[Mapping[str, Any]], aggregates: Sequence[JsonObject]
) -> ReportTable:
    """Return the headlines of a page's benchmarks as a table whose names lead to them, and below them
    the means over several.
    """
    views_by_name = {view["title"]: view for view in views}

    def note(row: HeadlineRow) -> str:
        if row.what is ScoreOf.AGGREGATE:
            return "; ".join(row.warnings)
        if not row.remark("judged"):
            return ""
        n = len(views_by_name[row.benchmark]["judge_warnings"])
        if not n:
            return "judged"
        return "judged, 1 warning" if n == 1 else f"judged, {n} warnings"

    def link(row: HeadlineRow) -> str:
        if row.what is not ScoreOf.HEADLINE:
            return ""
        return f"#{views_by_name[row.benchmark]['anchor']}"

    columns = (
        replace(BENCHMARK, link=link),
        replace(METRIC, note=note),
        SCORE,
        INTERVAL,
        N_TOTAL,
        N_UNSCORED,
        STATE,
    )
    return ReportTable(columns, [*(view["row"] for view in views), *aggregate_rows(aggregates)])


def accounting_segments(accounting: JsonObject) -> list[Segment]:
    """Return the parts of the accounting bar; a part that is not 0 is never too thin to see."""
    names = ("n_scored", "n_model_failure", "n_unscored", "n_not_asked")
    counts = {name: accounting[name] for name in names if accounting.get(name)}
    total = sum(counts.values())
    widths = {name: max(n / total * 100, _BAR_PERCENT_MIN) for name, n in counts.items()}
    scale = 100 / (sum(widths.values()) or 100)
    segments, start = [], 0.0
    for name, width in widths.items():
        # What thin parts gained is taken from all, so that the bar is full.
        width_of_bar = width * scale
        segments.append(Segment(name=name.removeprefix("n_"), start=start, width=width_of_bar))
        start += width_of_bar
    return segments


def failure_rows(failures: JsonObject) -> list[dict[str, Any]]:
    """Return the kinds of failures, most frequent first, each with its exemplars.

    Args:
        failures: The content of failure_analysis.json.
    """
    exemplars: dict[str, list[dict[str, object]]] = {}
    for exemplar in failures.get("exemplars") or []:
        exemplars.setdefault(str(exemplar["kind"]), []).append(
            {
                **exemplar,
                "response": preview(as_text(exemplar.get("response_preview") or "")),
                "expected": preview(as_text(exemplar.get("expected_answer"))),
                "extracted": preview(as_text(exemplar.get("extracted_answer"))),
                "detail": preview(as_text(exemplar.get("detail") or "")),
            }
        )
    rows = [
        {"name": name, "hint": "", **numbers_, "exemplars": exemplars.get(name, [])}
        for name, numbers_ in (failures.get("kinds") or {}).items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["name"]))


def _stop_notes(row: HeadlineRow) -> list[str]:
    line = row.remark("stopped")
    return [one_line(f"{line[0].upper()}{line[1:]}.")] if line else []
