"""Writes run.db, the only source of truth of a run. Depends on SQLite; `nel.engine.store.snapshot`
and the projections read the file.

A row of the log is appended once and changed by one mark alone: ``void``, the session that took it
back. Before and after a run rows are written at once; during it `nel.engine.store.writer` commits
many of them together.

Note: count a sample only after its future is done. What is counted earlier may be lost in a kill
and be paid for twice.
"""

from __future__ import annotations

import asyncio
import sqlite3
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
from nel.engine.store.projections.spend import SPEND, spend
from nel.engine.store.rows import (
    APPEND,
    COLUMNS,
    DAMAGED,
    END,
    INSERTIONS,
    MODEL,
    VERDICT,
    Row,
    SqlValue,
    checksum_of,
    verdict_row,
)
from nel.engine.store.sample_table import SampleTable
from nel.engine.store.schema import check_path, connect, create
from nel.engine.store.session_clock import SessionClock
from nel.engine.store.snapshot import OF_ROUND, Snapshot
from nel.engine.store.writer import BatchWriter, Write, disk_fault
from nel.errors import StoreError
from nel.types import SampleKey

Pooled = tuple[str, str]
"""The digest and the JSON text of a message."""
_PUT_META = "INSERT OR REPLACE INTO meta VALUES(?, ?)"
_POOL = "INSERT OR IGNORE INTO pool VALUES(?, ?)"
_VOID_ANSWER = (
    "UPDATE steps SET void = ? WHERE benchmark = ? AND idx = ? AND repeat = ? AND role = 0 AND void"
    " = 0"
)
_ATTEMPT, _SESSION, _ENDED, _CRC, *_TEXTS = map(
    Row._fields.index, ("attempt", "session", "ended", "crc", "request", "response")
)
_OF_PLUGINS = frozenset({VERDICT, *range(MODEL, END + 1)})
"""Roles of rows that plugins write, which may hold a secret; an answer has none, since the client
takes them out of what it receives.
"""


class Log:
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
        self._writer = BatchWriter(path, self._connection, note=self._note_spend)
        self.redactor = Redactor()
        """Removes secrets from outcomes, since a scorer may raise or return one."""
        self._session = 0
        self._clock = SessionClock()
        self._rounds: dict[int, int] = {}
        """By benchmark: the round of scoring."""

    # Before and after the run: plain calls, committed at once or with the transaction around them.

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything that the block writes, or roll it back when the block raises."""
        # Takes the write lock at once: the first write could be refused in the middle of the block.
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
        """Delete the samples of a benchmark that starts over, and faults stored as answers."""
        for table in ("samples", "steps"):
            self._write(f"DELETE FROM {table} WHERE benchmark = ?", (benchmark,))

    def samples_of(self, benchmark: int) -> SampleTable:
        """Return what adds samples to a benchmark and finds them by their ids."""
        return SampleTable(self.path, self._connection, benchmark)

    def mark_elsewhere(self, benchmark: int, shard: Shard | None) -> None:
        """Store which samples another shard asks; none where there are no shards."""
        try:
            elsewhere.mark(self._connection, benchmark, shard)
        except sqlite3.Error as error:
            raise disk_fault(self.path, error) from error

    def count_usable(self, benchmark: int) -> int:
        """Return how many samples are not bad rows; sees the rows of an open transaction too."""
        # Both counts need an index alone; `fault IS NULL` would read every sample.
        query = (
            "SELECT (SELECT count(*) FROM samples WHERE benchmark = ?)"
            " - (SELECT count(*) FROM samples WHERE benchmark = ? AND fault IS NOT NULL)"
        )
        return int(self._connection.execute(query, (benchmark, benchmark)).fetchone()[0])

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

    def void(self, benchmark: int, *, keep_unanswered: bool = False) -> None:
        """Take back what this session makes again: the verdicts that an infrastructure fault left
        without a score, and the answers that are none.

        Args:
            benchmark: Its number.
            keep_unanswered: Keep those without an answer, since nothing is going to be asked.
        """
        remade = f"benchmark = ? AND again > 0 AND void = 0 AND {OF_ROUND}"
        # `again` is 1 for `RESCORE` and 2 for `RESEND`. Answers are taken back first, as verdicts
        # that the last statement takes back find them.
        if keep_unanswered:
            self._write(
                f"UPDATE steps SET void = ? WHERE {remade} AND again = 1", self._by(benchmark)
            )
            return
        self._write(
            "UPDATE steps SET void = ? WHERE role = 0 AND void = 0 AND (benchmark, idx, repeat) IN"
            f" (SELECT benchmark, idx, repeat FROM steps WHERE {remade} AND again = 2)",
            self._by(benchmark),
        )
        self._write(f"UPDATE steps SET void = ? WHERE {remade}", self._by(benchmark))

    def begin_round(self, benchmark: int) -> None:
        """Begin a round of verdicts by another scorer; those without an answer go on to hold."""
        # The attempt of a verdict is its round (`OF_ROUND`): copies with the next number hold.
        others = COLUMNS.replace(" attempt,", " attempt + 1,")
        self._write(
            f"INSERT INTO steps({COLUMNS}) SELECT {others} FROM steps WHERE benchmark = ? AND again"
            f" > 0 AND void = 0 AND again = 2 AND {OF_ROUND}",
            (benchmark,),
        )
        self._write("UPDATE benchmarks SET round = round + 1 WHERE id = ?", (benchmark,))
        self._rounds.clear()

    def drop_damaged(self) -> int:
        """Delete the rows that are not what was stored, so that what they held is made again, and
        return how many there were.
        """
        before = self._connection.total_changes
        self._write(f"DELETE FROM steps WHERE {DAMAGED}", ())
        dropped = self._connection.total_changes - before
        if dropped:
            # A verdict whose answer is gone would keep the sample from being asked again.
            self._write(
                "UPDATE steps SET void = ? WHERE role = 1 AND void = 0 AND NOT EXISTS (SELECT 1 FROM"
                " steps a WHERE a.benchmark = steps.benchmark AND a.idx = steps.idx AND a.repeat ="
                " steps.repeat AND a.role = 0 AND a.void = 0)",
                (self._voiding(),),
            )
        return dropped

    def doubt(self, sample_id: str, repeat: int, outcome: str, *, again: int) -> None:
        """Take back a sample's verdicts and answers to further requests, so that all is redone.

        Args:
            sample_id: In any benchmark.
            repeat: Of the sample.
            outcome: An encoded `Unscored` that says why, its verdict from now on.
            again: What a resume does.
        """
        query = "SELECT benchmark, idx FROM samples WHERE sample_id = ?"
        for benchmark, idx in self._connection.execute(query, (sample_id,)).fetchall():
            key = SampleKey(benchmark, idx, repeat)
            of_sample = "benchmark = ? AND idx = ? AND repeat = ? AND void = 0"
            # Two statements, each with the condition of the index that it is to use.
            for roles in (f"role = 1 AND {OF_ROUND}", "(role > 1 OR void > 0)"):
                self._write(
                    f"UPDATE steps SET void = ? WHERE {of_sample} AND {roles}",
                    (self._voiding(), *key),
                )
            answer_query = f"SELECT 1 FROM steps WHERE {of_sample} AND role = 0"
            if self._connection.execute(answer_query, key).fetchone():
                self.append_at_once([verdict_row(key, outcome, again)])

    def append_at_once(self, rows: Sequence[Row]) -> None:
        """Append rows before or after the run."""
        for row in rows:
            self._write(APPEND.statement, self._as_stored(row))

    def settle_killed(self, spent: dict[str, Any], nothing: dict[str, Any]) -> None:
        """Store what killed sessions spent, as one sum with the newest and ``nothing`` with others,
        and how long the last one worked, up to its last exchange.
        """
        last_exchange = self._connection.execute(
            "SELECT ended, session FROM steps WHERE ended IS NOT NULL ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        if last_exchange is not None:
            took = "UPDATE sessions SET elapsed = ? - started WHERE id = ? AND elapsed IS NULL"
            self._write(took, last_exchange)
        # The newest first: its `spent` is set then, so that the second statement leaves it out.
        killed = "ended IS NULL AND spent IS NULL"
        newest = (
            "UPDATE sessions SET spent = ? WHERE id = (SELECT max(id) FROM sessions WHERE"
            f" {killed})"
        )
        self._write(newest, (seal_text(dumps(spent)),))
        self._write(f"UPDATE sessions SET spent = ? WHERE {killed}", (seal_text(dumps(nothing)),))

    def begin_session(self, *, started: float | None = None) -> None:
        """Store that a new session works on this run.

        Args:
            started: In seconds since 1970, of results that were imported; None is now.
        """
        self._clock = SessionClock()
        self._write(
            "INSERT INTO sessions(started) VALUES(?)",
            (self._clock.started if started is None else started,),
        )
        self._session = int(self._connection.execute("SELECT max(id) FROM sessions").fetchone()[0])

    def end_session(
        self,
        *,
        ended: str,
        attempts: int,
        retries: int,
        spent: dict[str, Any] | None = None,
        elapsed: float | None = None,
    ) -> None:
        """Store how the current session ended and what it spent.

        Args:
            elapsed: Its seconds, of results that were imported; None is the time since it began.
        """
        self._write(
            "UPDATE sessions SET elapsed = ?, ended = ?, attempts = ?, retries = ?, spent = ? WHERE"
            " id = ?",
            (
                self._clock.elapsed if elapsed is None else elapsed,
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
        """Start the thread that writes for the running event loop and owns the connection."""
        self._rounds = dict(self._connection.execute("SELECT id, round FROM benchmarks").fetchall())
        self._writer.start()

    async def stop_writer(self) -> None:
        """Commit what is queued and end the thread."""
        await self._writer.stop()

    def append(
        self, rows: Sequence[Row], pool: Sequence[Pooled] = (), *, instead: bool = False
    ) -> asyncio.Future[None]:
        """Queue rows for one commit; the future is done once they are on disk.

        Args:
            rows: As `nel.engine.store.rows` makes them.
            pool: Messages of episodes that may not be stored yet.
            instead: Take back the answers that the samples of the rows have.
        """
        writes: list[Write] = []
        if pool:
            redacted = [(digest, self.redactor.json_text(text)) for digest, text in pool]
            writes.append((_POOL, redacted))
        if instead:
            writes.append((_VOID_ANSWER, [(self._session, *row.key) for row in rows]))
        for row in rows:
            insertion = INSERTIONS.get(row.role, APPEND)
            writes.append((insertion.statement, [insertion.values(self._as_stored(row))]))
        return self._writer.put(writes)

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

    def _as_stored(self, row: Row) -> Sequence[SqlValue]:
        """Return a row's columns without secrets, with session, round, moment and checksum."""
        stored: list[SqlValue] = list(row)
        if row.role == VERDICT:
            stored[_ATTEMPT] = self._round(row.benchmark)
        if row.role in _OF_PLUGINS:
            for column in _TEXTS:
                text = row[column]
                if isinstance(text, str):
                    stored[column] = self.redactor.json_text(text)
        stored[_SESSION] = self._session
        # Not of an answer from the cache, which took no attempt, of a recorded one or of a sum.
        if row.requests and row.request is not None:
            stored[_ENDED] = self._clock.now()
        stored[_CRC] = checksum_of(stored)
        return stored

    def _round(self, benchmark: int) -> int:
        if benchmark not in self._rounds:
            query = "SELECT round FROM benchmarks WHERE id = ?"
            row = self._connection.execute(query, (benchmark,)).fetchone()
            self._rounds[benchmark] = 0 if row is None else row[0]
        return self._rounds[benchmark]

    def _voiding(self) -> int:
        """Return the session that takes rows back: this one, or the one that is about to begin."""
        query = "SELECT ifnull(max(id), 0) + 1 FROM sessions"
        return self._session or int(self._connection.execute(query).fetchone()[0])

    def _by(self, benchmark: int) -> tuple[int, int]:
        return self._voiding(), benchmark

    def _write(self, statement: str, values: Sequence[SqlValue]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise disk_fault(self.path, error) from error

    def _note_spend(self) -> None:
        """Store what this session has spent so far, in case it is killed."""
        # A full disk is reported by the next answer; the note only saves time.
        with suppress(sqlite3.Error):
            spent = spend(self._connection, self._session)
            self._connection.execute(_PUT_META, (SPEND, dumps({"session": self._session, **spent})))
