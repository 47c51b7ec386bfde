"""run.db: the only source of truth of a run, and the only module that speaks SQL.

`Store` owns one writing connection in a thread of its own. Writers hand in a row and wait until the transaction that
holds it is on disk; rows that arrive together share one commit, so that durability costs one fsync for many samples.
`Snapshot` reads, from any thread, with a connection of its own.

Trap: nothing counts before `put` has returned. Who counts earlier pays twice after a kill.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.engine.store_format import APPLICATION_ID, FORMAT, READABLE, connect, create, migrate
from nel.errors import StoppedEarly, StoreError
from nel.strictjson import dumps, loads

FILE_NAME: Final = "run.db"
_BATCH_MAX = 1024
_PAGE = 256
_MANY = 4096
_PUT_RESPONSE = "INSERT OR REPLACE INTO responses VALUES(?, ?, ?, ?, ?, ?)"
_PUT_CALL = "INSERT OR REPLACE INTO calls VALUES(?, ?, ?, ?, ?, ?)"
_PUT_OUTCOME = "INSERT OR REPLACE INTO outcomes VALUES(?, ?, ?, ?, ?)"


OutcomeRow = tuple[int, int, int, int, str]
"""``(benchmark, idx, repeat, retry, outcome)``; retry is what a resume makes anew: 0 nothing, 1 the score, 2 all."""

_Write = tuple[str, Sequence[Sequence[Any]]]
_Entry = tuple[list[_Write], "asyncio.Future[None]"]


@dataclass(frozen=True, slots=True)
class StoredSample:
    """One row of the dataset snapshot."""

    idx: int
    sample_id: str
    row_number: int
    content: str | None
    """None for a bad row."""
    fault: str | None


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One (sample, repeat) with whatever the run has of it."""

    sample: StoredSample
    repeat: int
    response: str | None
    outcome: str | None


class Snapshot:
    """Reads a run.db; safe to use while a `Store` writes it."""

    def __init__(self, path: Path) -> None:
        """Open for reading.

        Raises:
            StoreError: The file is missing, damaged, not a run.db or of another format.
        """
        if not path.is_file():
            raise StoreError(f"there is no {FILE_NAME} in {path.parent}; give the directory of a run")
        try:
            self._connection = connect(path, readonly=True)
            application = self._connection.execute("PRAGMA application_id").fetchone()[0]
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path} is damaged or no run.db: {error}; start a new run") from error
        if application != APPLICATION_ID:
            raise StoreError(f"{path} was not written by nel; give the directory of a run")
        if version not in READABLE:
            raise StoreError(f"{path} has format {version}, this nel reads up to {FORMAT}; use the nel that wrote it")
        self._has_calls = version >= FORMAT

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Snapshot:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def check_integrity(self) -> None:
        """Read the whole file once.

        Raises:
            StoreError: SQLite finds damage.
        """
        try:
            found = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            found = str(error)
        if found != "ok":
            raise StoreError(f"{FILE_NAME} is damaged: {found}; restore it from a copy or start a new run")

    def meta(self, key: str) -> Any:
        """Return a stored value, or None."""
        found = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if found is None else loads(found[0])

    def benchmarks(self) -> list[tuple[int, str, str, dict[str, Any]]]:
        """Return ``(id, slot, name, plan)`` of each benchmark, in the order of the run."""
        rows = self._connection.execute("SELECT id, slot, name, plan FROM benchmarks ORDER BY id").fetchall()
        return [(key, slot, name, loads(plan)) for key, slot, name, plan in rows]

    def sessions(self) -> list[dict[str, Any]]:
        """Return every session of this run, oldest first."""
        rows = self._connection.execute(
            "SELECT started, elapsed, ended, attempts, retries FROM sessions ORDER BY id"
        ).fetchall()
        return [dict(zip(("started", "elapsed", "ended", "attempts", "retries"), row, strict=True)) for row in rows]

    def count_samples(self, benchmark: int) -> int:
        """Return how many samples the snapshot of this benchmark holds."""
        return int(
            self._connection.execute("SELECT count(*) FROM samples WHERE benchmark = ?", (benchmark,)).fetchone()[0]
        )

    def count_bad_rows(self, benchmark: int) -> int:
        """Return how many rows of this benchmark's dataset are unusable."""
        query = "SELECT count(*) FROM samples WHERE benchmark = ? AND content IS NULL"
        return int(self._connection.execute(query, (benchmark,)).fetchone()[0])

    def outcomes_after(self, mark: int) -> list[tuple[int, int, str]]:
        """Return the next ``(mark, benchmark, outcome)`` in the order of their commits, a bounded number of them.

        Args:
            mark: 0, or the last one seen. Within a session outcomes are only added; the next one may drop some.
        """
        query = "SELECT rowid, benchmark, outcome FROM outcomes WHERE rowid > ? ORDER BY rowid LIMIT ?"
        try:
            return self._connection.execute(query, (mark, _MANY)).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"cannot read {FILE_NAME}: {error}; is the directory still there?") from error

    def samples(self, benchmark: int) -> Iterator[StoredSample]:
        """Yield the samples of a benchmark in order, a page at a time so that no read holds the log back."""
        last = -1
        query = (
            "SELECT idx, sample_id, row_number, content, fault FROM samples"
            " WHERE benchmark = ? AND idx > ? ORDER BY idx LIMIT ?"
        )
        while rows := self._connection.execute(query, (benchmark, last, _PAGE)).fetchall():
            for row in rows:
                yield StoredSample(*row)
            last = rows[-1][0]

    def pending(self, benchmark: int, repeats: int, *, have: str) -> Iterator[tuple[StoredSample, int]]:
        """Yield each good (sample, repeat) that has no row yet in table ``responses`` or ``outcomes``."""
        assert have in ("responses", "outcomes")  # noqa: S101 - a table name, never input
        done: dict[int, set[int]] = {}
        upto = -1
        for sample in self.samples(benchmark):
            if sample.idx > upto:
                upto = sample.idx + _PAGE - 1
                done = self._done(have, benchmark, sample.idx, upto)
            if sample.fault is None:
                known = done.get(sample.idx, ())
                yield from ((sample, repeat) for repeat in range(repeats) if repeat not in known)

    def has_answers(self) -> bool:
        """Return whether the endpoint has ever answered in this run."""
        found = self._connection.execute("SELECT 1 FROM outcomes WHERE retry < 2 LIMIT 1").fetchone()
        return found is not None

    def last_response(self) -> int:
        """Return a mark: `unscored_responses` up to it sees only what is stored now."""
        return int(self._connection.execute("SELECT ifnull(max(rowid), 0) FROM responses").fetchone()[0])

    def request(self, benchmark: int, idx: int, repeat: int) -> str | None:
        """Return the body that was sent last for a (sample, repeat), or None."""
        found = self._connection.execute(
            "SELECT request FROM responses WHERE benchmark = ? AND idx = ? AND repeat = ?", (benchmark, idx, repeat)
        ).fetchone()
        return None if found is None else found[0]

    def call(self, benchmark: int, idx: int, repeat: int, key: str) -> str | None:
        """Return the stored answer to one further request of a sample, or None."""
        if not self._has_calls:
            return None
        found = self._connection.execute(
            "SELECT response FROM calls WHERE benchmark = ? AND idx = ? AND repeat = ? AND key = ?",
            (benchmark, idx, repeat, key),
        ).fetchone()
        return None if found is None else str(found[0])

    def calls(self, benchmark: int) -> Iterator[str]:
        """Yield every stored answer to a further request of a benchmark."""
        if self._has_calls:
            query = "SELECT response FROM calls WHERE benchmark = ? ORDER BY rowid"
            yield from (row[0] for row in self._connection.execute(query, (benchmark,)))

    def unscored_responses(self, benchmark: int, *, upto: int) -> Iterator[tuple[StoredSample, int, str, str | None]]:
        """Yield each (sample, repeat, response, request) that was answered before ``upto`` and never scored."""
        last = 0
        query = (
            "SELECT r.rowid, s.idx, s.sample_id, s.row_number, s.content, s.fault, r.repeat, r.response,"
            " r.request"
            " FROM responses r"
            " JOIN samples s ON s.benchmark = r.benchmark AND s.idx = r.idx"
            " LEFT JOIN outcomes o ON o.benchmark = r.benchmark AND o.idx = r.idx AND o.repeat = r.repeat"
            " WHERE r.benchmark = ? AND r.rowid > ? AND r.rowid <= ? AND o.idx IS NULL ORDER BY r.rowid LIMIT ?"
        )
        while rows := self._connection.execute(query, (benchmark, last, upto, _PAGE)).fetchall():
            for row in rows:
                yield StoredSample(*row[1:6]), row[6], row[7], row[8]
            last = rows[-1][0]

    def results(self, benchmark: int, repeats: int) -> Iterator[StoredResult]:
        """Yield every planned (sample, repeat) in order, with its response and outcome where there is one."""
        found: dict[tuple[int, int], tuple[str | None, str | None]] = {}
        upto = -1
        for sample in self.samples(benchmark):
            if sample.idx > upto:
                upto = sample.idx + _PAGE - 1
                found = self._results_between(benchmark, sample.idx, upto)
            for repeat in range(repeats):
                response, outcome = found.get((sample.idx, repeat), (None, None))
                yield StoredResult(sample, repeat, response, outcome)

    def _done(self, table: str, benchmark: int, first: int, last: int) -> dict[int, set[int]]:
        done: dict[int, set[int]] = {}
        query = f"SELECT idx, repeat FROM {table} WHERE benchmark = ? AND idx BETWEEN ? AND ?"  # noqa: S608 - see pending
        for idx, repeat in self._connection.execute(query, (benchmark, first, last)):
            done.setdefault(idx, set()).add(repeat)
        return done

    def _results_between(
        self, benchmark: int, first: int, last: int
    ) -> dict[tuple[int, int], tuple[str | None, str | None]]:
        where = (benchmark, first, last)
        found: dict[tuple[int, int], tuple[str | None, str | None]] = {}
        rows = self._connection.execute(
            "SELECT idx, repeat, response FROM responses WHERE benchmark = ? AND idx BETWEEN ? AND ?", where
        )
        for idx, repeat, response in rows:
            found[idx, repeat] = (response, None)
        rows = self._connection.execute(
            "SELECT idx, repeat, outcome FROM outcomes WHERE benchmark = ? AND idx BETWEEN ? AND ?", where
        )
        for idx, repeat, outcome in rows:
            found[idx, repeat] = (found.get((idx, repeat), (None, None))[0], outcome)
        return found


class Store:
    """Writes a run.db. One per run directory; the caller holds the directory's lock."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            StoreError: It exists and is not a run.db of this format.
        """
        self.path = path
        try:
            if path.exists():
                Snapshot(path).close()
            else:
                create(path)
            self._connection = connect(path)
            migrate(self._connection)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot open {path}: {error}") from error
        self._inbox: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session = 0

    # Before and after the run: plain calls, committed at once or with the transaction around them.

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything that the block writes, or nothing of it when the block raises."""
        self._write("BEGIN IMMEDIATE", ())
        try:
            yield
            self._write("COMMIT", ())
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def set_meta(self, key: str, value: Any) -> None:
        """Store a JSON value under a key."""
        self._write("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, dumps(value)))

    def put_benchmark(self, slot: str, name: str, plan: dict[str, Any]) -> int:
        """Add a benchmark, or replace the plan of one that is there, and return its id."""
        self._write(
            "INSERT INTO benchmarks(slot, name, plan) VALUES(?, ?, ?)"
            " ON CONFLICT(slot) DO UPDATE SET plan = excluded.plan",
            (slot, name, dumps(plan)),
        )
        return int(self._connection.execute("SELECT id FROM benchmarks WHERE slot = ?", (slot,)).fetchone()[0])

    def clear_samples(self, benchmark: int) -> None:
        """Forget the samples of a benchmark whose snapshot was never finished."""
        self._write("DELETE FROM samples WHERE benchmark = ?", (benchmark,))

    def add_samples(self, benchmark: int, samples: Iterator[StoredSample]) -> tuple[StoredSample, int | None] | None:
        """Add samples; meant for a `transaction`, which the caller gives up on a clash.

        Returns:
            None; or the first sample whose id is taken and the dataset row that took it.
        """
        insert = "INSERT INTO samples VALUES(?, ?, ?, ?, ?, ?)"
        for sample in samples:
            row = (benchmark, sample.idx, sample.sample_id, sample.row_number, sample.content, sample.fault)
            try:
                self._connection.execute(insert, row)
            except sqlite3.IntegrityError:
                return sample, self.row_number_of(benchmark, sample.sample_id)
            except sqlite3.Error as error:
                raise _disk_fault(self.path, error) from error
        return None

    def row_number_of(self, benchmark: int, sample_id: str) -> int | None:
        """Return the dataset row that holds an id; sees the rows of an open `add_samples` too."""
        found = self._connection.execute(
            "SELECT row_number FROM samples WHERE benchmark = ? AND sample_id = ?", (benchmark, sample_id)
        ).fetchone()
        return None if found is None else int(found[0])

    def drop_outcomes(self, benchmark: int, *, only_retryable: bool) -> None:
        """Forget outcomes, so that they are made anew; with them the responses that were none.

        Args:
            only_retryable: Forget only what a fault of the machinery left unscored.
        """
        where = "benchmark = ?" + (" AND retry > 0" if only_retryable else "")
        self._write(
            "DELETE FROM responses WHERE benchmark = ? AND EXISTS (SELECT 1 FROM outcomes o WHERE o.retry = 2"
            " AND o.benchmark = responses.benchmark AND o.idx = responses.idx AND o.repeat = responses.repeat)",
            (benchmark,),
        )
        self._write(f"DELETE FROM outcomes WHERE {where}", (benchmark,))  # noqa: S608 - no input in it

    def begin_session(self) -> None:
        """Note that a process works on this run from now on."""
        self._write("INSERT INTO sessions(started) VALUES(?)", (time.time(),))
        self._session = int(self._connection.execute("SELECT max(id) FROM sessions").fetchone()[0])

    def end_session(self, *, elapsed: float, ended: str, attempts: int, retries: int) -> None:
        """Note how the current session ended."""
        self._write(
            "UPDATE sessions SET elapsed = ?, ended = ?, attempts = ?, retries = ? WHERE id = ?",
            (elapsed, ended, attempts, retries, self._session),
        )

    # During the run: awaited, many in one commit.

    def start_writer(self) -> None:
        """Start the writing thread for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._write_batches, name="nel-store", daemon=True)
        self._thread.start()

    async def stop_writer(self) -> None:
        """Write what is waiting and end the thread."""
        if self._thread is not None:
            self._inbox.put(None)
            await asyncio.get_running_loop().run_in_executor(None, self._thread.join)
            self._thread = None

    def put_response(
        self,
        benchmark: int,
        idx: int,
        repeat: int,
        request: str | None,
        response: str,
        *,
        outcome: OutcomeRow | None = None,
    ) -> asyncio.Future[None]:
        """Hand in a response; the future is done once it is on disk.

        Args:
            outcome: Where the response needs no scorer: its outcome, committed with it or not at all.
        """
        writes: list[_Write] = [(_PUT_RESPONSE, [(benchmark, idx, repeat, self._session, request, response)])]
        if outcome is not None:
            writes.append((_PUT_OUTCOME, [outcome]))
        return self._put(writes)

    def put_call(
        self, benchmark: int, idx: int, repeat: int, key: str, request: str, response: str
    ) -> asyncio.Future[None]:
        """Hand in the answer to one further request of a sample; the future is done once it is on disk."""
        return self._put([(_PUT_CALL, [(benchmark, idx, repeat, key, request, response)])])

    def put_outcomes(self, rows: Sequence[OutcomeRow]) -> asyncio.Future[None]:
        """Hand in outcomes; the future is done once all of them are on disk."""
        return self._put([(_PUT_OUTCOME, rows)])

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it."""
        self._connection.close()

    def _put(self, writes: list[_Write]) -> asyncio.Future[None]:
        assert self._loop is not None, "start_writer first"  # noqa: S101 - a bug of ours
        future: asyncio.Future[None] = self._loop.create_future()
        self._inbox.put((writes, future))
        return future

    def _write(self, statement: str, values: Sequence[Any]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise _disk_fault(self.path, error) from error

    def _write_batches(self) -> None:
        assert self._loop is not None  # noqa: S101 - set by start_writer
        while (first := self._inbox.get()) is not None:
            batch = [first]
            last = False
            while len(batch) < _BATCH_MAX:
                try:
                    item = self._inbox.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    last = True
                    break
                batch.append(item)
            failure = self._commit(batch)
            _tell(self._loop, [future for _, future in batch], failure)
            if last:
                return

    def _commit(self, batch: list[_Entry]) -> Exception | None:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            for writes, _ in batch:
                for statement, rows in writes:
                    connection.executemany(statement, rows)
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, or would wait for ever
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            return _disk_fault(self.path, error) if isinstance(error, sqlite3.Error) else error
        return None


def _tell(loop: asyncio.AbstractEventLoop, futures: list[asyncio.Future[None]], failure: Exception | None) -> None:
    def resolve() -> None:
        for future in futures:
            if not future.done():
                if failure is None:
                    future.set_result(None)
                else:
                    future.set_exception(failure)

    with suppress(RuntimeError):  # the loop is closed already after a second Ctrl-C
        loop.call_soon_threadsafe(resolve)


def _disk_fault(path: Path, error: sqlite3.Error) -> Exception:
    if isinstance(error, sqlite3.OperationalError):
        step = "stop whatever else uses it" if "locked" in str(error) else "free some space"
        return StoppedEarly(f"cannot write {path}: {error}; {step}, then resume")
    return StoreError(f"{path} is damaged: {error}; restore it from a copy or start a new run")
