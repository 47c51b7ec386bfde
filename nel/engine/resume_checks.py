"""Checks on a resume that a large run and its dataset are what they were, while the run goes on.

A dataset whose fingerprint is the stored one is looked at in two parts: its first rows before anything is asked, all of
them while the run goes on. Until the end the run asks only what it has in its own store, so that nothing is mixed
whatever is found. Trap: a fingerprint says nothing of the prompt; only rendering every row does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from nel.config.identity import Identity, check_resume
from nel.engine.plan import Digests, Plan, identity_of, stream_samples
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import DatasetError, StoreError
from nel.version import __version__

UNREADABLE: Final = "unreadable"
"""The key of a run's damaged records that were found while it asked, for the next resume to make anew."""
BYTES_FIRST: Final = 1 << 28
"""A run.db up to this size is read through before anything is asked, a larger one meanwhile."""
ROWS_FIRST: Final = 5_000
"""Rows that are rendered and compared before anything is asked: a fraction of a second."""


class DatasetCheck:
    """Renders a dataset once more, bit by bit, and compares it with what a run was started with."""

    def __init__(self, plan: Plan, stored: Mapping[str, Any], *, allowed: frozenset[str]) -> None:
        """Prepare to read from the first row.

        Args:
            plan: Of the benchmark.
            stored: Its plan as the run has it.
            allowed: Identity fields that may differ.
        """
        self._allowed = allowed
        self._plan = plan
        self._stored = stored
        self._digests = Digests()
        self._samples = stream_samples(plan, self._digests, lambda _: None, n_stored=stored["dataset"]["rows"])

    def starts_like(self, samples: Iterator[StoredSample]) -> bool:
        """Return whether the first rows make these samples, their ids apart; reading goes on after them."""
        pairs = zip(islice(samples, ROWS_FIRST), self._samples, strict=False)
        return all(_made(one) == _made(other) for one, other in pairs)

    def advance(self, n_rows: int) -> bool:
        """Look at the next rows and return whether there may be more.

        Raises:
            ResumeRefused: All rows were read and are not what the run was started with; it names what differs.
            DatasetError: The dataset cannot be read any more.
        """
        if sum(1 for _ in islice(self._samples, n_rows)) == n_rows:
            return True
        now = identity_of(self._plan, self._digests)
        check_resume(self._plan.slot, Identity(fields=self._stored["identity"]), now, allowed=self._allowed)
        return False


class RecordCheck:
    """Reads a run.db through while the run goes on; in a thread of its own, since SQLite waits for the disk."""

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
                    snapshot.check_integrity()
                return 0 if self._stopped else snapshot.count_unreadable()
            except StoreError:
                if self._stopped:
                    return 0
                raise
            finally:
                self._snapshot = None

    def stop(self) -> None:
        """Break it off, from another thread; harmless when it is over."""
        self._stopped = True
        snapshot = self._snapshot
        if snapshot is not None:
            snapshot.interrupt()


def check_records(run_db: Path) -> None:
    """Read a run.db through, unless it is so large that the session does it while it asks.

    Raises:
        StoreError: It cannot be read, or SQLite finds damage.
    """
    with Snapshot(run_db) as snapshot:
        if run_db.stat().st_size <= BYTES_FIRST:
            snapshot.check_integrity()


def fingerprint_of(plan: Plan) -> str | None:
    """Return what stands for a dataset and the version of nel that reads it, None where only its rows can tell."""
    found = plan.dataset.fingerprint
    return None if found is None else f"nel {__version__} {found}"


def check_of(
    plan: Plan, stored: Mapping[str, Any], samples: Iterator[StoredSample], *, allowed: frozenset[str]
) -> DatasetCheck | None:
    """Return a check that can go on while the run does, or None where all rows have to be read before.

    They have to where there are few, where something that names the run changed, where the fingerprint is another, and
    where the first rows no longer make the samples that the run has.

    Args:
        plan: Of the benchmark.
        stored: Its plan as the run has it.
        samples: Those of the run, in order.
        allowed: Identity fields that may differ.
    """
    kept = {name: stored["identity"][name] for name in ("dataset.sha256", "prompt.sha256")}
    unchanged = (
        stored["dataset"]["rows"] > ROWS_FIRST
        and plan.config.max_problems == stored["max_problems"]
        and Identity(fields={**plan.fields, **kept}).changes(Identity(fields=stored["identity"])).keys() <= allowed
    )
    if not unchanged or stored.get("fingerprint") is None or stored["fingerprint"] != fingerprint_of(plan):
        return None
    check = DatasetCheck(plan, stored, allowed=allowed)
    try:
        return check if check.starts_like(samples) else None
    except DatasetError:  # reading all of it says why
        return None


def _made(sample: StoredSample) -> tuple[Any, ...]:
    return sample.idx, sample.row_number, sample.content, sample.fault
