"""Reads JSON Lines, one object a line, in bounded memory.

Rows are numbered by line, and blank lines count, so that a number leads to the right line in an
editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from nel.datasets.json_text import BadJsonError, parse
from nel.datasets.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_jsonl(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield the line number of each line that is not blank, with its object or what is wrong with
    it.

    Raises:
        DatasetError: A line is too long, or the file is not UTF-8 at all.
    """
    for number, line in enumerate(lines_of(file, name), start=1):
        if line.isspace() or not line:
            continue
        try:
            value = parse(line)
        except BadJsonError as problem:
            yield number, str(problem)
        else:
            yield number, value if isinstance(value, dict) else f"{kind_of(value)}, not an object"


def kind_of(value: object) -> str:
    """Return what JSON calls a value, with its article."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "an array"
    return "a string" if isinstance(value, str) else "a number"
