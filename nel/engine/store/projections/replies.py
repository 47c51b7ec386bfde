"""Exchanges beside each sample's last answer: turns, choices, and those of judges and scorers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nel.engine.store.rows import COLUMNS, Asked, Row
from nel.engine.store.snapshot import Snapshot
from nel.types import SampleKey

_OF_SAMPLE: Final = "benchmark = ? AND idx = ? AND repeat = ? AND (role > 1 OR void > 0)"


def reply(log: Snapshot, key: SampleKey, address: Asked) -> Row | None:
    """Return the newest answer to a further request of a sample, or None."""
    query = (
        f"SELECT {COLUMNS} FROM steps WHERE {_OF_SAMPLE} AND void = 0 AND role = ?"
        " AND number = ? AND name IS ? AND digest IS ? ORDER BY seq DESC LIMIT 1"
    )
    row = log.execute(query, (*key, *address)).fetchone()
    return None if row is None else Row._make(row)


def replies(log: Snapshot, key: SampleKey, n_max: int) -> list[Row]:
    """Return the first answers to a sample's further requests, without steps of episodes."""
    query = (
        f"SELECT {COLUMNS} FROM steps WHERE {_OF_SAMPLE} AND void = 0 AND role NOT BETWEEN 4 AND 9"
        " ORDER BY seq LIMIT ?"
    )
    return list(map(Row._make, log.execute(query, (*key, n_max)).fetchall()))


def exchanges(log: Snapshot, benchmark: int) -> Iterator[Row]:
    """Yield every request of a benchmark beside the answers that hold: further requests of its
    samples, and what was taken back.
    """
    query = (
        f"SELECT {COLUMNS} FROM steps WHERE benchmark = ? AND (role > 1 OR void > 0)"
        " AND requests IS NOT NULL ORDER BY idx, repeat, seq"
    )
    yield from map(Row._make, log.execute(query, (benchmark,)))


def has_reply(log: Snapshot, benchmark: int, judge: str | None = None) -> bool:
    """Return whether a judge has answered in a benchmark: any, or the one of a name."""
    query = (
        "SELECT 1 FROM steps WHERE benchmark = ? AND (role > 1 OR void > 0) AND role = 10"
        " AND void = 0 AND (? IS NULL OR name = ?) LIMIT 1"
    )
    return log.execute(query, (benchmark, judge, judge)).fetchone() is not None


class StoredReplies:
    """What judges replied in earlier requests and sessions of a run."""

    def __init__(self, log: Snapshot) -> None:
        self._log = log
        self.benchmarks = log.benchmarks

    def reply(self, key: SampleKey, address: Asked) -> Row | None:
        """Return the newest reply to a question, or None."""
        return reply(self._log, key, address)

    def has_reply(self, benchmark: int, judge: str | None = None) -> bool:
        """Return whether a judge has replied in a benchmark."""
        return has_reply(self._log, benchmark, judge)
