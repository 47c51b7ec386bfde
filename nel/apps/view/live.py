"""What changes while it is looked at: the runs in progress, as JSON that a page asks for every two
seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nel.apps.view.finding import FoundRun
from nel.apps.view.summary import Summaries
from nel.engine.observability.run_status import RunStatus
from nel.engine.store.lock import owner_of
from nel.errors import NelError
from nel.reports import numbers


def live_runs(runs: Iterable[FoundRun], summaries: Summaries) -> dict[str, Any]:
    """Return by id what is known of each run that a process works on."""
    found = {}
    for run in runs:
        if owner_of(run.path) is not None:
            status = status_of(run, summaries)
            if status is not None and not status.is_over:
                found[run.id] = status_json(status)
    return found


def status_of(run: FoundRun, summaries: Summaries) -> RunStatus | None:
    """Return the status of a run, None where it cannot be read or counted right now."""
    try:
        return summaries.status(run)
    except (NelError, OSError):
        return None


def status_json(status: RunStatus) -> dict[str, Any]:
    """Return a status as texts for a page; scores are those of the answers so far."""
    live = status.live or {}
    said = [f"{numbers.count(status.done)} of {numbers.count(status.total)} answers"]
    if status.rate:
        said.append(f"{numbers.rate(status.rate)} a second")
    if status.seconds_left is not None:
        said.append(f"about {numbers.seconds(status.seconds_left)} left")
    if live.get("in_flight"):
        said.append(f"{numbers.count(live['in_flight'])} in flight")
    if live.get("retries"):
        said.append(f"{numbers.count(live['retries'])} retries")
    if live.get("outage_seconds") is not None:
        said.append(f"the endpoint has been down for {numbers.seconds(live['outage_seconds'])}")
    return {
        "state": status.state,
        "is_over": status.is_over,
        "share": status.done / status.total if status.total else 0.0,
        "line": ", ".join(said),
        "elapsed": numbers.seconds(status.elapsed_seconds),
        "benchmarks": {
            one.slot: {
                "done": f"{numbers.count(one.done)} / {numbers.count(one.total)}",
                "score": numbers.figure(
                    one.score, share=one.score is not None and 0 <= one.score <= 1
                ),
                "scored": numbers.count(one.scored),
                "model_failure": numbers.count(one.model_failures.total()),
                "unscored": numbers.count(one.unscored.total()),
                "missing": numbers.count(one.total - one.done),
            }
            for one in status.benchmarks
        },
    }
