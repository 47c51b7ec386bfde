"""Reads one JSON document that holds all rows.

The whole file is held in memory, so its size is bounded; larger datasets need JSONL. Many files
named ``.json`` contain JSON Lines, and are read as such.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, Final

from nel.datasets.json_text import BadJsonError, parse
from nel.datasets.jsonl import json_kind, read_jsonl
from nel.datasets.table_form import TableForm
from nel.datasets.text import lines_of
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nel.datasets.base import NumberedRow

_BYTES_MAX: Final = 512 * 1024 * 1024


def read_json(file: BinaryIO, name: str, form: TableForm) -> Iterator[NumberedRow]:
    """Yield the number of each row of the document, with its object or the fault of the row.

    Raises:
        DatasetError: The document is too large, is not JSON, or holds no list of rows.
    """
    lines = lines_of(file, name, encoding=form.encoding, bytes_max=_BYTES_MAX)
    text = b"".join(_within_bound(lines, name))
    if not text.strip():
        raise DatasetError(f"{name}: the file is empty")
    try:
        document = parse(text)
    except BadJsonError as problem:
        # A second document after the first: JSON Lines.
        if "Extra data" in str(problem) and text.lstrip().startswith(b"{"):
            yield from read_jsonl(io.BytesIO(text), name, TableForm())
            return
        raise DatasetError(f"{name}: {problem}") from problem
    for number, item in enumerate(_list_of(document, name), start=1):
        yield number, item if isinstance(item, dict) else f"{json_kind(item)}, not an object"


def _within_bound(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    size = 0
    for line in lines:
        size += len(line)
        if size > _BYTES_MAX:
            raise DatasetError(
                f"{name}: larger than {_BYTES_MAX} bytes; write it as JSONL, which is streamed"
            )
        yield line


def _list_of(document: object, name: str) -> list[object]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise DatasetError(
            f"{name}: the document is {json_kind(document)}; it must be an array of objects"
        )
    if document and all(isinstance(value, dict) for value in document.values()):
        raise DatasetError(
            f"{name}: the object holds columns or rows by name, as pandas writes them; write an"
            ' array of rows: to_json(path, orient="records")'
        )
    lists = [key for key, value in document.items() if isinstance(value, list)]
    if len(lists) == 1:
        rows: list[object] = document[lists[0]]
        return rows
    if {"columns", "data"} <= set(lists):
        raise DatasetError(
            f'{name}: the object is pandas\' orient="split"; write orient="records", an array of rows'
        )
    which = f"several lists ({', '.join(lists)})" if lists else "no list"
    raise DatasetError(
        f"{name}: the object has {which}; write an array of rows, or an object with one list such"
        ' as "data"'
    )
