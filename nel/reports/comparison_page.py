"""Writes the page of a comparison: self-contained, without a script; answers stand side by side.

Answers are hostile: every printed value passes the escaping of `nel.reports.html`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nel.reports.comparison import (
    Compared,
    benchmarks_table,
    compared_of,
    compared_table,
    despite_note,
    lines,
    rows_of,
)
from nel.reports.static_page import static_page, write_page
from nel.reports.tables.columns import ReportTable
from nel.types import JsonObject


def write_comparison_page(document: JsonObject, path: Path) -> None:
    """Write the page, replacing an older one atomically.

    Raises:
        OutputError: The directory of the file is not there.
        StoppedEarly: The disk is full.
    """
    write_page(path, html_page(document))


def html_page(document: JsonObject) -> Iterator[str]:
    """Return the page in chunks; the same comparison gives the same text."""
    return static_page(
        "comparison",
        document=document,
        note=despite_note(document["settings"]["despite"]),
        lines=lines,
        benchmarks=benchmarks_table,
        rows=rows_of,
        compared=compared_of,
        measures=_measures_table,
    )


def _measures_table(measures: Sequence[JsonObject], level: float, what: str) -> ReportTable:
    rows = [Compared(str(measure["metric"]), measure) for measure in measures]
    return compared_table(rows, level, what)
