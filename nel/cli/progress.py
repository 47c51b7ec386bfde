"""Shows the progress of a run on stderr: a live bar on a terminal, else a plain line every ten
seconds.

A thread of its own reads `Progress`, so that the run never waits for the terminal; a closed stderr
does not end a run.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from nel.cli.terminal import duration, percent, plain
from nel.engine.progress import Progress

if TYPE_CHECKING:
    from rich.text import Text

_LIVE_SECONDS = 0.25
_PLAIN_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_BAR_CELLS = 24


@contextmanager
def showing(progress: Progress | Mapping[str, Progress]) -> Iterator[None]:
    """Show progress while the block runs: a line, or one for each name."""
    finished = threading.Event()
    target = _show_live if sys.stderr.isatty() else _show_lines
    named = {"": progress} if isinstance(progress, Progress) else progress
    thread = threading.Thread(
        target=target, args=(named, finished), name="nel-progress", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join(timeout=2)


def progress_line(progress: Progress) -> str:
    """Return one line: done, rate, time left, score, steps of episodes, tokens, retries, oldest
    request.

    Before the first request: the stage, with the rows read so far.
    """
    if progress.running_since is None:
        return _line_before_running(progress)
    elapsed = max(time.monotonic() - progress.running_since, 1e-9)
    rate = progress.done / elapsed
    parts = [f"{progress.stage}: {progress.done:,}/{progress.total:,}", f"{rate:,.1f}/s"]
    if rate > 0 and progress.total > progress.done:
        parts.append(f"{duration((progress.total - progress.done) / rate)} left")
    if progress.score is not None:
        parts.append(f"score {percent(progress.score)}")
    counts = {
        "steps {:,}": progress.steps,
        "failures {:,}": progress.model_failures,
        "UNSCORED {:,}": progress.unscored,
        "{:,} tokens": progress.completion_tokens,
        "{:,} retries": progress.retries,
    }
    parts += [form.format(count) for form, count in counts.items() if count]
    return "  ".join([*parts, *_delays(progress)])


def _delays(progress: Progress) -> Iterator[str]:
    """Yield what requests wait for."""
    if progress.down_seconds is not None:
        yield f"ENDPOINT DOWN for {duration(progress.down_seconds)}"
    elif progress.gate is not None and progress.gate.slowed_by is not None:
        yield f"waits for {progress.gate.slowed_by}"
    judge_down = progress.judges.down_seconds if progress.judges is not None else None
    if judge_down is not None:
        yield f"JUDGE DOWN for {duration(judge_down)}"
    oldest = progress.oldest_seconds
    if oldest is not None and oldest >= 1:
        yield f"oldest {duration(oldest)}"


def _line_before_running(progress: Progress) -> str:
    waiting = progress.oldest_seconds
    if waiting is not None and waiting >= 1:
        return f"{progress.stage}, no answer for {duration(waiting)}"
    return (
        f"{progress.stage}: {progress.rows_read:,} rows" if progress.rows_read else progress.stage
    )


class Warnings:
    """Warnings about judges, each returned once when it begins."""

    def __init__(self, progress: Progress) -> None:
        """Start without any known warning."""
        self._progress = progress
        self._known: set[str] = set()

    def new(self) -> list[str]:
        """Return a line for each judge that stopped judging since the last call."""
        judges = self._progress.judges
        troubles = {
            line.partition(": ")[0]: line
            for line in (judges.problems if judges is not None else ())
        }
        fresh = [line for who, line in troubles.items() if who not in self._known]
        self._known = set(troubles)
        return [
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
        parts = [f"  {plain(benchmark.slot)}: {benchmark.done:,}/{benchmark.total:,}"]
        parts += [f"score {percent(benchmark.score)}"] if benchmark.score is not None else []
        parts += [f"UNSCORED {benchmark.unscored:,}"] if benchmark.unscored else []
        lines.append("  ".join(parts))
    return lines


class _Places:
    """Where runs are, each told once, as soon as there is a directory."""

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


def _show_live(named: Mapping[str, Progress], finished: threading.Event) -> None:
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    with (
        suppress(OSError, ValueError),
        Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live,
    ):
        warnings: list[Warnings | _Places] = [
            _Places(named),
            *(Warnings(each) for each in named.values()),
        ]
        while not finished.wait(_LIVE_SECONDS):
            for line in (line for each in warnings for line in each.new()):
                live.console.print(Text(line))
            rows = zip(named.values(), named_lines(named), strict=True)
            lines = [Text.assemble(_bar(each), " ", line) for each, line in rows]
            lines += [Text(line) for each in named.values() for line in benchmark_lines(each)]
            live.update(Text("\n").join(lines), refresh=True)


def _show_lines(named: Mapping[str, Progress], finished: threading.Event) -> None:
    with suppress(OSError, ValueError):
        places, warnings, printed_at = (
            _Places(named),
            [Warnings(each) for each in named.values()],
            time.monotonic(),
        )
        while not finished.wait(_LOOK_SECONDS):
            lines = [line for each in warnings for line in each.new()]
            if time.monotonic() - printed_at >= _PLAIN_SECONDS:
                printed_at = time.monotonic()
                lines += [
                    *places.new(),
                    *named_lines(named),
                    *(line for each in named.values() for line in benchmark_lines(each)),
                ]
            for line in lines:
                print(line, file=sys.stderr, flush=True)  # noqa: T201 - this is the command line


def _bar(progress: Progress) -> Text:
    from rich.text import Text  # noqa: PLC0415 - only a terminal needs it

    filled = round(_BAR_CELLS * progress.done / progress.total) if progress.total else 0
    return Text("━" * filled, style="green") + Text("━" * (_BAR_CELLS - filled), style="dim")
