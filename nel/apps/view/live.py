"""The state of the runs in progress, as JSON that a page asks for every two seconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nel.apps.view.finding import FoundRun
from nel.apps.view.summary import Summaries, row_so_far, so_far
from nel.engine.observability.run_status import RunStatus
from nel.engine.store.lock import owner_of
from nel.errors import NelError
from nel.reports import numbers
from nel.reports.motion import motion_of


def live_runs(runs: Iterable[FoundRun], summaries: Summaries) -> dict[str, Any]:
    """Return by id the status of each run that a process works on."""
    statuses = {}
    for run in runs:
        if owner_of(run.path) is None:
            continue
        status = status_of(run, summaries)
        if status is not None and not status.is_over:
            statuses[run.id] = status_json(status)
    return statuses


def status_of(run: FoundRun, summaries: Summaries) -> RunStatus | None:
    """Return the status of a run, None where it cannot be read right now."""
    try:
        return summaries.status(run)
    except (NelError, OSError):
        return None


def status_json(status: RunStatus) -> dict[str, Any]:
    """Return a status as texts for a page; no score is shown before a tenth of the answers."""
    return {
        "state": status.state,
        "is_over": status.is_over,
        "share": status.done / status.total if status.total else 0.0,
        "line": ", ".join(motion_of(status)),
        "elapsed": numbers.seconds(status.elapsed_seconds),
        "benchmarks": {
            counts.slot: {
                "done": f"{numbers.count(counts.done)} / {numbers.count(counts.total)}",
                "score": so_far(row_so_far(status, counts)),
                "scored": numbers.count(counts.scored),
                "model_failure": numbers.count(counts.model_failures.total()),
                "unscored": numbers.count(counts.unscored.total()),
                "missing": numbers.count(counts.total - counts.done),
            }
            for counts in status.benchmarks
        },
    }
