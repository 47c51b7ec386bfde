"""Changes a judge's settings where a reasoning model's server asks for it.

That is done only before its first reply.

As with the evaluated model: the run's identity is stored with the changes before a reply to them
is, and a resume makes the same ones. Each judge of each benchmark has its own, since each benchmark
has an identity of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from nel.config.identity import JUDGES_ADAPTED
from nel.config.schema import ModelConfig
from nel.engine.asking.work import Job
from nel.engine.judging.kept import KeptReplies, ReplyStore
from nel.engine.preparation import plan_with_fields
from nel.engine.progress import Progress
from nel.models.adaptation import Changes, change_settings, changes_for, in_words
from nel.types import Generation, ResponseError

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class JudgeSettings:
    """What of its settings one judge of one benchmark takes otherwise."""

    changes: Changes = field(default_factory=dict)
    version: int = 0
    """Counts the changes; a reply to a request of an older version is not kept."""
    has_replied: bool = False
    """In this session; an earlier session is looked up in the store."""

    def as_taken(self, generation: Generation) -> Generation:
        """Return settings as this judge takes them."""
        return change_settings(generation, self.changes) if self.changes else generation


class JudgeAdaptation:
    """The settings of the judges of one session; use it on one event loop."""

    def __init__(
        self, jobs: Sequence[Job], store: ReplyStore, snapshot: KeptReplies, progress: Progress
    ) -> None:
        """Start with the changes that the plans have from earlier sessions.

        Args:
            jobs: Of the session.
            store: Where the identities are.
            snapshot: Of the run.
            progress: Gets a note of each change.
        """
        self._store = store
        self._snapshot = snapshot
        self._progress = progress
        self._by_judge: dict[tuple[int, str], JudgeSettings] = {
            (job.key, label): JudgeSettings(changes)
            for job in jobs
            for label, changes in job.plan.judges_adapted.items()
        }

    def of(self, benchmark: int, member: ModelConfig) -> JudgeSettings:
        """Return the settings of a judge of a benchmark, by the benchmark's number in the store."""
        return self._by_judge.setdefault((benchmark, member.label), JudgeSettings())

    async def adapt(
        self, benchmark: int, member: ModelConfig, sent: Generation, error: ResponseError | None
    ) -> bool:
        """Change a judge's settings as a refusal asks, if it has never replied; return whether.

        Args:
            benchmark: Its number in the store.
            member: The judge.
            sent: The settings that were refused.
            error: The refusal.
        """
        settings = self.of(benchmark, member)
        changes = (
            {} if error is None or member.protocol == "completions" else changes_for(error, sent)
        )
        if not changes or settings.has_replied or self._has_stored_reply(benchmark, member):
            return False
        settings.changes = {**settings.changes, **changes}
        settings.version += 1
        adapted = {
            label: judge.changes
            for (key, label), judge in self._by_judge.items()
            if key == benchmark and judge.changes
        }
        plan_json = next(
            plan_json for key, _, _, plan_json in self._snapshot.benchmarks() if key == benchmark
        )
        # Queued before anything that is asked with the changes, and the store writes in order.
        write = self._store.put_plan(
            benchmark, plan_with_fields(plan_json, {JUDGES_ADAPTED: adapted})
        )
        note = (
            f"judge {member.label}: {in_words(changes, sent)}, as its endpoint asks for; the run's"
            " identity says so"
        )
        if note not in self._progress.notes:
            self._progress.notes.append(note)
            _LOG.warning("%s", note)
        await write
        return True

    def _has_stored_reply(self, benchmark: int, member: ModelConfig) -> bool:
        return self._snapshot.has_reply(benchmark, member.label)
