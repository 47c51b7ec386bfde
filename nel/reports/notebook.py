"""Tables for a notebook, which has no style sheet of nel's, and for the text of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nel.reports.tables.columns import ReportTable


def notebook_table(table: ReportTable) -> str:
    """Return a table for a notebook, which gives it its style."""
    from nel.reports.html import table_html  # noqa: PLC0415 - few runs are in a notebook

    return table_html(table, style="text-align: left; white-space: nowrap")


def plain_table(table: ReportTable) -> str:
    """Return a table as lines with its columns below each other, the headings first."""
    lines = [[column.words for column in table.columns], *table.texts()]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    rows = [map(str.ljust, line, widths) for line in lines]
    return "\n".join("  ".join(row).rstrip() for row in rows)
