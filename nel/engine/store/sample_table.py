"""Adds the samples of a benchmark to run.db, hundreds at a time, and knows which ids are there.

Depends on SQLite; `nel.engine.store.log` owns the connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nel.engine.store.schema import bulk_insert_cache
from nel.engine.store.snapshot import StoredSample
from nel.engine.store.writer import disk_fault
from nel.errors import DatasetError

_ROWS_MAX: Final = 512
"""Samples that wait to be inserted at most."""
_CHARACTERS_MAX: Final = 1 << 20
"""Of the samples that wait; long ones are inserted sooner."""
_BITS: Final = 25
"""`_SeenIds` has two to the power of this many bits."""
_MASK: Final = (1 << _BITS) - 1
_INSERT: Final = "INSERT INTO samples VALUES(?, ?, ?, ?, ?, ?, 0)"
_ROW_NUMBER: Final = "SELECT row_number FROM samples WHERE benchmark = ? AND sample_id = ?"


class _IdTaken(Exception):
    """The id of a sample is another's already."""

    def __init__(self, sample: StoredSample) -> None:
        super().__init__(sample.sample_id)
        self.sample = sample


class SampleTable:
    """The samples of one benchmark. Samples wait to be inserted with one call, which takes half the
    time of a call for each.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, benchmark: int) -> None:
        """Look at what the benchmark has.

        Args:
            path: Of run.db, for messages.
            connection: To it.
            benchmark: Its number.
        """
        self._path = path
        self._connection = connection
        self._benchmark = benchmark
        self._waiting: list[StoredSample] = []
        self._characters = 0
        has_rows = "SELECT 1 FROM samples WHERE benchmark = ? LIMIT 1"
        is_empty = connection.execute(has_rows, (benchmark,)).fetchone() is None
        self._seen = _SeenIds() if is_empty else None
        """All ids, where all are added by this object."""

    def add(self, samples: Iterable[StoredSample]) -> tuple[StoredSample, int | None] | None:
        """Add samples; meant for a transaction, which the caller rolls back on a clash.

        Returns:
            None; or the first sample whose id is taken and the dataset row that took it.

        Raises:
            StoppedEarly: The disk is full.
        """
        seen = self._seen
        try:
            with bulk_insert_cache(self._connection):
                try:
                    for sample in samples:
                        if seen is not None:
                            seen.add(sample.sample_id)
                        self._waiting.append(sample)
                        self._characters += len(sample.content or "")
                        if len(self._waiting) >= _ROWS_MAX or self._characters >= _CHARACTERS_MAX:
                            self._insert_waiting()
                except DatasetError:
                    # An id that is taken comes before what is wrong with a later row.
                    self._insert_waiting()
                    raise
                self._insert_waiting()
        except _IdTaken as taken:
            return taken.sample, self.row_number_of(taken.sample.sample_id)
        return None

    def row_number_of(self, sample_id: str) -> int | None:
        """Return the dataset row that holds an id, None where no sample has it."""
        if self._seen is not None and sample_id not in self._seen:
            return None
        self._insert_waiting()
        row = self._connection.execute(_ROW_NUMBER, (self._benchmark, sample_id)).fetchone()
        return None if row is None else int(row[0])

    def _insert_waiting(self) -> None:
        samples, self._waiting, self._characters = self._waiting, [], 0
        benchmark, before = self._benchmark, self._connection.total_changes
        try:
            rows = ((benchmark, *sample) for sample in samples)
            self._connection.executemany(_INSERT, rows)
        except sqlite3.IntegrityError as error:
            # Those before the clash were inserted, and are counted.
            raise _IdTaken(samples[self._connection.total_changes - before]) from error
        except sqlite3.Error as error:
            raise disk_fault(self._path, error) from error


class _SeenIds:
    """Which ids may have been added, in four megabytes however many there are.

    An id that was added is always found. Of a million, one new id in thirty is taken for an added
    one; who asks then looks it up.
    """

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits = bytearray(1 << (_BITS - 3))  # eight to a byte

    def add(self, sample_id: str) -> None:
        bit = hash(sample_id) & _MASK
        self._bits[bit >> 3] |= 1 << (bit & 7)  # byte bit >> 3, and in it bit & 7

    def __contains__(self, sample_id: str) -> bool:
        """Return False where an id was not added for certain."""
        bit = hash(sample_id) & _MASK
        return self._bits[bit >> 3] >> (bit & 7) & 1 == 1
