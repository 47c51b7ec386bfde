"""A token bucket that may go into debt. No I/O; times are seconds on the event loop's clock, passed
in.
"""

from __future__ import annotations

_NOTHING = 1e-9


class TokenBucket:
    """Refills at a rate, up to a small burst; a taker may overdraw it, and the next one waits for
    the refill.
    """

    def __init__(self, burst_seconds: float) -> None:
        """Start full.

        Args:
            burst_seconds: Capacity, as seconds of the rate; never less than one unit.
        """
        self._burst_seconds = burst_seconds
        self._level = 0.0
        self._filled_at = float("-inf")

    def wait(self, now: float, rate: float) -> float:
        """Return the seconds until `take` may be called; 0 means now."""
        if rate == float("inf"):
            self._level, self._filled_at = 0.0, now
            return 0.0
        self._fill(now, rate)
        return 0.0 if self._level > -_NOTHING else -self._level / rate

    def take(self, amount: float) -> None:
        """Remove an amount, whatever the level is."""
        self._level -= amount

    def give_back(self, amount: float) -> None:
        """Correct an estimate: a positive amount was taken in excess, a negative one is still
        owed.
        """
        self._level += amount

    def empty(self) -> None:
        """Discard the burst, so that the next taker waits for a full unit."""
        self._level = min(self._level, -1.0)

    def _fill(self, now: float, rate: float) -> None:
        capacity = max(0.0, rate * self._burst_seconds - 1)  # one more may be taken at a level of 0
        elapsed = max(0.0, now - self._filled_at)
        self._level = min(capacity, self._level + elapsed * rate)
        self._filled_at = now
