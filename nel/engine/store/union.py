"""Writes one run.db from those of all shards, which SQLite reads without changing them.

The rows of their logs and their sessions are put together; samples are those of the first shard,
and every other shard must hold the same ones in the same places. Sessions are numbered again, in
the order in which they began. Verdicts of earlier rounds of scoring are taken back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.engine.store.plans import StoredPlan
from nel.engine.store.rows import COLUMNS, Row
from nel.engine.store.schema import connect, create, untouched_uri
from nel.errors import OutputError, StoreError, UsageError

_RENUMBERED: Final = {
    "benchmark": "?",
    "attempt": "CASE WHEN s.role = 1 THEN 0 ELSE s.attempt END",
    "session": "(SELECT new FROM numbers WHERE old = s.session)",
    # By the session that took it back; a verdict of an earlier round by the one that stored it.
    "void": (
        "CASE WHEN s.void > 0 THEN (SELECT new FROM numbers WHERE old = s.void) WHEN s.role = 1 AND"
        " s.attempt < b.round THEN (SELECT new FROM numbers WHERE old = s.session) ELSE 0 END"
    ),
}
"""What of a row is another value in the whole run; no checksum is over these."""
_ADD: Final = (
    f"INSERT INTO main.steps({COLUMNS}) SELECT"
    f" {', '.join(_RENUMBERED.get(name, f's.{name}') for name in Row._fields)} FROM shard.steps s"
    " JOIN shard.benchmarks b ON b.id = s.benchmark WHERE s.benchmark = ? ORDER BY s.seq"
)
_ALIKE: Final = """
    SELECT count(*) FROM main.samples a JOIN shard.samples b ON b.benchmark = ? AND b.idx = a.idx
    WHERE a.benchmark = ? AND b.sample_id = a.sample_id AND b.content IS a.content AND b.fault IS a.fault"""

_UNANSWERED: Final = """
    SELECT count(*) FROM shard.steps o WHERE o.benchmark = ? AND o.role = 1 AND o.void = 0 AND NOT EXISTS
    (SELECT 1 FROM shard.steps r WHERE r.benchmark = o.benchmark AND r.idx = o.idx AND r.repeat = o.repeat
    AND r.role = 0 AND r.void = 0)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The run.db of one shard."""

    path: Path
    label: str
    """How errors name it."""
    keys: Mapping[str, int]
    """The numbers of its benchmarks by slot."""


def unite(
    target: Path,
    parts: Sequence[Part],
    *,
    benchmarks: Mapping[str, tuple[str, StoredPlan]],
    meta: Mapping[str, object],
) -> None:
    """Write a new run.db with everything that all shards hold.

    Args:
        target: A new file.
        parts: Every shard once.
        benchmarks: By slot its name and plan, in the order of the run.
        meta: Values of the new run.

    Raises:
        UsageError: A shard holds other samples, or the same ones in another order.
        StoreError: Two shards hold an answer to one sample, an outcome has none, or a file is
            damaged.
        OutputError: It cannot be written.
    """
    try:
        numbers = _session_numbers(parts)
        create(target)
        with closing(connect(target)) as connection:
            connection.execute(
                "CREATE TEMP TABLE numbers(old INTEGER PRIMARY KEY, new INTEGER NOT NULL)"
            )
            _begin(connection, benchmarks, meta)
            for number, source in enumerate(parts):
                _add(connection, source, list(benchmarks), numbers[number], is_first=number == 0)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"two shards hold an answer to the same sample ({error}); they are not of one run"
        ) from error
    except (sqlite3.OperationalError, OSError) as error:
        raise OutputError(
            f"cannot write {target.parent}: {error}; free some space, then merge again"
        ) from error


def _session_numbers(parts: Sequence[Part]) -> list[dict[int, int]]:
    sessions = []
    for number, source in enumerate(parts):
        with closing(connect(source.path, untouched=True)) as connection:
            rows = connection.execute("SELECT started, id FROM sessions").fetchall()
            sessions += [(started, number, session) for started, session in rows]
    numbers: list[dict[int, int]] = [{} for _ in parts]
    for position, (_, number, session) in enumerate(sorted(sessions), start=1):
        numbers[number][session] = position
    return numbers


def _begin(
    connection: sqlite3.Connection,
    benchmarks: Mapping[str, tuple[str, StoredPlan]],
    meta: Mapping[str, object],
) -> None:
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO meta VALUES(?, ?)", [(key, dumps(value)) for key, value in meta.items()]
    )
    rows = [(slot, name, dumps(plan)) for slot, (name, plan) in benchmarks.items()]
    connection.executemany("INSERT INTO benchmarks(slot, name, plan) VALUES(?, ?, ?)", rows)
    connection.execute("COMMIT")


def _add(
    connection: sqlite3.Connection,
    source: Part,
    slots: Sequence[str],
    numbers: Mapping[int, int],
    *,
    is_first: bool,
) -> None:
    connection.execute("ATTACH ? AS shard", (untouched_uri(source.path),))
    try:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM temp.numbers")
        connection.executemany("INSERT INTO temp.numbers VALUES(?, ?)", numbers.items())
        connection.execute(
            "INSERT INTO main.sessions SELECT (SELECT new FROM numbers WHERE old = id), started,"
            " elapsed, ended, attempts, retries, spent FROM shard.sessions"
        )
        connection.execute("INSERT OR IGNORE INTO main.pool SELECT * FROM shard.pool")
        for key, slot in enumerate(slots, start=1):
            theirs = source.keys[slot]
            if is_first:
                connection.execute(
                    "INSERT INTO main.samples SELECT ?, idx, sample_id, row_number, content, fault, 0"
                    " FROM shard.samples WHERE benchmark = ? ORDER BY idx",
                    (key, theirs),
                )
            else:
                _check_samples(connection, source, slot, key, theirs)
            _check_answers(connection, source, slot, theirs)
            connection.execute(_ADD, (key, theirs))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute("DETACH shard")


def _check_samples(
    connection: sqlite3.Connection, source: Part, slot: str, ours: int, theirs: int
) -> None:
    n_ours, n_theirs = (
        connection.execute(
            f"SELECT count(*) FROM {name}.samples WHERE benchmark = ?",
            (key,),
        ).fetchone()[0]
        for name, key in (("main", ours), ("shard", theirs))
    )
    n_alike = connection.execute(_ALIKE, (theirs, ours)).fetchone()[0]
    if not n_ours == n_theirs == n_alike:
        raise UsageError(
            f"{source.label}: {n_alike:,} of its {n_theirs:,} samples of {slot} stand where the first"
            " shard has them; the dataset's rows came in another order there, so run that shard"
            " again from the same files"
        )


def _check_answers(connection: sqlite3.Connection, source: Part, slot: str, theirs: int) -> None:
    """Raise StoreError where an outcome has no response, which every run stores before it."""
    (n_lost,) = connection.execute(_UNANSWERED, (theirs,)).fetchone()
    if n_lost:
        raise StoreError(
            f"{source.label}: {n_lost:,} outcomes of {slot} have lost their answers; nel eval resume"
            f" {as_argument(source.path.parent)} asks for them again"
        )
