"""progress.json: the live counts of a running session, for other processes to read.

Written about once a second and removed at the end. It is not an artifact: a kill leaves a stale
file behind, and a full disk an old one, so a reader trusts run.db and the lock more.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final, TypedDict

from nel.core.observer import Observer, SessionInfo
from nel.core.strict_json import dumps_line, loads
from nel.engine.progress import Progress

FILE_NAME: Final = "progress.json"
_RATE_TICKS = 30
"""The number of ticks that the rate is an average over."""
_BYTES_MAX = 64 * 1024


class LiveProgress(TypedDict, total=False):
    """The content of progress.json; a file of another version of nel may lack keys."""

    pid: int
    host: str
    updated: float
    """Seconds since 1970: processes on other machines read it."""
    stage: str
    total: int
    done: int
    rate: float | None
    """Outcomes a second over the last `_RATE_TICKS` ticks."""
    elapsed_seconds: float
    completion_tokens: int
    steps: int
    """Responses of the model within episodes."""
    retries: int
    in_flight: int
    oldest_seconds: float | None
    """The age of the oldest request in flight."""
    concurrency_limit: int | None
    outage_seconds: float | None


class ProgressFile(Observer):
    """Keeps progress.json up to date."""

    def __init__(self, run_dir: Path, progress: Progress) -> None:
        """Write the first numbers, so that a reader sees the process at once."""
        self._path = run_dir / FILE_NAME
        self._progress = progress
        self._limit: int | None = None
        self._outage_since: float | None = None
        self._history: deque[tuple[float, int]] = deque(maxlen=_RATE_TICKS)
        """Time and outcomes at the last ticks."""
        self._lock = threading.Lock()
        self._is_over = False
        self._host = socket.gethostname()
        self.tick()

    def session_started(self, info: SessionInfo) -> None:
        """Set the concurrency limit."""
        self._limit = info.concurrency

    def limit_changed(self, limit: int) -> None:
        """Set the concurrency limit."""
        self._limit = limit

    def outage_started(self, kind: str, detail: str) -> None:
        """Set the time at which the outage began."""
        self._outage_since = time.monotonic()

    def outage_ended(self, seconds: float) -> None:
        """Clear the outage."""
        self._outage_since = None

    def session_ended(self, reason: str, exit_code: int) -> None:
        """Remove the file: how the session ended is in run.db."""
        self.close()

    def tick(self) -> None:
        """Replace the file."""
        with self._lock:
            if not self._is_over:
                self._write()

    def close(self) -> None:
        """Remove the file."""
        with self._lock, suppress(OSError):
            self._is_over = True
            self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        temporary = self._path.with_name(f".{FILE_NAME}.{os.getpid()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        # Without fsync, since the file is of no use after a crash. The store reports a full disk.
        with suppress(OSError):
            handle = os.open(temporary, flags, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(dumps_line(self._numbers()))
            temporary.replace(self._path)

    def _numbers(self) -> LiveProgress:
        progress = self._progress
        now = time.monotonic()
        self._history.append((now, progress.done))
        first, done_first = self._history[0]
        return {
            "pid": os.getpid(),
            "host": self._host,
            "updated": time.time(),
            "stage": progress.stage,
            "total": progress.total,
            "done": progress.done,
            "rate": (progress.done - done_first) / (now - first) if now > first else None,
            "elapsed_seconds": now - progress.started,
            "completion_tokens": progress.completion_tokens,
            "steps": progress.steps,
            "retries": progress.retries,
            "in_flight": len(progress.in_flight),
            "oldest_seconds": progress.oldest_seconds,
            "concurrency_limit": self._limit,
            "outage_seconds": None if self._outage_since is None else now - self._outage_since,
        }


def read_progress_file(run_dir: Path) -> LiveProgress | None:
    """Return the content of the file, or None where it is missing or unreadable."""
    with suppress(OSError, ValueError), (run_dir / FILE_NAME).open("rb") as file:
        progress: LiveProgress = loads(file.read(_BYTES_MAX))
        if isinstance(progress, dict) and isinstance(progress.get("updated"), (int, float)):
            return progress
    return None
