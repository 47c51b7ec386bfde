"""What the answers of one session cost, added up a part at a time from a run.db.

A session that is killed leaves no sum. So its writer notes one now and then, and only the answers after the last note
have to be read for it. Trap: a row that is written again comes last, so the order of rows is that of commits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from nel.core.strict_json import loads

USAGE: Final = "usage"
"""The key of the note among the stored values."""
SOURCES: Final = {
    "responses": ("responses", ""),
    "calls": ("calls", " AND key NOT LIKE 'judge-%'"),
    "judges": ("calls", " AND key LIKE 'judge-%'"),
}
"""By name: a table, and which of its rows; what judges say has other prices."""
_NAMES: Final = ("attempts", "prompt_tokens", "completion_tokens", "cached_tokens")
_NOTHING: Final = {"upto": 0, "sums": [0] * len(_NAMES)}


def noted_usage(connection: sqlite3.Connection, session: int) -> Mapping[str, Any]:
    """Return the last note of a session: for each source its last row and the sums up to it; of none, nothing."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (USAGE,)).fetchone()
    noted = {} if found is None else loads(found[0])
    return {name: noted.get(name, _NOTHING) if noted.get("session") == session else _NOTHING for name in SOURCES}


def usage_after(connection: sqlite3.Connection, session: int, noted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a note with everything that the session has stored since an earlier one."""
    counts = ", ".join(f"ifnull(sum(json_extract(response, '$.{name}')), 0)" for name in _NAMES)
    usage = {}
    for name, (table, which) in SOURCES.items():
        upto, sums = noted[name]["upto"], noted[name]["sums"]
        last = connection.execute(f"SELECT ifnull(max(rowid), 0) FROM {table}").fetchone()[0]  # noqa: S608 - no input
        more = connection.execute(
            f"SELECT {counts} FROM {table} WHERE rowid > ? AND rowid <= ? AND session = ?{which}"  # noqa: S608
            " AND CASE WHEN json_valid(response) THEN json_extract(response, '$.attempts') > 0 END",
            (upto, last, session),
        ).fetchone()
        usage[name] = {"upto": last, "sums": [old + new for old, new in zip(sums, more, strict=True)]}
    return usage
