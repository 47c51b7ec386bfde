"""Packs the samples of a page: gzip in base64, a block for some hundred samples and one for the
rows of the list.

The page unpacks the rows when it opens, and a block when one of its samples is looked at. Base64
has no character that HTML or a script could act on. All but one sample are compressed in memory.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

import orjson

from nel.core.strict_json import loads

BLOCK_SAMPLES: Final = 200
_LEVEL: Final = 6
"""Of compression; level 9 makes a page 1 % smaller in three times the CPU time."""
_GZIP: Final = 31
"""Window bits of zlib that stand for gzip with the largest window; the header holds no time."""


class PackedSamples:
    """The samples of a page, compressed as they are added."""

    def __init__(self) -> None:
        self.n = 0
        self._rows, self._block = _Gzip(b'{"rows":['), _Gzip(b"[")
        self._blocks: list[str] = []

    def add(self, row: list[object], details: Mapping[str, object]) -> None:
        """Add a sample: its row of the list, and what is shown when it is opened; both JSON."""
        self.n += 1
        self._block.add(orjson.dumps(details, option=orjson.OPT_SORT_KEYS))
        self._rows.add(orjson.dumps(row))
        if self.n % BLOCK_SAMPLES == 0:
            self._close_block()

    def elements(self, totals: object) -> Iterator[str]:
        """Yield script elements: the blocks of the samples in order, then their rows; no sample may
        be added afterwards.

        Args:
            totals: JSON that goes with the rows.
        """
        if self.n % BLOCK_SAMPLES:
            self._close_block()
        yield from self._blocks
        end = b'],"totals":' + orjson.dumps(totals, option=orjson.OPT_SORT_KEYS) + b"}"
        yield _element("rows", self._rows.close(end))

    def _close_block(self) -> None:
        self._blocks.append(_element("block", self._block.close(b"]")))
        self._block = _Gzip(b"[")


def unpack(text: str) -> object:
    """Return what an element holds.

    Raises:
        ValueError: The text is not that of an element of `PackedSamples`.
    """
    try:
        return loads(zlib.decompress(base64.b64decode(text, validate=True), _GZIP))
    except zlib.error as error:
        raise ValueError(str(error)) from error


class _Gzip:
    """A JSON array that grows, compressed."""

    def __init__(self, start: bytes) -> None:
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        self._parts = [self._packer.compress(start)]
        self._comma = b""

    def add(self, item: bytes) -> None:
        self._parts.append(self._packer.compress(self._comma + item))
        self._comma = b",\n"

    def close(self, end: bytes) -> bytes:
        return b"".join((*self._parts, self._packer.compress(end), self._packer.flush()))


def _element(name: str, content: bytes) -> str:
    return (
        '<script type="application/gzip"'
        f' data-part="{name}">{base64.b64encode(content).decode()}</script>\n'
    )
