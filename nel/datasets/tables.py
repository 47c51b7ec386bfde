"""Reads CSV and TSV with a header line. Values stay strings; an empty cell is an empty string. A
quoted cell may hold line ends, so the row number and the line number differ; messages give both.
"""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, BinaryIO

from nel.datasets.base import LINE_BYTES_MAX
from nel.datasets.jsonl import lines_of
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_csv(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield the number of each row, with its cells by column or what is wrong with it.

    Raises:
        DatasetError: The header is missing or names a column twice, or the file cannot be split
            into cells.
    """
    return _read(file, name, ",")


def read_tsv(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield the rows of a tab-separated file as `read_csv` does.

    Raises:
        DatasetError: As `read_csv`.
    """
    return _read(file, name, "\t")


def _read(
    file: BinaryIO, name: str, delimiter: str
) -> Iterator[tuple[int, dict[str, object] | str]]:
    # The limit belongs to the process: it is only ever raised, never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), LINE_BYTES_MAX))
    reader = csv.reader(_text_lines(file, name), delimiter=delimiter, strict=True)
    try:
        header = next((cells for cells in reader if cells), None)
        columns = _columns(header, name)
        number = 0
        for cells in reader:
            if not cells:
                continue
            number += 1
            if len(cells) == len(columns):
                yield number, dict(zip(columns, cells, strict=True))
            else:
                yield (
                    number,
                    f"{len(cells)} cells for {len(columns)} columns (line {reader.line_num})",
                )
    except csv.Error as error:
        hint = (
            "; are its lines ended by CR alone? convert them to LF"
            if "new-line" in str(error)
            else ""
        )
        raise DatasetError(f"{name}: line {reader.line_num}: {error}{hint}") from error


def _columns(header: list[str] | None, name: str) -> list[str]:
    if header is None:
        raise DatasetError(f"{name}: the file is empty; it needs a header line and rows")
    twice = sorted(column for column, n in Counter(header).items() if n > 1)
    if twice:
        names = ", ".join(f'"{column}"' for column in twice)
        raise DatasetError(f"{name}: the header names {names} more than once; rename all but one")
    return header


def _text_lines(file: BinaryIO, name: str) -> Iterator[str]:
    for number, line in enumerate(lines_of(file, name), start=1):
        if b"\0" in line:
            raise DatasetError(f"{name}: line {number}: a NUL byte (byte {line.index(0) + 1})")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DatasetError(
                f"{name}: line {number}: invalid UTF-8 (byte {error.start + 1})"
            ) from error
