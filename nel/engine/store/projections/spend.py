"""What a session spent, by who was paid: sums over its rows, those that were taken back included.

Depends on an open SQLite connection. The writer of a session notes the sums now and then, so that
only the rows after the last note have to be read of a session that was killed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import add
from typing import Final, TypedDict

from nel.core.strict_json import loads

SPEND: Final = "spend"
"""The key of the note among the stored values."""


class Spent(TypedDict):
    """What a session spent, as far as its rows were added up."""

    upto: int
    """The last row that is in the sums."""
    sums: dict[str, list[int]]
    """By judge, or the empty name of the evaluated model: requests, prompt tokens, completion
    tokens and cached tokens.
    """


def noted_spend(connection: sqlite3.Connection, session: int) -> Spent:
    """Return the last note of a session; zeros where there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (SPEND,)).fetchone()
    note = {} if row is None else loads(row[0])
    if note.get("session") != session:
        return {"upto": 0, "sums": {}}
    return {"upto": note["upto"], "sums": note["sums"]}


def spend(connection: sqlite3.Connection, session: int) -> Spent:
    """Return what a session has spent up to now."""
    noted = noted_spend(connection, session)
    latest_seq = connection.execute("SELECT ifnull(max(seq), 0) FROM steps").fetchone()[0]
    # An answer from the cache has no request, and a sum of others has no counts.
    rows = connection.execute(
        "SELECT CASE role WHEN 10 THEN ifnull(name, '') ELSE '' END AS payer, sum(requests),"
        " ifnull(sum(prompt), 0), ifnull(sum(completion), 0), ifnull(sum(cached), 0) FROM steps"
        " WHERE seq > ? AND seq <= ? AND session = ? AND requests > 0 GROUP BY payer",
        (noted["upto"], latest_seq, session),
    ).fetchall()
    sums = dict(noted["sums"])
    for payer, *amounts in rows:
        add_amounts(sums, payer, amounts)
    return {"upto": latest_seq, "sums": sums}


def add_amounts(sums: dict[str, list[int]], payer: str, amounts: Sequence[int]) -> None:
    """Add amounts to the sums of a payer."""
    before = sums.get(payer, [0] * len(amounts))
    sums[payer] = list(map(add, before, amounts))
