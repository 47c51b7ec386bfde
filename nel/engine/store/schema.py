"""The schema of a run.db: its tables and its format version. Depends on SQLite.

A table or column that is added here needs another `FORMAT`.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from nel.core.paths import as_argument
from nel.engine.store import elsewhere
from nel.engine.store.codec import NEXT_STEP, is_intact
from nel.engine.store.rows import is_sealed
from nel.errors import OutputError, StoreError

FORMAT: Final = 6
APPLICATION_ID: Final = 0x4E454C31  # "NEL1"
_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE benchmarks(
    id INTEGER PRIMARY KEY, slot TEXT NOT NULL UNIQUE, name TEXT NOT NULL, plan TEXT NOT NULL,
    round INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE samples(
    benchmark INTEGER NOT NULL, idx INTEGER NOT NULL, sample_id TEXT NOT NULL, row_number INTEGER NOT NULL,
    content TEXT, fault TEXT, elsewhere INTEGER NOT NULL DEFAULT 0, UNIQUE(benchmark, idx),
    UNIQUE(benchmark, sample_id)) STRICT;
CREATE TABLE steps(
    seq INTEGER PRIMARY KEY, benchmark INTEGER NOT NULL, idx INTEGER NOT NULL, repeat INTEGER NOT NULL,
    role INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, number INTEGER NOT NULL DEFAULT 0,
    session INTEGER NOT NULL, void INTEGER NOT NULL DEFAULT 0, again INTEGER NOT NULL DEFAULT 0, name TEXT, digest BLOB, fault TEXT, requests INTEGER,
    prompt INTEGER, completion INTEGER, reasoning INTEGER, cached INTEGER, seconds REAL, wall REAL,
    ended REAL, crc INTEGER NOT NULL, request TEXT, response TEXT) STRICT;
CREATE TABLE pool(digest TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
CREATE TABLE sessions(
    id INTEGER PRIMARY KEY, started REAL NOT NULL, elapsed REAL, ended TEXT, attempts INTEGER, retries INTEGER,
    spent TEXT) STRICT;
CREATE INDEX bad_rows ON samples(benchmark) WHERE fault IS NOT NULL;
CREATE INDEX other_shards ON samples(benchmark, idx) WHERE elsewhere > 0;
CREATE UNIQUE INDEX answers ON steps(benchmark, idx, repeat, role, void) WHERE role = 0 AND void = 0;
CREATE UNIQUE INDEX verdicts ON steps(benchmark, attempt, idx, repeat, role, void) WHERE role = 1 AND void = 0;
CREATE INDEX exchanges ON steps(benchmark, idx, repeat) WHERE role > 1 OR void > 0;
CREATE INDEX taken_back ON steps(void) WHERE role = 1 AND void > 0;
CREATE INDEX remade ON steps(benchmark, again) WHERE again > 0 AND void = 0;
"""
"""``steps`` is the log: one row for each exchange and verdict (`nel.engine.store.rows`), which is
never changed but for ``void``, the session that took it back. Messages of episodes are in ``pool``
once each. Each row lies in one index, two with ``again`` or once its verdict is taken back;
``role`` and ``void`` make the unique ones covering. SQLite uses a partial index only where a query
repeats its condition word for word.
"""


_PATH_BYTES_MAX: Final = 504
"""Of an absolute path that SQLite opens: 512 without its end and that of its journal's path."""
_DAMAGE: Final = re.compile("decode|user-defined|malformed|no such|not a database")
"""Of "could not decode to UTF-8", "user-defined function raised exception", "database disk image is
malformed", "no such table" and "file is not a database".
"""


class _DamageNamed:
    """Raises StoreError in place of what SQLite raises of a damaged file; one generator less for
    each statement and each row.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise StoreError(f"run.db is damaged: {error.reason}; {NEXT_STEP}") from error
        if not isinstance(error, sqlite3.DatabaseError):
            return
        # A full disk, a lock and an interrupt are subclasses with other words, and no damage.
        if type(error) is sqlite3.DatabaseError or _DAMAGE.search(str(error)):
            raise StoreError(f"run.db is damaged: {error}; {NEXT_STEP}") from error


_DAMAGE_NAMED: Final = _DamageNamed()


class _Cursor(sqlite3.Cursor):
    """Raises StoreError for what SQLite finds damaged, wherever a row is read."""

    def execute(self, *args: Any) -> _Cursor:
        with _DAMAGE_NAMED:
            super().execute(*args)
        return self

    def executemany(self, *args: Any) -> _Cursor:
        with _DAMAGE_NAMED:
            super().executemany(*args)
        return self

    def fetchone(self) -> Any:
        with _DAMAGE_NAMED:
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with _DAMAGE_NAMED:
            return super().fetchall()

    def __next__(self) -> Any:
        with _DAMAGE_NAMED:
            return super().__next__()


class _Connection(sqlite3.Connection):
    def execute(self, *args: Any) -> _Cursor:
        return self.cursor(_Cursor).execute(*args)

    def executemany(self, *args: Any) -> _Cursor:
        return self.cursor(_Cursor).executemany(*args)


def check_path(path: Path) -> None:
    """Raise OutputError where the absolute path of a run.db is longer than SQLite opens."""
    n_bytes = len(os.fsencode(path.resolve()))
    if n_bytes > _PATH_BYTES_MAX:
        raise OutputError(
            f"the path of the run's {path.name} would have {n_bytes:,} bytes, and SQLite opens none"
            f" of more than {_PATH_BYTES_MAX}; choose a shorter --output-dir, or move the run's"
            f" directory: …{str(path)[-100:]}"
        )


def connect(path: Path, *, readonly: bool = False, untouched: bool = False) -> sqlite3.Connection:
    """Open a file for reading, or for writing with everything committed on disk before it counts.

    Args:
        path: Of the run.db.
        readonly: Write nothing into the file; SQLite may still create ``run.db-wal`` and
            ``run.db-shm`` beside it, which `remove_empty_log` removes.
        untouched: Create and change no file at all, also beside it.

    Raises:
        StoreError: It cannot be read without a file being made.
    """
    mode = "ro" if readonly else "rwc"
    if untouched:
        mode, readonly = _untouched_mode(path), True
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        uri,
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=30,
        factory=_Connection,
    )
    try:
        connection.create_function("nel_is_intact", 1, is_intact, deterministic=True)
        connection.create_function("nel_is_sealed", -1, is_sealed, deterministic=True)
        connection.create_function("nel_shard", 3, elsewhere.shard_number, deterministic=True)
        if not readonly:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def remove_empty_log(path: Path) -> None:
    """Remove the empty ``run.db-wal`` and the ``run.db-shm`` that reading a finished run leaves.

    A connection that may not write makes them and cannot remove them, so the last connection is one
    that may. A log with records is of a run in progress or of a killed one, and stays.
    """
    log = path.with_name(f"{path.name}-wal")
    with suppress(OSError, sqlite3.Error, UnicodeDecodeError):  # the last of a damaged file
        if log.stat().st_size == 0:
            uri = f"{path.resolve().as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
                connection.execute("SELECT 1 FROM sqlite_master").close()


@contextmanager
def bulk_insert_cache(connection: sqlite3.Connection) -> Iterator[None]:
    """Give a connection 16 MiB of page cache for many inserts, and SQLite's 2 MiB after.

    Ids of samples are hashes, so each insert changes a random page of their index. A small cache
    writes it out and reads it back again and again: a third of the time of 500,000 inserts.
    """
    connection.execute("PRAGMA cache_size = -16384")
    try:
        yield
    finally:
        connection.execute("PRAGMA cache_size = -2000")
        connection.execute("PRAGMA shrink_memory")


def untouched_uri(path: Path) -> str:
    """Return the address under which SQLite reads a file and makes or changes none.

    Raises:
        StoreError: It cannot be read without a file being made.
    """
    return f"{path.resolve().as_uri()}?mode={_untouched_mode(path)}"


def _untouched_mode(path: Path) -> str:
    """Return how SQLite opens a file without touching others: by what its write-ahead log holds.

    Without a log the file alone is the whole store. With one, its index is mapped for reading;
    where that index is missing, SQLite would have to make it.
    """
    log, log_index = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
    try:
        is_folded = log.stat().st_size == 0
    except OSError:
        is_folded = True
    if is_folded:
        return "ro&immutable=1"
    if not log_index.exists():
        raise StoreError(
            f"{log} was copied without {log_index.name}; nel report {as_argument(path.parent)} folds"
            f" it into {path.name}"
        )
    return "ro&readonly_shm=1"


def create(path: Path) -> None:
    """Create an empty store under another name, then rename it: a kill leaves all or nothing."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
        # Persistent, so it is set before the rename: a kill right after it cannot leave a rollback
        # journal behind.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(
            f"BEGIN; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT};"
            f" {_SCHEMA} COMMIT;"
        )
    unfinished.rename(path)
