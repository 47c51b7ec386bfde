"""Counts outcomes by SQLite alone, which takes a second or two for a million. Depends on an open
connection.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from nel.types import SECOND_ASKING

_QUERY: Final = """
    SELECT benchmark, json_extract(text, '$.state') AS state, json_extract(text, '$.cause') AS cause,
        json_extract(text, '$.kind') AS kind, count(*), total(json_extract(text, '$.reward'))
    FROM (SELECT benchmark, CASE WHEN json_valid(outcome) THEN outcome END AS text
        FROM outcomes WHERE rowid > ? AND rowid <= ? AND repeat < ?)
    GROUP BY benchmark, state, cause, kind"""


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many outcomes of a benchmark are alike."""

    benchmark: int
    state: str | None
    """None for records that are damaged."""
    cause: str | None
    kind: str | None
    n: int
    reward_sum: float


def count_after(connection: sqlite3.Connection, mark: int) -> tuple[int, list[OutcomeCount]]:
    """Return a mark and what was committed after another, second askings left out.

    Args:
        connection: To a run.db.
        mark: 0, or the last mark returned.
    """
    last = int(connection.execute("SELECT ifnull(max(rowid), 0) FROM outcomes").fetchone()[0])
    rows = connection.execute(_QUERY, (mark, last, SECOND_ASKING)).fetchall() if last > mark else []
    return last, [OutcomeCount(*row) for row in rows]
