"""Reads a run.db, from any thread and while it is written. Writes nothing.

Rows are read in pages: a read that stays open would keep SQLite from truncating the write-ahead
log, which then grows with every commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from nel.core.strict_json import loads
from nel.engine.store.codec import NEXT_STEP, is_intact, name_run, next_step, unseal_text
from nel.engine.store.plans import StoredPlan, StoredSession
from nel.engine.store.projections.spend import add_amounts, spend
from nel.engine.store.rows import SqlValue
from nel.engine.store.schema import APPLICATION_ID, FORMAT, connect, remove_empty_log
from nel.errors import NelError, StoreError

FILE_NAME: Final = "run.db"
RUNS: Final = f"[!.]*/{FILE_NAME}"
"""A glob of the runs in a directory; one that is being created has a hidden name."""
PAGE = 256
_RUNS_NAMED_MAX = 3
IDX_MAX: Final = 2**63 - 1
DIGEST_MODULUS: Final = 2**256
"""Modulus of a dataset's digests, sums of SHA-256 that do not depend on the order of rows."""


class StoredSample(NamedTuple):
    """One row of the dataset snapshot; a row with a fault is not asked."""

    idx: int
    sample_id: str
    row_number: int
    content: str | None
    """The encoded sample with its checksum; None for a row that is not a sample."""
    fault: str | None


_SAMPLE: Final = ", ".join(StoredSample._fields)
_OF_SAMPLE: Final = "benchmark = ? AND idx = ? AND repeat = ?"
OF_ROUND: Final = "attempt = (SELECT round FROM benchmarks WHERE id = benchmark)"
"""The condition of verdicts by the present scorer: each rescoring begins a round."""

_NO_ROOM: Final = ("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_FULL")
"""Errors of a disk on which SQLite cannot create ``run.db-shm``, which a finished run can lack."""


class Snapshot:
    """Reads a run.db; safe to use while a `Log` writes it."""

    def __init__(self, path: Path, *, untouched: bool = False) -> None:
        """Open for reading.

        Args:
            path: Of the run.db.
            untouched: Create no file beside it either, which SQLite does otherwise.

        Raises:
            StoreError: The file is missing, damaged, not a run.db or of another format.
        """
        if not path.is_file():
            runs = sorted(path.parent.glob(RUNS))[:_RUNS_NAMED_MAX]
            hint = "give the directory of a run"
            if runs:
                names = ", ".join(run_db.parent.name for run_db in runs)
                hint = f"it holds the runs {names}: give one of them"
            raise StoreError(f"there is no {FILE_NAME} in {path.parent}; {hint}")
        self.path, self._untouched = path, untouched
        try:
            try:
                self._open()
            except sqlite3.OperationalError as error:
                if untouched or not error.sqlite_errorname.startswith(_NO_ROOM):
                    raise
                self._untouched = True
                self._open()
        except (sqlite3.DatabaseError, StoreError) as error:
            if isinstance(error, StoreError) and error.__cause__ is None:
                raise  # of another program or format, which its message says
            what = str(error.__cause__ or error)
            raise StoreError(
                f"{path} is damaged or no run.db: {what}; {next_step(path.parent)}"
            ) from error

    def _open(self) -> None:
        self._connection = connect(self.path, readonly=True, untouched=self._untouched)
        try:
            self._check_format()
        except BaseException:
            self._connection.close()
            raise

    def _check_format(self) -> None:
        if self.count("PRAGMA application_id") != APPLICATION_ID:
            raise StoreError(f"{self.path} was not written by nel; give the directory of a run")
        version = self.count("PRAGMA user_version")
        if version != FORMAT:
            raise StoreError(
                f"{self.path} has format {version}, this nel reads {FORMAT}; use the nel that"
                " wrote it"
            )

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        if not self._untouched:
            remove_empty_log(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.close()
        name_run(error, self.path.parent)

    def execute(self, query: str, values: Sequence[SqlValue] = ()) -> sqlite3.Cursor:
        """Run a query."""
        return self._connection.execute(query, values)

    def backup(self, copy: sqlite3.Connection) -> None:
        """Copy everything into another database."""
        self._connection.backup(copy)

    def interrupt(self) -> None:
        """Abort what another thread is reading; harmless when that is over."""
        with suppress(sqlite3.Error):
            self._connection.interrupt()

    def _value(self, query: str, values: Sequence[SqlValue]) -> Any:
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    def count(self, query: str, values: Sequence[SqlValue] = ()) -> int:
        """Return the number that a query selects."""
        return int(self._value(query, values))

    def meta(self, key: str) -> Any:
        """Return a value of the table ``meta``, None without one."""
        text = self._value("SELECT value FROM meta WHERE key = ?", (key,))
        return None if text is None else _loads(text)

    def benchmarks(self) -> list[tuple[int, str, str, StoredPlan]]:
        """Return ``(id, slot, name, plan)`` of each benchmark, in the order of the run."""
        rows = self._connection.execute(
            "SELECT id, slot, name, plan FROM benchmarks ORDER BY id"
        ).fetchall()
        return [(key, slot, name, _loads(plan)) for key, slot, name, plan in rows]

    def sessions(self) -> list[StoredSession]:
        """Return every session of this run, oldest first."""
        rows = self._connection.execute(
            "SELECT started, elapsed, ended, attempts, retries, spent FROM sessions ORDER BY id"
        ).fetchall()
        return [
            StoredSession(
                started=started,
                elapsed=elapsed,
                ended=ended,
                attempts=attempts,
                retries=retries,
                spent=None if spent is None else _unseal(spent),
            )
            for started, elapsed, ended, attempts, retries, spent in rows
        ]

    def spent_by_killed(self) -> dict[str, list[int]]:
        """Return requests and tokens (prompt, completion, cached) of killed sessions, by payer.

        For a resume, before it begins its own session. Sessions that `Log.settle_killed` has
        settled are left out.
        """
        killed = "SELECT id FROM sessions WHERE ended IS NULL AND spent IS NULL ORDER BY id"
        sums: dict[str, list[int]] = {}
        for (session,) in self._connection.execute(killed).fetchall():
            for payer, amounts in spend(self._connection, session)["sums"].items():
                add_amounts(sums, payer, amounts)
        return sums

    def count_planned(self, benchmark: int) -> int:
        """Return how many samples of a benchmark this run, or this shard, has, with bad rows."""
        # Two counts by index; a single one with `elsewhere = 0` would read every row.
        query = (
            "SELECT (SELECT count(*) FROM samples WHERE benchmark = ?)"
            " - (SELECT count(*) FROM samples WHERE benchmark = ? AND elsewhere > 0)"
        )
        return self.count(query, (benchmark, benchmark))

    def count_bad_rows(self, benchmark: int) -> int:
        """Return how many of the planned samples are bad rows."""
        query = (
            "SELECT count(*) FROM samples WHERE benchmark = ? AND fault IS NOT NULL AND elsewhere"
            " = 0"
        )
        return self.count(query, (benchmark,))

    def idx_of(self, benchmark: int, sample_id: str) -> int | None:
        """Return the position of a sample, None where there is none of this id."""
        query = "SELECT idx FROM samples WHERE benchmark = ? AND sample_id = ?"
        return self._value(query, (benchmark, sample_id))  # type: ignore[no-any-return]

    def samples(
        self, benchmark: int, *, first: int = 0, last: int = IDX_MAX
    ) -> Iterator[StoredSample]:
        """Yield the samples of a benchmark in order.

        Args:
            benchmark: Its number.
            first: The first idx to yield.
            last: The last idx to yield.
        """
        for page in self.sample_pages(benchmark, first, last):
            yield from page

    def sample_pages(self, benchmark: int, first: int, last: int) -> Iterator[list[StoredSample]]:
        """Yield the samples of a benchmark in order, in pages that are not empty."""
        previous, condition = first - 1, "idx > ? AND idx <= ? ORDER BY idx LIMIT ?"
        while page := self.samples_where(benchmark, condition, previous, last, PAGE):
            yield page
            previous = page[-1].idx

    def samples_where(
        self, benchmark: int, condition: str, *values: SqlValue
    ) -> list[StoredSample]:
        """Return the samples of a benchmark by a condition, which may have an ORDER BY."""
        query = f"SELECT {_SAMPLE} FROM samples WHERE benchmark = ? AND {condition}"
        rows = self._connection.execute(query, (benchmark, *values)).fetchall()
        return list(map(StoredSample._make, rows))

    def request(self, benchmark: int, idx: int, repeat: int) -> str | None:
        """Return the last request body for a (sample, repeat), None without one."""
        query = f"SELECT request FROM steps WHERE {_OF_SAMPLE} AND role = 0 AND void = 0"
        return self._value(query, (benchmark, idx, repeat))  # type: ignore[no-any-return]


def start_of(run_db: Path) -> float:
    """Return when a run's first session began, in seconds since 1970; 0 if unreadable."""
    with suppress(NelError), Snapshot(run_db) as snapshot:
        sessions = snapshot.sessions()
        return sessions[0]["started"] if sessions else 0.0
    return 0.0


def _unseal(text: str) -> Any:
    return _loads(unseal_text(text) if is_intact(text) else "")


def _loads(text: object) -> Any:  # JSON of any shape
    try:
        return loads(text if isinstance(text, str) else "")
    except ValueError as error:
        raise StoreError(f"{FILE_NAME} is damaged: {error}; {NEXT_STEP}") from error
