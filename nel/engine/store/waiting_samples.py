"""Makes the snapshot of a large dataset cheap: gathers samples to insert, and finds new ids.

`nel.engine.store.log` inserts.
"""

from __future__ import annotations

from typing import Final

from nel.engine.store.snapshot import StoredSample

_ROWS_MAX: Final = 512
_CHARACTERS_MAX: Final = 1 << 20
_BITS: Final = 25
_MASK: Final = (1 << _BITS) - 1


class WaitingSamples:
    """Samples that are inserted with one call, which takes half the time of a call for each."""

    __slots__ = ("_size", "samples")

    def __init__(self) -> None:
        self.samples: list[StoredSample] = []
        self._size = 0

    def add(self, sample: StoredSample) -> bool:
        """Add a sample, and return whether it is time to insert: so many, or so long."""
        self.samples.append(sample)
        self._size += len(sample.content or "")
        return len(self.samples) >= _ROWS_MAX or self._size >= _CHARACTERS_MAX


class SeenIds:
    """Which ids may have been added, in four megabytes however many there are.

    An id that was added is always found. Of a million, one new id in thirty is taken for an added
    one; who asks then looks it up.
    """

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits = bytearray(1 << _BITS - 3)

    def add(self, sample_id: str) -> None:
        """Add an id."""
        bit = hash(sample_id) & _MASK
        self._bits[bit >> 3] |= 1 << (bit & 7)

    def __contains__(self, sample_id: str) -> bool:
        """Return False where an id was not added for certain."""
        bit = hash(sample_id) & _MASK
        return self._bits[bit >> 3] >> (bit & 7) & 1 == 1
