"""Changes the settings of all requests before the first answer, where a reasoning model's server
asks for it.

The run's identity is stored with the changes before anything is asked with them, and a resume makes
the same ones. What was in flight meanwhile was asked with other settings: its answer is not stored,
and it is asked again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from nel.engine.asking.generate import SampleRunner
from nel.engine.asking.work import Job, WorkItem
from nel.engine.preparation import plan_with_fields
from nel.engine.progress import Progress
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.models.adaptation import changes_for, in_words
from nel.types import ResponseError

_LOG = logging.getLogger(__name__)


class Adaptation:
    """The settings of one session's requests."""

    def __init__(
        self,
        jobs: Sequence[Job],
        runner: SampleRunner,
        store: Store,
        snapshot: Snapshot,
        progress: Progress,
    ) -> None:
        """Start with the settings of the plans.

        Args:
            jobs: Of the session.
            runner: Sends with the settings; takes the changes.
            store: Where the identities are.
            snapshot: Of the run.
            progress: Gets a note of each change.
        """
        self._progress = progress
        self._jobs = {job.key: job for job in jobs}
        self._runner = runner
        self._store = store
        self._snapshot = snapshot

    async def adapt(self, item: WorkItem, error: ResponseError) -> bool:
        """Make the changes that a refusal of a sample asks for; return whether it asks for any."""
        plan = item.job.plan
        before = self._runner.generation_of(plan)
        changes = changes_for(error, before)
        if not changes or plan.protocol == "completions":
            return False
        self._runner.changes = {**self._runner.changes, **changes}
        self._runner.version += 1
        for key, _, _, stored in self._snapshot.benchmarks():
            if key in self._jobs:
                adapted = self._jobs[key].plan.adapting(self._runner.changes)
                if adapted.adapted:  # recorded answers have nothing to change
                    await self._store.put_plan(key, plan_with_fields(stored, adapted.fields))
        note = (
            f"{plan.model}: {in_words(changes, before)}, as the endpoint asks for; the run's"
            " identity says so"
        )
        self._progress.notes.append(note)
        _LOG.warning("%s", note)
        return True
