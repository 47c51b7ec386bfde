"""Counts outcomes that are on disk, for the display, the observers and the stop rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nel.config.redaction import Redactor
from nel.core.observer import Observer, Place
from nel.engine.progress import Progress
from nel.engine.stop_rules import StopRules
from nel.engine.work import Job, WorkQueue
from nel.types import Outcome, Unscored


@dataclass(frozen=True, slots=True)
class OutcomeCounter:
    """What counts an outcome of a session."""

    progress: Progress
    observer: Observer
    stop_rules: StopRules
    queue: WorkQueue
    jobs: Sequence[Job]
    redactor: Redactor
    """Removes secrets from what a scorer or a tool raised, as the store does."""

    def count(self, key: Place, outcome: Outcome) -> None:
        """Count an outcome that is on disk."""
        if isinstance(outcome, Unscored):
            outcome = replace(outcome, detail=self.redactor.text(outcome.detail))
        self.progress.count_outcome(outcome, repeat=key[2], benchmark=key[0])
        self.observer.sample_finished(key, outcome)
        rule = self.stop_rules.ended_by(key, outcome)
        if rule is not None:  # what is in flight does not count
            job = next(job for job in self.jobs if job.key == key[0])
            self.progress.total -= self.queue.n_left_out(job, rule)
