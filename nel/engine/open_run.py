"""A run whose directory this process owns. Opens nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from nel.core.observer import UNOBSERVED, Observer
from nel.engine.asking.resume_checks import RecordCheck
from nel.engine.asking.stop_rules import StopRules
from nel.engine.asking.work import Job
from nel.engine.progress import Progress
from nel.engine.store.log import Log
from nel.engine.store.pending import Pending
from nel.engine.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run whose directory this process owns: its store, its benchmarks and its live counts."""

    store: Log
    snapshot: Snapshot
    jobs: list[Job]
    progress: Progress
    observer: Observer = UNOBSERVED
    stop_rules: StopRules = field(default_factory=StopRules)
    records: RecordCheck | None = None
    """Verifies run.db in the background."""

    @property
    def pending(self) -> Pending:
        """Return what is still to be asked and scored."""
        return Pending(self.snapshot)
