"""The form in which all commands print tables: cells that do not fit get lines of their own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import Final, TextIO

import typer
from rich.cells import cell_len

from nel.cli.terminal import report_text
from nel.reports.tables.columns import ReportTable

_LOG_WIDTH: Final = 200
"""Columns where the stream is not a terminal."""
_GAP: Final = "   "


def print_table(table: ReportTable, *, err: bool = False) -> None:
    """Print a table and the lines below it; see `table_lines`."""
    width = width_of(sys.stderr if err else sys.stdout)
    typer.echo("\n".join(table_lines(table, width)), err=err)


def width_of(stream: TextIO) -> int:
    """Return how many columns a stream has."""
    return shutil.get_terminal_size().columns if stream.isatty() else _LOG_WIDTH


def table_lines(table: ReportTable, width: int) -> list[str]:
    """Return the lines of a table, then those below it.

    The columns stand side by side as far as they fit, from the first on; each other cell is a line
    of its own below its row, after its heading. A column without any text is left out.

    Args:
        table: Its text is made safe for a terminal here.
        width: Of the terminal.
    """
    table = table.used
    headings = [report_text(column.words) for column in table.columns]
    rows = [[report_text(cell) for cell in row] for row in table.texts()]
    widths = [max(map(cell_len, cells)) for cells in zip(headings, *rows, strict=True)]
    # The first column always stands in the table, however narrow the terminal is.
    n_fitting = sum(_width(widths[:n]) <= width for n in range(1, len(widths) + 1))
    n_beside = max(1, n_fitting)
    widths = widths[:n_beside]
    is_numeric = [column.is_numeric for column in table.columns]
    rule = " " + "─" * (min(_width(widths), width) - 2)
    lines = ["", _line(headings, widths, is_numeric), rule]
    for row in rows:
        lines.append(_line(row, widths, is_numeric))
        for heading, cell in zip(headings[n_beside:], row[n_beside:], strict=True):
            # Of an empty cell `wrap` makes no line.
            lines += wrap(
                cell and f"{heading}: {cell}",
                width,
                initial_indent="    ",
                subsequent_indent="      ",
                break_long_words=False,
            )
    return [*lines, "", *map(report_text, table.below)]


def _line(row: Sequence[str], widths: Sequence[int], is_numeric: Sequence[bool]) -> str:
    cells = []
    # Ends with the widths: the cells after them stand below the row.
    for cell, width, is_number in zip(row, widths, is_numeric, strict=False):
        space = " " * (width - cell_len(cell))
        cells.append(space + cell if is_number else cell + space)
    return f"  {_GAP.join(cells)}".rstrip()


def _width(widths: Sequence[int]) -> int:
    # Two columns before the first cell and two after the last, of which the rule takes one each.
    return sum(widths) + len(_GAP) * (len(widths) - 1) + 4
