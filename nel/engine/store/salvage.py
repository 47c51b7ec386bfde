"""Copies the readable rows of a damaged run.db into a new one; the damaged file is kept.

Depends on SQLite. Ranges of rows that cannot be read are halved until only the unreadable rows are
left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nel.config.yaml_file import read_value
from nel.core.strict_json import dumps, loads
from nel.engine.store import elsewhere
from nel.engine.store.codec import is_intact
from nel.engine.store.plans import missing_keys
from nel.engine.store.projections.pending import Pending
from nel.engine.store.rows import Row, check_seal
from nel.engine.store.schema import connect, create
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import ConfigError, StoreError
from nel.types import JsonObject

_TABLES: Final = ("meta", "benchmarks", "samples", "steps", "pool", "sessions")
_JSON: Final = {"meta": 1, "benchmarks": 3, "pool": 1}
"""By table: the column that has to be JSON."""
_DIGEST: Final = 1 + Row._fields.index("digest")
"""The column of `steps` that is not text."""
_ENDED: Final = 3
"""The column of `sessions` that says how one ended."""
_RUN_YAML: Final = "run.yaml"
"""Holds the configuration too, once artifacts are written."""
_ROWS_MAX: Final = 1 << 40
_PAGE: Final = 512
_FAILED_MAX: Final = 5_000
"""Failed queries after which the rest of a table is given up; one bad page costs a few dozen."""
_HEADER_BYTES: Final = 16
_UNREADABLE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""Python decodes the texts of SQLite's errors, and those quote names of a damaged schema."""


@dataclass(slots=True)
class Salvaged:
    """What a salvage kept and lost."""

    damaged: Path
    """The damaged file, as it was."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows that were read, by table."""
    damaged_ranges: int = 0
    """Places in which rows could not be read."""
    incomplete: list[str] = field(default_factory=list)
    """Benchmarks that lost a sample: all of it is asked again."""
    pending: int = 0
    """Pairs of sample and repeat that a resume asks or scores."""


def salvage(run_dir: Path) -> Salvaged:
    """Replace a run.db by a new one with all that can be read; the caller holds the lock.

    Raises:
        StoreError: The configuration of the run can be read neither there nor in run.yaml, so there
            is nothing to resume; no file was changed.
    """
    path = run_dir / FILE_NAME
    salvaged = Salvaged(damaged=_unused_path(run_dir / f"{FILE_NAME}.damaged"))
    if not path.is_file() or not path.read_bytes()[:_HEADER_BYTES]:
        raise StoreError(
            f"{path} is missing or empty, so nothing can be read of it; start a new run"
        )
    rescued = run_dir / f".{FILE_NAME}.salvaged"
    rescued.unlink(missing_ok=True)
    try:
        create(rescued)
        with closing(connect(rescued)) as target:
            _copy(path, target, salvaged)
            _check(path, target, salvaged)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        for name in (rescued.name, f"{rescued.name}-wal", f"{rescued.name}-shm"):
            (run_dir / name).unlink(missing_ok=True)
        raise
    for suffix in ("-wal", "-shm", ""):
        file = run_dir / f"{FILE_NAME}{suffix}"
        if file.exists():
            file.rename(Path(f"{salvaged.damaged}{suffix}"))
    rescued.rename(path)
    with Snapshot(path) as snapshot:
        salvaged.pending = sum(
            Pending(snapshot).count_pending(key, plan["repeats"])
            for key, _, _, plan in snapshot.benchmarks()
            if plan
        )
    return salvaged


def _unused_path(path: Path) -> Path:
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{FILE_NAME}.damaged-{number}")
    return path


def _copy(path: Path, target: sqlite3.Connection, salvaged: Salvaged) -> None:
    with closing(
        sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    ) as source:
        with suppress(*_UNREADABLE_ERRORS):
            source.execute("PRAGMA cell_size_check = ON")
        source.text_factory = bytes
        for table in _TABLES:
            target.execute("BEGIN")
            width = len(target.execute(f"PRAGMA table_info({table})").fetchall())
            insert = f"INSERT OR IGNORE INTO {table} VALUES({', '.join('?' * width)})"
            salvaged.rows[table] = sum(
                _put(target, insert, table, row) for row in _rows(source, table, salvaged)
            )
            if table == "samples":
                salvaged.rows[table] -= _drop_changed_ids(source, target)
            target.execute("COMMIT")


def _drop_changed_ids(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Delete samples whose id differs from the index's copy; return how many there were.

    An id has no checksum of its own. Where the index cannot be read, ids are believed.
    """
    query = "SELECT benchmark, sample_id FROM samples INDEXED BY sqlite_autoindex_samples_2"
    try:
        indexed = set(source.execute(query))
    except _UNREADABLE_ERRORS:
        return 0
    copied = target.execute("SELECT rowid, benchmark, sample_id FROM samples").fetchall()
    changed = [
        (row,)
        for row, benchmark, sample_id in copied
        if (benchmark, sample_id.encode()) not in indexed
    ]
    target.executemany("DELETE FROM samples WHERE rowid = ?", changed)
    return len(changed)


def _rows(source: sqlite3.Connection, table: str, salvaged: Salvaged) -> Iterator[tuple[Any, ...]]:
    query = f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
    pending = [(1, _ROWS_MAX)]
    n_failed = 0
    while pending and n_failed < _FAILED_MAX:
        first, last = pending.pop()
        try:
            page = source.execute(query, (first, last, _PAGE)).fetchall()
        except _UNREADABLE_ERRORS:
            n_failed += 1
            if first == last:
                salvaged.damaged_ranges += 1
                continue
            last = _last_row(source, table, first, last)
            middle = (first + last) // 2
            # The lower half on top, since rows are copied in order; a range of one is tried again
            # alone, and counted above if that fails.
            pending += [(middle + 1, last), (first, middle)] if first < last else [(first, first)]
            continue
        yield from (row[1:] for row in page)
        if len(page) == _PAGE:
            pending.append((page[-1][0] + 1, last))
    salvaged.damaged_ranges += len(pending)


def _last_row(source: sqlite3.Connection, table: str, first: int, last: int) -> int:
    """Return the last row of a range where it can be found, so that no empty range is searched."""
    if last < _ROWS_MAX:
        return last
    query = f"SELECT max(rowid) FROM {table} NOT INDEXED"
    with suppress(*_UNREADABLE_ERRORS):
        return max(first, int(source.execute(query).fetchone()[0] or first))
    # Not even that can be read: the next 16 million rows are searched.
    return first + (1 << 24)


def _put(target: sqlite3.Connection, insert: str, table: str, row: tuple[Any, ...]) -> int:
    """Insert one row where it is what it should be; return how many were."""
    try:
        blob = _DIGEST if table == "steps" else None
        values = [
            value.decode("utf-8") if isinstance(value, bytes) and at != blob else value
            for at, value in enumerate(row)
        ]
        column = _JSON.get(table)
        if column is not None:
            loads(values[column])
        if table == "steps":
            check_seal(Row._make(values[1:]))
        if table == "samples" and values[4] is not None and not is_intact(values[4]):
            return 0
        if table == "sessions" and values[-1] is not None and not is_intact(values[-1]):
            values[-1] = values[_ENDED] = None  # as one that was killed: its answers are added up
        return target.execute(insert, values).rowcount
    except (sqlite3.Error, StoreError, ValueError, TypeError, IndexError):
        return 0


def _check(path: Path, target: sqlite3.Connection, salvaged: Salvaged) -> None:
    has_config = target.execute("SELECT count(*) FROM meta WHERE key = 'config'").fetchone()[0]
    if not has_config and (config := _written_config(path.parent)) is not None:
        target.execute("INSERT INTO meta VALUES('config', ?)", (dumps(config),))
        has_config = True
    slots = target.execute("SELECT id, slot, plan FROM benchmarks").fetchall()
    if not slots:
        raise StoreError(
            f"no benchmark of the run can be read from {path}, so it cannot be resumed; start a new"
            " run"
        )
    if not has_config:
        raise StoreError(
            f"the configuration of the run cannot be read from {path}, nor from a {_RUN_YAML}"
            " beside it, so it cannot be resumed; start a new run"
        )
    for key, slot, plan in slots:
        _check_benchmark(target, key, slot, loads(plan), salvaged)
    target.execute(
        "DELETE FROM steps WHERE role = 1 AND void = 0 AND NOT EXISTS (SELECT 1 FROM steps r WHERE"
        " r.benchmark = steps.benchmark AND r.idx = steps.idx AND r.repeat = steps.repeat AND r.role"
        " = 0 AND r.void = 0)"
    )
    counts = "SELECT sum(role = 0), sum(role = 1), sum(role > 1) FROM steps WHERE void = 0"
    n_kept = target.execute(counts).fetchone()
    for name, n in zip(("answers", "verdicts", "further exchanges"), n_kept, strict=True):
        salvaged.rows[name] = n or 0


def _written_config(run_dir: Path) -> JsonObject | None:
    """Return the configuration that run.yaml holds, None where it is not there or not whole.

    A resume compares it with the stored identities, so an edited one mixes nothing.
    """
    try:
        config = read_value((run_dir / _RUN_YAML).read_text(encoding="utf-8"), _RUN_YAML)
    except (OSError, UnicodeDecodeError, ConfigError):
        return None
    return config if isinstance(config, dict) and config.get("benchmarks") else None


def _check_benchmark(
    target: sqlite3.Connection, key: int, slot: str, plan: dict[str, Any], salvaged: Salvaged
) -> None:
    """Start a benchmark over that lost a sample or a part of its plan.

    Its dataset may have changed since, and rows would be mixed.
    """
    rows = -1 if missing_keys(plan) else plan["dataset"]["rows"]
    query = "SELECT count(*), ifnull(max(idx), -1) FROM samples WHERE benchmark = ? AND idx >= 0"
    n_samples, last_idx = target.execute(query, (key,)).fetchone()
    if n_samples != rows or last_idx != rows - 1:
        salvaged.incomplete.append(slot)
        for table in ("samples", "steps"):
            target.execute(f"DELETE FROM {table} WHERE benchmark = ?", (key,))
        target.execute("UPDATE benchmarks SET plan = '{}' WHERE id = ?", (key,))
        return
    elsewhere.mark(target, key, elsewhere.shard_of(plan["identity"]))
