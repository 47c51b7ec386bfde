"""Reads CSV and TSV with a header line, streamed, and detects the delimiter.

A quoted cell may contain line ends, so row number and line number differ; messages give both.
`nel.datasets.records` turns cells into rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import BinaryIO, Final

from nel.datasets.base import LINE_BYTES_MAX, NumberedRow
from nel.datasets.records import rows_of_records
from nel.datasets.table_form import TableForm
from nel.datasets.text import decode_line, lines_of
from nel.errors import DatasetError

_SNIFFED_LINES: Final = 500
_SNIFFED_CHARACTERS: Final = 256 * 1024
_SEP_LINE: Final = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
"""The line before the header in which Excel writes the delimiter."""


def _read(usual: str, file: BinaryIO, name: str, form: TableForm) -> Iterator[NumberedRow]:
    """Yield the number of each row, with its cells by column or the fault of the row.

    Args:
        usual: The delimiter by the file's suffix.
        file: At its start.
        name: For messages.
        form: The user's options for the file.

    Raises:
        DatasetError: The file cannot be split into cells, can be split in two ways, or has no
            usable header.
    """
    # The limit is global to the process, and another reader may rely on it: never lower it.
    csv.field_size_limit(max(csv.field_size_limit(), LINE_BYTES_MAX))
    lines = _text_lines(file, name, form.encoding)
    head = _head(lines)
    separator = _SEP_LINE.fullmatch(head[0]) if head else None
    skipped = 0
    if separator is not None:
        skipped = 1
        head = head[1:]
        form = replace(form, delimiter=form.delimiter or separator[1])
    delimiter = form.delimiter or _delimiter(head, usual, name)
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)
    # The line in which the current record begins; `line_num` of an error is where it was noticed,
    # which for an unclosed quote is the end of the file.
    first_line = [1]
    try:
        yield from rows_of_records(
            _noting_lines(reader, first_line),
            name,
            form,
            has_comma_numbers=delimiter == ";",
            line_of=lambda: reader.line_num + skipped,
        )
    except csv.Error as error:
        raise DatasetError(_problem(name, error, first_line[0] + skipped)) from error


read_csv = partial(_read, ",")
read_tsv = partial(_read, "\t")


def _noting_lines(reader: Iterator[list[str]], first_line: list[int]) -> Iterator[list[str]]:
    for cells in reader:
        yield cells
        first_line[0] = reader.line_num + 1  # type: ignore[attr-defined] # of a csv.reader


def _problem(name: str, error: csv.Error, line: int) -> str:
    if "new-line" in str(error):
        hint = "; are its lines ended by CR alone? convert them to LF"
    elif "end of data" in str(error) or "limit" in str(error):
        return (
            f"{name}: line {line}: a quote is opened in the row that begins here and never closed"
        )
    else:
        hint = '; a quote inside a quoted cell is written twice, as in "a ""b"" c"'
    return f"{name}: the row that begins in line {line}: {error}{hint}"


def _head(lines: Iterator[str]) -> list[str]:
    head: list[str] = []
    n_characters = 0
    for line in lines:
        head.append(line)
        n_characters += len(line)
        if len(head) == _SNIFFED_LINES or n_characters > _SNIFFED_CHARACTERS:
            break
    return head


def _delimiter(head: Sequence[str], usual: str, name: str) -> str:
    """Return the delimiter: the one that divides most rows into as many cells as the header.

    Raises:
        DatasetError: A comma and a semicolon both divide all rows so.
    """
    # Of equal shares `max` takes the first, which is the usual one.
    shares = {mark: _share(head, mark) for mark in dict.fromkeys((usual, "\t", ",", ";", "|"))}
    fitting = [mark for mark, share in shares.items() if share == 1.0]
    if "\t" in fitting:
        return "\t"
    if "," in fitting and ";" in fitting:
        raise DatasetError(
            f"{name}: a comma and a semicolon both divide every row alike; say which is meant:"
            f" '{name}?delimiter=comma' or '{name}?delimiter=semicolon'"
        )
    mark = max(shares, key=shares.__getitem__)
    return mark if shares[mark] > 0 else usual


def _share(head: Sequence[str], mark: str) -> float:
    """Return the share of rows with as many cells as the header; 0 where that has only one."""
    width, n_rows, n_fit = 0, 0, 0
    try:
        for cells in csv.reader(head, delimiter=mark, strict=True):
            if not width and cells:
                width = len(cells)
            elif cells:
                n_rows += 1
                n_fit += len(cells) == width
    except csv.Error as error:
        # The last row may continue after the lines of the sample, which is allowed.
        n_rows += "end of data" not in str(error)
    if width < 2:  # noqa: PLR2004 - cells
        return 0.0
    return n_fit / n_rows if n_rows else 1.0


def _text_lines(file: BinaryIO, name: str, encoding: str | None) -> Iterator[str]:
    for number, line in enumerate(lines_of(file, name, encoding=encoding), start=1):
        if b"\0" in line:
            raise DatasetError(f"{name}: line {number}: a NUL byte (byte {line.index(0) + 1})")
        try:
            yield line.decode()
        except UnicodeDecodeError:
            yield decode_line(line, number, name)
