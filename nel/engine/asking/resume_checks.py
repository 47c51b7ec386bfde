"""Checks, partly in the background, that a resumed run's records and dataset are unchanged.

A dataset whose fingerprint is the stored one is checked in two parts: its first rows before
anything is asked, all of them while the run goes on. The run asks only samples of its own store, so
that nothing is mixed whatever the check
finds. Note: a fingerprint does not cover the prompt, which may depend on code; only rendering every
row does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from nel.config.identity import Identity, check_resume
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_samples import Digests, identity_of, stream_samples
from nel.engine.progress import Progress
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
"""Key of the number of damaged records found in a run; the next resume drops and repeats them."""
BYTES_FIRST: Final = 1 << 28
"""A run.db up to this size is verified before anything is asked, a larger one in the background."""
ROWS_FIRST: Final = 5_000
"""Rows that are rendered and compared before anything is asked: a fraction of a second."""
_ROWS_AT_ONCE: Final = 100
"""Rows checked between two pauses: the event loop waits for them, a few milliseconds."""
_PAUSE_SECONDS: Final = 0.02

Content: TypeAlias = tuple[int, int, str | None, str | None]
"""``(idx, row number, content, fault)`` of a sample."""


class DatasetCheck:
    """Renders a dataset again in small steps and compares it with what a run was started with."""

    def __init__(self, plan: Plan, stored_plan: StoredPlan, *, allowed: frozenset[str]) -> None:
        """Prepare to read from the first row.

        Args:
            plan: Of the benchmark.
            stored: Its plan in run.db.
            allowed: Identity fields that may differ.
        """
        self._allowed = allowed
        self._plan = plan
        self._stored = stored_plan
        self._digests = Digests()
        self._samples = stream_samples(
            plan, self._digests, lambda _: None, n_stored=stored_plan["dataset"]["rows"]
        )

    def first_rows_match(self, samples: Iterator[StoredSample]) -> bool:
        """Return whether the first rows make these samples, ids aside; `advance` reads on."""
        pairs = zip(islice(samples, ROWS_FIRST), self._samples, strict=False)
        return all(_content_of(sample) == _content_of(other) for sample, other in pairs)

    def advance(self, n_rows: int) -> bool:
        """Check the next rows and return whether there may be more.

        Raises:
            ResumeRefused: All rows were read and are not what the run was started with; it names
                the difference.
            DatasetError: The dataset cannot be read any more.
        """
        if sum(1 for _ in islice(self._samples, n_rows)) == n_rows:
            return True
        now = identity_of(self._plan, self._digests)
        check_resume(
            self._plan.slot, Identity(fields=self._stored["identity"]), now, allowed=self._allowed
        )
        return False


class RecordCheck:
    """Reads a whole run.db while the run goes on; meant for a thread of its own, since SQLite
    blocks on the disk.
    """

    def __init__(self, path: Path) -> None:
        """Prepare; nothing is read before `count_unreadable`."""
        self._path = path
        self._snapshot: Snapshot | None = None
        self._stopped = False

    def count_unreadable(self) -> int:
        """Return how many records are damaged; 0 when it was stopped.

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
        """Abort the reading, from another thread; harmless when it is over."""
        self._stopped = True  # before the interrupt: `count_unreadable` may be between two queries
        snapshot = self._snapshot
        if snapshot is not None:
            snapshot.interrupt()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundChecks:
    """Checks during a session, in small steps, since its requests share the event loop."""

    records: RecordCheck | None
    datasets: Sequence[tuple[Plan, DatasetCheck | None]]
    store: Log
    progress: Progress
    stop: Stop
    is_asking: Callable[[], bool]

    async def verify_records(self) -> bool:
        """Read the whole run.db of a large run; stop the run resumably when a record is damaged.

        Raises:
            StoreError: The file itself is damaged.
        """
        if self.records is None:
            return True
        reading = asyncio.create_task(asyncio.to_thread(self.records.count_unreadable))
        stopping = asyncio.create_task(self.stop.event.wait())
        try:
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.records.stop()
            stopping.cancel()
        unreadable = await reading
        if unreadable:
            await self.store.put_meta(UNREADABLE, unreadable)
            reason = (
                f"{unreadable:,} records of run.db could not be read; resume to repeat their"
                " samples"
            )
            self.stop.request(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))
        return not unreadable

    async def verify_datasets(self) -> None:
        """Check the datasets in small steps, and without a pause once there is nothing left to ask.

        Raises:
            ResumeRefused: A dataset is not what the run was started with.
        """
        for plan, check in self.datasets:
            while check is not None and not self.stop.event.is_set() and self._advance(check, plan):
                asking = self.is_asking()
                if not asking:
                    self.progress.stage = "checking the dataset"
                await asyncio.sleep(_PAUSE_SECONDS if asking else 0)

    def _advance(self, check: DatasetCheck, plan: Plan) -> bool:
        """Check the next rows; return whether there may be more."""
        try:
            return check.advance(_ROWS_AT_ONCE)
        except (
            DatasetError
        ) as error:  # its fingerprint matched when the run was resumed: a note is enough
            self.progress.notes.append(f"{plan.slot}: not checked to its end again: {error}")
            return False


def check_records(run_db: Path) -> None:
    """Verify a run.db, unless it is so large that the session does so in the background.

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


def deferred_check(
    plan: Plan, stored_plan: StoredPlan, samples: Iterator[StoredSample], *, allowed: frozenset[str]
) -> DatasetCheck | None:
    """Return a check that can go on during the run; None where all rows are read first.

    They have to be where there are few, where a field of the identity or the fingerprint changed,
    and where the first rows no longer make the stored samples.

    Args:
        plan: Of the benchmark.
        stored: Its plan in run.db.
        samples: Of the run, in order.
        allowed: Identity fields that may differ.
    """
    digests = {name: stored_plan["identity"][name] for name in ("dataset.sha256", "prompt.sha256")}
    unchanged = (
        stored_plan["dataset"]["rows"] > ROWS_FIRST
        and plan.config.max_problems == stored_plan["max_problems"]
        and Identity(fields={**plan.fields, **digests})
        .changes(Identity(fields=stored_plan["identity"]))
        .keys()
        <= allowed
    )
    if (
        not unchanged
        or stored_plan.get("fingerprint") is None
        or stored_plan["fingerprint"] != fingerprint_of(plan)
    ):
        return None
    check = DatasetCheck(plan, stored_plan, allowed=allowed)
    try:
        return check if check.first_rows_match(samples) else None
    except DatasetError:  # reading all rows reports it
        return None


def _content_of(sample: StoredSample) -> Content:
    content = None if sample.content is None else unseal_text(sample.content)
    return sample.idx, sample.row_number, content, sample.fault
