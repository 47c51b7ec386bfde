"""The line that shows how far a run is, on a terminal and in a notebook. Does no I/O."""

from __future__ import annotations

import time
from collections.abc import Iterator

from nel.config.numbers import duration
from nel.engine.progress import BenchmarkProgress, Progress


def progress_line(progress: Progress) -> str:
    """Return a line: done, rate, time left, episode steps, tokens, retries, oldest request, score.

    Before the first request: the stage, with the rows read so far.
    """
    return "  ".join(line_items(progress))


def line_items(progress: Progress) -> list[str]:
    """Return the items of `progress_line`, of which none is broken where the line is wrapped."""
    if progress.running_since is None:
        return [_line_before_running(progress)]
    elapsed = max(time.monotonic() - progress.running_since, 1e-9)  # a rate divides by it
    rate = progress.done / elapsed
    items = [f"{progress.stage}: {progress.done:,}/{progress.total:,}", f"{rate:,.1f}/s"]
    if rate > 0 and progress.total > progress.done:
        items.append(f"{duration((progress.total - progress.done) / rate)} left")
    counts = {
        "steps {:,}": progress.steps,
        "failures {:,}": progress.model_failures,
        "UNSCORED {:,}": progress.unscored,
        "{:,} tokens": progress.completion_tokens,
        "{:,} retries": progress.retries,
    }
    items += [form.format(count) for form, count in counts.items() if count]
    return [*items, *_delays(progress), *score_so_far(progress)]


def score_so_far(progress: Progress | BenchmarkProgress) -> list[str]:
    """Return the score with its n as an item of a line; nothing where it is too early."""
    if progress.early_score is None:
        return []
    value, n = progress.early_score
    score = f"{value:.4g}"
    if 0 <= value <= 1:
        score = f"{round(100 * value)} %"
    so_far = " so far" if progress.done < progress.total else ""
    return [f"({score} of {n:,}{so_far})"]


def _delays(progress: Progress) -> Iterator[str]:
    """Yield the reasons for which requests wait."""
    if progress.down_seconds is not None:
        yield f"ENDPOINT DOWN for {duration(progress.down_seconds)}"
    elif progress.gate is not None and progress.gate.slowed_by is not None:
        yield f"waits for {progress.gate.slowed_by}"
    if progress.judges is not None and progress.judges.down_seconds is not None:
        yield f"JUDGE DOWN for {duration(progress.judges.down_seconds)}"
    oldest = progress.oldest_seconds
    if oldest is not None and oldest >= 1:
        yield f"oldest {duration(oldest)}"


def _line_before_running(progress: Progress) -> str:
    waiting = progress.oldest_seconds
    if waiting is not None and waiting >= 1:
        return f"{progress.stage}, no answer for {duration(waiting)}"
    if progress.rows_read:
        return f"{progress.stage}: {progress.rows_read:,} rows"
    return progress.stage
