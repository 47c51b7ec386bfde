"""A token bucket. Knows no clock; times are seconds on the event loop's."""

from __future__ import annotations

_NOTHING = 1e-9


class Bucket:
    """Fills at a rate up to a small burst; what is taken may leave it in debt, which the next taker waits out."""

    def __init__(self, burst_seconds: float) -> None:
        """Start full.

        Args:
            burst_seconds: How many seconds' worth it can hold; never less than one unit.
        """
        self._burst_seconds = burst_seconds
        self._level = 0.0
        self._filled_at = float("-inf")

    def wait(self, now: float, rate: float) -> float:
        """Return the seconds until something may be taken; 0 means now."""
        if rate == float("inf"):
            self._level, self._filled_at = 0.0, now
            return 0.0
        self._fill(now, rate)
        return 0.0 if self._level > -_NOTHING else -self._level / rate

    def take(self, amount: float) -> None:
        """Take an amount, whatever is there."""
        self._level -= amount

    def give_back(self, amount: float) -> None:
        """Return what was taken too much; negative for what was taken too little."""
        self._level += amount

    def empty(self) -> None:
        """Leave nothing: the next one waits for its own."""
        self._level = min(self._level, -1.0)

    def _fill(self, now: float, rate: float) -> None:
        room = max(0.0, rate * self._burst_seconds - 1)
        elapsed = max(0.0, now - self._filled_at)
        self._level = min(room, self._level + elapsed * rate)
        self._filled_at = now
