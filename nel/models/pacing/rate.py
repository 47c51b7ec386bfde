"""How many requests and tokens a second an endpoint may be sent: as configured, as its headers say, as refusals teach.

The rate at which it accepted requests between two refusals is the limit that it enforces, whatever window it counts
in. Knows no clock; times are seconds on the event loop's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from typing import Final

from nel.models.hints import Quota
from nel.models.pacing.bucket import Bucket
from nel.models.pacing.plateau import Plateau

_INFINITE: Final = float("inf")
_BELOW_LIMIT: Final = 0.98
"""Where to send below a limit that was met, or that headers name."""
_MEASURED_SECONDS_MIN: Final = 0.4
_MEASURED_REQUESTS_MIN: Final = 3
_SENT_MAX: Final = 2.0
"""The last rate tells nothing where it was so many times what was accepted on average."""
_STRIDE_MIN: Final = 0.5
_STRIDE_MAX: Final = 2.0
_STRIDE_REQUESTS: Final = 8.0
"""A first finding says little, so it is left behind after the time that so many requests take."""
_CUT_BLIND: Final = 0.7
"""For a refusal that comes too soon after the last one to measure anything."""
_FLOOR_PER_SECOND: Final = 0.2
_NEAR_SHARE: Final = 0.1
"""Headers are heeded once less than this share of a limit is left."""


class Rate:
    """The rate limits of one endpoint."""

    def __init__(self, *, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        """Start with the configured bounds, if any."""
        self._configured = (_per_second(requests_per_minute), _per_second(tokens_per_minute))
        self._told: tuple[float, float] = (_INFINITE, _INFINITE)
        self._told_until = 0.0
        self._learnt = self._before = Plateau()
        self._requests, self._tokens = Bucket(burst_seconds=0.1), Bucket(burst_seconds=1.0)
        self._accepted = 0
        self._counting_since: float | None = None
        self._paused = 0.0
        self._is_measuring = False
        self._is_bounded = self._configured != (_INFINITE, _INFINITE)

    @property
    def is_free(self) -> bool:
        """Return whether nothing bounds the rate and nothing did yet."""
        return not (self._is_bounded or self._learnt.is_known)

    def wait(self, now: float) -> float:
        """Return the seconds until the next request may go out; 0 means now."""
        if self.is_free:
            return 0.0
        requests, tokens = self._rates(now)
        return max(self._requests.wait(now, requests), self._tokens.wait(now, tokens))

    def requests_per_second(self, now: float) -> float | None:
        """Return the bound on requests that holds now, None where there is none."""
        rate = self._rates(now)[0]
        return None if rate == _INFINITE else rate

    def sent(self, tokens: int, now: float) -> None:
        """Note a request that goes out, with an estimate of its tokens."""
        self._requests.take(1.0)
        self._tokens.take(tokens)
        if self._counting_since is None:
            self._counting_since = now

    def accepted(self, tokens_off: int) -> None:
        """Note a request that was let in, and by how many tokens the estimate was too high."""
        self._accepted += 1
        self._tokens.give_back(tokens_off)

    def told(self, quotas: Mapping[str, Quota], in_flight: int, now: float) -> None:
        """Note what the headers of an answer say."""
        requests = _told_rate(quotas.get("requests"), 2 * in_flight)
        tokens = _told_rate(quotas.get("tokens"), 0)
        self._told = (requests, tokens)
        self._told_until = now + 60.0
        self._is_bounded = True

    def refused(self, now: float, *, is_costly: bool = False, per_second: float | None = None) -> bool:
        """Learn from a refusal; return whether there was enough to learn a rate from.

        Args:
            is_costly: The endpoint asks to be left alone for a while, so that a limit is not tested lightly.
            per_second: What was accepted a second while others were refused, where that is known.
        """
        self._requests.empty()
        since = now if self._counting_since is None else self._counting_since
        elapsed, accepted = now - since - self._paused, self._accepted
        if per_second is not None:
            return self._found(per_second, now, is_costly=is_costly)
        if elapsed < _MEASURED_SECONDS_MIN or accepted < _MEASURED_REQUESTS_MIN:
            if self._learnt.is_known:
                delivered = accepted / max(elapsed + self._paused, _MEASURED_SECONDS_MIN)
                self._learnt.lower(max(_CUT_BLIND * self._learnt.value(now), delivered, _FLOOR_PER_SECOND), now)
            if self._learnt.is_known or not self._is_measuring:  # what came before the first refusal says nothing
                self._is_measuring = True
                self._counting_since, self._accepted, self._paused = now, 0, 0.0
            return self._learnt.is_known
        self._is_measuring = True
        # The truth lies between two pairs: with and without what the endpoint let pile up during pauses, and between
        # what was accepted on average and what was sent last.
        measured = accepted / math.sqrt(elapsed * (elapsed + self._paused))
        measured = math.sqrt(measured * self._last_sent(measured, now))
        return self._found(measured, now, is_costly=is_costly)

    def _found(self, measured: float, now: float, *, is_costly: bool) -> bool:
        self._counting_since, self._accepted, self._paused = now, 0, 0.0
        base = max(_BELOW_LIMIT * measured, _FLOOR_PER_SECOND)
        if is_costly:
            self._learnt.cut(base, now)
        else:
            self._learnt.cut(base, now, stride=min(max(_STRIDE_REQUESTS / base, _STRIDE_MIN), _STRIDE_MAX))
        return True

    def is_below_found(self, now: float) -> bool:
        """Return whether less is sent than the limit that was learnt."""
        return self._learnt.is_below(now)

    def hold(self, factor: float, now: float) -> None:
        """Stay at so many times the rate that was learnt."""
        self._before = copy(self._learnt)
        self._learnt.hold(factor * self._learnt.value(now), now)
        self._counting_since, self._accepted, self._paused = now, 0, 0.0

    def reopen(self, now: float) -> None:
        """Leave what was learnt behind quickly."""
        self._learnt.reopen(now)
        self._counting_since, self._accepted, self._paused = now, 0, 0.0

    def go_back(self, now: float) -> None:
        """Take back what `hold` did."""
        self._learnt.back_to(self._before, now)
        self._counting_since, self._accepted, self._paused = now, 0, 0.0

    def paused(self, seconds: float) -> None:
        """Note that nothing is sent for a while; a rate that is known is not measured over that."""
        if self._learnt.is_known:
            self._paused += seconds
            self._learnt.delay(seconds)

    def _last_sent(self, accepted: float, now: float) -> float:
        sent = self._learnt.value(now)
        return sent if accepted < sent < _SENT_MAX * accepted else accepted

    def _rates(self, now: float) -> tuple[float, float]:
        told = self._told if now < self._told_until else (_INFINITE, _INFINITE)
        requests = min(self._configured[0], told[0], self._learnt.value(now))
        return requests, min(self._configured[1], told[1])


def _per_second(per_minute: float | None) -> float:
    return _INFINITE if per_minute is None else per_minute / 60


def _told_rate(quota: Quota | None, near: int) -> float:
    if quota is None or quota.remaining > max(near, _NEAR_SHARE * quota.limit):
        return _INFINITE
    return _BELOW_LIMIT * quota.per_second
