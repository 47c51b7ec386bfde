"""Shows the progress of a run on stderr: live lines on a terminal, else plain ones every ten
seconds.

A thread of its own reads `Progress`, so that the run never waits for the terminal; a closed stderr
does not end a run.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, suppress
from datetime import UTC, datetime
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
_PLAIN_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_BAR_CELLS = 24
_BAR_COLUMNS: Final = 80
"""Narrower terminals have no room for a bar."""
_UNTOLD: Final = frozenset({"time", "level", "event", "logger", "identities", "config_sha256"})
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
    named = {"": progress} if isinstance(progress, Progress) else progress
    news: list[_News] = [_Places(named)]
    news += [Warnings(each) for each in named.values()]
    if verbosity:
        news += [_Events(each) for each in named.values()]
    is_live = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    frame = _frame() if is_live else None
    thread = threading.Thread(
        target=_show_lines if frame is None else _show_live,
        args=(named, finished, news) if frame is None else (named, finished, news, frame),
        name="nel-progress",
        daemon=True,
    )
    with redirect_stderr(sys.stderr if frame is None else frame):
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join(timeout=2)


class Warnings:
    """Alerts, and warnings about judges, each returned once when it begins."""

    def __init__(self, progress: Progress) -> None:
        """Start without any known warning."""
        self._progress = progress
        self._known: set[str] = set()
        self._n_alerts = 0

    def new(self) -> list[str]:
        """Return a line for each alert, and for each judge that stopped judging, since the last
        call.
        """
        alerts = self._progress.alerts[self._n_alerts :]
        self._n_alerts += len(alerts)
        judges = self._progress.judges
        troubles = {
            line.partition(": ")[0]: line
            for line in (judges.problems if judges is not None else ())
        }
        fresh = [line for who, line in troubles.items() if who not in self._known]
        self._known = set(troubles)
        return [f"nel: {plain(line)}" for line in alerts] + [
            f"nel: {plain(line)}; answers are kept, and judged when it is back" for line in fresh
        ]


def named_lines(named: Mapping[str, Progress]) -> list[str]:
    """Return a line of progress for each name, which stands before it; an empty name does not."""
    return [
        f"{plain(name)}: {progress_line(each)}" if name else progress_line(each)
        for name, each in named.items()
    ]


def benchmark_lines(progress: Progress) -> list[str]:
    """Return a line for each benchmark with its own score, where there are several."""
    if len(progress.benchmarks) < 2 or progress.running_since is None:  # noqa: PLR2004
        return []
    lines = []
    for benchmark in progress.benchmarks.values():
        items = [f"  {plain(benchmark.slot)}: {benchmark.done:,}/{benchmark.total:,}"]
        items += [f"UNSCORED {benchmark.unscored:,}"] if benchmark.unscored else []
        lines.append("  ".join([*items, *score_so_far(benchmark)]))
    return lines


class _Places:
    """The directories of runs, each shown once, as soon as it exists."""

    def __init__(self, named: Mapping[str, Progress]) -> None:
        self._named = named
        self._told: set[str] = set()

    def new(self) -> list[str]:
        """Return a line for each run that has a directory since the last call."""
        directories = {
            name: each.run_dir for name, each in self._named.items() if each.run_dir is not None
        }
        lines = [
            f"run{f' of {plain(name)}' if name else ''}: {plain(str(directories[name]))}"
            for name in directories.keys() - self._told
        ]
        self._told |= directories.keys()
        return sorted(lines)


class _Events:
    """What run.log gets while a run goes on, one line for each event."""

    def __init__(self, progress: Progress) -> None:
        """Start at now: a run that is resumed has older events."""
        self._progress = progress
        self._since = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._read = 0

    def new(self) -> list[str]:
        """Return a line for each event since the last call."""
        log = self._log()
        if log is None:
            return []
        with suppress(OSError), log.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._read:  # a new file has taken its name
                self._read = 0
            file.seek(self._read)
            lines = [line for line in file if line.endswith(b"\n")]
            self._read += sum(map(len, lines))
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
        if name not in _UNTOLD and value not in (None, {})
    ]
    at = datetime.fromisoformat(str(event["time"])).astimezone()
    return plain("  ".join([f"{at:%H:%M:%S}", str(event["event"]), *fields]))


_News = Warnings | _Places | _Events


def _new_lines(news: Iterable[_News]) -> list[str]:
    return [line for each in news for line in each.new()]


def _show_live(
    named: Mapping[str, Progress], finished: threading.Event, news: list[_News], frame: Frame
) -> None:
    with suppress(OSError, ValueError):
        while not finished.wait(_LIVE_SECONDS):
            frame.show(_live_lines(named, frame), above=_new_lines(news))
        frame.show([], above=_new_lines(each for each in news if isinstance(each, _Events)))


def _frame() -> Frame:
    from nel.cli.frame import Frame  # noqa: PLC0415 - of a live terminal alone

    return Frame(sys.stderr)


def _live_lines(named: Mapping[str, Progress], frame: Frame) -> list[str]:
    """Return the lines of all runs as they fit a terminal; one that is too narrow has no bar."""
    from nel.cli.frame import pack_lines  # noqa: PLC0415 - as above

    width = frame.columns
    lines = []
    for name, each in named.items():
        bar = [_bar(each, frame.bar_characters)] if width >= _BAR_COLUMNS else []
        label = [f"{plain(name)}:"] if name else []
        lines += pack_lines([*bar, *label, *line_items(each)], width)
    return [*lines, *(line for each in named.values() for line in benchmark_lines(each))]


def _show_lines(
    named: Mapping[str, Progress], finished: threading.Event, news: list[_News]
) -> None:
    places, *others = news
    printed_at = time.monotonic()
    is_finished = False
    with suppress(OSError, ValueError):
        while not is_finished:
            is_finished = finished.wait(_LOOK_SECONDS)
            if is_finished:
                others = [each for each in others if isinstance(each, _Events)]
            lines = _new_lines(others)
            if not is_finished and time.monotonic() - printed_at >= _PLAIN_SECONDS:
                printed_at = time.monotonic()
                lines += [
                    *places.new(),
                    *named_lines(named),
                    *(line for each in named.values() for line in benchmark_lines(each)),
                ]
            if lines:  # in one call, so that nothing else is written in between
                sys.stderr.write("".join(f"{line}\n" for line in lines))
                sys.stderr.flush()


def _bar(progress: Progress, characters: tuple[str, str]) -> str:
    full, empty = characters
    filled = round(_BAR_CELLS * progress.done / progress.total) if progress.total else 0
    return full * filled + empty * (_BAR_CELLS - filled)
