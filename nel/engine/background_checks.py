"""The checks of a large run that go on beside its work: that its records can be read and its datasets are the same.

Trap: they look a little at a time, since they share the event loop with everything that is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from nel.engine.exit_status import ExitStatus
from nel.engine.plan import Plan
from nel.engine.progress import Progress
from nel.engine.resume_checks import UNREADABLE, DatasetCheck, RecordCheck
from nel.engine.store.database import Store
from nel.errors import EXIT_STOPPED_EARLY, DatasetError

_ROWS: Final = 100
"""Rows of a dataset that are looked at together: a few milliseconds."""
_PAUSE_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundChecks:
    """What is left to look at while a session works."""

    records: RecordCheck | None
    datasets: Sequence[tuple[Plan, DatasetCheck | None]]
    store: Store
    progress: Progress
    stopping: asyncio.Event
    """Set once the session stops."""
    stop: Callable[[ExitStatus], None]
    is_asking: Callable[[], bool]

    async def records_are_well(self) -> bool:
        """Read the run.db of a large run through; stop the run resumably when a record is damaged.

        Raises:
            StoreError: The file itself is.
        """
        if self.records is None:
            return True
        reading = asyncio.create_task(asyncio.to_thread(self.records.count_unreadable))
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.records.stop()
            stopping.cancel()
        unreadable = await reading
        if unreadable:
            await self.store.put_meta(UNREADABLE, unreadable)
            reason = f"{unreadable:,} records of run.db could not be read; resume to have their samples made anew"
            self.stop(ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason))
        return not unreadable

    async def datasets_are_the_same(self) -> None:
        """Look at the datasets a little at a time, and without a pause when there is nothing left to ask.

        Raises:
            ResumeRefused: One is not what the run was started with.
        """
        for plan, check in self.datasets:
            while check is not None and not self.stopping.is_set() and self._may_differ(check, plan):
                asking = self.is_asking()
                if not asking:
                    self.progress.stage = "checking the dataset"
                await asyncio.sleep(_PAUSE_SECONDS if asking else 0)

    def _may_differ(self, check: DatasetCheck, plan: Plan) -> bool:
        """Look at the next rows; return whether there may be more to see."""
        try:
            return check.advance(_ROWS)
        except DatasetError as error:  # what it held when the run was resumed is known from its fingerprint
            self.progress.notes.append(f"{plan.slot}: not checked to its end again: {error}")
            return False
