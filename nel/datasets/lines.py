"""Splits bytes into lines of bounded length.

Lines end at LF only, so that CR, U+2028 and their like inside a value never cut it. The byte order
mark belongs to no line; UTF-16 has one too, and would otherwise look like damaged UTF-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

from nel.datasets.base import LINE_BYTES_MAX
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
    yield _bounded(without_bom(first, name), 1, name, bytes_max)
    number = 1
    while line := file.readline(bytes_max + 1):
        number += 1
        yield line if len(line) <= bytes_max else _bounded(line, number, name, bytes_max)


def without_bom(start: bytes, name: str) -> bytes:
    """Return the start of a file without its UTF-8 byte order mark.

    Raises:
        DatasetError: The file is UTF-16.
    """
    if start.startswith(_UTF16):
        raise DatasetError(f"{name}: the file is UTF-16; convert it to UTF-8")
    return start.removeprefix(_BOM)


def _bounded(line: bytes, number: int, name: str, bytes_max: int) -> bytes:
    if len(line) > bytes_max:
        raise DatasetError(
            f"{name}: line {number} is longer than {bytes_max} bytes; are its lines ended by LF? "
            "JSONL has one row a line"
        )
    return line
