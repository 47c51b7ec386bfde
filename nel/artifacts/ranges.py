"""Reads the results of a benchmark in ranges, and says what each comes to: its lines of
results.jsonl, and counts.

A range is read the same here and in a process, and what ranges come to is merged in their order, so
that artifacts do not depend on the number of processes. A process reads run.db itself: sending it
the rows took as long as reading them.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nel.artifacts.cautions import Copies, ScorerNotes, UnknownEndings
from nel.artifacts.failures import FailureAnalysis
from nel.artifacts.results import Result, not_asked_line, read_row, result_line
from nel.artifacts.runtime import RuntimeStats
from nel.artifacts.served import ServedBuilds
from nel.config.schema import Price
from nel.core.forked_map import collection_paused, mapped, usable_processes
from nel.core.sent_messages import messages_in
from nel.core.strict_json import dumps_line, loads
from nel.engine.store.snapshot import Snapshot
from nel.judges.record import KEY as JUDGEMENTS
from nel.metrics.accumulator import OTHER_SHARD, STOP_RULE
from nel.metrics.category_fields import fields_of
from nel.metrics.outcome_columns import OutcomeColumnsBuilder
from nel.types import Unscored

if TYPE_CHECKING:
    from nel.artifacts.early_stop import EarlyStop

RESULTS_ALONE: Final = 20_000
"""So many results are read in this process alone: a second of work, and few benchmarks have
more.
"""
_STOPPED_BEFORE: Final = "the stop rule ended the benchmark before this question"
_OTHER_SHARD_ASKS: Final = "another shard of the run asks this question"
_RESULTS_AT_ONCE: Final = 512
_BYTES_AT_ONCE: Final = 1 << 20
"""Of run.db, for a range of samples of mean length."""


class Judged(NamedTuple):
    """What judges said of one result."""

    question: int
    """Its number within the range, from 1."""
    judgements: object
    kind: str | None
    """Of the judges' fault that left it unscored."""
    detail: str


@dataclass(slots=True, kw_only=True)
class Range:
    """What the results of a range of samples come to."""

    runtime: RuntimeStats
    lines: list[bytes] = field(default_factory=list)
    """Of results.jsonl; joined into one where they come from a process."""
    counted: OutcomeColumnsBuilder = field(default_factory=OutcomeColumnsBuilder)
    failures: FailureAnalysis = field(default_factory=lambda: FailureAnalysis(is_part=True))
    endings: UnknownEndings = field(default_factory=lambda: UnknownEndings(is_part=True))
    notes: ScorerNotes = field(default_factory=ScorerNotes)
    served: ServedBuilds = field(default_factory=lambda: ServedBuilds(is_part=True))
    copies: Copies = field(default_factory=Copies)
    judged: list[Judged] = field(default_factory=list)
    models: dict[str, None] = field(default_factory=dict)
    """What the server of the evaluated model calls it, in the order in which the names came."""
    n_questions: int = 0
    first_question: object = None
    """What the first judgements would be about; a question of the range before may go on."""
    question: object = None
    """What the last judgements would be about."""
    not_run: int = 0
    n_beyond: int = 0
    """Responses that were in flight when a stop rule ended the benchmark."""
    results: list[Result] = field(default_factory=list)
    """Those that count, where they are wanted."""

    def add(self, result: Result, line: bytes) -> None:
        """Add a result that counts."""
        outcome, response, sample = result.outcome, result.response, result.sample
        self.lines.append(line)
        self.not_run += not result.was_run
        group = None if sample is None else sample.group
        self.counted.add(result.idx, outcome, label=fields_of(sample), group=group)
        self.failures.add(result)
        self.endings.add(response)
        self.copies.add(result.idx, response)
        self.notes.add(outcome)
        self.served.add(result.idx, response)
        self._note_question(result)
        kind = outcome.kind if isinstance(outcome, Unscored) and outcome.cause == "judge" else None
        judgements = outcome.details.get(JUDGEMENTS)
        if judgements is not None or kind is not None:
            detail = outcome.detail if isinstance(outcome, Unscored) else ""
            self.judged.append(Judged(self.n_questions, judgements, kind, detail))
        if response is not None and response.model is not None:
            self.models[response.model] = None

    def add_not_asked(self, result: Result, reason: str, line: bytes) -> None:
        """Add a result that was not to be asked."""
        self.lines.append(line)
        self.counted.add(result.idx, reason, label=fields_of(result.sample))

    def _note_question(self, result: Result) -> None:
        """Note which question a result is about: pairs of several models may share one."""
        row = {} if result.sample is None else result.sample.metadata
        question = row.get("question_id", result.idx) if "baseline" in row else result.idx
        if self.n_questions == 0:
            self.first_question = question
        if self.n_questions == 0 or question != self.question:
            self.question = question
            self.n_questions += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeReader:
    """Says what ranges of a benchmark's results come to."""

    not_run: Unscored
    """The outcome of a sample that was never asked."""
    price: Price | None
    early: EarlyStop | None
    keeps_results: bool
    """Whether the results themselves are wanted too; they then stay in this process."""

    def ranges(self, snapshot: Snapshot, key: int, repeats: int) -> Generator[Range]:
        """Yield what the results of a benchmark come to, range by range in order; close it where
        not all are taken.

        The snapshot cannot be used between two ranges.

        Raises:
            StoreError: A record is damaged.
        """
        is_small = snapshot.count_samples(key) * repeats <= RESULTS_ALONE
        processes = 1 if is_small or self.keeps_results else usable_processes()
        samples = min(_RESULTS_AT_ONCE // repeats, _BYTES_AT_ONCE // snapshot.mean_bytes(key))
        places = list(snapshot.sample_ranges(key, max(1, samples)))
        if processes == 1:
            for first, last in places:
                yield self.read(snapshot, key, repeats, first, last)
            return
        with snapshot.detached(), closing(_OwnSnapshot(snapshot.path)) as own:
            read = partial(_read_in_process, self, own, key, repeats)
            with closing(mapped(read, places, processes=processes)) as pending:
                yield from pending

    def read(self, snapshot: Snapshot, key: int, repeats: int, first: int, last: int) -> Range:
        """Return what the results of the samples from one idx to another come to."""
        read_range = Range(runtime=RuntimeStats(self.price, is_part=True))
        with collection_paused():  # what is decoded has no cycles
            for row in snapshot.result_rows(key, repeats, first=first, last=last):
                for result in read_row(row, not_run=self.not_run):
                    self._add(read_range, result, snapshot, key)
        return read_range

    def _add(self, read_range: Range, result: Result, snapshot: Snapshot, key: int) -> None:
        read_range.runtime.add(result.response)
        if result.is_elsewhere:
            read_range.add_not_asked(
                result,
                OTHER_SHARD,
                dumps_line(not_asked_line(result, OTHER_SHARD, _OTHER_SHARD_ASKS)),
            )
        elif self.early is not None and not self.early.counts(result.idx):
            read_range.n_beyond += result.response is not None
            read_range.add_not_asked(
                result, STOP_RULE, dumps_line(not_asked_line(result, None, _STOPPED_BEFORE))
            )
        else:
            line = result_line(result)
            if result.sample is not None and result.sample.turns:
                sent = snapshot.request(key, result.idx, result.repeat)
                if sent:  # the prompt of several turns: all messages before the last answer
                    messages: Any = messages_in(loads(sent))
                    line["prompt"] = messages
            read_range.add(result, dumps_line(line))
            if self.keeps_results:
                read_range.results.append(result)


class _OwnSnapshot:
    """A snapshot of a run.db in each process that asks for it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: tuple[int, Snapshot] | None = None

    def get(self) -> Snapshot:
        """Return the snapshot of this process.

        Raises:
            StoreError: There is no usable run.db any more.
        """
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), Snapshot(self._path)
        return self._opened[1]

    def close(self) -> None:
        """Close the snapshot of this process."""
        if self._opened is not None:
            self._opened[1].close()


def _read_in_process(
    reader: RangeReader, own: _OwnSnapshot, key: int, repeats: int, limits: tuple[int, int]
) -> Range:
    read_range = reader.read(own.get(), key, repeats, *limits)
    read_range.lines = [b"".join(read_range.lines)]
    return read_range
