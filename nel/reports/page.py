"""Prepares the artifacts of a benchmark for the page's template.

A value of null is "no score" with its reason. Only a metric with bounds is known to lie in [0, 1],
and only such a metric is printed as a percentage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from nel.reports.corrected import corrected_line
from nel.reports.early_stop import stop_line
from nel.reports.judge_section import judged_line
from nel.reports.run_files import BenchmarkFiles
from nel.reports.run_warnings import OF_JUDGES, texts_of
from nel.reports.samples import Selection
from nel.reports.selection import shard_title
from nel.reports.text import as_text, one_line, preview

_BAR_PERCENT_MIN: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One coloured part of a bar; both numbers are percent of its width."""

    name: str
    start: float
    width: float


def view_of(files: BenchmarkFiles, position: int, selection: Selection) -> dict[str, Any]:
    """Return everything that the template needs of a benchmark: ``is_share`` says whether the
    headline is known to lie in [0, 1], ``reason`` why it has no value or no interval; ``shard``,
    ``judged`` and ``corrected`` are lines, empty where there is nothing to say.

    Args:
        position: Counts from 1; names the benchmark's anchor, since names can hold anything.
        selection: Of its samples.
    """
    metrics = files.metrics
    headline = metrics.get("headline") or {}
    accounting = dict.fromkeys(
        ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked"), 0
    )
    accounting.update(metrics.get("accounting") or {})
    complete = bool(metrics.get("complete"))
    judging = metrics.get("judging") or {}
    return {
        "anchor": f"benchmark-{position}",
        "title": files.title,
        "files": files,
        "selection": selection,
        "is_complete": complete,
        "shard": shard_title(metrics),
        "is_share": headline.get("bounds") is not None,
        "headline": headline,
        "reason": reason_of(metrics),
        "accounting": accounting,
        "segments": accounting_segments(accounting),
        "banners": [
            *_stop_notes(metrics),
            *map(one_line, texts_of(metrics, but=OF_JUDGES)),
        ],
        "judged": judged_line(judging) if judging else "",
        "judge_warnings": texts_of(metrics, OF_JUDGES),
        "config": files.bundle.get("config") or {},
        "corrected": corrected_line(metrics),
        "has_score": headline.get("value") is not None,
        "causes": causes_of(accounting),
    }


def reason_of(metrics: Mapping[str, Any]) -> str:
    """Return why the headline has no value or no interval; empty where it has both.

    Args:
        metrics: The content of metrics.json.
    """
    name = (metrics.get("headline") or {}).get("metric")
    rows = (row for row in metrics.get("metrics") or () if row["name"] == name)
    row: Mapping[str, Any] = next(rows, {})
    return str(row.get("reason") or "")


def causes_of(accounting: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return ``(cause: kind, n)`` of the unscored, most frequent first."""
    causes = [
        (f"{cause}: {kind}", int(n))
        for cause, kinds in (accounting.get("unscored") or {}).items()
        for kind, n in (kinds.get("kinds") or {"unknown": kinds.get("n", 0)}).items()
        if n
    ]
    return sorted(causes, key=lambda item: (-item[1], item[0]))


def accounting_segments(accounting: Mapping[str, Any]) -> list[Segment]:
    """Return the parts of the accounting bar; a part that is not 0 is never too thin to see."""
    names = ("n_scored", "n_model_failure", "n_unscored", "n_not_asked")
    counts = [accounting.get(name, 0) for name in names]
    total = sum(counts)
    shares = [count / total * 100 if total else 0.0 for count in counts]
    widths = [max(share, _BAR_PERCENT_MIN) if share > 0 else 0.0 for share in shares]
    scale = 100 / sum(widths) if total else 0.0
    segments, start = [], 0.0
    for name, width in zip(names, widths, strict=True):
        if width:
            segments.append(Segment(name=name.removeprefix("n_"), start=start, width=width * scale))
            start += width * scale
    return segments


def failure_rows(failures: Mapping[str, Any]) -> list[dict[str, Any]]:
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


def _stop_notes(metrics: Mapping[str, Any]) -> list[str]:
    line = stop_line(metrics)
    return [one_line(f"{line[0].upper()}{line[1:]}.")] if line else []
