"""Reads the status of a run from another process: its owner, its progress, how it ended.

Depends on run.db, the lock, and progress.json for live numbers. Writes nothing. The lock is read
before run.db, since a session ends first in run.db and then in the lock: read in the other order, a
run that ends between the two reads would look killed.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from nel.engine.asking.stop_rules import DECISIONS
from nel.engine.observability.progress_file import LiveProgress, read_progress_file
from nel.engine.store.lock import Owner, owner_of
from nel.engine.store.plans import StoredSession
from nel.engine.store.projections.follow import OutcomeCount, tally
from nel.engine.store.snapshot import FILE_NAME, RUNS, Snapshot, start_of
from nel.errors import NelError, OutputError

State: TypeAlias = Literal["starting", "running", "finished", "stopped", "killed"]

_OVER = ("finished", "stopped", "killed")
_FRESH_SECONDS = 15.0
"""A progress.json older than this is ignored."""


@dataclass(slots=True, kw_only=True)
class BenchmarkCounts:
    """Counts of the outcomes of one benchmark in run.db."""

    slot: str
    total: int
    """Samples times repeats, bad rows included, as in every artifact."""
    scored: int = 0
    model_failures: Counter[str] = field(default_factory=Counter)
    """By kind."""
    unscored: Counter[str] = field(default_factory=Counter)
    """By ``cause:kind``."""
    reward_sum: float = 0.0
    stopped_by: str | None = None
    """The condition of the stop rule that ended it, such as ``width<0.1``; None where none has."""

    @property
    def done(self) -> int:
        """How many (sample, repeat) have an outcome."""
        return self.scored + self.model_failures.total() + self.unscored.total()

    @property
    def score(self) -> float | None:
        """The mean reward so far, None before the first."""
        n_rewards = self.scored + self.model_failures.total()
        return self.reward_sum / n_rewards if n_rewards else None

    def add(self, counted: OutcomeCount) -> None:
        """Add a count of outcomes of one kind."""
        if counted.state == "scored":
            self.scored += counted.n
            self.reward_sum += counted.reward_sum
        elif counted.state == "model_failure":
            self.model_failures[str(counted.kind)] += counted.n
        elif counted.state:
            self.unscored[f"{counted.cause}:{counted.kind}"] += counted.n
        else:  # a record that cannot be read
            self.unscored["damaged:record"] += counted.n


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The status of a run at one moment."""

    run_dir: Path
    run_id: str
    state: State
    reason: str | None
    """Why it stopped, if it did."""
    owner: Owner | None
    """The process that runs it."""
    sessions: int
    started: float | None
    """Of the last session, in seconds since 1970."""
    elapsed_seconds: float | None
    """Of the last session."""
    benchmarks: list[BenchmarkCounts]
    live: LiveProgress | None
    """The last progress.json; None when no process runs it, or when it is old."""
    last_sign_seconds: float | None
    """The age of the progress.json of a killed process."""
    rate: float | None
    """Recent outcomes a second."""

    @property
    def is_over(self) -> bool:
        """Whether no process works on this run."""
        return self.state in _OVER

    @property
    def total(self) -> int:
        """The planned (sample, repeat) of all benchmarks."""
        return sum(benchmark.total for benchmark in self.benchmarks)

    @property
    def done(self) -> int:
        """The (sample, repeat) of all benchmarks that have an outcome."""
        return sum(benchmark.done for benchmark in self.benchmarks)

    @property
    def seconds_left(self) -> float | None:
        """An estimate at the present rate."""
        if self.is_over or not self.rate:
            return None
        return (self.total - self.done) / self.rate


def find_run(path: Path) -> Path:
    """Return the run at a path: the directory itself, a running run in it, or the last started.

    Raises:
        OutputError: There is none.
    """
    if (path / FILE_NAME).is_file():
        return path
    if not path.exists():
        raise OutputError(
            f"there is no {path}; give the directory of a run, or one of runs such as eval_results"
        )
    runs = [run_db.parent for run_db in path.glob(RUNS)]
    if not runs:
        raise OutputError(f"there is no run in {path}; give the directory of a run, or one of runs")
    return max(
        runs, key=lambda run: (owner_of(run) is not None, start_of(run / FILE_NAME), run.name)
    )


def is_resumable(run_db: Path) -> bool:
    """Return whether a run can be resumed: it has a run.db, and is not finished."""
    try:
        return run_db.is_file() and RunStatusReader(run_db.parent).read().state != "finished"
    except NelError:  # damaged, and perhaps salvaged by the resume
        return True


class RunStatusReader:
    """Reads the status of one run repeatedly; each read counts only the outcomes that are new."""

    def __init__(self, run_dir: Path, *, untouched: bool = False) -> None:
        """Prepare; nothing is read before `read`.

        Args:
            run_dir: Of the run.
            untouched: Create no file in it; SQLite creates one when it reads.
        """
        self._run_dir = run_dir
        self._untouched = untouched
        self._session = -1
        self._mark = 0
        self._counts: dict[int, BenchmarkCounts] = {}
        self._previous: tuple[float, int] | None = None
        """Time and outcomes at the last read."""

    def read(self) -> RunStatus:
        """Return the status of the run now.

        Raises:
            NelError: The directory is gone, or its run.db cannot be read.
        """
        if not self._run_dir.is_dir():
            raise OutputError(f"{self._run_dir} is gone; was it moved?")
        owner = owner_of(self._run_dir)
        live, age = self._live()
        if (
            owner is None
            and live is not None
            and age < _FRESH_SECONDS
            and live.get("host") != socket.gethostname()
        ):
            # Shared file systems may not pass on locks between machines: a fresh progress.json of
            # another machine counts as a lock.
            owner = Owner(pid=int(live.get("pid") or 0), host=str(live.get("host")))
        # Opened for each read, since an open reader keeps SQLite from truncating the log.
        with Snapshot(self._run_dir / FILE_NAME, untouched=self._untouched) as snapshot:
            sessions = snapshot.sessions()
            self._count(snapshot, len(sessions))
            self._note_stops(snapshot)
            run_id = snapshot.meta("run_id") or self._run_dir.name
        last = sessions[-1] if sessions else None
        state, reason = _state(owner, last, is_live=live is not None)
        is_over = state in _OVER
        recent = live if live is not None and age < _FRESH_SECONDS and not is_over else None
        started = None if last is None else last["started"]
        return RunStatus(
            run_dir=self._run_dir,
            run_id=str(run_id),
            state=state,
            reason=reason,
            owner=None if is_over else owner,
            sessions=len(sessions),
            started=started,
            elapsed_seconds=_elapsed_seconds(last, is_over=is_over),
            benchmarks=list(self._counts.values()),
            live=recent,
            last_sign_seconds=age if state == "killed" and live is not None else None,
            rate=None if is_over else self._rate(recent),
        )

    def _live(self) -> tuple[LiveProgress | None, float]:
        live = read_progress_file(self._run_dir)
        return live, 0.0 if live is None else max(0.0, time.time() - live["updated"])

    def _count(self, snapshot: Snapshot, session: int) -> None:
        # A new session may void outcomes and add samples, so the count starts again.
        if session != self._session:
            self._session, self._mark, self._previous = session, 0, None
            self._counts = {}
            for key, slot, _, plan in snapshot.benchmarks():
                repeats = plan.get("repeats", 1)
                counts = BenchmarkCounts(slot=slot, total=snapshot.count_planned(key) * repeats)
                if bad := snapshot.count_bad_rows(key):
                    counts.unscored["bad_row:unusable"] = bad * repeats
                self._counts[key] = counts
        self._mark, outcomes = tally(snapshot, self._mark)
        for count in outcomes:
            if count.benchmark in self._counts:
                self._counts[count.benchmark].add(count)

    def _note_stops(self, snapshot: Snapshot) -> None:
        decisions = snapshot.meta(DECISIONS) or {}
        for counts in self._counts.values():
            decision = decisions.get(counts.slot)
            counts.stopped_by = None if decision is None else str(decision["condition"])

    def _rate(self, live: LiveProgress | None) -> float | None:
        now, done = time.monotonic(), sum(counts.done for counts in self._counts.values())
        previous, self._previous = self._previous, (now, done)
        rate = None if live is None else live.get("rate")
        if isinstance(rate, (int, float)):
            return float(rate)
        if previous is None or now <= previous[0]:
            return None
        return (done - previous[1]) / (now - previous[0])


def _state(
    owner: Owner | None, last: StoredSession | None, *, is_live: bool
) -> tuple[State, str | None]:
    """Return the state, and why a run stopped.

    A process that holds the lock works on the run unless its last session has ended. If that has,
    a progress.json shows that the next session is about to begin.
    """
    ended = None if last is None else last["ended"]
    if owner is not None and (ended is None or is_live):
        return "starting" if last is None or ended is not None else "running", None
    if last is None:
        return "killed", "it ended before its first session had begun"
    if ended is None:
        reason = "its process was killed (kill -9, out of memory, power failure)"
        return "killed", f"{reason}; every answer is kept"
    return ("finished", None) if ended == "done" else ("stopped", str(ended))


def _elapsed_seconds(last: StoredSession | None, *, is_over: bool) -> float | None:
    if last is None:
        return None
    elapsed: float | None = last["elapsed"]
    if elapsed is None and not is_over:
        return max(0.0, time.time() - last["started"])
    return elapsed
