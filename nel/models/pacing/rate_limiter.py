"""Rate limiter of requests and tokens: configured, from headers, and learned from refusals.

The learned limit is the rate at which the endpoint accepted requests between two refusals, whatever
window it counts in. No I/O; times are seconds on the event loop's clock, passed in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from typing import Final

from nel.models.pacing.adaptive_limit import AdaptiveLimit
from nel.models.pacing.header_claims import HeaderClaims
from nel.models.rate_limit_headers import Quota

_INFINITE: Final = float("inf")
_NOTHING: Final = 1e-9
"""By how much rounding may leave a bucket below 0 that is full enough."""
_BELOW_LIMIT: Final = 0.98
"""Share of a limit, learned or named by headers, that is used."""
_MEASURED_SECONDS_MIN: Final = 0.4
_MEASURED_REQUESTS_MIN: Final = 3
"""Shortest interval and fewest accepted requests from which a rate is measured."""
_SENT_MAX: Final = 2.0
"""The last rate is ignored where it was this many times the average accepted rate."""
_STRIDE_MIN: Final = 0.5
_STRIDE_MAX: Final = 2.0
_STRIDE_REQUESTS: Final = 8.0
"""The bound doubles in the time of so many requests: a first measurement is uncertain."""
_CUT_BLIND: Final = 0.7
"""Factor for a refusal that follows the last one too soon to measure a rate."""
_FLOOR_PER_SECOND: Final = 0.2
"""Lowest learned rate."""
_HEADERS_SECONDS: Final = 60.0
"""For how long the headers of a response hold."""
_NEAR_SHARE: Final = 0.1
"""Header limits apply once less than this share of them remains."""
_TOKENS_ROUNDED: Final = 1000.0
"""Anthropic rounds the tokens that remain to thousands."""
_BEYOND_MAX: Final = 6
"""Most requests sent though headers say that none remain, while none was ever refused."""


class TokenBucket:
    """Refills at a rate, up to a small burst; a taker that overdraws it makes the next one wait."""

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
        if rate == _INFINITE:
            self._level, self._filled_at = 0.0, now
            return 0.0
        self._fill(now, rate)
        # At a level of 0 a request passes whatever its size: one above the burst would never.
        return 0.0 if self._level > -_NOTHING else -self._level / rate

    def take(self, amount: float) -> None:
        """Remove an amount, whatever the level is; a negative one was taken in excess before."""
        self._level -= amount

    def empty(self) -> None:
        """Discard the burst, so that the next taker waits for a full unit."""
        self._level = min(self._level, -1.0)

    def _fill(self, now: float, rate: float) -> None:
        capacity = max(0.0, rate * self._burst_seconds - 1)  # one more may be taken at a level of 0
        elapsed = max(0.0, now - self._filled_at)
        self._level = min(capacity, self._level + elapsed * rate)
        self._filled_at = now


class RateLimiter:
    """The rate limits of one endpoint; a limit of infinity means none."""

    def __init__(
        self, *, requests_per_minute: float | None, tokens_per_minute: float | None
    ) -> None:
        """Start with the configured bounds, if any."""
        self._configured = (_per_second(requests_per_minute), _per_second(tokens_per_minute))
        self._from_headers: tuple[float, float] = (_INFINITE, _INFINITE)
        self._from_headers_until = 0.0
        self._has_refused = False
        self._n_beyond = 0
        self._claims = {
            "requests": HeaderClaims(rounding=0),
            "tokens": HeaderClaims(rounding=_TOKENS_ROUNDED),
        }
        self.disbelieved: str | None = None
        """The header limit that what passed contradicts; None where there is none."""
        self._learned = self._before = AdaptiveLimit()
        self._requests, self._tokens = (
            TokenBucket(burst_seconds=0.1),
            TokenBucket(burst_seconds=1.0),
        )
        self._accepted = 0
        self._counting_since: float | None = None
        self._paused = 0.0
        self._is_measuring = False
        self._is_bounded = self._configured != (_INFINITE, _INFINITE)

    @property
    def is_free(self) -> bool:
        """Return whether no limit is configured, named or learned."""
        return not (self._is_bounded or self._learned.is_known)

    def wait(self, now: float) -> float:
        """Return the seconds until the next request may go out; 0 means now."""
        if self.is_free:
            return 0.0
        requests, tokens = self._rates(now)
        waits = self._requests.wait(now, requests), self._tokens.wait(now, tokens)
        return max(
            0.0 if beyond else wait
            for wait, beyond in zip(waits, self._may_go_beyond(now), strict=True)
        )

    def _may_go_beyond(self, now: float) -> tuple[bool, bool]:
        """Return for requests and tokens if headers, but no refusal, call a limit used up."""
        if self._has_refused or self._n_beyond >= _BEYOND_MAX or now >= self._from_headers_until:
            return False, False
        # Only where the headers are what holds back: a limit that is configured or learned stays.
        requests = min(self._configured[0], self._learned.value(now))
        tokens = self._configured[1]
        return (
            self._claims["requests"].is_used_up and self._from_headers[0] < requests,
            self._claims["tokens"].is_used_up and self._from_headers[1] < tokens,
        )

    def source(self, now: float) -> str:
        """Return which limit holds requests back now, for people."""
        requests = self._rates(now)[0]
        if requests == self._configured[0] < _INFINITE:
            return "the configured rate"
        by_headers = (
            now < self._from_headers_until and requests == self._from_headers[0] < _INFINITE
        )
        if by_headers or requests == _INFINITE:
            return "the rate limit that the endpoint's headers name"
        return "the rate learned from its refusals"

    def requests_per_second(self, now: float) -> float | None:
        """Return the current limit on requests; None where there is none."""
        rate = self._rates(now)[0]
        return None if rate == _INFINITE else rate

    def record_request(self, tokens: int, now: float) -> None:
        """Record a request that is sent, with an estimate of its tokens."""
        if not self.is_free:  # the buckets begin full, whenever a limit is found
            # One more that is sent although headers call a limit used up; see `_BEYOND_MAX`.
            self._n_beyond += any(self._may_go_beyond(now))
            self._requests.take(1.0)
            self._tokens.take(tokens)
        if self._counting_since is None:
            self._counting_since = now

    def begin_empty(self, now: float) -> None:
        """Discard the burst of both limits."""
        self.wait(now)  # fills the buckets up to now, so that this time does not count later
        self._requests.empty()
        self._tokens.empty()

    def record_acceptance(self, tokens_off: int) -> None:
        """Record an accepted request, and by how many tokens the estimate was too high."""
        self._accepted += 1
        if not self.is_free:
            self._tokens.take(-tokens_off)

    def update_from_headers(
        self,
        quotas: Mapping[str, Quota],
        in_flight: int,
        now: float,
        *,
        tokens: int = 0,
        sent_at: float | None = None,
    ) -> None:
        """Record a response's rate limit headers; they hold for a minute or until the next ones.

        Args:
            quotas: What they claim.
            in_flight: Requests in flight.
            now: When it arrived.
            tokens: That its request used.
            sent_at: When its request was sent.
        """
        if self.disbelieved is None:
            self._note_passed(quotas, tokens, now if sent_at is None else sent_at, now)
        if self.disbelieved is not None:
            return
        quota_pair = quotas.get("requests"), quotas.get("tokens")
        self._from_headers = (
            _rate_of_quota(quota_pair[0], 2 * in_flight),
            _rate_of_quota(quota_pair[1], 0),
        )
        self._from_headers_until = now + _HEADERS_SECONDS
        self._is_bounded = True

    def _note_passed(
        self, quotas: Mapping[str, Quota], tokens: int, sent_at: float, now: float
    ) -> None:
        """Compare what passes with what headers claim; not after a refusal, which shows a limit."""
        if self._has_refused:
            return
        for kind, amount in (("requests", 1.0), ("tokens", float(tokens))):
            quota, claims = quotas.get(kind), self._claims[kind]
            if quota is not None and claims.add(quota, amount, sent_at=sent_at, now=now):
                self.disbelieved = (
                    f"{quota.limit:g} {kind} a minute, and do not change with the {claims.passed:g}"
                    " that passed"
                )
                self._from_headers = (_INFINITE, _INFINITE)
                return

    def record_refusal(
        self, now: float, *, is_costly: bool = False, per_second: float | None = None
    ) -> bool:
        """Learn from a refusal; return whether a rate is known now.

        Args:
            is_costly: The refusal names a wait, so that probing the limit is expensive.
            per_second: Requests accepted a second while others were refused, where that was
                measured.
        """
        self._has_refused = True
        self._requests.empty()
        # The interval since the last refusal, and what was accepted in it.
        since = now if self._counting_since is None else self._counting_since
        elapsed, accepted = now - since - self._paused, self._accepted
        if per_second is not None:
            return self._learn(per_second, now, is_costly=is_costly)
        if elapsed < _MEASURED_SECONDS_MIN or accepted < _MEASURED_REQUESTS_MIN:
            # Too short an interval to measure in, so the rate only gives way for a few seconds.
            if self._learned.is_known:
                delivered = accepted / max(elapsed + self._paused, _MEASURED_SECONDS_MIN)
                self._learned.lower(
                    max(_CUT_BLIND * self._learned.value(now), delivered, _FLOOR_PER_SECOND), now
                )
            # The interval before the first refusal is not limited by the endpoint, so measuring
            # starts with that refusal; once a rate is known, each refusal starts a new interval.
            if self._learned.is_known or not self._is_measuring:
                self._is_measuring = True
                self._counting_since, self._accepted, self._paused = now, 0, 0.0
            return self._learned.is_known
        self._is_measuring = True
        # The limit lies between two pairs of values: the average with and without the pauses,
        # during which the endpoint may have saved up quota, and that average and the rate sent
        # last. The geometric mean is taken of each.
        measured = accepted / math.sqrt(elapsed * (elapsed + self._paused))
        measured = math.sqrt(measured * self._last_sent(measured, now))
        return self._learn(measured, now, is_costly=is_costly)

    def _learn(self, measured: float, now: float, *, is_costly: bool) -> bool:
        """Set the learned rate a little below what was measured."""
        self._counting_since, self._accepted, self._paused = now, 0, 0.0
        base = max(_BELOW_LIMIT * measured, _FLOOR_PER_SECOND)
        if is_costly:
            self._learned.cut(base, now)
        else:
            self._learned.cut(
                base, now, stride=min(max(_STRIDE_REQUESTS / base, _STRIDE_MIN), _STRIDE_MAX)
            )
        return True

    def is_below_found(self, now: float) -> bool:
        """Return whether the current rate is at most the limit learned."""
        return self._learned.is_below_found(now)

    def hold(self, factor: float, now: float) -> None:
        """Multiply the learned rate for a trial; `undo_hold` restores the rate from before."""
        self._before = copy(self._learned)
        self._learned.hold(factor * self._learned.value(now), now)
        self._counting_since, self._accepted, self._paused = now, 0, 0.0

    def grow_quickly(self, now: float) -> None:
        """Raise the learned rate with the steepest growth."""
        self._learned.grow_quickly(now)
        self._counting_since, self._accepted, self._paused = now, 0, 0.0

    def undo_hold(self, now: float) -> None:
        """Restore the rate from before `hold`."""
        self._learned.restore(self._before, now)
        self._counting_since, self._accepted, self._paused = now, 0, 0.0

    def note_pause(self, seconds: float) -> None:
        """Exclude a pause from the measurement of a known rate."""
        if self._learned.is_known:
            self._paused += seconds
            self._learned.skip(seconds)

    def _last_sent(self, accepted: float, now: float) -> float:
        # What was sent at the refusal is the bound then. Below what was accepted, or at twice that
        # and more, requests were not held back by it, and it says nothing.
        sent_rate = self._learned.value(now)
        return sent_rate if accepted < sent_rate < _SENT_MAX * accepted else accepted

    def _rates(self, now: float) -> tuple[float, float]:
        from_headers = (
            self._from_headers if now < self._from_headers_until else (_INFINITE, _INFINITE)
        )
        requests = min(self._configured[0], from_headers[0], self._learned.value(now))
        return requests, min(self._configured[1], from_headers[1])


def _per_second(per_minute: float | None) -> float:
    return _INFINITE if per_minute is None else per_minute / 60


def _rate_of_quota(quota: Quota | None, near: int) -> float:
    """Return a quota's rate; infinite while more than ``near`` and a tenth of it remain."""
    if quota is None or quota.remaining > max(near, _NEAR_SHARE * quota.limit):
        return _INFINITE
    return _BELOW_LIMIT * quota.per_second
