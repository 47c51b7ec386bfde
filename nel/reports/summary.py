"""A run's headlines as a Markdown table and as CSV, and the writers of such tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from nel.core.atomic_files import write_file
from nel.reports.tables.columns import ReportTable
from nel.reports.tables.headline import HeadlineRow
from nel.reports.tables.markdown import markdown_lines, markdown_text
from nel.reports.tables.results import SUMMARY, SUMMARY_FIELDS, summary_rows
from nel.reports.tables.spreadsheet import csv_text

_REMARK_CHARACTERS_MAX: Final = 400


def markdown_summary(rows: Sequence[HeadlineRow]) -> str:
    """Return a GitHub Markdown table, with remarks on judging and reading below it."""
    remarks = []
    for row in rows:
        title = markdown_text(f"{row.run}, {row.benchmark}")
        for line in row.lines:
            remark = markdown_text(line, characters_max=_REMARK_CHARACTERS_MAX)
            remarks.append(f"- {title}: {remark}")
    table = ReportTable(SUMMARY, rows, remarks)
    return "\n".join(markdown_lines(table)) + "\n"


def csv_summary(rows: Sequence[HeadlineRow]) -> str:
    """Return RFC 4180 CSV with a header and a line for each row."""
    return csv_text(ReportTable(SUMMARY_FIELDS, rows))


def writer_of(
    name: str, content: str, table: Callable[[Sequence[HeadlineRow]], str]
) -> Callable[[Path], Path]:
    """Return the function that writes a table of a run's benchmarks into its directory.

    It returns the path. It raises OutputError where the directory has no artifacts or a file is not
    strict JSON, and StoppedEarly where the disk is full.

    Args:
        name: Of the file.
        content: What it holds, for the list of plugins.
        table: Makes the text of the rows.
    """

    def write(run_dir: Path) -> Path:
        path = run_dir / name
        write_file(path, [table(summary_rows(run_dir)).encode()])
        return path

    write.__doc__ = f"Write the run's {name}, {content}, and return its path."
    return write


write_markdown = writer_of("summary.md", "a table for a pull request or a wiki", markdown_summary)
write_csv = writer_of("summary.csv", "one line a benchmark", csv_summary)
