"""Reads the lines of a text file in its own encoding, in bounded memory.

Lines end at LF only, so that CR, U+2028 and their like inside a value never cut it. A byte order
mark, or NUL bytes at the start, tell UTF-16, which spreadsheets and PowerShell write; all else is
UTF-8 unless the user names another encoding.
"""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO, Final

from nel.datasets.base import LINE_BYTES_MAX
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOM: Final = codecs.BOM_UTF8
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32: Final = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_SHOWN: Final = 16
"""Bytes before and after the first that is not UTF-8, shown as Windows reads them."""


def lines_of(
    file: BinaryIO, name: str, *, encoding: str | None = None, bytes_max: int = LINE_BYTES_MAX
) -> Iterator[bytes]:
    """Yield each line with its end in UTF-8, a leading byte order mark removed.

    Args:
        file: At its start; it can seek there.
        name: For messages.
        encoding: As the user named it; None: as the first bytes tell.
        bytes_max: Of a line, as it is in the file.

    Raises:
        DatasetError: A line is longer than ``bytes_max``, the encoding is unknown, or a line is
            not in an encoding other than UTF-8.
    """
    encoding = _encoding_of(file, name, encoding)
    if encoding != "utf-8":
        yield from _converted_lines(file, name, encoding, bytes_max)
        return
    first_line = file.readline(bytes_max + 1)
    yield _bound_line(first_line.removeprefix(_BOM), 1, name, bytes_max)
    number = 1
    while line := file.readline(bytes_max + 1):
        number += 1
        yield line if len(line) <= bytes_max else _bound_line(line, number, name, bytes_max)


def _encoding_of(file: BinaryIO, name: str, encoding: str | None) -> str:
    """Return the name that Python's codecs have for the encoding of a file."""
    start = file.read(len(_UTF32[0]))
    file.seek(0)
    if start.startswith(_UTF32):
        raise DatasetError(f"{name}: the file is UTF-32; save it as UTF-8")
    if start.startswith((_BOM, *_UTF16)):
        return "utf-8" if start.startswith(_BOM) else "utf-16"
    if encoding is not None:
        try:
            return codecs.lookup(encoding).name
        except LookupError as error:
            raise DatasetError(
                f'{name}: there is no encoding "{encoding}"; names are those of Python, such as'
                " cp1252, mac_roman, gb18030 or shift_jis"
            ) from error
    # A file begins with ASCII (a brace, a name of a column), which in UTF-16 has one zero byte.
    if len(start) > 1 and (start[0] == 0) != (start[1] == 0):
        return "utf-16-be" if start[0] == 0 else "utf-16-le"
    return "utf-8"


def _converted_lines(file: BinaryIO, name: str, encoding: str, bytes_max: int) -> Iterator[bytes]:
    text = io.TextIOWrapper(file, encoding=encoding, newline="\n")
    number = 0
    try:
        while line := text.readline(bytes_max + 1):
            number += 1
            yield _bound_line(line.encode(), number, name, bytes_max)
    except UnicodeError as error:
        raise DatasetError(
            f"{name}: after line {number}: not {encoding} ({error}); save the file as UTF-8"
        ) from error
    finally:
        text.detach()


def _bound_line(line: bytes, number: int, name: str, bytes_max: int) -> bytes:
    if len(line) > bytes_max:
        raise DatasetError(
            f"{name}: line {number} is longer than {bytes_max} bytes; are its lines ended by LF? "
            "JSONL has one row a line"
        )
    return line


def decode_line(line: bytes, number: int, name: str) -> str:
    """Return a line of a table as text.

    Raises:
        DatasetError: It is not UTF-8; the message shows how Windows would read it, and the option
            that takes it so.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        nearby = line[max(0, error.start - _SHOWN) : error.start + _SHOWN]
        excerpt = " ".join(nearby.decode("cp1252", "replace").split())
        raise DatasetError(
            f"{name}: line {number}: invalid UTF-8 (byte {error.start + 1}); as CP1252 (Windows) it"
            f" reads …{excerpt}…: if that is right, name the file '{name}?encoding=cp1252' (in YAML"
            " encoding: cp1252); else save it as CSV UTF-8, or name its encoding so, such as"
            " mac_roman or gb18030"
        ) from error
