"""The clock of one session of a run. Depends on the time of the machine."""

from __future__ import annotations

import time


class SessionClock:
    """Dates what a session stores by one clock, so that a date of a sample is one of its session."""

    def __init__(self) -> None:
        self.started = time.time()
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Return the seconds since the session began."""
        return time.monotonic() - self._began

    def now(self) -> float:
        """Return the moment in seconds since 1970."""
        return self.started + self.elapsed
