"""Undoes content encodings within a limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from nel.models.transport.faults import ResponseTooLarge

ACCEPTED: Final = "gzip, deflate"
"""What is asked for."""
_WINDOW_BITS: Final = {"gzip": 47, "x-gzip": 47, "deflate": 47}
"""For zlib: the header, gzip's or zlib's, is recognised."""


def unpacker(encoding: str, limit: int) -> Callable[[bytes], bytes] | None:
    """Return what unpacks the pieces of one body, up to a byte more than is allowed in all; None for a plain body.

    Raises:
        ValueError: The encoding was not asked for.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _WINDOW_BITS:
        raise ValueError(f"the body has the content encoding {name[:40]!r}, which was not asked for")
    stream = zlib.decompressobj(_WINDOW_BITS[name])
    left = limit

    def unpack(packed: bytes) -> bytes:
        nonlocal left
        unpacked = stream.decompress(packed, left + 1)
        left -= len(unpacked)
        if left < 0:
            raise ResponseTooLarge("the response is larger than allowed once unpacked")
        return unpacked

    return unpack
