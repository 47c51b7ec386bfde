"""Builds the index of a run in the background, from run.db, and keeps up with a run in progress.

An index grows in the order in which outcomes were committed, so that going on costs only what is
new. It is built from the start where verdicts were taken back, and where a new session asks what the
index has as never asked. Several processes may share a cache; each batch is added once.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from nel.apps.view.finding import FoundRun
from nel.apps.view.index.database import FORMAT, INDEX_FAULTS, Index, IndexEntry, ResultKey
from nel.apps.view.index.words import space_out
from nel.apps.view.left_out import decisions_of, left_out
from nel.artifacts.failures import failure_kind
from nel.artifacts.results import NOT_RUN, Result, outcome_json, read_result, reward_of
from nel.config.schema import Price
from nel.engine.store.browsing import BrowsedStore
from nel.engine.store.lock import owner_of
from nel.engine.store.projections.follow import count_verdicts, follow, taken_back
from nel.engine.store.projections.results import StoredResult, results
from nel.errors import NelError, StoreError
from nel.metrics.category_fields import category_of
from nel.reports import samples
from nel.reports.choices import options_of
from nel.reports.distributions import bin_of, measures_of
from nel.reports.questions import question_of
from nel.reports.text import as_text
from nel.types import Sample, Scored, Unscored

_BATCH: Final = 2_000
_BUILDERS: Final = 2
_FIELD_CHARACTERS_MAX: Final = 20_000
"""Of a text, its beginning and end; the middle of a longer one is not searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index of a run is."""

    path: Path
    is_ready: bool
    """Whether it holds every result that the run has."""
    n: int = 0
    """Results that it holds."""
    total: int = 0
    """Results that the run had when the index was last begun."""
    seconds: float = 0.0
    """What building it has taken so far."""
    problem: str = ""


class _Changed(Exception):
    """The run has voided outcomes that the index holds."""


class Indices:
    """The indices of the runs that are looked at."""

    def __init__(self, directory: Path, *, wait_seconds: float) -> None:
        """Build nothing yet.

        Args:
            directory: Where they are stored.
            wait_seconds: How long `of` waits for an index that is not up to date.
        """
        self._wait_seconds = wait_seconds
        self._directory = directory
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(_BUILDERS, thread_name_prefix="nel-view-index")
        self._lock = threading.Lock()
        self._builds: dict[Path, tuple[object, Future[str]]] = {}
        """The latest build of each run, with what the run was like when it began."""

    def close(self) -> None:
        """Stop building; what was built is kept."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def of(self, run: FoundRun) -> IndexState:
        """Return how far the index of a run is, after having it brought up to date or begun."""
        path = self._directory / f"{hashlib.sha256(os.fsencode(run.path)).hexdigest()[:32]}.db"
        stamp = (run.stamp(), owner_of(run.path) is not None)
        with self._lock:
            last_stamp, building = self._builds.get(run.path, (None, None))
            is_outdated = last_stamp != stamp or not path.exists()
            if building is None or (building.done() and is_outdated):
                building = self._pool.submit(self._build, run, path)
                self._builds[run.path] = stamp, building
        is_ready = bool(wait([building], self._wait_seconds).done)
        state = IndexState(
            path=path, is_ready=is_ready, problem=building.result() if is_ready else ""
        )
        with suppress(*INDEX_FAULTS), Index(path) as index:
            n, total, seconds = (index.fact(name) or 0 for name in ("n", "total", "seconds"))
            state = replace(state, n=n, total=max(n, total), seconds=seconds)
        return state

    def _build(self, run: FoundRun, path: Path) -> str:
        try:
            try:  # from where it is, and from the start where its run or its file is not as it was
                build(run, path, stop=self._stop)
            except (_Changed, sqlite3.DatabaseError):
                _remove(path)
                build(run, path, stop=self._stop)
        except _Changed:
            return "this run changes while it is read; look again in a moment"
        except (NelError, sqlite3.Error, OSError) as error:
            return str(error)
        return ""


def build(run: FoundRun, path: Path, *, stop: threading.Event | None = None) -> None:
    """Bring an index up to date with its run.

    Args:
        run: Its run.
        path: Of the index.
        stop: Ends the work before the next batch.

    Raises:
        NelError: The run cannot be read, or the index cannot be written.
        sqlite3.Error: The file of the index is damaged.
    """
    with Index(path, writes=True) as index:
        price = _begin(run, index)
        while not (stop is not None and stop.is_set()):
            started = time.monotonic()
            mark = int(index.fact("mark") or 0)
            # Opened for each batch: an open reader would keep SQLite from folding the log of a run
            # in progress.
            with BrowsedStore(run.store) as store:
                if index.fact("identity") != _identity(run, store):
                    raise _Changed
                followed = follow(store, mark, _BATCH)
                benchmarks = {benchmark for _, benchmark, _ in followed}
                omitted = {benchmark: left_out(store, benchmark) for benchmark in benchmarks}
            if not followed:
                _finish(run, index, price)
                return
            entries = [
                _entry(
                    benchmark, stored, price, is_left_out=stored.sample.idx in omitted[benchmark]
                )
                for _, benchmark, stored in followed
            ]
            _add_batch(index, entries, mark, followed[-1][0], started)


def _begin(run: FoundRun, index: Index) -> Price | None:
    """Record the state of the run that the index is of; return the price of its model."""
    with BrowsedStore(run.store) as store:
        identity = _identity(run, store)
        price = store.price
        total, sessions = count_verdicts(store), store.count_sessions()
    if index.fact("identity") not in (None, identity):
        raise _Changed
    if index.fact("lacking") and index.fact("sessions") != sessions:
        raise _Changed
    index.set_fact("sessions", sessions)
    index.set_fact("identity", identity)
    index.set_fact("total", total)
    return price


def _identity(run: FoundRun, store: BrowsedStore) -> list[object]:
    """Return what an index is of: what took verdicts back or decided leaves other results."""
    run_id = str(store.meta("run_id"))
    return [FORMAT, run_id, str(run.path), taken_back(store), decisions_of(store)]


def _add_batch(
    index: Index, entries: list[IndexEntry], before: int, mark: int, started: float
) -> None:
    with index.transaction():
        if int(index.fact("mark") or 0) != before:
            return
        index.add(entries)
        index.set_fact("mark", mark)
        index.set_fact("n", int(index.fact("n") or 0) + len(entries))
        index.set_fact("seconds", float(index.fact("seconds") or 0.0) + time.monotonic() - started)


def _finish(run: FoundRun, index: Index, price: Price | None) -> None:
    """Check that nothing was dropped; of a run that is over, add the samples without an outcome."""
    with BrowsedStore(run.store) as store:
        if count_verdicts(store) < int(index.fact("n") or 0):
            raise _Changed
        if owner_of(run.path) is not None or index.fact("has_all"):
            return
        why = store.meta("not_run")
        not_run = Unscored(**why) if why else NOT_RUN
        with index.transaction():
            if index.fact("has_all"):
                return
            entries = _without_outcome(store, price, not_run)
            n_lacking = 0
            while batch := list(islice(entries, _BATCH)):
                index.add(batch)
                n_lacking += len(batch)
            index.set_fact("lacking", n_lacking)
            index.set_fact("has_all", True)


def _without_outcome(
    store: BrowsedStore, price: Price | None, not_run: Unscored
) -> Iterator[IndexEntry]:
    """Yield what has no verdict: bad rows, what was never asked or never scored, and the samples of
    other shards.
    """
    for key, _, _, plan in store.benchmarks():
        omitted = left_out(store, key)
        for result in results(store, key, plan["repeats"]) if plan else ():
            if result.outcome is None:
                is_left_out = result.sample.idx in omitted
                entry = _entry(key, result, price, not_run, is_left_out=is_left_out)
                if result.is_elsewhere:
                    entry = replace(entry, group="not_asked", kind="other_shard")
                yield entry


def _entry(
    benchmark: int,
    stored_result: StoredResult,
    price: Price | None,
    not_run: Unscored = NOT_RUN,
    *,
    is_left_out: bool = False,
) -> IndexEntry:
    """Return what is indexed of a result; one that a stop rule left out is only searchable."""
    key = ResultKey(benchmark, stored_result.sample.idx, stored_result.repeat)
    try:
        result = read_result(stored_result, not_run=not_run, price=price)
    except StoreError as error:
        texts = (stored_result.sample.sample_id, "", "", "", "", str(error))
        group, kind = ("not_asked", "") if is_left_out else ("unscored", "damaged")
        return IndexEntry(key=key, group=group, kind=kind, texts=texts)
    category = None
    if result.sample is not None:
        category = category_of(result.sample.metadata, result.sample.subset)
    entry = IndexEntry(
        key=key,
        group="not_asked",
        category="" if category is None else str(category),
        texts=[space_out(_cut(text)) for text in _texts(result)],
    )
    if is_left_out:
        return entry
    values = {} if result.response is None else measures_of(result.response, price)
    return replace(
        entry,
        group=group_of(result),
        kind=failure_kind(result) or "",
        numbers=numbers_of(result, values),
        bins={name: bin_of(value) for name, value in values.items()},
        choice=_choice(result),
    )


def _choice(result: Result) -> tuple[str, str] | None:
    """Return the expected and the read label; None of what is unscored or no choice."""
    if isinstance(result.outcome, Unscored):
        return None
    options = options_of(result.sample)
    if options is None:
        return None
    return options.choice(result.outcome.answer, result.outcome.details)


def numbers_of(result: Result, values: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers of a result: its score, and what was measured of its answer."""
    reward = reward_of(result.outcome)
    return dict(values) if reward is None else {"score": reward, **values}


def group_of(result: Result) -> str:
    """Return where a result belongs, as the pages of reports say it."""
    return samples.group_of(outcome_json(result.outcome)["state"], reward_of(result.outcome))


def asked_in(sample: Sample | None) -> str:
    """Return the question of a sample; empty of a bad row."""
    if sample is None:
        return ""
    if isinstance(sample.input, str):
        return question_of(sample.metadata, sample.input)
    messages = [{"role": message.role, "content": message.content} for message in sample.input]
    return question_of(sample.metadata, messages)


def _texts(result: Result) -> tuple[str, ...]:
    sample, response, outcome = result.sample, result.response, result.outcome
    answer = reasoning = target = ""
    if response is not None:
        answer = response.text
        reasoning = response.reasoning or ""
    if sample is not None and sample.target is not None:
        target = as_text(sample.target)
    details = []
    if not isinstance(outcome, Scored):
        details.append(outcome.detail)
    if outcome.details:
        details.append(as_text(outcome.details))
    return result.sample_id, asked_in(sample), answer, reasoning, target, "\n".join(details)


def _cut(text: str) -> str:
    if len(text) > _FIELD_CHARACTERS_MAX:
        half = _FIELD_CHARACTERS_MAX // 2
        text = f"{text[:half]} {text[-half:]}"
    if text.isascii():
        return text
    # SQLite takes no lone surrogates.
    return text.encode("utf-8", "replace").decode()


def _remove(path: Path) -> None:
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
