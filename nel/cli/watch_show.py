"""The output of `nel eval watch`: the state of a run on a live terminal, as text or as JSON lines.

Names and reasons come from files, and partly from the endpoint, so all of them pass `plain`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import typer

from nel.cli.frame import Frame
from nel.cli.table import table_lines, width_of
from nel.cli.terminal import plain
from nel.config.numbers import duration
from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.engine.observability.run_status import (
    BenchmarkCounts,
    RunStatus,
    RunStatusReader,
    find_run,
)
from nel.errors import OutputError
from nel.reports.motion import motion_of
from nel.reports.tables.progress import progress_table

_INTERVAL_SECONDS = 1.0
_LOG_INTERVAL_SECONDS = 10.0
"""When stdout is not a terminal."""
_POLL_SECONDS = 0.1
_REASONS = {
    "SIGINT": "interrupted by SIGINT; every answer so far is kept",
    "SIGTERM": "interrupted by SIGTERM; every answer so far is kept",
    "SIGHUP": "interrupted by SIGHUP; every answer so far is kept",
    "crashed": "crashed: run.log has the traceback; every answer so far is kept",
}


def show_status(
    path: Path, interval: float | None, *, once: bool, as_json: bool, wait_seconds: float
) -> None:
    """Print the state of a run until it ends, or once.

    Args:
        path: The directory of a run, or of runs.
        interval: Seconds between two updates; None takes what suits stdout.
        once: Print the state and return.
        as_json: Print lines of JSON.
        wait_seconds: For a run that is only beginning.

    Raises:
        OutputError: There is no run.
    """
    reader = RunStatusReader(_wait_for_run(path, wait_seconds))
    is_terminal = sys.stdout.isatty()
    if interval is None:
        interval = _INTERVAL_SECONDS if is_terminal or as_json else _LOG_INTERVAL_SECONDS
    show: Callable[[RunStatus], None] = _show_text
    if as_json:
        show = _show_json
    elif is_terminal and not once:
        show = _live_display()
    while True:
        status = reader.read()
        show(status)
        if once or status.is_over:
            return
        time.sleep(interval)


def _wait_for_run(path: Path, seconds: float) -> Path:
    """Return the run that a path names, after waiting for one that is only beginning.

    Raises:
        OutputError: There is none after that time.
    """
    try:
        return find_run(path)
    except OutputError:
        if not seconds:
            raise
    typer.echo(f"nel: there is no run in {path} yet; waiting for one up to {seconds:g} s", err=True)
    # From now on: on a busy machine the first look may take longer than the wait.
    deadline = time.monotonic() + seconds
    while True:
        time.sleep(_POLL_SECONDS)
        try:
            return find_run(path)
        except OutputError:
            if time.monotonic() >= deadline:
                raise


def _live_display() -> Callable[[RunStatus], None]:
    """Return a function that draws each state over the last one, and leaves the final state."""
    frame = Frame(sys.stdout)

    def show(status: RunStatus) -> None:
        lines = _lines(status, frame.columns)
        if status.is_over:
            frame.show([], above=lines)
        else:
            frame.show(lines)

    return show


def _show_text(status: RunStatus) -> None:
    typer.echo("\n".join(_lines(status, width_of(sys.stdout))))


_JSON_FIELDS = (
    "run_id",
    "state",
    "reason",
    "sessions",
    "started",
    "elapsed_seconds",
    "last_sign_seconds",
    "total",
    "done",
    "rate",
    "seconds_left",
    "live",
)


def _show_json(status: RunStatus) -> None:
    owner = status.owner
    document = {
        "run_dir": str(status.run_dir),
        **{name: getattr(status, name) for name in _JSON_FIELDS},
        "owner": None if owner is None else {"pid": owner.pid, "host": owner.host},
        "benchmarks": {item.slot: _counts_json(item) for item in status.benchmarks},
    }
    typer.echo(dumps(document))


def _counts_json(item: BenchmarkCounts) -> dict[str, object]:
    return {
        "total": item.total,
        "done": item.done,
        "scored": item.scored,
        "score": item.score,
        "model_failures": dict(item.model_failures),
        "unscored": dict(item.unscored),
        "stopped_by": item.stopped_by,
    }


def _lines(status: RunStatus, width: int) -> list[str]:
    table = table_lines(progress_table(status), width)
    return [_line_above(status), *table, *lines_below(status)]


def _line_above(status: RunStatus) -> str:
    line = f"{plain(status.run_id)}: {status.state}"
    if status.owner is not None:
        line += f" by process {status.owner.pid} on {plain(status.owner.host)}"
    if status.elapsed_seconds is not None:
        line += f", {'took' if status.is_over else 'for'} {duration(status.elapsed_seconds)}"
    if status.sessions > 1:
        line += f", session {status.sessions}"
    return line


def lines_below(status: RunStatus) -> list[str]:
    """Return the lines below the table: why the run or a benchmark stopped, and what to do."""
    lines = [
        f"{plain(item.slot)}: stopped early by {plain(item.stopped_by)} after {item.done:,} of"
        f" {item.total:,}"
        for item in status.benchmarks
        if item.stopped_by is not None
    ]
    if status.last_sign_seconds is not None:
        lines.append(f"last update {duration(status.last_sign_seconds)} ago")
    if not status.is_over:
        lines.append(plain("  ".join(motion_of(status))))
    if status.reason is not None:
        lines.append(_REASONS.get(status.reason) or plain(status.reason))
    if status.state in ("stopped", "killed"):
        lines.append(f"resume with: nel eval resume {plain(as_argument(status.run_dir))}")
    return lines
