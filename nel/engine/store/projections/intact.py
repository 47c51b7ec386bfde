"""Reads a whole run.db: whether it is intact, what it holds in one number, a copy of it."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from nel.core.paths import as_argument
from nel.core.strict_json import dumps_line
from nel.engine.store.codec import next_step, unseal_text
from nel.engine.store.rows import DAMAGED
from nel.engine.store.snapshot import DIGEST_MODULUS, FILE_NAME, Snapshot
from nel.errors import StoreError

_DAMAGED_SAMPLES: Final = (
    "SELECT count(*) FROM samples WHERE content IS NOT NULL AND NOT nel_is_intact(content)"
)


def check_integrity(snapshot: Snapshot) -> None:
    """Read the whole file once.

    Raises:
        StoreError: SQLite finds damage.
    """
    try:
        state = snapshot.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if state == "ok" and snapshot.count(_DAMAGED_SAMPLES):
            state = "a sample is not what was stored"
    except sqlite3.DatabaseError as error:
        state = str(error)
    if state != "ok":
        step = next_step(snapshot.path.parent)
        raise StoreError(f"{FILE_NAME} is damaged: {' '.join(state.split())}; {step}")


def count_unreadable(snapshot: Snapshot) -> int:
    """Return how many rows are damaged; what `Log.drop_damaged` would delete."""
    try:
        return snapshot.count(f"SELECT count(*) FROM steps WHERE {DAMAGED}")
    except sqlite3.Error as error:
        raise StoreError(f"cannot read {FILE_NAME}: {error}") from error


def check_whole(snapshot: Snapshot) -> None:
    """Read the whole file, as `check_integrity`, and the seal of every record.

    Raises:
        StoreError: SQLite finds damage, or a record is not what was stored.
    """
    check_integrity(snapshot)
    n_damaged = count_unreadable(snapshot)
    if n_damaged:
        run_dir = snapshot.path.parent
        raise StoreError(
            f"{run_dir}: {n_damaged:,} records of {FILE_NAME} are damaged; nel eval resume"
            f" {as_argument(run_dir)} makes them again"
        )


def copy_store(snapshot: Snapshot, path: Path) -> None:
    """Copy the whole store into a new file.

    Raises:
        StoreError: It cannot be read or written.
    """
    try:
        with closing(sqlite3.connect(path)) as copy:
            snapshot.backup(copy)
    except sqlite3.Error as error:
        raise StoreError(f"cannot copy {FILE_NAME} to {path}: {error}") from error


def store_digest(snapshot: Snapshot) -> str:
    """Return a digest of every stored row, whatever SQLite's layout of the file."""
    digest = hashlib.sha256()
    tables = snapshot.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER"
        " BY name"
    ).fetchall()
    for (table,) in tables:
        digest.update(dumps_line({"table": table}))
        columns = len(snapshot.execute(f"PRAGMA table_info({table})").fetchall())
        order = ", ".join(str(number) for number in range(1, columns + 1))
        for row in snapshot.execute(f"SELECT * FROM {table} ORDER BY {order}"):
            values = [value.hex() if isinstance(value, bytes) else value for value in row]
            digest.update(dumps_line(values))
    return digest.hexdigest()


def content_digest(snapshot: Snapshot, benchmark: int) -> int:
    """Return the sum of a benchmark's sample digests modulo 2^256, as its identity has it."""
    query = "SELECT content FROM samples WHERE benchmark = ? AND content IS NOT NULL"
    rows = snapshot.execute(query, (benchmark,))
    return (
        sum(
            int.from_bytes(hashlib.sha256(unseal_text(content).encode()).digest())
            for (content,) in rows
        )
        % DIGEST_MODULUS
    )
