"""Circuit breaker: distinguishes an endpoint that is down from single requests that fail. No I/O;
times are passed in.

Closed, all requests pass. After several consecutive failures, of different requests or of the
connection itself, it opens: one probe at a time, at growing intervals, until a probe is answered.
One request that fails on every attempt never opens it alone, since its input may be what makes it
fail.
"""

from __future__ import annotations

from typing import Final

_FAILURES_MIN: Final = 5
"""Consecutive failures that open it."""
_REQUESTS_MIN: Final = 3
"""Different requests that these failures are of, unless no connection was made."""
_FIRST_PROBE_SECONDS: Final = 0.5
"""To the first probe; doubled after each that fails."""


class CircuitBreaker:
    """The breaker of one endpoint; times are seconds on the event loop's clock."""

    def __init__(self, *, probe_seconds: float) -> None:
        """Start closed.

        Args:
            probe_seconds: Longest time between two probes.
        """
        self._probe_seconds = probe_seconds
        self._first_probe_seconds = min(_FIRST_PROBE_SECONDS, probe_seconds)
        self._failures = 0
        self._requests: set[str] = set()
        self._has_unsuspected = False
        self._between_probes = self._first_probe_seconds
        self.failing_since: float | None = None
        """When the first of the current consecutive failures happened; None while there is none."""
        self.is_open = False
        self.next_probe = 0.0

    def record_failure(
        self, request: str, now: float, *, of_connection: bool, is_suspect: bool
    ) -> None:
        """Record a failure, and open the breaker when there are enough of them.

        Args:
            request: Identifies the request.
            of_connection: No connection was made, so that no request could have succeeded.
            is_suspect: The request failed before while others were answered; suspect requests alone
                are not an outage.
        """
        if self.failing_since is None:
            self.failing_since = now
        self._failures += 1
        # Only whether there are enough of them is asked, so an outage of hours keeps no more.
        if len(self._requests) < _REQUESTS_MIN:
            self._requests.add(request)
        self._has_unsuspected = self._has_unsuspected or not is_suspect
        # A failed connection is evidence against the endpoint by itself; failed requests count once
        # they are several, at least one of which has never failed while others were answered.
        enough = of_connection or (self._has_unsuspected and len(self._requests) >= _REQUESTS_MIN)
        if not self.is_open and self._failures >= _FAILURES_MIN and enough:
            self.is_open = True
            self.next_probe = now + self._between_probes

    def probe_failed(self, now: float, wait: float | None) -> None:
        """Double the time to the next probe; ``wait`` is the endpoint's own delay, if any."""
        self._between_probes = min(self._between_probes * 2, self._probe_seconds)
        self.next_probe = now + max(self._between_probes, wait or 0.0)

    def record_answer(self) -> bool:
        """Record that the endpoint answered; return whether that closed the breaker."""
        was_open = self.is_open
        # Called for each answer: without a failure before it there is nothing to reset.
        if self._failures:
            self._failures = 0
            self._requests.clear()
            self._has_unsuspected = False
            self._between_probes = self._first_probe_seconds
            self.failing_since = None
            self.is_open = False
        return was_open
