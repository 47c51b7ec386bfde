"""Rows of the records of a table, whose first record is the header, from text or a workbook.

Columns without a name and empty rows at the end are left out; what is left out or converted is
noted. A first record that looks like a row, a column named twice, a row of another length and a
number that reads two ways are refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, repeat
from typing import Final

from nel.datasets.base import NumberedRow
from nel.datasets.column_names import is_common
from nel.datasets.table_form import TableForm
from nel.errors import DatasetError

_SAMPLED: Final = 500
"""Records that are looked at before the first row is given out."""
_SHOWN: Final = 5
_UNNAMED: Final = re.compile(r"(?:unnamed: \d+(?:_level_\d+)?)?", re.IGNORECASE)
"""Empty, or what pandas calls a column without a name."""
_NUMBER: Final = re.compile(r"[-+−]?\d+(?:[.,]\d+)*\s*%?")
_QUESTION: Final = re.compile(r".*[?？]\s*", re.DOTALL)
_COMMA_NUMBER: Final = re.compile(
    r"(?P<whole>[-+−]?(?:\d{1,3}(?:\.\d{3})+|\d+))(?:,(?P<part>\d+))?(?P<unit>\s*%?)"
)
"""A number as spreadsheets with a decimal comma write it: 1.234,5."""
_THOUSANDS: Final = re.compile(r"[-+−]?[1-9]\d{0,2}(?:,\d{3})+\s*%?")
"""It may as well be a whole number with commas between thousands."""


def rows_of_records(
    records: Iterator[list[str]],
    name: str,
    form: TableForm,
    *,
    has_comma_numbers: bool = False,
    line_of: Callable[[], int] | None = None,
) -> Iterator[NumberedRow]:
    """Yield the number of each row, with its cells by column or what is wrong with it.

    Args:
        records: The cells of each line; an empty list is a blank line.
        name: For messages.
        form: What the user says of the file.
        has_comma_numbers: Whether numbers may have a decimal comma.
        line_of: Returns the line that the last record ended in; None where there are no lines.

    Raises:
        DatasetError: The header is missing, is a row, or names a column twice.
    """
    header = next((cells for cells in records if any(cells)), None)
    if header is None:
        raise DatasetError(f"{name}: the file is empty; it needs a header line and rows")
    end_line = line_of or int
    head = [(cells, end_line()) for cells in islice(records, _SAMPLED)]
    head_cells = [cells for cells, _ in head]
    columns, have_names = _columns_of(header, head_cells, name, form)
    names = list(compress(columns, have_names))
    decimals = None
    if has_comma_numbers:
        decimals = _Decimals(columns, head_cells, name, form)
    width = len(columns)
    all_have_names = all(have_names)
    number = 0
    empty_rows: list[int] = []  # numbers of those before this record, which may be at the end
    for cells, line in chain(head, zip(records, repeat(None))):
        if not cells:  # a blank line
            continue
        number += 1
        if not any(cells):
            empty_rows.append(number)
            continue
        if empty_rows:
            yield from ((row, "all cells are empty") for row in empty_rows)
            empty_rows = []
        # Empty cells beyond the columns are what spreadsheets write after a wide sheet.
        if len(cells) != width and (len(cells) < width or any(cells[width:])):
            last_line = end_line() if line is None else line
            yield number, _width_problem(len(cells), width, last_line)
            continue
        problem = None
        if decimals is not None:
            problem = decimals.convert(cells)
        values = cells if all_have_names else compress(cells, have_names)
        yield number, problem or dict(zip(names, values, strict=False))
    if empty_rows:
        _note_empty(len(empty_rows), name, form)


def _width_problem(n_cells: int, n_columns: int, line: int) -> str:
    where = f" (line {line})" if line else ""
    return f"{n_cells} cells for {n_columns} columns{where}"


def _columns_of(
    header: Sequence[str], rows: Sequence[list[str]], name: str, form: TableForm
) -> tuple[list[str], list[bool]]:
    """Return the columns, and of each whether it has a name; raises DatasetError as its caller."""
    columns = [cell.strip() for cell in header]
    have_names = [not _UNNAMED.fullmatch(column) for column in columns]
    _check_header(columns, list(compress(columns, have_names)), rows, name)
    if not all(have_names):
        _note_unnamed(columns, have_names, name, form)
    return columns, have_names


def _check_header(
    columns: Sequence[str], names: Sequence[str], rows: Sequence[list[str]], name: str
) -> None:
    twice = sorted(column for column, n in Counter(names).items() if n > 1)
    if twice:
        titles = ", ".join(f'"{column}"' for column in twice)
        raise DatasetError(f"{name}: the header names {titles} more than once; rename all but one")
    has_wide_row = any(sum(map(bool, cells)) > 1 for cells in rows)
    if len(names) < 2 and has_wide_row:  # noqa: PLR2004 - a title stands alone
        what = "names no column"
        if names:
            what = f'is "{names[0]}" alone'
        raise DatasetError(
            f"{name}: the first row {what}, and rows have more cells; delete what stands above the"
            " names of the columns"
        )
    if any(map(is_common, names)):
        return
    if any(_looks_like_values(column, _values(rows, n)) for n, column in enumerate(columns)):
        raise DatasetError(
            f"{name}: the first line looks like a row, not like names of columns:"
            f" {', '.join(columns)[:80]}; put names above it, such as question,answer"
        )


def _values(rows: Sequence[list[str]], position: int) -> list[str]:
    cells = (cells[position].strip() for cells in rows if position < len(cells))
    return [cell for cell in cells if cell]


def _looks_like_values(column: str, values: Sequence[str]) -> bool:
    """Return whether the name of a column is a number, a question or a label like its cells."""
    if not values or not column:
        return False
    for pattern in (_NUMBER, _QUESTION):
        if pattern.fullmatch(column):
            n_alike = sum(pattern.fullmatch(value) is not None for value in values)
            return 2 * n_alike > len(values)
    return values.count(column) > 0 and len(set(values)) < len(values)


def _note_unnamed(
    columns: Sequence[str], have_names: Sequence[bool], name: str, form: TableForm
) -> None:
    numbers = [str(number) for number, has_name in enumerate(have_names, start=1) if not has_name]
    text = ", ".join(numbers[:_SHOWN])
    if len(numbers) > _SHOWN:
        text += ", …"
    noun, verb = ("columns", "they have") if len(numbers) > 1 else ("column", "it has")
    form.note(f"{name}: {noun} {text} of {len(columns)} left out: {verb} no name")


def _note_empty(n: int, name: str, form: TableForm) -> None:
    rows = "rows" if n > 1 else "row"
    form.note(f"{name}: {n} empty {rows} at the end left out")


@dataclass(slots=True)
class _Column:
    position: int
    name: str
    is_decimal: bool = False
    """Whether some number has digits after its comma that are not thousands."""


class _Decimals:
    """Writes decimal commas as points, in columns that hold numbers alone."""

    def __init__(
        self, columns: Sequence[str], rows: Sequence[list[str]], name: str, form: TableForm
    ) -> None:
        """Find the columns of numbers.

        Raises:
            DatasetError: The commas of one may be decimal, or stand between thousands.
        """
        self._name, self._form = name, form
        self._columns = [] if form.decimal == "." else list(self._numeric(columns, rows))
        for column in self._columns:
            commas = [value for value in _values(rows, column.position) if "," in value]
            column.is_decimal = form.decimal == "," or any(
                not _THOUSANDS.fullmatch(value) for value in commas
            )
            if column.is_decimal and commas:
                self._note(column, commas[0])
            elif commas:
                raise DatasetError(self._ambiguous(column, commas[0]))

    @staticmethod
    def _numeric(columns: Sequence[str], rows: Sequence[list[str]]) -> Iterator[_Column]:
        for position, column in enumerate(columns):
            values = _values(rows, position)
            if values and all(map(_COMMA_NUMBER.fullmatch, values)):
                yield _Column(position, column)

    def convert(self, cells: list[str]) -> str | None:
        """Write the decimal commas of a row as points; return its problem, or None."""
        for column in self._columns:
            value = cells[column.position]
            # In a column of decimal commas a point stands between thousands.
            if "," not in value and not (column.is_decimal and "." in value):
                continue
            match = _COMMA_NUMBER.fullmatch(value.strip())
            if match is None:
                continue
            if not column.is_decimal:
                if _THOUSANDS.fullmatch(value.strip()):
                    return self._ambiguous(column, value)
                column.is_decimal = True
                self._note(column, value)
            point = f".{match['part']}" if match["part"] else ""
            cells[column.position] = match["whole"].replace(".", "") + point + match["unit"]
        return None

    def _note(self, column: _Column, value: str) -> None:
        self._form.note(
            f'{self._name}: the commas of the column "{column.name}" are decimal, as in {value};'
            " they are read as points"
        )

    def _ambiguous(self, column: _Column, value: str) -> str:
        return (
            f'{self._name}: {value} in the column "{column.name}" reads two ways: say which with'
            f" '{self._name}?decimal=,' (a decimal comma) or '{self._name}?decimal=.' (thousands)"
        )
