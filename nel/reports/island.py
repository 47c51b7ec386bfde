"""Packs the samples of a page: gzip in base64, a block for some hundred samples and one for the
rows of the list.

The page unpacks the rows when it opens, and a block when one of its samples is looked at. Base64
has no character that HTML or a script could act on. The blocks are written as they are made, so
that one of them is in memory at a time.
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


def packed_samples(
    samples: Iterator[tuple[list[object], Mapping[str, object]]], totals: object
) -> Iterator[str]:
    """Yield script elements: the blocks of the samples in order, then their rows.

    Args:
        samples: The row of each sample and what is shown when it is opened; both JSON.
        totals: JSON that goes with the rows.
    """
    rows, block = _Gzip(b'{"rows":['), _Gzip(b"[")
    n = 0
    for n, (row, details) in enumerate(samples, start=1):
        block.add(orjson.dumps(details, option=orjson.OPT_SORT_KEYS))
        rows.add(orjson.dumps(row))
        if n % BLOCK_SAMPLES == 0:
            yield _element("block", block.close(b"]"))
            block = _Gzip(b"[")
    if n % BLOCK_SAMPLES:
        yield _element("block", block.close(b"]"))
    yield _element(
        "rows",
        rows.close(b'],"totals":' + orjson.dumps(totals, option=orjson.OPT_SORT_KEYS) + b"}"),
    )


def unpack(text: str) -> object:
    """Return what an element holds.

    Raises:
        ValueError: The text is not what `packed_samples` makes.
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
