"""Tells whether traffic contradicts the rate limit that headers claim. No I/O; times are passed in.

An endpoint that keeps a limit says after each request how much of it remains, and that falls by
what passes, as far as it does not refill: with a span of r between the highest and the lowest
remainder, r + 1 requests have passed, or twice as many where a new window began in between. Where
more pass than that and than the limit refills, nothing is counted.
"""

from __future__ import annotations

from typing import Final

from nel.models.rate_limit_headers import Quota

_WINDOW_SECONDS: Final = 60.0
_SLACK: Final = 3
"""Requests of the largest size that may pass beyond what is explained."""


class HeaderClaims:
    """The claims about one limit, in requests or in tokens, over a minute at most."""

    def __init__(self, rounding: float) -> None:
        """Start without a claim.

        Args:
            rounding: By how much a remainder above 0 may be off.
        """
        self._rounding = rounding
        self._limit = 0.0
        self._since = float("-inf")
        self._passed = self._largest = 0.0
        self._low = self._high = 0.0
        self.is_used_up = False
        """Whether the last claim was that nothing remains."""

    def add(self, quota: Quota, amount: float, *, sent_at: float, now: float) -> bool:
        """Count an accepted request; return whether the claims are contradicted.

        Args:
            quota: What its response claims.
            amount: What it took of the limit: 1, or its tokens.
            sent_at: When it was sent.
            now: When its response arrived.
        """
        is_new = quota.limit != self._limit or now - self._since >= _WINDOW_SECONDS
        # From where nothing remains, nothing should pass.
        if is_new or (quota.remaining < 1 <= self._low):
            self._limit, self._since = quota.limit, sent_at
            self._passed = self._largest = 0.0
            self._low = self._high = quota.remaining
        self.is_used_up = quota.remaining < 1
        self._passed += amount
        self._largest = max(self._largest, amount)
        self._low, self._high = min(self._low, quota.remaining), max(self._high, quota.remaining)
        # The r + 1 of above, where 1 is the largest request; twice, for a window that began.
        by_remainders = 2 * (self._high - self._low + self._largest)
        refilled = quota.per_second * (now - self._since)
        # A remainder of 0 is exact: only what is above it may have been rounded.
        rounding = self._rounding if self._high >= 1 else 0.0
        return self._passed > by_remainders + refilled + _SLACK * self._largest + rounding

    @property
    def passed(self) -> float:
        """Return what has passed since the claims began."""
        return self._passed
