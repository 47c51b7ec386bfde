"""What is known of a run at a glance: for the table of runs, and for the head of a run's page.

A run that ended with its artifacts is read from them, any other from its run.db, where the score
has no interval yet. Nothing here reads the samples of a finished run, so that a run of a million is
as quick as one of ten.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

from nel.apps.view.finding import FoundRun
from nel.artifacts.aggregates import AGGREGATES_NAME
from nel.artifacts.files import directory_name
from nel.artifacts.results import LineHead
from nel.comparison.sides import DAMAGE
from nel.engine.observability.run_status import BenchmarkCounts, RunStatus, RunStatusReader, State
from nel.engine.store.lock import owner_of
from nel.engine.store.plans import StoredPlan, StoredSession
from nel.engine.store.snapshot import Snapshot
from nel.engine.store.spending import elapsed_seconds, spent_json
from nel.errors import NelError
from nel.reports import numbers
from nel.reports.run_files import BenchmarkFiles, read_aggregates
from nel.reports.tables.columns import Counted, Figure
from nel.reports.tables.headline import HeadlineRow, aggregate_rows, headline_of
from nel.reports.tables.progress import score_so_far
from nel.reports.text import one_line
from nel.reports.whole_run import read_run
from nel.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSummary:
    """One benchmark of a run."""

    name: str
    address: str
    """Its part of an address: the name of its directory."""
    key: int
    """Its number in run.db."""
    plugin: str
    """The name of what it is an entry of; several entries may have one."""
    repeats: int
    row: HeadlineRow
    """Its score with all that belongs to it."""
    n_done: int = 0
    """Pairs of a sample and a repeat that have an outcome."""
    cost: float | None = None
    files: BenchmarkFiles | None = None
    """Its artifacts, where they are those of the last session."""
    plan: StoredPlan = field(default_factory=StoredPlan)

    @property
    def head(self) -> LineHead:
        """Return whose the lines of its results are."""
        return {"benchmark": self.plugin, "model": self.plan.get("model")}

    @property
    def score_text(self) -> str:
        """Return the score as text; of a run without results the one so far."""
        return so_far(self.row) if self.files is None else self.row.score.text

    @property
    def warnings(self) -> list[str]:
        """Return what speaks against its numbers, as metrics.json has it."""
        return [*map(one_line, self.row.warnings)]


@dataclass(frozen=True, slots=True)
class MeanSummary:
    """A mean over several benchmarks of a run that ended, in a row of the table."""

    row: HeadlineRow
    repeats: ClassVar[int] = 1

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.row.benchmark

    @property
    def score_text(self) -> str:
        """Return the score as text."""
        return self.row.score.text

    @property
    def n_done(self) -> int:
        """Return how many answers its benchmarks have."""
        return int(self.row.accounting["n_total"])

    @property
    def warnings(self) -> list[str]:
        """Return what it lacks."""
        return [*map(one_line, self.row.warnings)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as the table shows it."""

    run: FoundRun
    run_id: str
    state: State
    reason: str | None = None
    model: str | None = None
    url: str | None = None
    started: float | None = None
    """Of its first session, in seconds since 1970."""
    elapsed_seconds: float | None = None
    cost: float | None = None
    """Of the whole run with its judges and retries; None where no price is known."""
    sessions: int = 0
    benchmarks: tuple[BenchmarkSummary, ...] = ()
    means: tuple[MeanSummary, ...] = ()
    """Over several of them, wholes first."""
    problem: str | None = None
    """Why it cannot be read."""

    @property
    def is_live(self) -> bool:
        """Return whether a process works on it."""
        return self.state in ("starting", "running")

    def benchmark(self, address: str) -> BenchmarkSummary | None:
        """Return a benchmark by its part of an address."""
        return next((item for item in self.benchmarks if item.address == address), None)


class Summaries:
    """Reads summaries, and keeps those of runs that did not change."""

    def __init__(self) -> None:
        self._cache: dict[Path, tuple[object, RunSummary]] = {}
        self._readers: dict[Path, RunStatusReader] = {}
        self._locks: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)

    def of(self, run: FoundRun) -> RunSummary:
        """Return the summary of a run; one that cannot be read says why."""
        with self._locks[run.path]:
            is_live = owner_of(run.path) is not None
            stamp = (is_live, stamp_of(run))
            cached_stamp, summary = self._cache.get(run.path, (None, None))
            if summary is not None and cached_stamp == stamp and not is_live:
                return summary
            try:
                summary = self._read(run, is_live=is_live)
            except (NelError, OSError) as error:
                summary = _unreadable(run, str(error))
            except DAMAGE as error:  # a damaged run must not take the pages of the others with it
                summary = _unreadable(
                    run, f"it does not hold what it should ({type(error).__name__}: {error})"
                )
            self._cache[run.path] = stamp, summary
            return summary

    def _read(self, run: FoundRun, *, is_live: bool) -> RunSummary:
        with Snapshot(run.store, untouched=True) as snapshot:
            sessions = snapshot.sessions()
            config = snapshot.meta("config") or {}
            run_id = str(snapshot.meta("run_id") or run.path.name)
            benchmarks = snapshot.benchmarks()
        has_prices = bool((config.get("budget") or {}).get("prices"))
        session = None
        if sessions and sessions[-1]["ended"] is not None and not is_live:
            session = sessions[-1]
        state, reason, summaries = self._count(run, benchmarks, session)
        return RunSummary(
            run=run,
            run_id=run_id,
            state=state,
            reason=reason,
            benchmarks=summaries,
            means=_means(run.path) if all(item.files for item in summaries) else (),
            model=_model(summaries),
            url=(config.get("endpoint") or {}).get("url"),
            started=sessions[0]["started"] if sessions else None,
            elapsed_seconds=elapsed_seconds(sessions),
            cost=spent_json(sessions, has_prices=has_prices)["cost"],
            sessions=len(sessions),
        )

    def _count(
        self,
        run: FoundRun,
        benchmarks: list[tuple[int, str, str, StoredPlan]],
        session: StoredSession | None,
    ) -> tuple[State, str | None, tuple[BenchmarkSummary, ...]]:
        """Return the state of a run, why it ended so, and its benchmarks.

        Args:
            run: The run.
            benchmarks: As run.db has them.
            session: Its last session, where that ended.
        """
        files = {} if session is None else _files(run.path)
        names = [directory_name(slot) for _, slot, _, _ in benchmarks]
        if names and session is not None and all(name in files for name in names):
            self._readers.pop(run.path, None)
            return *_ending(session), tuple(
                _from_files(files[name], key, (slot, plugin), plan)
                for name, (key, slot, plugin, plan) in zip(names, benchmarks, strict=True)
            )
        status = self._status(run)
        summaries = (
            _from_status(status, key, (slot, plugin), plan)
            for key, slot, plugin, plan in benchmarks
        )
        return status.state, status.reason, tuple(summaries)

    def status(self, run: FoundRun) -> RunStatus:
        """Return the status of a run now; each of its outcomes is counted once.

        Raises:
            NelError: It cannot be read.
        """
        with self._locks[run.path]:
            return self._status(run)

    def _status(self, run: FoundRun) -> RunStatus:
        reader = self._readers.setdefault(run.path, RunStatusReader(run.path, untouched=True))
        status = reader.read()
        if status.is_over:
            self._readers.pop(run.path, None)
        return status


def _ending(session: StoredSession) -> tuple[State, str | None]:
    return ("finished", None) if session["ended"] == "done" else ("stopped", str(session["ended"]))


def stamp_of(run: FoundRun) -> tuple[object, ...]:
    """Return what changes when a run is resumed, scored again or reported again."""
    return run.stamp(*sorted(run.path.glob("*/metrics.json")), run.path / AGGREGATES_NAME)


def _files(run_dir: Path) -> dict[str, BenchmarkFiles]:
    """Return the artifacts by directory; none at all where they do not agree."""
    with suppress(NelError, OSError):
        return {files.directory.name: files for files in read_run(run_dir)}
    return {}


def _means(run_dir: Path) -> tuple[MeanSummary, ...]:
    """Return the means over several benchmarks; none where the file is not as nel writes it."""
    with suppress(NelError, OSError, *DAMAGE):
        rows = sorted(read_aggregates(run_dir), key=itemgetter("is_part"))
        return tuple(map(MeanSummary, aggregate_rows(rows)))
    return ()


def _from_files(
    files: BenchmarkFiles, key: int, names: tuple[str, str], plan: StoredPlan
) -> BenchmarkSummary:
    row = headline_of(files.metrics, files.bundle, files.title)
    return _benchmark(
        key,
        names,
        plan,
        row,
        n_done=row.accounting["n_total"],
        cost=_cost_of(files.runtime),
        files=files,
    )


def _from_status(
    status: RunStatus, key: int, names: tuple[str, str], plan: StoredPlan
) -> BenchmarkSummary:
    counts = next(item for item in status.benchmarks if item.slot == names[0])
    return _benchmark(key, names, plan, row_so_far(status, counts), n_done=counts.done)


def _benchmark(
    key: int, names: tuple[str, str], plan: StoredPlan, row: HeadlineRow, **fields: Any
) -> BenchmarkSummary:
    """Return a benchmark with what is known of it.

    Args:
        key: Its number in run.db.
        names: What it is called in the run, and what it is an entry of.
        plan: As run.db has it.
        row: Its score.
        fields: Further ones of `BenchmarkSummary`.
    """
    slot, plugin = names
    return BenchmarkSummary(
        name=row.benchmark,
        address=directory_name(slot),
        key=key,
        plugin=plugin,
        repeats=plan.get("repeats", 1),
        plan=plan,
        row=row,
        **fields,
    )


def row_so_far(status: RunStatus, counts: BenchmarkCounts) -> HeadlineRow:
    """Return the mean reward of a benchmark that may go on, with what is counted of it."""
    accounting = {
        "n_total": counts.total,
        "n_scored": counts.scored,
        "n_model_failure": counts.model_failures.total(),
        "n_unscored": counts.unscored.total(),
        "n_not_asked": 0,
    }
    return HeadlineRow(
        benchmark=counts.slot,
        metric="mean reward",
        score=score_so_far(status, counts) or Figure(None),
        n=Counted(counts.total),
        accounting=accounting,
    )


def so_far(row: HeadlineRow) -> str:
    """Return the score of a benchmark that may go on, as text."""
    if row.score.value is None:
        return "none yet"
    n = row.accounting["n_scored"] + row.accounting["n_model_failure"]
    return f"{row.score.text} of {numbers.count(n)} so far"


def _model(benchmarks: tuple[BenchmarkSummary, ...]) -> str | None:
    models = dict.fromkeys(
        str(benchmark.plan["model"]) for benchmark in benchmarks if benchmark.plan.get("model")
    )
    return ", ".join(models) or None


def _cost_of(runtime: JsonObject) -> float | None:
    cost = runtime.get("cost")
    total = cost.get("total") if isinstance(cost, dict) else None
    return total if isinstance(total, (int, float)) else None


def _unreadable(run: FoundRun, why: str) -> RunSummary:
    problem = why.replace(f"{os.fspath(run.path)}{os.sep}", "")
    return RunSummary(run=run, run_id=run.path.name, state="stopped", problem=problem)
