"""The one form in which commands print tables: what does not fit stands on lines of its own, and
nothing is shortened.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Final

import typer
from rich.cells import cell_len

from nel.cli.terminal import report_text

_LOG_WIDTH: Final = 200
"""Columns where the stream is not a terminal."""
_GAP: Final = "   "


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    err: bool = False,
) -> None:
    """Print a table; see `table_lines`."""
    stream = sys.stderr if err else sys.stdout
    width = shutil.get_terminal_size().columns if stream.isatty() else _LOG_WIDTH
    typer.echo("\n".join(table_lines(headings, rows, width, right=right)), err=err)


def table_lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, right: Sequence[str] = ()
) -> list[str]:
    """Return the lines of a table.

    The columns stand side by side as far as they fit, from the first on; each other cell is a line
    of its own below its row, after its heading. A column without any text is left out.

    Args:
        headings: Of the columns.
        rows: A cell for each heading.
        width: Of the terminal.
        right: Headings of the columns that are aligned to the right.
    """
    table = [[report_text(cell) for cell in row] for row in (headings, *rows)]
    used = [at for at in range(len(headings)) if any(row[at] for row in table[1:])]
    widths = {at: max(cell_len(row[at]) for row in table) for at in used}
    fits = [_width([widths[at] for at in used[:n]]) <= width for n in range(1, len(used) + 1)]
    beside = {at: widths[at] for at in used[: max(1, sum(fits))]}
    is_right = [heading in right for heading in headings]
    rule = " " + "─" * (min(_width([*beside.values()]), width) - 2)
    lines = ["", _line(table[0], beside, is_right), rule]
    for row in table[1:]:
        lines.append(_line(row, beside, is_right))
        for at in used[len(beside) :]:
            lines += wrap(
                row[at] and f"{table[0][at]}: {row[at]}",
                width,
                initial_indent="    ",
                subsequent_indent="      ",
                break_long_words=False,
            )
    return [*lines, ""]


def _line(row: Sequence[str], widths: Mapping[int, int], is_right: Sequence[bool]) -> str:
    cells = []
    for at, width in widths.items():
        space = " " * (width - cell_len(row[at]))
        cells.append(space + row[at] if is_right[at] else row[at] + space)
    return f"  {_GAP.join(cells)}".rstrip()


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1) + 4
