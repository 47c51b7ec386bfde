"""What a session is asked to do, and what it depends on. `nel.engine.session` does it."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.config.schema import RunConfig
from nel.core.event_loop import run
from nel.core.observer import Observer
from nel.engine.asking.resume_checks import BYTES_FIRST
from nel.engine.executors import ProgramRunner, ScorerPool, ScoringWork
from nel.engine.observability import observing
from nel.engine.planning.plan import Plan
from nel.engine.progress import Progress
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.stop_signals import StopSignals
from nel.engine.store.log import Log
from nel.models.budget import Ledger
from nel.models.transport import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a session depends on, such as the event loop and store; a simulation replaces it."""

    run: Callable[[Coroutine[Any, Any, ExitStatus]], ExitStatus] = run
    """Runs the session's coroutine on an event loop of its own."""
    store: Callable[[Path], Log] = Log
    """Opens or creates a run.db for writing."""
    scorers: Callable[[ScoringWork], ScorerPool] | None = None
    """Prepares the scorers of a run; its executor does when None."""
    observing: Callable[..., AbstractContextManager[Observer]] = observing
    """Opens the observers of the session; takes what `nel.engine.observability.observing` takes."""
    transport: Transport | None = None
    """Sends requests; over HTTP when None."""
    verify_first_bytes_max: int = BYTES_FIRST
    """A run.db up to this size is verified before anything is asked."""
    jitter: Callable[[], float] = random.random
    """Numbers in [0, 1), for the jitter of waits."""
    signals: Callable[[], StopSignals] = StopSignals
    """Returns what stops the session, or the sessions of several runs together."""


DEFAULT_RUNTIME: Final = Runtime()
"""The real event loop, disk and network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """What a session is asked to do."""

    run_dir: Path
    """Of the run, new or resumed."""
    config: RunConfig
    plans: Sequence[Plan]
    """One for each benchmark."""
    progress: Progress
    """Live counts."""
    allowed_changes: frozenset[str] = frozenset()
    """Identity fields that may differ on a resume."""
    scoring_only: bool = False
    """Score stored answers; ask nothing, and leave samples without an answer as they are."""
    runtime: Runtime = DEFAULT_RUNTIME
    n_runs: int = 1
    """So many sessions run at once in this process, and share its open files."""

    @property
    def asks(self) -> bool:
        """Return whether the evaluated endpoint is asked."""
        return self.config.endpoint is not None and not self.scoring_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the sessions of several runs on one event loop have in common."""

    ledger: Ledger
    """Of all runs together: one budget."""
    sandbox: ProgramRunner
    signals: StopSignals
