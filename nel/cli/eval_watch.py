"""`nel eval watch`: shows a run in progress from another terminal, and ends when the run does.
Read-only.

Kinds, reasons and names come from the run's files, some of them from the endpoint, so all pass
`plain`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from nel.engine.observability.run_status import BenchmarkCounts, RunStatus

_INTERVAL_SECONDS = 1.0
_PLAIN_INTERVAL_SECONDS = 10.0
"""When stdout is not a terminal."""
_WAIT_SECONDS = 30.0
"""For a run that is only beginning: its directory is there once its datasets are opened."""
_LOOK_SECONDS = 0.1
_WIDTH = 200
_REASONS = {
    "SIGINT": "interrupted by SIGINT; every answer so far is kept",
    "SIGTERM": "interrupted by SIGTERM; every answer so far is kept",
    "SIGHUP": "interrupted by SIGHUP; every answer so far is kept",
    "crashed": "crashed: run.log has the traceback; every answer so far is kept",
}


def watch(
    run_dir: Annotated[
        Path,
        typer.Argument(help="The directory of a run, or a directory of runs: then the active one."),
    ],
    interval: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=3600, help="Seconds between two updates; 1, and 10 when stdout is a file."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print the state once and exit.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each update as one line of JSON.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option(min=0, max=86400, help="Seconds to wait for a run that is only beginning."),
    ] = _WAIT_SECONDS,
) -> None:
    """Show a run in progress until it ends, from any terminal; read-only.

    Exit codes: 0 the run ended, in any way, or --once was given; 2 there is no run, and none
    begins.
    """
    import time  # noqa: PLC0415 - keeps --help fast

    from nel.engine.observability.run_status import RunStatusReader  # noqa: PLC0415

    reader = RunStatusReader(_wait_for_run(run_dir, 0 if once else wait))
    is_terminal = sys.stdout.isatty()
    seconds = interval or (_INTERVAL_SECONDS if is_terminal or as_json else _PLAIN_INTERVAL_SECONDS)

    def poll(show: Callable[[RunStatus], object]) -> None:
        while True:
            view = reader.read()
            show(view)
            if once or view.is_over:
                return
            time.sleep(seconds)

    if as_json:
        poll(lambda view: typer.echo(_json_line(view)))
    elif is_terminal and not once:
        _show_live(poll)
    else:
        poll(_print_view)


def _wait_for_run(path: Path, seconds: float) -> Path:
    """Return the run that a path names; where there is none yet, wait for the one that is
    beginning.

    Raises:
        OutputError: There is none after that time.
    """
    import time  # noqa: PLC0415 - keeps --help fast

    from nel.engine.observability.run_status import find_run  # noqa: PLC0415
    from nel.errors import OutputError  # noqa: PLC0415

    deadline, has_said = time.monotonic() + seconds, False
    while True:
        try:
            return find_run(path)
        except OutputError:
            if time.monotonic() >= deadline:
                raise
        if not has_said:
            typer.echo(
                f"nel: there is no run in {path} yet; waiting for one up to {seconds:g} s", err=True
            )
            has_said = True
        time.sleep(_LOOK_SECONDS)


def _show_live(poll: Callable[[Callable[[RunStatus], object]], None]) -> None:
    from nel.cli.frame import Frame  # noqa: PLC0415 - keeps --help fast

    frame = Frame(sys.stdout)

    def show(view: RunStatus) -> None:
        lines = _render(view, frame.columns).split("\n")
        if view.is_over:
            frame.show([], above=lines)
        else:
            frame.show(lines)

    poll(show)


def _print_view(view: RunStatus) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    typer.echo(_render(view, width))


def _json_line(view: RunStatus) -> str:
    from nel.core.strict_json import dumps  # noqa: PLC0415 - keeps --help fast

    return dumps(
        {
            "run_dir": str(view.run_dir),
            "run_id": view.run_id,
            "state": view.state,
            "reason": view.reason,
            "owner": (
                None if view.owner is None else {"pid": view.owner.pid, "host": view.owner.host}
            ),
            "sessions": view.sessions,
            "started": view.started,
            "elapsed_seconds": view.elapsed_seconds,
            "last_sign_seconds": view.last_sign_seconds,
            "total": view.total,
            "done": view.done,
            "rate": view.rate,
            "seconds_left": view.seconds_left,
            "benchmarks": {item.slot: _counts_json(item) for item in view.benchmarks},
            "live": view.live,
        }
    )


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


def _render(view: RunStatus, width: int) -> str:
    """Return the table with the lines above and below it."""
    from nel.cli.table import table_lines  # noqa: PLC0415 - keeps --help fast
    from nel.reports.tables.progress import progress_table  # noqa: PLC0415

    head, *rest = _lines(view)
    return "\n".join([head, *table_lines(progress_table(view), width), *rest])


def _lines(view: RunStatus) -> list[str]:
    """Return the line above the table, then those below it."""
    from nel.cli.terminal import plain  # noqa: PLC0415 - keeps --help fast
    from nel.config.numbers import duration  # noqa: PLC0415
    from nel.reports.motion import motion_of  # noqa: PLC0415

    head = f"{plain(view.run_id)}: {view.state}"
    if view.owner is not None:
        head += f" by process {view.owner.pid} on {plain(view.owner.host)}"
    if view.elapsed_seconds is not None:
        head += f", {'took' if view.is_over else 'for'} {duration(view.elapsed_seconds)}"
    if view.sessions > 1:
        head += f", session {view.sessions}"
    lines = [head]
    lines += [
        f"{plain(item.slot)}: stopped early by {plain(item.stopped_by)} after {item.done:,} of"
        f" {item.total:,}"
        for item in view.benchmarks
        if item.stopped_by is not None
    ]
    if view.last_sign_seconds is not None:
        lines.append(f"last update {duration(view.last_sign_seconds)} ago")
    if not view.is_over:
        lines.append(plain("  ".join(motion_of(view))))
    if view.reason is not None:
        lines.append(_REASONS.get(view.reason) or plain(view.reason))
    if view.state in ("stopped", "killed"):
        lines.append(f"resume with: nel eval resume {plain(str(view.run_dir))}")
    return lines
