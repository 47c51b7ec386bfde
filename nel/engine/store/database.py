"""Writes run.db, the only source of truth of a run. Depends on SQLite; `nel.engine.store.snapshot`
reads the file.

Before and after a run rows are written at once; during it `nel.engine.store.writer` commits many of
them together.

Note: count a sample only after its future is done. What is counted earlier may be lost in a kill
and be paid for twice.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nel.config.redaction import Redactor
from nel.config.schema.shard import Shard
from nel.core.strict_json import dumps
from nel.engine.store import elsewhere
from nel.engine.store.codec import seal_text
from nel.engine.store.plans import StoredPlan
from nel.engine.store.schema import UNREADABLE, bulk_insert_cache, check_path, connect, create
from nel.engine.store.snapshot import Snapshot, SqlValue, StoredSample
from nel.engine.store.spending import USAGE, noted_usage, usage_after
from nel.engine.store.waiting_samples import SeenIds, WaitingSamples
from nel.engine.store.writer import BatchWriter, Write, disk_fault
from nel.errors import DatasetError, StoreError

_PUT_META = "INSERT OR REPLACE INTO meta VALUES(?, ?)"
_PUT_RESPONSE = "INSERT OR REPLACE INTO responses VALUES(?, ?, ?, ?, ?, ?)"
_PUT_CALL = "INSERT OR REPLACE INTO calls VALUES(?, ?, ?, ?, ?, ?, ?)"
_PUT_MESSAGE = "INSERT OR IGNORE INTO messages VALUES(?, ?)"
_PUT_OUTCOME = "INSERT OR REPLACE INTO outcomes VALUES(?, ?, ?, ?, ?)"


OutcomeRow = tuple[int, int, int, int, str]
"""``(benchmark, idx, repeat, retry, outcome)``; retry is what a resume repeats: 0 nothing, 1 the
scoring, 2 all.
"""

CallRow = tuple[str, str, str]
"""``(key, request, response)`` of a sample."""


class _IdTaken(Exception):
    """The id of a sample is another's already."""

    def __init__(self, sample: StoredSample) -> None:
        super().__init__(sample.sample_id)
        self.sample = sample


class Store:
    """Writes a run.db. One per run directory; the caller holds the directory's lock."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            OutputError: Its path is too long.
            StoreError: It exists and is not a run.db of this format.
        """
        self.path = path
        try:
            check_path(path)
            if path.exists():
                Snapshot(path).close()
            else:
                create(path)
            self._connection = connect(path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot open {path}: {error}") from error
        self._writer = BatchWriter(path, self._connection, note=self._note_usage)
        self.redactor = Redactor()
        """Removes secrets from outcomes: a scorer may raise an error that holds one, or return
        it.
        """
        self._session = 0
        self._waiting = WaitingSamples()
        self._seen: dict[int, SeenIds] = {}
        """By benchmark, the ids of all its samples, while it is filled from the first one."""

    # Before and after the run: plain calls, committed at once or with the transaction around them.

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything that the block writes, or roll it back when the block raises."""
        self._write("BEGIN IMMEDIATE", ())
        try:
            yield
            self._write("COMMIT", ())
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, as far as no reader holds it."""
        self._write("PRAGMA wal_checkpoint(PASSIVE)", ())

    def set_meta(self, key: str, value: object) -> None:
        """Store a JSON value under a key."""
        self._write(_PUT_META, (key, dumps(value)))

    def put_benchmark(self, slot: str, name: str, plan: StoredPlan) -> int:
        """Add a benchmark, or replace the plan of one that is there, and return its id."""
        self._write(
            "INSERT INTO benchmarks(slot, name, plan) VALUES(?, ?, ?)"
            " ON CONFLICT(slot) DO UPDATE SET plan = excluded.plan",
            (slot, name, dumps(plan)),
        )
        return int(
            self._connection.execute(
                "SELECT id FROM benchmarks WHERE slot = ?", (slot,)
            ).fetchone()[0]
        )

    def clear_samples(self, benchmark: int) -> None:
        """Delete the samples of a benchmark that starts over, and the faults stored in place of
        answers.
        """
        for table in ("samples", "responses", "outcomes", "elsewhere"):
            self._write(f"DELETE FROM {table} WHERE benchmark = ?", (benchmark,))  # noqa: S608 - no input in it
        self._seen[benchmark] = SeenIds()

    def add_samples(
        self, benchmark: int, samples: Iterator[StoredSample]
    ) -> tuple[StoredSample, int | None] | None:
        """Add samples; meant for a `transaction`, which the caller rolls back on a clash.

        Returns:
            None; or the first sample whose id is taken and the dataset row that took it.
        """
        seen = self._seen.get(benchmark)
        try:
            with bulk_insert_cache(self._connection):
                try:
                    for sample in samples:
                        if seen is not None:
                            seen.add(sample.sample_id)
                        if self._waiting.add(benchmark, sample):
                            self._insert_waiting()
                except DatasetError:
                    # an id that is taken comes before what is wrong with a later row
                    self._insert_waiting()
                    raise
                self._insert_waiting()
        except _IdTaken as taken:
            return taken.sample, self.row_number_of(benchmark, taken.sample.sample_id)
        finally:
            self._waiting = WaitingSamples()
            self._seen.pop(benchmark, None)
        return None

    def _insert_waiting(self) -> None:
        waiting, self._waiting = self._waiting, WaitingSamples()
        before = self._connection.total_changes
        try:
            self._connection.executemany(
                "INSERT INTO samples VALUES(?, ?, ?, ?, ?, ?)", waiting.rows
            )
        except sqlite3.IntegrityError as error:
            raise _IdTaken(waiting.samples[self._connection.total_changes - before]) from error
        except sqlite3.Error as error:
            raise disk_fault(self.path, error) from error

    def mark_elsewhere(self, benchmark: int, shard: Shard | None) -> None:
        """Store which samples another shard asks; none where there are no shards."""
        try:
            elsewhere.mark(self._connection, benchmark, shard)
        except sqlite3.Error as error:
            raise disk_fault(self.path, error) from error

    def row_number_of(self, benchmark: int, sample_id: str) -> int | None:
        """Return the dataset row that holds an id; sees the rows of an open `add_samples` too."""
        seen = self._seen.get(benchmark)
        if seen is not None and sample_id not in seen:
            return None
        if self._waiting.rows:
            self._insert_waiting()
        row = self._connection.execute(
            "SELECT row_number FROM samples WHERE benchmark = ? AND sample_id = ?",
            (benchmark, sample_id),
        ).fetchone()
        return None if row is None else int(row[0])

    def count_usable(self, benchmark: int) -> int:
        """Return how many samples are not bad rows; sees the rows of an open transaction too."""
        # Both counts need an index alone; `fault IS NULL` would read every sample.
        query = (
            "SELECT (SELECT count(*) FROM samples WHERE benchmark = ?1)"
            " - (SELECT count(*) FROM samples WHERE benchmark = ?1 AND fault IS NOT NULL)"
        )
        return int(self._connection.execute(query, (benchmark,)).fetchone()[0])

    def clear_faults(self, benchmark: int, usable: Sequence[int]) -> None:
        """Have those rows asked that were bad rows for an earlier scorer alone.

        Args:
            benchmark: Its number.
            usable: The idx of each sample that the scorer of now can decide.
        """
        query = (
            "UPDATE samples SET fault = NULL WHERE benchmark = ? AND idx = ? AND fault IS NOT NULL"
        )
        self._connection.executemany(query, ((benchmark, idx) for idx in usable))

    def drop_outcomes(
        self, benchmark: int, *, only_retryable: bool, keep_unanswered: bool = False
    ) -> None:
        """Delete outcomes, so that they are made again, and responses that hold no answer.

        Args:
            only_retryable: Delete only outcomes that an infrastructure fault left unscored.
            keep_unanswered: Keep those without an answer, since nothing is going to be asked.
        """
        if keep_unanswered:
            scored = "retry = 1" if only_retryable else "retry < 2"
            self._write(f"DELETE FROM outcomes WHERE benchmark = ? AND {scored}", (benchmark,))  # noqa: S608 - no input
            return
        where = "benchmark = ?" + (" AND retry > 0" if only_retryable else "")
        # `retry > 0` repeats the condition of the partial index, which SQLite would not use
        # otherwise.
        self._write(
            "DELETE FROM responses WHERE (benchmark, idx, repeat) IN (SELECT benchmark, idx, repeat"
            " FROM outcomes WHERE benchmark = ? AND retry > 0 AND retry = 2)",
            (benchmark,),
        )
        self._write(f"DELETE FROM outcomes WHERE {where}", (benchmark,))  # noqa: S608 - no input in it

    def drop_unreadable(self) -> int:
        """Delete damaged responses and outcomes, so that they are made again, and return how many
        there were.
        """
        before = self._connection.total_changes
        for table, is_unreadable in UNREADABLE.items():
            self._write(f"DELETE FROM {table} WHERE {is_unreadable}", ())  # noqa: S608 - no input in it
        dropped = self._connection.total_changes - before
        if not dropped:
            return 0
        # An outcome whose response was dropped would keep the sample from being asked again.
        self._write(
            "DELETE FROM outcomes WHERE NOT EXISTS (SELECT 1 FROM responses r WHERE r.benchmark ="
            " outcomes.benchmark AND r.idx = outcomes.idx AND r.repeat = outcomes.repeat)",
            (),
        )
        return dropped

    def doubt(self, sample_id: str, repeat: int, outcome: str, *, retry: int) -> None:
        """Replace the outcomes of a sample, and delete the answers to its further requests, so that
        all is made again.

        Args:
            sample_id: In any benchmark.
            repeat: Of the sample.
            outcome: An encoded `Unscored` that says why.
            retry: As in `OutcomeRow`.
        """
        query = "SELECT benchmark, idx FROM samples WHERE sample_id = ?"
        for benchmark, idx in self._connection.execute(query, (sample_id,)).fetchall():
            key = (benchmark, idx, repeat)
            self._write("DELETE FROM calls WHERE benchmark = ? AND idx = ? AND repeat = ?", key)
            self._write(
                "INSERT OR REPLACE INTO outcomes SELECT benchmark, idx, repeat, ?, ? FROM responses"
                " WHERE benchmark = ? AND idx = ? AND repeat = ?",
                (*self._as_stored((*key, retry, outcome))[3:], *key),
            )

    def settle_killed(self, spent: dict[str, Any], nothing: dict[str, Any]) -> None:
        """Store what killed sessions spent: the sum with the newest of them, ``nothing`` with any
        before it.
        """
        killed = "ended IS NULL AND spent IS NULL"
        newest = f"UPDATE sessions SET spent = ? WHERE id = (SELECT max(id) FROM sessions WHERE {killed})"  # noqa: S608
        self._write(newest, (seal_text(dumps(spent)),))
        self._write(f"UPDATE sessions SET spent = ? WHERE {killed}", (seal_text(dumps(nothing)),))  # noqa: S608 - no input in it

    def begin_session(self, *, started: float | None = None) -> None:
        """Store that a new session works on this run.

        Args:
            started: In seconds since 1970, of results that were imported; None is now.
        """
        self._write(
            "INSERT INTO sessions(started) VALUES(?)",
            (time.time() if started is None else started,),
        )
        self._session = int(self._connection.execute("SELECT max(id) FROM sessions").fetchone()[0])

    def end_session(
        self,
        *,
        elapsed: float,
        ended: str,
        attempts: int,
        retries: int,
        spent: dict[str, Any] | None = None,
    ) -> None:
        """Store how the current session ended and what it spent."""
        self._write(
            "UPDATE sessions SET elapsed = ?, ended = ?, attempts = ?, retries = ?, spent = ? WHERE"
            " id = ?",
            (
                elapsed,
                ended,
                attempts,
                retries,
                None if spent is None else seal_text(dumps(spent)),
                self._session,
            ),
        )

    @property
    def session(self) -> int:
        """Return the number of the current session, 0 before it begins."""
        return self._session

    # During the run: awaited, many in one commit.

    def start_writer(self) -> None:
        """Start the writing thread for the running event loop."""
        self._writer.start()

    async def stop_writer(self) -> None:
        """Commit what is queued and end the thread."""
        await self._writer.stop()

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
        """Queue a response; the future is done once it is on disk.

        Args:
            outcome: The outcome of a response that needs no scorer, committed in the same
                transaction.
        """
        writes: list[Write] = [
            (_PUT_RESPONSE, [(benchmark, idx, repeat, self._session, request, seal_text(response))])
        ]
        if outcome is not None:
            writes.append((_PUT_OUTCOME, [self._as_stored(outcome)]))
        return self._writer.put(writes)

    def put_call(
        self, benchmark: int, idx: int, repeat: int, key: str, request: str, response: str
    ) -> asyncio.Future[None]:
        """Queue the answer to one further request of a sample; the future is done once it is on
        disk.
        """
        return self._writer.put(
            [
                (
                    _PUT_CALL,
                    [(benchmark, idx, repeat, key, request, seal_text(response), self._session)],
                )
            ]
        )

    def put_step(
        self, sample_key: tuple[int, int, int], row: CallRow, pool: Sequence[tuple[str, str]] = ()
    ) -> asyncio.Future[None]:
        """Queue a step of an episode; the future is done once it is on disk.

        Args:
            sample_key: Benchmark, idx and repeat.
            row: As `put_call` takes it.
            pool: Digests and texts of messages that may not be stored yet.
        """
        key, *texts = row
        request, response = map(self.redactor.json_text, texts)
        call = (*sample_key, key, request, seal_text(response), self._session)
        writes: list[Write] = [(_PUT_CALL, [call])]
        if pool:
            writes.insert(0, self._messages(pool))
        return self._writer.put(writes)

    def put_pool(self, pool: Sequence[tuple[str, str]]) -> asyncio.Future[None]:
        """Queue texts of messages by their digests; the future is done once they are on disk."""
        return self._writer.put([self._messages(pool)])

    def put_outcomes(self, rows: Sequence[OutcomeRow]) -> asyncio.Future[None]:
        """Queue outcomes; the future is done once all of them are on disk."""
        return self._writer.put([(_PUT_OUTCOME, [self._as_stored(row) for row in rows])])

    def put_meta(self, key: str, value: object) -> asyncio.Future[None]:
        """Queue a JSON value under a key; the future is done once it is on disk."""
        return self._writer.put([(_PUT_META, [(key, dumps(value))])])

    def put_plan(self, benchmark: int, plan: StoredPlan) -> asyncio.Future[None]:
        """Queue another plan of a benchmark; the future is done once it is on disk."""
        return self._writer.put(
            [("UPDATE benchmarks SET plan = ? WHERE id = ?", [(dumps(plan), benchmark)])]
        )

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it."""
        self._connection.close()

    def _messages(self, pool: Sequence[tuple[str, str]]) -> Write:
        return _PUT_MESSAGE, [(digest, self.redactor.json_text(text)) for digest, text in pool]

    def _as_stored(self, row: OutcomeRow) -> OutcomeRow:
        return (*row[:4], seal_text(self.redactor.json_text(row[4])))

    def _write(self, statement: str, values: Sequence[SqlValue]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise disk_fault(self.path, error) from error

    def _note_usage(self) -> None:
        """Store what this session has spent so far, in case it is killed."""
        with suppress(
            sqlite3.Error
        ):  # a full disk is reported by the next answer; the note only saves time
            usage = usage_after(
                self._connection, self._session, noted_usage(self._connection, self._session)
            )
            self._connection.execute(_PUT_META, (USAGE, dumps({"session": self._session, **usage})))
