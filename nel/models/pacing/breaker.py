"""Tells an endpoint that is down from a request that fails. Knows no clock and sends nothing.

Closed, everything passes. After a few failures in a row, of several requests or of the connection itself, it opens:
one probe at a time, rarely, until one is answered. Trap: one poisonous sample fails as often as it is tried; it alone
never opens the breaker.
"""

from __future__ import annotations

from typing import Final

_FAILURES_MIN: Final = 5
_REQUESTS_MIN: Final = 3
_REQUESTS_KEPT: Final = 16


class Breaker:
    """The state of one endpoint; times are seconds on the event loop's clock."""

    def __init__(self, *, probe_seconds: float, first_probe_seconds: float = 0.5) -> None:
        """Start closed.

        Args:
            probe_seconds: Longest time between two probes.
            first_probe_seconds: Time to the first probe; doubled after each that fails.
        """
        self._probe_seconds = probe_seconds
        self._first_probe_seconds = min(first_probe_seconds, probe_seconds)
        self._failures = 0
        self._requests: set[str] = set()
        self._has_unsuspected = False
        self._between_probes = self._first_probe_seconds
        self.failing_since: float | None = None
        """When the first of the failures in a row came."""
        self.is_open = False
        self.next_probe = 0.0

    def failed(self, request: str, now: float, *, of_connection: bool, is_suspect: bool) -> None:
        """Note a failure.

        Args:
            request: Tells one request from another.
            of_connection: No connection was made, so that no request of any kind could have passed.
            is_suspect: The request failed before while others were answered; such ones alone are no outage.
        """
        if self.failing_since is None:
            self.failing_since = now
        self._failures += 1
        if len(self._requests) < _REQUESTS_KEPT:
            self._requests.add(request)
        self._has_unsuspected = self._has_unsuspected or not is_suspect
        enough = of_connection or (self._has_unsuspected and len(self._requests) >= _REQUESTS_MIN)
        if not self.is_open and self._failures >= _FAILURES_MIN and enough:
            self.is_open = True
            self.next_probe = now + self._between_probes

    def probe_failed(self, now: float, wait: float | None) -> None:
        """Note that a probe found the endpoint still down, and when it asked to be tried again."""
        self._between_probes = min(self._between_probes * 2, self._probe_seconds)
        self.next_probe = now + max(self._between_probes, wait or 0.0)

    def answered(self) -> bool:
        """Note a sign of life; return whether it closed the breaker."""
        was_open = self.is_open
        if self._failures:
            self._failures = 0
            self._requests.clear()
            self._has_unsuspected = False
            self._between_probes = self._first_probe_seconds
            self.failing_since = None
            self.is_open = False
        return was_open
