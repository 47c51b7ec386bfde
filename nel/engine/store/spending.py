"""What the sessions of a run spent: sums over the answers in its run.db, and their price.

Depends on an open SQLite connection and on the configured prices. A session that ended has stored
what it spent. A session that was killed has not, so its answers are added up; its writer notes the
sums now and then, so that only the answers after the last note have to be read. Requests that were
in flight at the kill, at most as many as the concurrency, are known to the endpoint alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict

from nel.config.schema import Price, RunConfig
from nel.core.strict_json import loads
from nel.engine.store.plans import StoredSession
from nel.models.budget import Spend, cost_of, tokens_of
from nel.types import Usage

USAGE: Final = "usage"
"""The key of the note among the stored values."""
JUDGES: Final = "judges"
SOURCES: Final = {
    "responses": ("responses", ""),
    "calls": ("calls", " AND key NOT LIKE 'judge-%'"),
    JUDGES: ("calls", " AND key LIKE 'judge-%'"),
}
"""By name: a table and a condition on its rows. Judges are apart, since their replies have other
prices.
"""
_NAMES: Final = ("attempts", "prompt_tokens", "completion_tokens", "cached_tokens")


class SourceUsage(TypedDict):
    """The usage of one source, as far as a session's answers were added up."""

    upto: int
    """The last row that is in the sums. A row that is written again comes last, so rows are in the
    order of commits.
    """
    sums: list[int]
    """Attempts, prompt tokens, completion tokens and cached tokens."""


_NOTHING: Final[SourceUsage] = {"upto": 0, "sums": [0] * len(_NAMES)}


def noted_usage(connection: sqlite3.Connection, session: int) -> Mapping[str, SourceUsage]:
    """Return the last note of a session by source: its last row and the sums up to it; zeros where
    there is none.
    """
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (USAGE,)).fetchone()
    noted = {} if row is None else loads(row[0])
    return {
        name: noted.get(name, _NOTHING) if noted.get("session") == session else _NOTHING
        for name in SOURCES
    }


def usage_after(
    connection: sqlite3.Connection, session: int, noted: Mapping[str, SourceUsage]
) -> dict[str, SourceUsage]:
    """Return a note with everything that the session has stored since an earlier one."""
    counts = ", ".join(f"ifnull(sum(json_extract(response, '$.{name}')), 0)" for name in _NAMES)
    usage: dict[str, SourceUsage] = {}
    for name, (table, which) in SOURCES.items():
        upto, sums = noted[name]["upto"], noted[name]["sums"]
        last = connection.execute(f"SELECT ifnull(max(rowid), 0) FROM {table}").fetchone()[0]  # noqa: S608 - no input
        # A response without attempts was not sent, that of an episode sums its steps up, and a
        # damaged one has no usage; CASE guards json_extract from it.
        more = connection.execute(
            f"SELECT {counts} FROM {table} WHERE rowid > ? AND rowid <= ? AND session = ?{which}"  # noqa: S608
            " AND CASE WHEN json_valid(response) THEN json_extract(response, '$.attempts') > 0 AND"
            " json_extract(response, '$.episode') IS NULL END",
            (upto, last, session),
        ).fetchone()
        usage[name] = {
            "upto": last,
            "sums": [old + new for old, new in zip(sums, more, strict=True)],
        }
    return usage


def price_of(config: RunConfig) -> Price | None:
    """Return the price of the run's model, None where it has none."""
    return config.budget.prices.get(config.endpoint.model) if config.endpoint is not None else None


def price_in(config: Mapping[str, Any]) -> Price | None:
    """Return the price of the evaluated model in a stored configuration, None where it has none."""
    model = (config.get("endpoint") or {}).get("model")
    price = ((config.get("budget") or {}).get("prices") or {}).get(model)
    return None if price is None else Price.model_validate(price)


def highest_price(prices: Iterable[Price]) -> Price | None:
    """Return a price that is at least as high as each of several, None where there is none."""
    known = list(prices)
    if not known:
        return None
    return Price(
        input=max(price.input for price in known), output=max(price.output for price in known)
    )


def spent_before(sessions: Iterable[StoredSession]) -> Spend:
    """Return the requests, tokens and cost of all sessions of a run that are over."""
    total = Spend()
    for session in sessions:
        if session["spent"] is not None:
            total.add(Spend(**session["spent"]))
    return total


def spent_by_killed(
    usage: Mapping[str, Sequence[int]], price: Price | None, judges_price: Price | None
) -> Spend:
    """Return what killed sessions spent.

    Args:
        usage: As `Snapshot.usage_of_killed_sessions` returns it.
        price: Of the model.
        judges_price: Of all judges: the highest one, since the sums do not tell their replies
            apart.
    """
    total = Spend()
    for source, (attempts, prompt, completion, cached) in usage.items():
        tokens = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        paid = judges_price if source == JUDGES else price
        total.add(Spend(attempts, tokens_of(tokens, paid) or 0, cost_of(tokens, paid) or 0.0))
    return total
