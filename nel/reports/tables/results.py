"""The columns in which results are shown: on the terminal, in summaries and on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Final

from nel.reports.run_files import BenchmarkFiles, read_aggregates, stored_files
from nel.reports.tables.columns import Column, ReportTable, ValueKind
from nel.reports.tables.headline import (
    REMARKS,
    HeadlineRow,
    ScoreOf,
    aggregate_rows,
    headline_of,
    headline_rows,
)
from nel.types import JsonObject

_METRICS_MAX: Final = 12
"""Metrics beside the headline that the table of a run has."""
_OF_A_RUN: Final = (*ScoreOf,)[:-1]
"""All but the categories."""
_NAMED: Final = (ScoreOf.HEADLINE, ScoreOf.AGGREGATE)

RUN: Final = Column("run")
MODEL: Final = Column("model")
BENCHMARK: Final = Column("benchmark")
METRIC: Final = Column("metric")
SCORE: Final = Column("value", ValueKind.SCORE, attrgetter("score"), "score")
INTERVAL: Final = Column("ci", ValueKind.INTERVAL, attrgetter("score"), "95 % interval")
BOUNDS: Final = Column("bound", ValueKind.INTERVAL, attrgetter("bounds"), "bounds")
N: Final = Column("n", ValueKind.COUNT)


def _count(name: str, heading: str) -> Column:
    is_alarm = name == "n_unscored"
    return Column(name, ValueKind.COUNT, methodcaller("count", name), heading, is_alarm=is_alarm)


N_TOTAL: Final = _count("n_total", "n")
N_MODEL_FAILURE: Final = _count("n_model_failure", "model failure")
N_UNSCORED: Final = _count("n_unscored", "unscored")
N_NOT_ASKED: Final = _count("n_not_asked", "not asked")
STATE: Final = Column("state", ValueKind.STATE)
_BOTH: Final = (RUN, MODEL, BENCHMARK, METRIC, SCORE, INTERVAL, BOUNDS, N_TOTAL)
SUMMARY: Final = (
    *_BOTH,
    N_MODEL_FAILURE,
    N_UNSCORED,
    N_NOT_ASKED,
    STATE,
)
"""Of headlines of one run or of several, for people."""
SUMMARY_FIELDS: Final = (
    *_BOTH,
    _count("n_scored", "scored"),
    N_MODEL_FAILURE,
    N_UNSCORED,
    N_NOT_ASKED,
    Column("complete"),
    *(Column(name, of=methodcaller("remark", name)) for name in REMARKS),
    Column("shard"),
    Column("failures", ValueKind.PARTS),
    Column("warnings", ValueKind.TEXTS),
    STATE,
)
"""The same for programs, with every remark as a column."""


RESULTS: Final = (
    replace(BENCHMARK, of=lambda row: row.benchmark if row.what in _NAMED else ""),
    METRIC,
    SCORE,
    INTERVAL,
    replace(BOUNDS, of=lambda row: row.bounds if row.count("n_unscored") else ""),
    N,
    Column("model_failures", ValueKind.PARTS),
    Column("causes", ValueKind.PARTS, heading="unscored"),
    replace(N_NOT_ASKED, of=lambda row: row.count("n_not_asked") or ""),
)
"""Of a run on the terminal and in a notebook; what does not apply is empty."""


def results_table(
    metrics_by_slot: Mapping[str, JsonObject], aggregates: Sequence[JsonObject] = ()
) -> ReportTable:
    """Return the table of a run.

    Below each headline stand the interval for new questions, the score as corrected by labels, and
    other metrics up to a limit; the means over several benchmarks are last.

    Args:
        metrics_by_slot: metrics.json by benchmark.
        aggregates: Of aggregates.json.
    """
    rows: list[HeadlineRow] = []
    below: list[str] = []
    for slot, metrics in metrics_by_slot.items():
        slot_rows = [row for row in headline_rows(metrics, {}, slot) if row.what in _OF_A_RUN]
        n_metrics = sum(row.what is ScoreOf.METRIC for row in slot_rows)
        n_hidden = max(n_metrics - _METRICS_MAX, 0)
        rows += slot_rows[: len(slot_rows) - n_hidden]
        if n_hidden:
            below.append(f"{slot}: and {n_hidden:,} more metrics in metrics.json")
    means = aggregate_rows(aggregates)
    below += [f"{row.benchmark}, {row.metric}: {line}" for row in means for line in row.lines]
    return ReportTable(RESULTS, [*rows, *means], below)


def headlines_table(
    metrics_by_slot: Mapping[str, JsonObject], aggregates: Sequence[JsonObject] = ()
) -> ReportTable:
    """Return the headlines and the aggregates of a run alone; see `results_table`."""
    rows = [headline_of(metrics_by_slot[slot], {}, slot) for slot in metrics_by_slot]
    return ReportTable(RESULTS, [*rows, *aggregate_rows(aggregates)])


def summary_rows(
    run_dir: Path, run_files: Sequence[BenchmarkFiles] | None = None
) -> list[HeadlineRow]:
    """Return one row a benchmark, sorted by directory name, and then one for each mean over several.

    Args:
        run_dir: Of the run.
        run_files: Its benchmarks; None: as they have just been written.

    Raises:
        OutputError: The directory has no artifacts, or a file is not strict JSON.
    """
    run_files = stored_files(run_dir) if run_files is None else run_files
    rows = [headline_of(files.metrics, files.bundle, files.title) for files in run_files]
    return [*rows, *aggregate_rows(read_aggregates(run_dir), rows[0])]
