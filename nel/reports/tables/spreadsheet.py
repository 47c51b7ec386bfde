"""Writes tables as CSV; text cells cannot run as formulas in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from nel.config.numbers import plain_number
from nel.reports.tables.columns import ReportTable
from nel.reports.text import visible

FORMULA_START: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet may run; the wide forms are of Japanese input."""
_NUL: Final = "\ufffd"


def csv_text(table: ReportTable) -> str:
    """Return a table as CSV with control characters as escapes; see `csv_lines`."""
    return b"".join(csv_lines(table.names, table.objects(), show=visible)).decode()


def csv_lines(
    names: Iterable[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    show: Callable[[str], str] = lambda text: text.replace("\0", _NUL),
) -> Iterator[bytes]:
    """Yield RFC 4180 lines as UTF-8, the header first.

    A text cell that a spreadsheet could take for a formula gets a leading apostrophe, which a
    reader must strip. Numbers are written as they are, and a missing one is an empty cell.

    Args:
        names: Of the columns.
        rows: Each with a value for each name.
        show: Escapes the characters of a text that CSV cannot hold.
    """
    # One row at a time in memory: the buffer is emptied after each.
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(value, show) for value in row.values()])
        yield out.getvalue().encode()
        out.seek(0)
        out.truncate()
    yield out.getvalue().encode()


def _cell(value: Any, show: Callable[[str], str]) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        value = [f"{name}={n}" for name, n in value.items()]
    if isinstance(value, (list, tuple)):
        value = "; ".join(value)
    if not isinstance(value, str):
        return value
    is_formula = value.lstrip(" ").startswith(FORMULA_START) and plain_number(value) is None
    return f"'{show(value)}" if is_formula else show(value)
