"""Checks that a resumed run's records are intact and its dataset is unchanged.

The records of a large run are checked while it goes on. A large dataset with the stored fingerprint
is not read to its end: its first rows are rendered and compared, since the fingerprint does not
cover the prompt, which may depend on code. The run then asks the samples of its store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from nel.config.identity import Identity
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_samples import Digests, stream_samples
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.session_end import Stop
from nel.engine.store.codec import unseal_text
from nel.engine.store.log import Log
from nel.engine.store.plans import StoredPlan
from nel.engine.store.projections.intact import check_integrity, count_unreadable
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import EXIT_STOPPED_EARLY, DatasetError, StoreError
from nel.version import __version__

UNREADABLE: Final = "unreadable"
"""The key of the number of damaged records in a run; the next resume repeats their samples."""
BYTES_FIRST: Final = 1 << 28
"""A run.db up to this size is verified before anything is asked, a larger one in the background."""
ROWS_FIRST: Final = 5_000
"""Rows of a larger dataset that are rendered and compared, in a fraction of a second."""

Content: TypeAlias = tuple[int, int, str | None, str | None]
"""``(idx, row number, content, fault)`` of a sample."""


class RecordCheck:
    """Reads a whole run.db while the run goes on; in a thread, since SQLite blocks on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._snapshot: Snapshot | None = None
        self._stopped = False

    def count_unreadable(self) -> int:
        """Return how many records are damaged; 0 once it is stopped.

        Raises:
            StoreError: SQLite finds damage in the file itself.
        """
        with Snapshot(self._path) as snapshot:
            self._snapshot = snapshot
            try:
                if not self._stopped:
                    check_integrity(snapshot)
                return 0 if self._stopped else count_unreadable(snapshot)
            except StoreError:
                if self._stopped:
                    return 0
                raise
            finally:
                self._snapshot = None

    def stop(self) -> None:
        """Abort the reading, from another thread; does nothing when it is over."""
        self._stopped = True  # before the interrupt: `count_unreadable` may be between two queries
        snapshot = self._snapshot
        if snapshot is not None:
            snapshot.interrupt()

    async def verify(self, store: Log, stop: Stop) -> bool:
        """Read the whole run.db beside a session; stop that resumably when a record is damaged.

        Args:
            store: Of the run.
            stop: Ends the session, and the reading.

        Raises:
            StoreError: The file itself is damaged.
        """
        reading = asyncio.create_task(asyncio.to_thread(self.count_unreadable))
        stopping = asyncio.create_task(stop.event.wait())
        try:
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.stop()
            stopping.cancel()
        unreadable = await reading
        if unreadable:
            await store.put_meta(UNREADABLE, unreadable)
            reason = (
                f"{unreadable:,} records of run.db could not be read; resume to repeat their"
                " samples"
            )
            stop.request(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))
        return not unreadable


def check_records(run_db: Path) -> None:
    """Verify a run.db, unless it is so large that the session verifies it in the background.

    Raises:
        StoreError: It cannot be read, or SQLite finds damage.
    """
    with Snapshot(run_db) as snapshot:
        if run_db.stat().st_size <= BYTES_FIRST:
            check_integrity(snapshot)


def fingerprint_of(plan: Plan) -> str | None:
    """Return a fingerprint of a dataset and of this nel; None if only its rows identify it."""
    fingerprint = plan.dataset.fingerprint
    return None if fingerprint is None else f"nel {__version__} {fingerprint}"


def is_unchanged(
    plan: Plan, stored_plan: StoredPlan, samples: Iterator[StoredSample], *, allowed: frozenset[str]
) -> bool:
    """Return whether a large dataset is unchanged, by its fingerprint and its first rows.

    Args:
        plan: Of the benchmark.
        stored_plan: Its plan in run.db.
        samples: Of the run, in order.
        allowed: Identity fields that may differ.
    """
    digests = {name: stored_plan["identity"][name] for name in ("dataset.sha256", "prompt.sha256")}
    now = Identity(fields={**plan.fields, **digests})
    if (
        stored_plan["dataset"]["rows"] <= ROWS_FIRST
        or plan.config.max_problems != stored_plan["max_problems"]
        or not now.changes(Identity(fields=stored_plan["identity"])).keys() <= allowed
        or stored_plan.get("fingerprint") is None
        or stored_plan["fingerprint"] != fingerprint_of(plan)
    ):
        return False
    try:
        return makes_samples(plan, stored_plan, islice(samples, ROWS_FIRST))
    except DatasetError:  # reading all rows reports it
        return False


def makes_samples(plan: Plan, stored_plan: StoredPlan, samples: Iterator[StoredSample]) -> bool:
    """Return whether the first rows of a dataset make these samples; ids are not compared."""
    n_stored = stored_plan["dataset"]["rows"]
    rendered = stream_samples(plan, Digests(), lambda _: None, n_stored=n_stored)
    pairs = zip(samples, rendered, strict=False)
    return all(_content_of(sample) == _content_of(other) for sample, other in pairs)


def _content_of(sample: StoredSample) -> Content:
    content = None if sample.content is None else unseal_text(sample.content)
    return sample.idx, sample.row_number, content, sample.fault
