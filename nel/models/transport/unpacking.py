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
_BARE: Final = -15
"""For zlib: deflate without a header, which some servers send under the name of ``deflate``."""
_ZLIB_METHOD: Final = 8
_NO_ENCODING: Final = frozenset({"", "identity", "none", "utf-8", "utf8"})
"""What servers write for none."""
_GZIP: Final = b"\x1f\x8b"


def unpacker(encoding: str, limit: int) -> Callable[[bytes], bytes] | None:
    """Return what decodes the pieces of one body, in order; None for a body without encoding.

    The function raises ResponseTooLarge when the decoded body exceeds ``limit`` bytes.

    Raises:
        ValueError: The encoding was not accepted.
    """
    names = [
        name for item in encoding.split(",") if (name := item.strip().lower()) not in _NO_ENCODING
    ]
    if not names:
        return None
    if len(names) > 1 or names[0] not in _WINDOW_BITS:
        raise ValueError(
            f"the body has the content encoding {encoding[:40]!r}; only {ACCEPTED} were accepted"
        )
    return _Unpacker(names[0], limit).unpack


class _Unpacker:
    """The state of one body."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = self._left = limit
        self._stream = zlib.decompressobj(_WINDOW_BITS[name])
        self._has_begun = False

    def unpack(self, packed: bytes) -> bytes:
        """Return what the next bytes decode to: at most a byte above the limit, against bombs."""
        if packed and not self._has_begun:
            self._has_begun = True
            # A zlib header has 8 in the low half of its first byte: RFC 1950, 2.2.
            if self._name == "deflate" and packed[:2] != _GZIP and packed[0] & 15 != _ZLIB_METHOD:
                self._stream = zlib.decompressobj(_BARE)
        unpacked = self._decode(packed)
        # gzip may have several members.
        while self._stream.eof and self._stream.unused_data.startswith(_GZIP):
            unread = self._stream.unused_data
            self._stream = zlib.decompressobj(_WINDOW_BITS["gzip"])
            unpacked += self._decode(unread)
        return unpacked

    def _decode(self, packed: bytes) -> bytes:
        unpacked = self._stream.decompress(packed, self._left + 1)
        self._left -= len(unpacked)
        if self._left < 0:
            raise ResponseTooLarge(
                f"the response is larger than {self._limit} bytes after decompression"
            )
        return unpacked
