"""Frames over a file descriptor: four bytes of length, then JSON. Bounded on both ends."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

FRAME_BYTES_MAX = 8 << 20
"""Largest answer of a program."""
QUESTION_BYTES_MAX = 64 << 20
"""Largest frame of the tests; larger than an answer, so that an answer can be passed back."""
HEADER = struct.Struct(">I")
_INTEGER_DIGITS_MAX = 32
"""Longer integers cross in hexadecimal, which takes linear time to read."""

Message = dict[str, Any]
"""One decoded frame. What its keys hold is hostile input: each reader checks what it takes."""


class Gone(Exception):
    """The other end hung up, in the middle of a frame or before one."""


class TooLarge(Exception):
    """A frame beyond the limit."""


class BadFrame(Exception):
    """A frame that is not JSON, or nested beyond all measure."""


def _refuse(word: str) -> object:
    raise ValueError(word)


def _integer(digits: str) -> int:
    if len(digits) > _INTEGER_DIGITS_MAX:
        raise ValueError("too long")
    return int(digits)


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_integer)
"""Made once: a program may replace what the module `json` holds."""


def dumps(message: object) -> bytes:
    """Return a message as bytes; lone surrogates survive."""
    return _ENCODER.encode(message).encode("utf-8", "surrogatepass")


def loads(data: bytes) -> Any:
    """Return the message of bytes; raises `BadFrame` where they are not JSON."""
    try:
        return _DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError, MemoryError):
        raise BadFrame("not JSON") from None


def write_frame(handle: int, message: object, limit: int = FRAME_BYTES_MAX) -> None:
    """Write one message, whole.

    Raises:
        TooLarge: It is beyond the limit; nothing was written.
        Gone: The reader has closed its end.
    """
    data = dumps(message)
    if len(data) > limit:
        raise TooLarge(f"{len(data)} bytes, more than {limit}")
    view = memoryview(HEADER.pack(len(data)) + data)
    while view:
        try:
            view = view[os.write(handle, view) :]
        except (BrokenPipeError, ConnectionError):
            raise Gone from None


def read_frame(handle: int, limit: int = FRAME_BYTES_MAX) -> Any:
    """Read one message.

    Raises:
        Gone: The other end hung up.
        TooLarge: The frame says that it is beyond the limit.
        BadFrame: It is not JSON.
    """
    (size,) = HEADER.unpack(read_exactly(handle, HEADER.size))
    if size > limit:
        raise TooLarge(f"{size} bytes, more than {limit}")
    return loads(read_exactly(handle, size))


def read_exactly(handle: int, size: int) -> bytes:
    """Read so many bytes; raises `Gone` when the other end hung up before."""
    parts = []
    while size:
        try:
            chunk = os.read(handle, min(size, 1 << 20))
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise Gone
        parts.append(chunk)
        size -= len(chunk)
    return b"".join(parts)


def read_payload(handle: int) -> Any:
    """Read the message of a whole file and close it."""
    os.lseek(handle, 0, os.SEEK_SET)
    with open(handle, "rb") as file:
        return loads(file.read())
