"""Shows the progress of runs on stderr: live lines on a terminal, else lines every ten seconds.

A thread of its own reads `Progress`, so that the run never waits for the terminal; a closed stderr
does not end a run.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nel.cli.terminal import plain
from nel.engine.observability.run_log import FILE_NAME
from nel.engine.progress import Progress
from nel.runs.progress_line import line_items, progress_line, score_so_far

if TYPE_CHECKING:
    from nel.cli.frame import Frame

QUIET: Final = -1
"""The verbosity at which nothing is shown."""
_LIVE_SECONDS = 0.25
_LOG_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_BAR_CELLS = 24
_BAR_COLUMNS: Final = 80
"""Narrower terminals have no room for a bar."""
_FIELDS_HIDDEN: Final = frozenset(
    {"time", "level", "event", "logger", "identities", "config_sha256"}
)
"""Fields of an event that a line on the terminal leaves out."""


@contextmanager
def showing(progress: Progress | Mapping[str, Progress], verbosity: int = 0) -> Iterator[None]:
    """Show progress while the block runs: a line, or one for each name.

    Args:
        progress: Of a run, or of several by name.
        verbosity: `QUIET` shows nothing; 1 also what run.log gets, as it happens.
    """
    if verbosity <= QUIET:
        yield
        return
    finished = threading.Event()
    runs = {"": progress} if isinstance(progress, Progress) else progress
    news: list[_News] = [_Places(runs)]
    news += [Warnings(run) for run in runs.values()]
    if verbosity:
        news += [_Events(run) for run in runs.values()]
    stderr = sys.stderr
    show: Callable[[], None] = partial(_show_lines, runs, finished, news)
    if stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        stderr = frame = _frame()
        show = partial(_show_live, runs, finished, news, frame)
    thread = threading.Thread(target=show, name="nel-progress", daemon=True)
    with redirect_stderr(stderr):
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join(timeout=2)


class Warnings:
    """Alerts, and warnings about judges, each returned once when it begins."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._judges_down: set[str] = set()
        self._n_alerts = 0

    def new(self) -> list[str]:
        """Return a line for each alert since the last call, and each judge that stopped judging."""
        alerts = self._progress.alerts[self._n_alerts :]
        self._n_alerts += len(alerts)
        lines = [f"nel: {plain(line)}" for line in alerts]
        judges_down = set()
        judges = self._progress.judges
        for problem in judges.problems if judges else ():
            judge = problem.partition(": ")[0]
            judges_down.add(judge)
            if judge not in self._judges_down:
                lines.append(f"nel: {plain(problem)}; answers are kept, and judged when it is back")
        # A judge that is back is forgotten, so that its next outage is told again.
        self._judges_down = judges_down
        return lines


def named_lines(runs: Mapping[str, Progress]) -> list[str]:
    """Return a line of progress for each run, after its name where it has one."""
    return [
        f"{plain(name)}: {progress_line(progress)}" if name else progress_line(progress)
        for name, progress in runs.items()
    ]


def benchmark_lines(progress: Progress) -> list[str]:
    """Return a line for each benchmark with its own score, where there are several."""
    if len(progress.benchmarks) < 2 or progress.running_since is None:  # noqa: PLR2004
        return []
    lines = []
    for benchmark in progress.benchmarks.values():
        items = [f"  {plain(benchmark.slot)}: {benchmark.done:,}/{benchmark.total:,}"]
        if benchmark.unscored:
            items.append(f"UNSCORED {benchmark.unscored:,}")
        lines.append("  ".join([*items, *score_so_far(benchmark)]))
    return lines


class _Places:
    """The directories of runs, each shown once, as soon as it exists."""

    def __init__(self, runs: Mapping[str, Progress]) -> None:
        self._pending = dict(runs)
        """Runs without a directory at the last call."""

    def new(self) -> list[str]:
        """Return a line for each run that has a directory since the last call."""
        lines = []
        for name, progress in list(self._pending.items()):
            if progress.run_dir is not None:
                del self._pending[name]
                owner = f"run of {plain(name)}" if name else "run"
                lines.append(f"{owner}: {plain(str(progress.run_dir))}")
        return sorted(lines)


class _Events:
    """What run.log gets while a run goes on, one line for each event."""

    def __init__(self, progress: Progress) -> None:
        """Start at now: a run that is resumed has older events."""
        self._progress = progress
        self._since = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._offset = 0
        """Bytes of the log that were read."""

    def new(self) -> list[str]:
        """Return a line for each event since the last call."""
        log = self._log()
        if log is None:
            return []
        with suppress(OSError), log.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._offset:  # a new file has taken its name
                self._offset = 0
            file.seek(self._offset)
            # A line that is still being written is read by the next call.
            lines = [line for line in file if line.endswith(b"\n")]
            self._offset += sum(map(len, lines))
            events = [json.loads(line) for line in lines]
            return [_event_line(event) for event in events if event["time"] >= self._since]
        return []

    def _log(self) -> Path | None:
        directory = self._progress.run_dir
        return None if directory is None else Path(directory) / FILE_NAME


def _event_line(event: Mapping[str, object]) -> str:
    fields = [
        f"{name}={value}"
        for name, value in event.items()
        if name not in _FIELDS_HIDDEN and value not in (None, {})
    ]
    at = datetime.fromisoformat(str(event["time"])).astimezone()
    return plain("  ".join([f"{at:%H:%M:%S}", str(event["event"]), *fields]))


_News = Warnings | _Places | _Events


def _new_lines(news: Iterable[_News]) -> list[str]:
    return [line for source in news for line in source.new()]


def _show_live(
    runs: Mapping[str, Progress], finished: threading.Event, news: list[_News], frame: Frame
) -> None:
    with suppress(OSError, ValueError):
        while not finished.wait(_LIVE_SECONDS):
            frame.show(_live_lines(runs, frame), above=_new_lines(news))
        # The result follows: of what came last only the events are missing in it.
        frame.show([], above=_new_lines(source for source in news if isinstance(source, _Events)))


def _frame() -> Frame:
    from nel.cli.frame import Frame  # noqa: PLC0415 - of a live terminal alone

    return Frame(sys.stderr)


def _live_lines(runs: Mapping[str, Progress], frame: Frame) -> list[str]:
    """Return the lines of all runs as they fit a terminal; one that is too narrow has no bar."""
    from nel.cli.frame import pack_lines  # noqa: PLC0415 - as above

    width = frame.columns
    lines = []
    for name, progress in runs.items():
        items = [_bar(progress, frame.bar_characters)] if width >= _BAR_COLUMNS else []
        if name:
            items.append(f"{plain(name)}:")
        lines += pack_lines([*items, *line_items(progress)], width)
    return [*lines, *_lines_of_benchmarks(runs)]


def _lines_of_benchmarks(runs: Mapping[str, Progress]) -> list[str]:
    return [line for progress in runs.values() for line in benchmark_lines(progress)]


def _show_lines(runs: Mapping[str, Progress], finished: threading.Event, news: list[_News]) -> None:
    # The directory of a run is shown with its first line of progress, and a short run has none.
    places, *others = news
    printed_at = time.monotonic()
    is_finished = False
    with suppress(OSError, ValueError):
        while not is_finished:
            is_finished = finished.wait(_LOOK_SECONDS)
            if is_finished:  # as in `_show_live`
                others = [source for source in others if isinstance(source, _Events)]
            lines = _new_lines(others)
            if not is_finished and time.monotonic() - printed_at >= _LOG_SECONDS:
                printed_at = time.monotonic()
                lines += [*places.new(), *named_lines(runs), *_lines_of_benchmarks(runs)]
            if lines:  # in one call, so that nothing else is written in between
                sys.stderr.write("".join(f"{line}\n" for line in lines))
                sys.stderr.flush()


def _bar(progress: Progress, characters: tuple[str, str]) -> str:
    filled_cell, empty_cell = characters
    n_done = round(_BAR_CELLS * progress.done / progress.total) if progress.total else 0
    return filled_cell * n_done + empty_cell * (_BAR_CELLS - n_done)
