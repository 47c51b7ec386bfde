"""Reads the stored steps of an episode, and the messages that they refer to."""

from __future__ import annotations

from collections.abc import Sequence

from nel.core.strict_json import dumps
from nel.engine.store.codec import NEXT_STEP
from nel.engine.store.rows import COLUMNS, Row
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import StoreError
from nel.types import SampleKey


def transcript(log: Snapshot, key: SampleKey) -> list[Row]:
    """Return an episode's stored steps in order; a tool call has a row for begin and end."""
    # The first condition on `role` is implied by the last: it makes SQLite use the partial index.
    query = (
        f"SELECT {COLUMNS} FROM steps WHERE benchmark = ? AND idx = ? AND repeat = ?"
        " AND (role > 1 OR void > 0) AND void = 0 AND role BETWEEN 4 AND 9"
        " ORDER BY attempt, number, seq"
    )
    return list(map(Row._make, log.execute(query, key).fetchall()))


def pooled_messages(log: Snapshot, digests: Sequence[str]) -> dict[str, str]:
    """Return the messages with some digests, as JSON by digest.

    Raises:
        StoreError: One is missing.
    """
    names = set(digests)
    query = "SELECT digest, content FROM pool WHERE digest IN (SELECT value FROM json_each(?))"
    rows = log.execute(query, (dumps(sorted(names)),)).fetchall()
    if len(rows) < len(names):
        raise StoreError(f"{FILE_NAME} is damaged: a message of an episode is missing; {NEXT_STEP}")
    return dict(rows)
