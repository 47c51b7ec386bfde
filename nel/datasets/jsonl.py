"""Reads JSON Lines, one object a line, in bounded memory.

Lines end at LF only, so that CR, U+2028 and their like inside a value never cut it. The byte order
mark belongs to no line; UTF-16 has one too, and would otherwise look like damaged UTF-8. Rows are
numbered by line, and blank lines count, so that a number leads to the right line in an editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

from nel.datasets.base import LINE_BYTES_MAX
from nel.datasets.json_text import BadJsonError, parse
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def lines_of(file: BinaryIO, name: str, *, bytes_max: int = LINE_BYTES_MAX) -> Iterator[bytes]:
    """Yield each line with its end, a leading byte order mark removed.

    Raises:
        DatasetError: A line is longer than ``bytes_max``, or the file is UTF-16.
    """
    first = file.readline(bytes_max + 1)
    yield _bound_line(without_bom(first, name), 1, name, bytes_max)
    number = 1
    while line := file.readline(bytes_max + 1):
        number += 1
        yield line if len(line) <= bytes_max else _bound_line(line, number, name, bytes_max)


def without_bom(start: bytes, name: str) -> bytes:
    """Return the start of a file without its UTF-8 byte order mark.

    Raises:
        DatasetError: The file is UTF-16.
    """
    if start.startswith(_UTF16):
        raise DatasetError(f"{name}: the file is UTF-16; convert it to UTF-8")
    return start.removeprefix(_BOM)


def _bound_line(line: bytes, number: int, name: str, bytes_max: int) -> bytes:
    if len(line) > bytes_max:
        raise DatasetError(
            f"{name}: line {number} is longer than {bytes_max} bytes; are its lines ended by LF? "
            "JSONL has one row a line"
        )
    return line


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
            yield number, value if isinstance(value, dict) else f"{json_kind(value)}, not an object"


def json_kind(value: object) -> str:
    """Return what JSON calls a value, with its article."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "an array"
    return "a string" if isinstance(value, str) else "a number"
