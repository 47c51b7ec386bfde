"""Reads JSON Lines, one object a line, in bounded memory.

Rows are numbered by line, and blank lines count, so that a number leads to the right line in an
editor.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from nel.datasets.json_text import BadJsonError, parse
from nel.datasets.table_form import TableForm
from nel.datasets.text import lines_of
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nel.datasets.base import NumberedRow


def read_jsonl(file: BinaryIO, name: str, form: TableForm) -> Iterator[NumberedRow]:
    """Yield the number of each line that is not blank, with its object or what is wrong with it.

    Raises:
        DatasetError: A line is too long, or the file holds one JSON array.
    """
    lines = lines_of(file, name, encoding=form.encoding)
    first_line = next(lines, b"")
    if _begins_array(first_line):
        raise DatasetError(
            f"{name}: the file holds one JSON array, not one object a line; rename it to"
            f" {_as_json(name)}"
        )
    for number, line in enumerate(chain((first_line,), lines), start=1):
        if line.isspace() or not line:
            continue
        try:
            value = parse(line)
        except BadJsonError as problem:
            yield number, str(problem)
        else:
            yield number, value if isinstance(value, dict) else f"{json_kind(value)}, not an object"


def _begins_array(line: bytes) -> bool:
    """Return whether a file begins as an array of objects does, on one line or on many."""
    text = line.strip()
    return text == b"[" or (text.startswith(b"[") and text[1:].lstrip().startswith(b"{"))


def _as_json(name: str) -> str:
    path = name.rpartition("/")[2]
    stem = path[: path.lower().find(".jsonl")] if ".jsonl" in path.lower() else path
    return f"{stem}.json"


def json_kind(value: object) -> str:
    """Return what JSON calls a value, with its article."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "an array"
    return "a string" if isinstance(value, str) else "a number"
