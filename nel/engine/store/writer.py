"""Commits rows of a run.db in batches, in a thread of its own.

Callers queue rows and await the commit of the transaction that holds them. Rows that arrive
together share one commit, so that durability costs one fsync for many samples.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

from nel.engine.store.codec import next_step
from nel.engine.store.rows import SqlValue
from nel.errors import StoppedEarly, StoreError

_NOTE_EVERY = 20_000
"""Entries between notes of a session's spending; a resume after a kill sums up at most so many."""

Write = tuple[str, Sequence[Sequence[SqlValue]]]
_Entry = tuple[list[Write], "asyncio.Future[None]"]


class BatchWriter:
    """The thread that writes while a session runs; its connection is used by nothing else then."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, note: Callable[[], None]
    ) -> None:
        """Prepare; `start` starts the thread.

        Args:
            path: Of the run.db.
            connection: To it.
            note: Called in the thread every `_NOTE_EVERY` entries, between two commits.
        """
        self._path = path
        self._inode = path.stat().st_ino
        self._connection = connection
        self._note = note
        self._gathered: list[_Entry] = []
        """Entries of the current iteration of the event loop, which are handed over together."""
        self._inbox: queue.SimpleQueue[list[_Entry] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start the thread for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(
            target=self._write_batches, args=(self._loop,), name="nel-store", daemon=True
        )
        self._thread.start()

    async def stop(self) -> None:
        """Commit what is queued and end the thread."""
        if self._thread is not None:
            self._hand_over()
            self._inbox.put(None)
            # Not on the loop, which meanwhile resolves the futures of the last batch.
            await asyncio.get_running_loop().run_in_executor(None, self._thread.join)
            self._thread = None

    def put(self, writes: list[Write]) -> asyncio.Future[None]:
        """Queue rows for one transaction; the future is done once they are on disk."""
        assert self._loop is not None, "start first"  # noqa: S101 - a bug of ours
        future: asyncio.Future[None] = self._loop.create_future()
        if not self._gathered:  # the first of this iteration
            self._loop.call_soon(self._hand_over)
        self._gathered.append((writes, future))
        return future

    def _hand_over(self) -> None:
        """Pass the gathered entries to the thread, which wakes up once for all of them."""
        if self._gathered:
            self._inbox.put(self._gathered)
            self._gathered = []

    def _write_batches(self, loop: asyncio.AbstractEventLoop) -> None:
        n_written = 0
        while (entries := self._inbox.get()) is not None:
            batch = entries + self._take_queued()
            failure = self._commit(batch)
            _resolve(loop, [future for _, future in batch], failure)
            n_written += len(batch)
            if n_written >= _NOTE_EVERY and failure is None:
                n_written = 0
                self._note()

    def _take_queued(self) -> list[_Entry]:
        """Return the entries queued during the last commit, at most as many as requests in flight."""
        batch: list[_Entry] = []
        while not self._inbox.empty():
            entries = self._inbox.get()
            if entries is None:
                self._inbox.put(None)  # back for `_write_batches`, which ends after this batch
                break
            batch += entries
        return batch

    def _commit(self, batch: list[_Entry]) -> Exception | None:
        connection = self._connection
        if not self._is_in_place():  # SQLite would write to the deleted file without an error
            return StoreError(
                f"{self._path} was removed, moved or replaced while the run wrote to it; start a"
                " new run"
            )
        try:
            connection.execute("BEGIN IMMEDIATE")
            batch_writes = (write for writes, _ in batch for write in writes)
            # Neighbours with one statement are executed together; the order of rows is kept.
            for statement, writes in groupby(batch_writes, key=itemgetter(0)):
                connection.executemany(statement, chain.from_iterable(rows for _, rows in writes))
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - raised by the futures, which would otherwise wait forever
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            return disk_fault(self._path, error) if isinstance(error, sqlite3.Error) else error
        return None

    def _is_in_place(self) -> bool:
        try:
            return self._path.stat().st_ino == self._inode
        except OSError:
            return False


def _resolve(
    loop: asyncio.AbstractEventLoop, futures: list[asyncio.Future[None]], failure: Exception | None
) -> None:
    def resolve() -> None:
        for future in futures:
            if not future.done():
                if failure is None:
                    future.set_result(None)
                else:
                    future.set_exception(failure)

    with suppress(RuntimeError):  # the loop is closed already after a second Ctrl-C
        loop.call_soon_threadsafe(resolve)


def disk_fault(path: Path, error: sqlite3.Error) -> Exception:
    """Return the error of a run whose write failed: a resumable stop, or a damaged file."""
    if isinstance(error, sqlite3.OperationalError):
        step = "stop the process that uses it" if "locked" in str(error) else "free some space"
        return StoppedEarly(f"cannot write {path}: {error}; {step}, then resume")
    return StoreError(f"{path} is damaged: {error}; {next_step(path.parent)}")
