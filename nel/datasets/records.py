"""What becomes of the records of a table, from text or from a workbook: the first is the header,
the others are rows of text, and what is left out or converted is noted.

Columns without a name and empty rows at the end are left out. A first record that looks like a row,
a column named twice, a row of another length and a number that reads two ways are refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, repeat
from typing import Final

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
) -> Iterator[tuple[int, dict[str, object] | str]]:
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
    sampled = [(cells, end_line()) for cells in islice(records, _SAMPLED)]
    first = [cells for cells, _ in sampled]
    columns, named = _columns_of(header, first, name, form)
    names = list(compress(columns, named))
    decimals = _Decimals(columns, first, name, form) if has_comma_numbers else None
    width, is_whole = len(columns), all(named)
    number = 0
    empty: list[int] = []
    for cells, line in chain(sampled, zip(records, repeat(None))):
        if not any(cells):
            number += bool(cells)
            empty += [number] if cells else []
            continue
        if empty:
            yield from ((blank, "all cells are empty") for blank in empty)
            empty = []
        number += 1
        if len(cells) != width and (len(cells) < width or any(cells[width:])):
            yield number, _width_problem(len(cells), width, end_line() if line is None else line)
            continue
        problem = None if decimals is None else decimals.convert(cells)
        values = cells if is_whole else compress(cells, named)
        yield number, problem or dict(zip(names, values, strict=False))
    if empty:
        _note_empty(len(empty), name, form)


def _width_problem(n_cells: int, n_columns: int, line: int) -> str:
    where = f" (line {line})" if line else ""
    return f"{n_cells} cells for {n_columns} columns{where}"


def _columns_of(
    header: Sequence[str], rows: Sequence[list[str]], name: str, form: TableForm
) -> tuple[list[str], list[bool]]:
    """Return the columns, and of each whether it has a name; raises DatasetError as its caller."""
    columns = [cell.strip() for cell in header]
    named = [not _UNNAMED.fullmatch(column) for column in columns]
    _check_header(columns, list(compress(columns, named)), rows, name)
    if not all(named):
        _note_unnamed(columns, named, name, form)
    return columns, named


def _check_header(
    columns: Sequence[str], names: Sequence[str], rows: Sequence[list[str]], name: str
) -> None:
    twice = sorted(column for column, n in Counter(names).items() if n > 1)
    if twice:
        listed = ", ".join(f'"{column}"' for column in twice)
        raise DatasetError(f"{name}: the header names {listed} more than once; rename all but one")
    if len(names) < 2 and any(  # noqa: PLR2004 - a title stands alone
        sum(map(bool, cells)) > 1 for cells in rows
    ):
        what = f'is "{names[0]}" alone' if names else "names no column"
        raise DatasetError(
            f"{name}: the first row {what}, and rows have more cells; delete what stands above the"
            " names of the columns"
        )
    if not any(map(is_common, names)) and any(
        _looks_like_values(column, _values(rows, position))
        for position, column in enumerate(columns)
    ):
        raise DatasetError(
            f"{name}: the first line looks like a row, not like names of columns:"
            f" {', '.join(columns)[:80]}; put names above it, such as question,answer"
        )


def _values(rows: Sequence[list[str]], position: int) -> list[str]:
    cells = (cells[position].strip() for cells in rows if position < len(cells))
    return [cell for cell in cells if cell]


def _looks_like_values(column: str, values: Sequence[str]) -> bool:
    """Return whether the name of a column is what the cells below it are: a number, a question, or
    one of a few labels.
    """
    if not values or not column:
        return False
    for pattern in (_NUMBER, _QUESTION):
        if pattern.fullmatch(column):
            return 2 * sum(pattern.fullmatch(value) is not None for value in values) > len(values)
    return values.count(column) > 0 and len(set(values)) < len(values)


def _note_unnamed(
    columns: Sequence[str], named: Sequence[bool], name: str, form: TableForm
) -> None:
    numbers = [str(number) for number, is_named in enumerate(named, start=1) if not is_named]
    many = len(numbers) > 1
    listed = ", ".join(numbers[:_SHOWN]) + (", …" if len(numbers) > _SHOWN else "")
    form.note(
        f"{name}: column{'s' if many else ''} {listed} of {len(columns)} left out:"
        f" {'they have' if many else 'it has'} no name"
    )


def _note_empty(n: int, name: str, form: TableForm) -> None:
    form.note(f"{name}: {n} empty row{'s' if n > 1 else ''} at the end left out")


@dataclass(slots=True)
class _Column:
    """A column of numbers in a table that may have decimal commas."""

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
        """Write the decimal commas of a row as points; return what is wrong with it, None where
        nothing is.
        """
        for column in self._columns:
            value = cells[column.position]
            match = _COMMA_NUMBER.fullmatch(value.strip()) if "," in value else None
            if match is None and not (column.is_decimal and "." in value):
                continue
            match = match or _COMMA_NUMBER.fullmatch(value.strip())
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
