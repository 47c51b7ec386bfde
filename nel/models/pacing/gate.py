"""Admission control for one endpoint: a request acquires a permit from its gate to be sent.

A permit is held while the request is in flight and until its response is on disk, and not during a
backoff. All decisions are made on one event loop and read its clock; apart from `down_seconds`, a
gate must not be used from other threads.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from nel.config.schema import EndpointConfig
from nel.models.pacing.adaptive_limit import AdaptiveLimit
from nel.models.pacing.circuit_breaker import CircuitBreaker
from nel.models.pacing.random_refusals import RandomRefusals, RefusalVerdict
from nel.models.pacing.rate_limiter import RateLimiter
from nel.models.pacing.retries import ClosingGate, EndpointDown, RetryBudget
from nel.models.rate_limit_headers import Quota

_LOG = logging.getLogger(__name__)
_SLOW_SECONDS: Final = 1.0
"""A wait that is named in the progress line and in run.log."""
_PAUSE_UNKNOWN: Final = 0.5
"""Seconds of pause, doubled each time, after a refusal without a wait or a rate to learn."""
_PAUSE_DOUBLINGS_MAX: Final = 5
_CUT: Final = 0.9
"""Factor for the concurrency at a refusal."""
_CUT_MIN: Final = 0.5
"""Lowest factor for all refusals of requests that were in flight at the same time."""
_ROOM_BESIDE_RATE: Final = 2.0
"""Factor for concurrency where a rate is known: the rate paces, concurrency stays near it."""
_ROOM_SECONDS: Final = 0.25
"""Least concurrency, in seconds of a known rate: a commit may take longer than the response."""
_TRIAL: Final = 2.0
"""Factor for the rate and the concurrency in a trial for random refusals."""
_PAUSE_MAX: Final = 15.0
"""Longest pause of all requests, in seconds: one request's long hint does not freeze a run."""
_JITTER: Final = 0.25
"""Largest random addition to a pause, as a share of it."""
_CLOCK_SLACK: Final = 0.001
_SLOW_START: Final = 8
"""Requests that are sent at once when a run starts."""
_SLOW_START_DOUBLES_SECONDS: Final = 0.05
"""A thousand requests are in flight within half a second; a limit is found before all are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The configured limits of a gate."""

    concurrency_max: int
    concurrency_min: int = 1
    adaptive: bool = True
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retry_share: float = 0.1
    outage_seconds_max: float = 1800.0
    probe_seconds: float = 5.0
    pause_seconds_max: float = 15.0
    """Longest pause of all requests after one refusal; the refused request itself waits as long as
    it was asked to.
    """


def pace_of(endpoint: EndpointConfig, concurrency: int) -> Pace:
    """Return the bounds that an endpoint's settings give its gate."""
    return Pace(
        concurrency_max=concurrency,
        concurrency_min=min(endpoint.concurrency_min, concurrency),
        adaptive=endpoint.adaptive,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
        retry_share=endpoint.retry_budget,
        outage_seconds_max=endpoint.outage_seconds_max,
        probe_seconds=endpoint.outage_probe_seconds,
        pause_seconds_max=min(_PAUSE_MAX, endpoint.retry_after_seconds_max),
    )


@dataclass(slots=True, eq=False)
class Permit:
    """The right to have one request in flight."""

    request: str
    tokens: int
    sent_at: float
    is_probe: bool = False
    is_held: bool = True


@dataclass(slots=True)
class _Waiter:
    request: str
    tokens: int
    granted: asyncio.Future[Permit] = field(repr=False)


class Gate(ClosingGate):
    """Admits requests as fast as the endpoint accepts them; bound to one event loop."""

    def __init__(self, pace: Pace, *, jitter: Callable[[], float] = random.random) -> None:
        """Start at the highest concurrency."""
        super().__init__()
        self._pace = pace
        self._jitter = jitter
        self._rate = RateLimiter(
            requests_per_minute=pace.requests_per_minute,
            tokens_per_minute=pace.tokens_per_minute,
        )
        self._random_refusals = RandomRefusals()
        self._breaker = CircuitBreaker(probe_seconds=pace.probe_seconds)
        self._concurrency = self._concurrency_before_trial = AdaptiveLimit()
        self._ramp = float(pace.concurrency_max)
        """Concurrency after an outage or an unexplained refusal: each response adds one."""
        self._cut_floor = 0.0
        self._cut_at = float("-inf")
        """When the concurrency was last cut; refusals of earlier requests are the same event."""
        self._paused_until = 0.0
        self._n_pauses_in_a_row = 0
        self._waiting: deque[_Waiter] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._probe_out = False
        self._started_at: float | None = None
        self._is_slow_start = pace.adaptive and pace.concurrency_max > _SLOW_START
        self._down_since: float | None = None
        self.slowed_by: str | None = None
        """What delays requests by more than a second, named for people; None while nothing does."""
        self._logged: set[str] = set()
        self.n_answered = 0
        """Successful responses so far."""
        self.retries = RetryBudget(pace.retry_share)
        self.in_flight = 0
        """Permits held."""

    @property
    def limit(self) -> int:
        """Return the current limit of requests in flight."""
        if not self._concurrency.is_known and self._ramp >= self._pace.concurrency_max:
            return self._pace.concurrency_max
        bound = min(
            float(self._pace.concurrency_max), self._ramp, self._concurrency.value(self.now())
        )
        return max(self._pace.concurrency_min, int(bound))

    @property
    def down_seconds(self) -> float | None:
        """Return how long the endpoint has been down; None while it is up. Any thread may call."""
        since = self._down_since
        return None if since is None else time.monotonic() - since

    @property
    def is_endpoint_up(self) -> bool:
        """Return whether requests are admitted normally: the circuit breaker is closed."""
        return not self._breaker.is_open

    async def acquire(self, request: str, tokens: int = 0) -> Permit:
        """Wait until a request may be sent; requests are admitted first in, first out.

        Args:
            request: Identifies the request.
            tokens: Estimate of the tokens that it uses.

        Raises:
            GateClosed: The run is stopping.
            EndpointDown: The outage has lasted as long as it may.
        """
        if self._ended is not None:
            raise self._ended
        now = self.now()
        # Only where none waits: a newcomer would else overtake those whose timer is about to fire.
        if not self._waiting and self._seconds_to_wait(now) == 0.0:
            return self._grant(request, tokens, now)
        waiter = _Waiter(request, tokens, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._grant_waiting()
        try:
            return await waiter.granted
        except asyncio.CancelledError:
            # The permit may have been granted in the same iteration of the event loop: without this
            # it would be lost.
            if (
                waiter.granted.done()
                and not waiter.granted.cancelled()
                and waiter.granted.exception() is None
            ):
                self.release(waiter.granted.result())
            raise

    def release(self, permit: Permit) -> None:
        """Give a permit back; has no effect on one that was released already."""
        if not permit.is_held:
            return
        permit.is_held = False
        self.in_flight -= 1
        if permit.is_probe:
            self._probe_out = False
        if self._waiting:
            self._grant_waiting()

    def adopt(self, request: str, tokens: int) -> Permit:
        """Return a permit for a request that is in flight already, with another gate's leave."""
        self.in_flight += 1
        return Permit(request=request, tokens=tokens, sent_at=self.now())

    def begin_empty(self) -> None:
        """Discard the rate's burst: another gate may just have used it."""
        self._rate.begin_empty(self.now())

    @property
    def requests_per_second(self) -> float | None:
        """Return the current limit on requests; None where there is none."""
        return self._rate.requests_per_second(self.now())

    def record_success(
        self, permit: Permit, *, tokens: int | None, quotas: Mapping[str, Quota]
    ) -> None:
        """Record a successful response, the tokens used and its rate limit headers."""
        self.record_answer()
        self.n_answered += 1
        if self._ramp < self._pace.concurrency_max:
            self._ramp += 1
        self._n_pauses_in_a_row = 0
        now = self.now()
        # Refusals have turned out to be random, so both bounds were cut for nothing.
        if self._random_refusals.record_acceptance(now):
            self._rate.grow_quickly(now)
            self._concurrency.grow_quickly(now)
        self._rate.record_acceptance(0 if tokens is None else permit.tokens - tokens)
        if quotas:
            believed = self._rate.disbelieved is None
            n_tokens = permit.tokens if tokens is None else tokens
            self._rate.update_from_headers(
                quotas, self.in_flight, now, tokens=n_tokens, sent_at=permit.sent_at
            )
            if believed and self._rate.disbelieved is not None:
                _LOG.warning(
                    "the endpoint's headers are not believed: they name %s", self._rate.disbelieved
                )

    def record_answer(self) -> None:
        """Record a response that shows the endpoint to be up, such as a 400."""
        if self._breaker.record_answer():
            self._down_since = None
            self._paused_until = 0.0
            self._grant_waiting()

    def record_refusal(self, permit: Permit, wait: float | None) -> None:
        """Record a rate limit response, and the wait in seconds that it names, if any."""
        now = self.now()
        self.record_failure(permit, of_connection=False, wait=wait)
        if not self._pace.adaptive:
            return
        if permit.sent_at < self._cut_at:
            # One of a batch that was in flight when the first of it was refused: the limit has been
            # cut for all of them. Each further one lowers the concurrency by one, down to half of
            # what was in flight.
            self._cut_floor = max(self._cut_floor, self._pace.concurrency_min)
            concurrency = self._concurrency.value(self._cut_at)
            self._concurrency.lower(
                min(concurrency, max(self._cut_floor, concurrency - 1)), self._cut_at
            )
            self._pause(wait, now)
            return
        if self._is_random(wait, now):
            return
        learnt = self._rate.record_refusal(
            now, is_costly=bool(wait), per_second=self._random_refusals.per_second
        )
        in_flight = max(1, self.in_flight)
        # From here on, refusals of requests sent before now belong to this one; see above.
        self._cut_at, self._cut_floor = now, in_flight * _CUT_MIN
        room = in_flight * (_ROOM_BESIDE_RATE if learnt else _CUT)
        if learnt:
            room = max(room, _ROOM_SECONDS * (self._rate.requests_per_second(now) or 0.0))
        self._concurrency.cut(max(self._pace.concurrency_min, room), now)
        if not learnt:
            # No rate to go by: begin from the lowest concurrency, and add one for each answer.
            self._ramp = float(self._pace.concurrency_min)
            if wait is None:
                wait = _PAUSE_UNKNOWN * 2 ** min(self._n_pauses_in_a_row, _PAUSE_DOUBLINGS_MAX)
                self._n_pauses_in_a_row += 1
        self._pause(wait, now)

    def _is_random(self, wait: float | None, now: float) -> bool:
        """Return whether a refusal says nothing about a limit; a trial may start or end here."""
        if wait:  # an endpoint that names a wait applies a limit, to all requests
            self._random_refusals.retry_after_given()
            return False
        meaning = self._random_refusals.record_refusal(now, is_below=self._rate.is_below_found(now))
        if meaning is RefusalVerdict.TRIAL_FAILED:
            # The trial's requests in flight will be refused as well: one event with this refusal.
            self._cut_at = now
            self._rate.undo_hold(now)
            self._concurrency.restore(self._concurrency_before_trial, now)
        if meaning is not RefusalVerdict.TRIAL_STARTED:
            return meaning is not RefusalVerdict.RATE_LIMIT
        # A trial starts: twice the rate needs twice the requests in flight, and no ramp.
        self._concurrency_before_trial = copy(self._concurrency)
        self._rate.hold(_TRIAL, now)
        self._concurrency.hold(_TRIAL * self._concurrency.value(now), now)
        self._ramp = float(self._pace.concurrency_max)
        return True

    def record_failure(
        self,
        permit: Permit,
        *,
        of_connection: bool,
        is_suspect: bool = False,
        wait: float | None = None,
    ) -> None:
        """Record that the endpoint did not respond, or responded with a server error or a refusal.

        Args:
            permit: Of the request.
            of_connection: No connection was made.
            is_suspect: The request failed before while others were answered, so it alone is not
                evidence of an outage.
            wait: Seconds until it may be asked again, if it named any.
        """
        now = self.now()
        breaker = self._breaker
        was_open = breaker.is_open
        breaker.record_failure(
            permit.request, now, of_connection=of_connection, is_suspect=is_suspect
        )
        if not breaker.is_open:
            return
        if not was_open:
            # On the monotonic clock, since `down_seconds` is read from threads without this loop.
            self._down_since = time.monotonic() - (now - (breaker.failing_since or now))
            # An endpoint that comes back gets its load step by step.
            self._ramp = float(self._pace.concurrency_min)
        if permit.is_probe:
            breaker.probe_failed(
                now, None if wait is None else min(wait, self._pace.pause_seconds_max)
            )
        since = breaker.failing_since
        if since is not None and now - since >= self._pace.outage_seconds_max:
            self._end(EndpointDown(f"the endpoint has not answered for {now - since:.0f} s"))

    def connection_not_allowed(self, permit: Permit) -> None:
        """Record that this process may open no further file: fewer requests are in flight, until
        that is tried again.

        A request that is alone has nothing to wait for but the files of others, as in an outage.
        """
        if self.in_flight == 1:
            self.record_failure(permit, of_connection=True)
            return
        self._concurrency.cut(max(self._pace.concurrency_min, self.in_flight - 1), self.now())
        self._log_once("no further file can be opened (ulimit -n), so fewer requests are in flight")

    def _pause(self, wait: float | None, now: float) -> None:
        if not wait:
            return
        seconds = min(wait, self._pace.pause_seconds_max) * (1 + _JITTER * self._jitter())
        until = now + seconds
        # Only what it adds to the pause that goes on already: a batch of refusals asks for one.
        self._rate.note_pause(max(0.0, until - max(self._paused_until, now)))
        self._paused_until = max(self._paused_until, until)

    def _end(self, error: Exception) -> None:
        super()._end(error)
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.granted.done():
                waiter.granted.set_exception(self._ended or error)

    def _seconds_to_wait(self, now: float) -> float:
        """Return the seconds to the next admission; infinite where an event must come first."""
        # Open: one probe at a time, whose end (`release`) is the event that lets the next one go.
        if self._breaker.is_open:
            return float("inf") if self._probe_out else max(0.0, self._breaker.next_probe - now)
        if self.in_flight >= self.limit:
            return float("inf")
        slow_start = self._slow_start_wait(now) if self._is_slow_start else 0.0
        return max(self._paused_until - now, self._rate.wait(now), slow_start, 0.0)

    def _slow_start_wait(self, now: float) -> float:
        """Return the seconds until the next request may be admitted while the run starts."""
        if self._started_at is None:
            self._started_at = now
        elapsed = now - self._started_at
        # The limit is _SLOW_START * 2 ** (elapsed / doubling time); solved for the time at which it
        # admits one more.
        doublings = math.log2(self._pace.concurrency_max / _SLOW_START)
        self._is_slow_start = elapsed < _SLOW_START_DOUBLES_SECONDS * doublings
        wait = _SLOW_START_DOUBLES_SECONDS * math.log2((self.in_flight + 1) / _SLOW_START) - elapsed
        return wait if wait > _CLOCK_SLACK else 0.0

    def _grant(self, request: str, tokens: int, now: float) -> Permit:
        self.in_flight += 1
        self._rate.record_request(tokens, now)
        permit = Permit(request=request, tokens=tokens, sent_at=now, is_probe=self._breaker.is_open)
        if permit.is_probe:
            self._probe_out = True
        return permit

    def _grant_waiting(self) -> None:
        """Grant permits to the waiters that may go now, and set a timer for the next one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self.now()
        while self._waiting:
            if self._waiting[0].granted.done():  # cancelled while it waited
                self._waiting.popleft()
                continue
            wait = self._seconds_to_wait(now)
            if wait > 0:
                self._note_slow(wait, now)
                if wait != float("inf"):
                    self._timer = asyncio.get_running_loop().call_later(wait, self._grant_waiting)
                return
            waiter = self._waiting.popleft()
            waiter.granted.set_result(self._grant(waiter.request, waiter.tokens, now))
        self.slowed_by = None

    def _note_slow(self, wait: float, now: float) -> None:
        """Keep and log what makes requests wait for long; an outage is reported by itself."""
        if self._breaker.is_open or not _SLOW_SECONDS <= wait < float("inf"):
            return
        is_pause = self._paused_until - now >= wait
        self.slowed_by = "a pause after a refusal" if is_pause else self._rate.source(now)
        self._log_once(f"requests wait for {self.slowed_by}")

    def _log_once(self, message: str) -> None:
        if message not in self._logged:
            self._logged.add(message)
            _LOG.warning("%s", message)
