"""The table of runs: a row for each benchmark of each run, to be filtered by words and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.apps.view.notes import Notes
from nel.apps.view.summary import BenchmarkSummary, MeanSummary, RunSummary
from nel.reports.tables.columns import Column, ValueKind
from nel.reports.tables.results import BENCHMARK, INTERVAL, N_TOTAL, N_UNSCORED, SCORE

ROWS_MAX: Final = 1_000
"""Rows of one page; filtering finds the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One benchmark of one run, or a mean over several; a run that has none yet, or cannot be read, has one row too."""

    run: RunSummary
    notes: Notes
    benchmark: BenchmarkSummary | MeanSummary | None
    is_first: bool
    """Whether it is the first row of its run."""

    @property
    def words(self) -> str:
        """Return what the filter searches, in lower case."""
        name = self.benchmark.name if self.benchmark is not None else ""
        texts = (
            self.run.run_id,
            self.run.run.id,
            self.run.run.folder,
            self.run.model,
            name,
            self.run.state,
            *self.notes.tags,
            self.notes.note,
        )
        return " ".join(text for text in texts if text).lower()


def _of_benchmark(column: Column) -> Column:
    """Return a column of benchmarks' scores as one of rows, of which some have none."""

    def value(row: TableRow) -> Any:
        return None if row.benchmark is None else column.value(row.benchmark.row)

    return replace(column, of=value)


COLUMNS: Final = (
    Column("model", of=lambda row: row.run.model),
    _of_benchmark(BENCHMARK),
    replace(_of_benchmark(SCORE), key="score"),
    _of_benchmark(INTERVAL),
    replace(_of_benchmark(N_TOTAL), key="n"),
    replace(_of_benchmark(N_UNSCORED), key="unscored"),
    Column("cost", ValueKind.COUNT, of=lambda row: row.run.cost),
    Column("time", ValueKind.COUNT, of=lambda row: row.run.elapsed_seconds),
    Column("started", ValueKind.COUNT, of=lambda row: row.run.started),
    Column("run", of=lambda row: row.run.run_id),
)
"""Those of the page, by which it is sorted too."""
DEFAULT: Final = "-started"


def rows_of(runs: Iterable[tuple[RunSummary, Notes]]) -> list[TableRow]:
    """Return the rows of runs."""
    rows = []
    for run, notes in runs:
        scores: tuple[BenchmarkSummary | MeanSummary, ...] = (*run.means, *run.benchmarks)
        for position, score in enumerate(scores or (None,)):
            rows.append(TableRow(run=run, notes=notes, benchmark=score, is_first=position == 0))
    return rows


def filter_rows(rows: Iterable[TableRow], words: str, tag: str = "") -> list[TableRow]:
    """Return the rows that hold every word, and the tag."""
    terms = words.lower().split()
    return [
        row
        for row in rows
        if (not tag or tag in row.notes.tags) and all(term in row.words for term in terms)
    ]


def sort_rows(rows: Sequence[TableRow], by: str) -> list[TableRow]:
    """Return the rows by a column, in which those without a value come last.

    Args:
        rows: Of the table.
        by: The name of a column, with a minus for the largest first.
    """
    name = by.removeprefix("-")
    column = next((column for column in COLUMNS if column.key == name), None)
    if column is None:
        return sort_rows(rows, DEFAULT)

    def key(row: TableRow) -> Any:
        return column.values(row)[0]

    with_value = [row for row in rows if key(row) is not None]
    without_value = [row for row in rows if key(row) is None]
    return sorted(with_value, key=key, reverse=by.startswith("-")) + without_value
