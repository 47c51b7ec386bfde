"""progress.json: the live numbers of a running session, for other processes to read.

Written about once a second and removed at the end. Trap: it is a courtesy, not an artifact: after a kill a stale one
stays behind, and a full disk leaves an old one; a reader believes run.db and the lock before it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from nel.core.observer import Observer, SessionInfo
from nel.core.strict_json import dumps_line, loads
from nel.engine.progress import Progress

FILE_NAME: Final = "progress.json"
_RATE_TICKS = 30
"""The rate is that of the last so many ticks."""
_BYTES_MAX = 64 * 1024


class LiveFile(Observer):
    """Keeps progress.json up to date."""

    def __init__(self, run_dir: Path, progress: Progress) -> None:
        """Write the first numbers, so that a watcher sees who is at work."""
        self._path = run_dir / FILE_NAME
        self._progress = progress
        self._limit: int | None = None
        self._outage_since: float | None = None
        self._seen: deque[tuple[float, int]] = deque(maxlen=_RATE_TICKS)
        self._lock = threading.Lock()
        self._is_over = False
        self._who = {"pid": os.getpid(), "host": socket.gethostname()}
        self.tick()

    def session_started(self, info: SessionInfo) -> None:
        """Keep the limit that the session begins with."""
        self._limit = info.concurrency

    def throttled(self, limit: int) -> None:
        """Keep the limit."""
        self._limit = limit

    def outage_started(self, kind: str, detail: str) -> None:
        """Keep since when the endpoint does not answer."""
        self._outage_since = time.monotonic()

    def outage_ended(self, seconds: float) -> None:
        """Forget the outage."""
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
        with suppress(OSError):  # a full disk is the store's to report
            handle = os.open(temporary, flags, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(dumps_line(self._numbers()))
            temporary.replace(self._path)

    def _numbers(self) -> dict[str, Any]:
        progress = self._progress
        now = time.monotonic()
        self._seen.append((now, progress.done))
        first, done_first = self._seen[0]
        oldest = progress.oldest_seconds
        return {
            **self._who,
            "updated": time.time(),
            "stage": progress.stage,
            "total": progress.total,
            "done": progress.done,
            "rate": (progress.done - done_first) / (now - first) if now > first else None,
            "elapsed_seconds": now - progress.started,
            "completion_tokens": progress.completion_tokens,
            "retries": progress.retries,
            "in_flight": len(progress.in_flight),
            "oldest_seconds": oldest,
            "concurrency_limit": self._limit,
            "outage_seconds": None if self._outage_since is None else now - self._outage_since,
        }


def read_live(run_dir: Path) -> dict[str, Any] | None:
    """Return what the file says, or None where it is missing or unreadable."""
    with suppress(OSError, ValueError), (run_dir / FILE_NAME).open("rb") as file:
        found = loads(file.read(_BYTES_MAX))
        if isinstance(found, dict) and isinstance(found.get("updated"), (int, float)):
            return found
    return None
