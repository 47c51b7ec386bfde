"""Who may send to an endpoint now. One gate for each endpoint, shared by everything that asks it.

A permit stands for one request that may be with the endpoint, or answered and not yet on disk. Waiting for a retry
holds none. Trap: all decisions are made on one event loop and read its clock; a gate is not for several threads.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from nel.models.hints import Quota
from nel.models.pacing.breaker import Breaker
from nel.models.pacing.chance import Chance, Refusal
from nel.models.pacing.plateau import Plateau
from nel.models.pacing.rate import Rate
from nel.models.pacing.retry_budget import RetryBudget

_PAUSE_UNKNOWN: Final = 0.5
"""After a refusal that says nothing of a wait and teaches no rate."""
_CUT: Final = 0.9
_CUT_MIN: Final = 0.5
_ROOM_BESIDE_RATE: Final = 2.0
"""Where a rate is known, it does the pacing; concurrency is only kept near what that takes."""
_ROOM_SECONDS: Final = 0.25
"""And never below so many seconds of that rate: an answer's commit may take longer than the answer."""
_TRIAL: Final = 2.0
"""Times of the rate at which it is tried whether refusals come by chance."""
_JITTER: Final = 0.25
_CLOCK_SLACK: Final = 0.001
_OPENING: Final = 8
"""Requests that the first moment may see."""
_OPENING_DOUBLES_SECONDS: Final = 0.05
"""A thousand are out after less than half a second, and a limit is met before all are."""


class GateClosed(Exception):
    """Nothing is sent any more: the run is stopping."""


class EndpointDown(Exception):
    """The endpoint has answered nobody for longer than it is waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The bounds of a gate."""

    concurrency_max: int
    concurrency_min: int = 1
    adaptive: bool = True
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retry_share: float = 0.1
    outage_seconds_max: float = 1800.0
    probe_seconds: float = 5.0
    pause_seconds_max: float = 15.0
    """Longest time that one refusal stops everybody; whoever was refused waits as long as it was told."""


@dataclass(slots=True, eq=False)
class Permit:
    """The right to have one request with the endpoint."""

    request: str
    tokens: int
    sent_at: float
    is_probe: bool = False
    held: bool = True


@dataclass(slots=True)
class _Waiter:
    request: str
    tokens: int
    granted: asyncio.Future[Permit] = field(repr=False)


class Gate:
    """Lets requests through as fast as the endpoint takes them; use it on one event loop."""

    def __init__(self, pace: Pace, *, jitter: Callable[[], float] = random.random) -> None:
        """Start at the highest concurrency."""
        self._pace = pace
        self._jitter = jitter
        self._rate = Rate(
            requests_per_minute=pace.requests_per_minute,
            tokens_per_minute=pace.tokens_per_minute,
        )
        self._chance = Chance()
        self._breaker = Breaker(probe_seconds=pace.probe_seconds)
        self._concurrency = self._before = Plateau()
        self._ramp = float(pace.concurrency_max)
        self._cut_floor = 0.0
        self._cut_at = float("-inf")
        self._not_before = 0.0
        self._pauses_in_a_row = 0
        self._waiting: deque[_Waiter] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._probe_out = False
        self._ended: Exception | None = None
        self._opened_at: float | None = None
        self._is_opening = pace.adaptive and pace.concurrency_max > _OPENING
        self._closing = asyncio.Event()
        self._down_since: float | None = None
        self.n_answered = 0
        """Requests answered so far."""
        self.parked = 0
        """Requests that wait for another try and hold no permit."""
        self.on_parked: Callable[[], None] | None = None
        """Called when one more is parked, so that others may be asked meanwhile."""
        self.retries = RetryBudget(pace.retry_share)
        self.in_flight = 0

    @property
    def limit(self) -> int:
        """Return how many requests may be with the endpoint now."""
        if not self._concurrency.is_known and self._ramp >= self._pace.concurrency_max:
            return self._pace.concurrency_max
        bound = min(float(self._pace.concurrency_max), self._ramp, self._concurrency.value(_now()))
        return max(self._pace.concurrency_min, int(bound))

    @property
    def down_seconds(self) -> float | None:
        """Return for how long the endpoint has answered nobody, None while it answers; from any thread."""
        since = self._down_since
        return None if since is None else time.monotonic() - since

    @property
    def is_open(self) -> bool:
        """Return whether requests pass; not while the endpoint is down."""
        return not self._breaker.is_open

    async def enter(self, request: str, tokens: int = 0) -> Permit:
        """Wait until a request may be sent, in the order of arrival.

        Args:
            request: Tells one request from another.
            tokens: How many it is likely to take.

        Raises:
            GateClosed: The run is stopping.
            EndpointDown: The endpoint was waited for as long as it may be.
        """
        if self._ended is not None:
            raise self._ended
        if not self._waiting and self._wait(_now()) == 0.0:
            return self._grant(request, tokens)
        waiter = _Waiter(request, tokens, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._pump()
        try:
            return await waiter.granted
        except asyncio.CancelledError:
            if waiter.granted.done() and not waiter.granted.cancelled() and waiter.granted.exception() is None:
                self.leave(waiter.granted.result())
            raise

    def leave(self, permit: Permit) -> None:
        """Give a permit back; twice is once."""
        if not permit.held:
            return
        permit.held = False
        self.in_flight -= 1
        if permit.is_probe:
            self._probe_out = False
        if self._waiting:
            self._pump()

    async def rest(self, seconds: float) -> None:
        """Wait for a retry without a permit.

        Raises:
            GateClosed: Nothing is sent any more; so with `EndpointDown`.
        """
        if self._ended is not None:
            raise self._ended
        self.parked += 1
        try:
            if self.on_parked is not None:
                self.on_parked()
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return
        finally:
            self.parked -= 1
        raise self._ended or GateClosed("the run is stopping")

    def close(self) -> None:
        """Let nobody in any more, and turn away whoever waits."""
        self._end(GateClosed("the run is stopping"))

    def succeeded(self, permit: Permit, *, tokens: int | None, quotas: Mapping[str, Quota]) -> None:
        """Note an answer, the tokens it took and what its headers say."""
        self._alive()
        self.n_answered += 1
        if self._ramp < self._pace.concurrency_max:
            self._ramp += 1
        self._pauses_in_a_row = 0
        now = _now()
        if self._chance.accepted(now):
            self._rate.reopen(now)
            self._concurrency.reopen(now)
        self._rate.accepted(0 if tokens is None else permit.tokens - tokens)
        if quotas:
            self._rate.told(quotas, self.in_flight, now)

    def answered(self) -> None:
        """Note an answer that is no success and yet shows that the endpoint works."""
        self._alive()

    def refused(self, permit: Permit, wait: float | None) -> None:
        """Note that the endpoint takes no more for now, and how long it asks to be left alone."""
        now = _now()
        self._note_failure(permit, wait, of_connection=False)
        if not self._pace.adaptive:
            return
        if permit.sent_at < self._cut_at:
            self._cut_floor = max(self._cut_floor, self._pace.concurrency_min)
            known = self._concurrency.value(self._cut_at)
            self._concurrency.lower(min(known, max(self._cut_floor, known - 1)), self._cut_at)
            self._pause(wait, now)
            return
        if self._is_by_chance(wait, now):
            return
        learnt = self._rate.refused(now, is_costly=bool(wait), per_second=self._chance.per_second)
        in_flight = max(1, self.in_flight)
        self._cut_at, self._cut_floor = now, in_flight * _CUT_MIN
        room = in_flight * (_ROOM_BESIDE_RATE if learnt else _CUT)
        if learnt:
            room = max(room, _ROOM_SECONDS * (self._rate.requests_per_second(now) or 0.0))
        self._concurrency.cut(max(self._pace.concurrency_min, room), now)
        if not learnt:
            self._ramp = float(self._pace.concurrency_min)
            if wait is None:
                wait = _PAUSE_UNKNOWN * 2 ** min(self._pauses_in_a_row, 5)
                self._pauses_in_a_row += 1
        self._pause(wait, now)

    def _is_by_chance(self, wait: float | None, now: float) -> bool:
        """Return whether a refusal teaches no limit; where it is time to find that out, begin or end a trial."""
        chance = self._chance
        if wait:  # an endpoint that asks for time means everybody
            chance.told()
            return False
        meaning = chance.refused(now, is_below=self._rate.is_below_found(now))
        if meaning is Refusal.TRIAL_FAILED:
            self._cut_at = now
            self._rate.go_back(now)
            self._concurrency.back_to(self._before, now)
        if meaning is not Refusal.TRIAL_BEGINS:
            return meaning is not Refusal.LIMIT
        self._before = copy(self._concurrency)
        self._rate.hold(_TRIAL, now)
        self._concurrency.hold(_TRIAL * self._concurrency.value(now), now)
        self._ramp = float(self._pace.concurrency_max)
        return True

    def failed(self, permit: Permit, *, of_connection: bool, is_suspect: bool = False) -> None:
        """Note that the endpoint did not answer, or only that it cannot.

        Args:
            permit: Of the request.
            of_connection: No connection was made.
            is_suspect: The request has failed before while others were answered, and alone proves no outage.
        """
        self._note_failure(permit, None, of_connection=of_connection, is_suspect=is_suspect)

    def _note_failure(
        self, permit: Permit, wait: float | None, *, of_connection: bool, is_suspect: bool = False
    ) -> None:
        now = _now()
        breaker = self._breaker
        was_open = breaker.is_open
        breaker.failed(permit.request, now, of_connection=of_connection, is_suspect=is_suspect)
        if not breaker.is_open:
            return
        if not was_open:
            self._down_since = time.monotonic() - (now - (breaker.failing_since or now))
            self._ramp = float(self._pace.concurrency_min)
        if permit.is_probe:
            breaker.probe_failed(now, None if wait is None else min(wait, self._pace.pause_seconds_max))
        since = breaker.failing_since
        if since is not None and now - since >= self._pace.outage_seconds_max:
            self._end(EndpointDown(f"the endpoint has answered nobody for {now - since:.0f} s"))

    def _alive(self) -> None:
        if self._breaker.answered():
            self._down_since = None
            self._not_before = 0.0
            self._pump()

    def _pause(self, wait: float | None, now: float) -> None:
        if wait:
            until = now + min(wait, self._pace.pause_seconds_max) * (1 + _JITTER * self._jitter())
            self._rate.paused(max(0.0, until - max(self._not_before, now)))
            self._not_before = max(self._not_before, until)

    def _end(self, error: Exception) -> None:
        if self._ended is None:
            self._ended = error
            self._closing.set()
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.granted.done():
                waiter.granted.set_exception(self._ended)

    def _wait(self, now: float) -> float:
        """Return the seconds until one more may be let in: 0 for now, infinite until something else happens."""
        if self._breaker.is_open:
            return float("inf") if self._probe_out else max(0.0, self._breaker.next_probe - now)
        if self.in_flight >= self.limit:
            return float("inf")
        opening = self._opens_in(now) if self._is_opening else 0.0
        return max(self._not_before - now, self._rate.wait(now), opening, 0.0)

    def _opens_in(self, now: float) -> float:
        """Return the seconds until one more may be out, while a run begins."""
        if self._opened_at is None:
            self._opened_at = now
        elapsed = now - self._opened_at
        self._is_opening = elapsed < _OPENING_DOUBLES_SECONDS * math.log2(self._pace.concurrency_max / _OPENING)
        wait = _OPENING_DOUBLES_SECONDS * math.log2((self.in_flight + 1) / _OPENING) - elapsed
        return wait if wait > _CLOCK_SLACK else 0.0

    def _grant(self, request: str, tokens: int) -> Permit:
        now = _now()
        self.in_flight += 1
        self._rate.sent(tokens, now)
        permit = Permit(request=request, tokens=tokens, sent_at=now, is_probe=self._breaker.is_open)
        if permit.is_probe:
            self._probe_out = True
        return permit

    def _pump(self) -> None:
        """Let in whoever may enter now, and set the clock for the next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = _now()
        while self._waiting:
            if self._waiting[0].granted.done():
                self._waiting.popleft()
                continue
            wait = self._wait(now)
            if wait > 0:
                if wait != float("inf"):
                    self._timer = asyncio.get_running_loop().call_later(wait, self._pump)
                return
            waiter = self._waiting.popleft()
            waiter.granted.set_result(self._grant(waiter.request, waiter.tokens))


def _now() -> float:
    return asyncio.get_running_loop().time()
