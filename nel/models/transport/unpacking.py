"""Decodes gzip and deflate bodies within a size limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from nel.models.transport.faults import ResponseTooLarge

ACCEPTED: Final = "gzip, deflate"
"""Value of Accept-Encoding."""
_WINDOW_BITS: Final = {"gzip": 47, "x-gzip": 47, "deflate": 47}
"""For zlib: 32 detects a gzip or zlib header, 15 is the largest window."""


def unpacker(encoding: str, limit: int) -> Callable[[bytes], bytes] | None:
    """Return a function that decodes the pieces of one body, in order; None for a body that is not encoded.

    The function raises ResponseTooLarge when the decoded body exceeds ``limit`` bytes.

    Raises:
        ValueError: The encoding was not accepted.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _WINDOW_BITS:
        raise ValueError(f"the body has the content encoding {name[:40]!r}; only {ACCEPTED} were accepted")
    stream = zlib.decompressobj(_WINDOW_BITS[name])
    left = limit

    def unpack(packed: bytes) -> bytes:
        nonlocal left
        # Never more than a byte beyond the limit is decoded, so that a decompression bomb fills no memory.
        unpacked = stream.decompress(packed, left + 1)
        left -= len(unpacked)
        if left < 0:
            raise ResponseTooLarge(f"the response is larger than {limit} bytes after decompression")
        return unpacked

    return unpack
