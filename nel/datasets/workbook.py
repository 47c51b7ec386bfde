"""Reads a sheet of a workbook (Excel, LibreOffice) through python-calamine.

Cells are the texts that they would be when saved as CSV. The file is held in memory, so its size is
bounded.
"""

from __future__ import annotations

import datetime as dt
import io
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from nel.datasets.records import rows_of_records
from nel.datasets.table_form import TableForm
from nel.errors import DatasetError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nel.datasets.base import NumberedRow

_BYTES_MAX: Final = 128 * 1024 * 1024


def read_workbook(file: BinaryIO, name: str, form: TableForm) -> Iterator[NumberedRow]:
    """Yield the number of each row, with its cells by column or what is wrong with it.

    Raises:
        DatasetError: The file is too large or damaged, or has several sheets and none is named.
        MissingExtra: python-calamine is not installed.
    """
    try:
        from python_calamine import (  # noqa: PLC0415 - an extra
            CalamineError,
            CalamineWorkbook,
        )
    except ImportError as error:
        raise MissingExtra(
            f"{name}: reading a workbook needs python-calamine; pip install python-calamine, or"
            " save the sheet as CSV UTF-8"
        ) from error
    data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        raise DatasetError(f"{name}: larger than {_BYTES_MAX} bytes; save the sheet as CSV UTF-8")
    try:
        sheets = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheet = sheets.get_sheet_by_name(_sheet(sheets, name, form))
        records = iter(sheet.to_python(skip_empty_area=True))
    except CalamineError as error:
        raise DatasetError(
            f"{name}: cannot be read as a workbook: {error}; save the sheet as CSV UTF-8"
        ) from error
    yield from rows_of_records(([_text(cell) for cell in cells] for cells in records), name, form)


def _sheet(sheets: Any, name: str, form: TableForm) -> str:
    """Return the name of the sheet to read: the user's choice, or the only one with cells.

    Raises:
        DatasetError: There is no such sheet, or several have cells.
    """
    titles: list[str] = [
        title
        for title in sheets.sheet_names
        if sheets.get_sheet_by_name(title).to_python(skip_empty_area=True, nrows=1)
    ]
    if form.sheet is not None and form.sheet in titles:
        return form.sheet
    if form.sheet is None and len(titles) == 1:
        return titles[0]
    which, example = "no sheet has cells", "…"
    if titles:
        which, example = f"the sheets are {', '.join(titles)}", titles[0]
    raise DatasetError(f"{name}: {which}; name one with '{name}?sheet={example}'")


def _text(cell: object) -> str:
    if isinstance(cell, bool):  # before float: Excel writes TRUE
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)
