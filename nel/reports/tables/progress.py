"""The columns in which a run is watched: what is done of each benchmark, and the score so far."""

from __future__ import annotations

from nel.engine.observability.run_status import BenchmarkCounts, RunStatus
from nel.engine.progress import is_early
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind


def progress_table(status: RunStatus) -> ReportTable:
    """Return the table of a run that may go on."""
    columns = (
        Column("slot", heading="benchmark"),
        Column("done", ValueKind.COUNT),
        Column("total", ValueKind.COUNT, heading="of"),
        Column(
            "score",
            ValueKind.SCORE,
            lambda counts: score_so_far(status, counts) or "none yet",
            "score so far",
        ),
        Column("model_failures", ValueKind.PARTS),
        Column("unscored", ValueKind.PARTS),
    )
    return ReportTable(columns, status.benchmarks)


def score_so_far(status: RunStatus, counts: BenchmarkCounts) -> Figure | None:
    """Return the mean reward, None while so little is done that it would mislead."""
    is_too_early = not status.is_over and is_early(counts.done, counts.total)
    if is_too_early or counts.score is None:
        return None
    return Figure(counts.score, unit="rate" if 0 <= counts.score <= 1 else "number")
