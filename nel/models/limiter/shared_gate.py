"""A gate whose decisions the limiter makes, for all runs that ask the endpoint; alone only while
the limiter is lost.

A run that loses the limiter sends nothing for two seconds, in which it tries to reach it again.
Then it goes on with its part of each limit until it does: the limits are divided by the number of
runs, and never left out.

Three states, told apart by two fields; a request that waits is in one place in each of them:

    state      ``_connection``  ``_alone``   who decides             a waiter is in
    joined     set              None         the limiter             ``_queue``, then ``_asked``
    lost       None             None         none, for two seconds   ``_queue``
    alone      None             set          a gate of this run      ``_queue``, then ``_asked``
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import Final

from nel.models.limiter.messages import (
    BadMessage,
    Connect,
    Connection,
    Held,
    Hello,
    LimiterRefused,
    LimiterUnreachable,
    Message,
    State,
    number_at,
    read_state,
)
from nel.models.pacing import ClosingGate, EndpointDown, Gate, GateClosed, Pace, Permit
from nel.models.pacing.adaptive_limit import AdaptiveLimit
from nel.models.pacing.retries import RetryBudget
from nel.models.rate_limit_headers import Quota

_LOG = logging.getLogger(__name__)
WAITS_SECONDS: Final = 2.0
"""How long a run that lost the limiter sends nothing."""
_RETRY_SECONDS: Final = 1.0


@dataclass(slots=True, eq=False)
class _SharedPermit(Permit):
    number: int = 0
    alone: Permit | None = None
    """Of the gate that decides while the limiter is lost."""


@dataclass(slots=True, eq=False)
class _Waiter:
    number: int
    request: str
    tokens: int
    granted: asyncio.Future[Permit] = field(repr=False)


@dataclass(slots=True)
class LimiterUse:
    """What a session had of the limiter."""

    times_lost: int = 0
    seconds_alone: float = 0.0
    parts: int = 1
    """Each limit was divided by this while the limiter was lost."""


class SharedGate(ClosingGate):
    """Has the members of `Gate`; bound to one event loop."""

    def __init__(
        self,
        pace: Pace,
        *,
        endpoint: str,
        connect: Connect,
        parts: int | None,
        own_max: int,
        jitter: Callable[[], float],
    ) -> None:
        """Prepare a gate; `open` joins the limiter.

        Args:
            pace: The limits of all runs together.
            endpoint: Its address and model, without secrets.
            connect: Joins the limiter.
            parts: Into how many parts the limits are divided while the limiter is lost, at least;
                None where only the limiter knows how many runs there are.
            own_max: Requests that this process may have in flight.
            jitter: Returns numbers in [0, 1).
        """
        super().__init__()
        self._pace, self._endpoint, self._connect, self._jitter = pace, endpoint, connect, jitter
        self._client = secrets.token_hex(8)
        self._has_parts = parts is not None
        self._own_max = own_max
        self._files = AdaptiveLimit()
        self._numbers = count(1)
        self._queue: deque[_Waiter] = deque()
        """Not asked for yet."""
        self._asked: dict[int, _Waiter] = {}
        """Asked for at the limiter, or at the gate of this run alone."""
        self._held: dict[int, _SharedPermit] = {}
        self._connection: Connection | None = None
        self._alone: Gate | None = None
        self._alone_since = 0.0
        self._tasks: dict[int, asyncio.Task[None]] = {}
        """Wait at the gate of this run alone."""
        self._following: asyncio.Task[None] | None = None
        self._state = State(
            clients=1,
            is_up=True,
            down_seconds=None,
            limit=pace.concurrency_max,
            per_second=None,
            slowed_by=None,
        )
        self._down_since: float | None = None
        self.use = LimiterUse(parts=parts or 1)
        self.slowed_by: str | None = None
        self.n_answered = 0
        self.retries = RetryBudget(pace.retry_share, parts=parts or 1)
        self.in_flight = 0

    async def open(self) -> None:
        """Join the limiter.

        Raises:
            LimiterRefused: It does not take this run.
            LimiterUnreachable: It cannot be reached, and nothing says what this run's part of the
                limits is.
        """
        try:
            self._connection = await self._connect(self._hello())
        except LimiterUnreachable as error:
            if not self._has_parts:
                raise
            _LOG.warning("the limiter cannot be reached: %s", error)
        self._following = asyncio.create_task(self._follow())

    async def aclose(self) -> None:
        """Leave the limiter."""
        self.close()
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        self._note_alone()
        if self._connection is not None:
            self._connection.send(["bye"])
            await self._connection.close()

    @property
    def limit(self) -> int:
        """Return the current limit of requests that this process has in flight."""
        own_limit = self._own_limit()
        return min(own_limit, self._state.limit if self._alone is None else self._alone.limit)

    @property
    def down_seconds(self) -> float | None:
        """Return how long the endpoint has been down; None while it is up. Any thread may call."""
        alone, since = self._alone, self._down_since
        if alone is not None:
            return alone.down_seconds
        return None if since is None else time.monotonic() - since

    @property
    def is_endpoint_up(self) -> bool:
        """Return whether requests are admitted normally: the circuit breaker is closed."""
        return self._state.is_up if self._alone is None else self._alone.is_endpoint_up

    async def acquire(self, request: str, tokens: int = 0) -> Permit:
        """Wait until a request may be sent; raises as `Gate.acquire`."""
        if self._ended is not None:
            raise self._ended
        waiter = _Waiter(
            next(self._numbers), request, tokens, asyncio.get_running_loop().create_future()
        )
        self._queue.append(waiter)
        self._ask()
        try:
            return await waiter.granted
        except asyncio.CancelledError:
            self._forget(waiter)
            raise

    def release(self, permit: Permit) -> None:
        """Give a permit back; has no effect on one that was released already."""
        assert isinstance(permit, _SharedPermit)  # noqa: S101 - `acquire` returns no other
        if not permit.is_held:
            return
        permit.is_held = False
        self.in_flight -= 1
        del self._held[permit.number]
        if permit.alone is not None and self._alone is not None:
            self._alone.release(permit.alone)
        self._send(["release", permit.number])
        self._ask()

    def record_success(
        self, permit: Permit, *, tokens: int | None, quotas: Mapping[str, Quota]
    ) -> None:
        """Record a successful response, the tokens used and its rate limit headers."""
        self.n_answered += 1
        alone, number = self._of(permit)
        if self._alone is not None and alone is not None:
            self._alone.record_success(alone, tokens=tokens, quotas=quotas)
        self._send(["ok", number, tokens, {name: asdict(quota) for name, quota in quotas.items()}])

    def record_answer(self) -> None:
        """Record an error response that shows the endpoint to be up, such as a 400."""
        if self._alone is not None:
            self._alone.record_answer()
        self._send(["answered"])

    def record_refusal(self, permit: Permit, wait: float | None) -> None:
        """Record a rate limit response, and the wait in seconds that it names, if any."""
        alone, number = self._of(permit)
        if self._alone is not None and alone is not None:
            self._alone.record_refusal(alone, wait)
        self._send(["refused", number, wait])

    def record_failure(
        self, permit: Permit, *, of_connection: bool, is_suspect: bool = False
    ) -> None:
        """Record a missing response or a server error, as `Gate.record_failure` does."""
        alone, number = self._of(permit)
        if self._alone is not None and alone is not None:
            self._alone.record_failure(alone, of_connection=of_connection, is_suspect=is_suspect)
        self._send(["failed", number, of_connection, is_suspect])

    def connection_not_allowed(self, permit: Permit) -> None:
        """Cut this process's requests in flight, and no other's: it may open no further file."""
        if self.in_flight == 1:
            self.record_failure(permit, of_connection=True)
            return
        self._files.cut(max(1, self.in_flight - 1), self.now())

    def _of(self, permit: Permit) -> tuple[Permit | None, int]:
        assert isinstance(permit, _SharedPermit)  # noqa: S101 - `acquire` returns no other
        return permit.alone, permit.number

    def _own_limit(self) -> int:
        return max(1, int(min(self._own_max, self._files.value(self.now()))))

    def _hello(self) -> Hello:
        permits = tuple(
            Held(number=n, request=permit.request, tokens=permit.tokens)
            for n, permit in self._held.items()
        )
        return Hello(client=self._client, endpoint=self._endpoint, pace=self._pace, permits=permits)

    def _send(self, message: Message) -> None:
        if self._connection is not None:
            self._connection.send(message)

    def _ask(self) -> None:
        """Ask for as many permits as this process has room for."""
        while self._queue and self.in_flight + len(self._asked) < self._own_limit():
            if self._connection is None and self._alone is None:
                return
            waiter = self._queue.popleft()
            if waiter.granted.done():
                continue
            self._asked[waiter.number] = waiter
            if self._alone is not None:
                self._tasks[waiter.number] = asyncio.create_task(
                    self._acquire_alone(self._alone, waiter)
                )
            else:
                self._send(["want", waiter.number, waiter.request, waiter.tokens])

    async def _acquire_alone(self, gate: Gate, waiter: _Waiter) -> None:
        try:
            permit = await gate.acquire(waiter.request, waiter.tokens)
        except EndpointDown as error:
            self._end(error)
            return
        except GateClosed:
            return
        self._tasks.pop(waiter.number, None)
        self._grant(waiter.number, permit)

    def _grant(self, number: int, alone: Permit | None = None, *, is_probe: bool = False) -> None:
        waiter = self._asked.pop(number, None)
        # Cancelled, or queued again when the limiter was lost: the grant is given back unused.
        if waiter is None or waiter.granted.done():
            if alone is not None and self._alone is not None:
                self._alone.release(alone)
            self._send(["release", number])
            return
        permit = _SharedPermit(
            request=waiter.request,
            tokens=waiter.tokens,
            sent_at=self.now(),
            is_probe=is_probe or (alone is not None and alone.is_probe),
            number=number,
            alone=alone,
        )
        self.in_flight += 1
        self._held[number] = permit
        waiter.granted.set_result(permit)

    def _forget(self, waiter: _Waiter) -> None:
        """Take a cancelled waiter out; give back a grant of the same turn of the event loop."""
        if waiter.number in self._held:
            self.release(self._held[waiter.number])
            return
        if self._asked.pop(waiter.number, None) is not None:
            task = self._tasks.pop(waiter.number, None)
            if task is not None:
                task.cancel()
            self._send(["release", waiter.number])
            self._ask()

    async def _follow(self) -> None:
        """Take what the limiter says, and join it again each time that it is lost."""
        while self._ended is None:
            if self._connection is not None:
                while (messages := await self._connection.receive()) is not None:
                    for message in messages:
                        self._take(message)
                lost, self._connection = self._connection, None
                await lost.close()
            if self._ended is None:
                await self._join_again()

    async def _join_again(self) -> None:
        self.use.times_lost += 1
        self._take_back()
        # A timer of its own, since one attempt to connect may take longer than the wait.
        alone_at = asyncio.get_running_loop().call_later(WAITS_SECONDS, self._go_alone)
        try:
            connection = await self._connect_again()
        finally:
            alone_at.cancel()
        self._rejoin(connection)

    async def _connect_again(self) -> Connection:
        """Return a connection, after as many attempts as it takes; warn of each new refusal."""
        logged = ""
        while True:
            with suppress(LimiterUnreachable):  # `_go_alone` logs that it is lost
                try:
                    return await self._connect(self._hello())
                except LimiterRefused as error:
                    if str(error) != logged:
                        logged = str(error)
                        _LOG.warning("the limiter does not take this run any more: %s", logged)
            await asyncio.sleep(_RETRY_SECONDS)

    def _take_back(self) -> None:
        """Queue again what was asked for, in its order."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        # Before what was not asked for yet; `extendleft` turns the order round once more.
        self._queue.extendleft(self._asked[number] for number in sorted(self._asked, reverse=True))
        self._asked.clear()

    def _go_alone(self) -> None:
        """Go on with a part of each limit."""
        if self._ended is not None:
            return
        # By the most runs that were ever told: a part that is too small only slows this run down.
        parts = self.use.parts = max(self.use.parts, self._state.clients)
        pace = replace(
            self._pace,
            concurrency_max=max(1, self._pace.concurrency_max // parts),
            concurrency_min=1,
        )
        rates = [pace.requests_per_minute] if pace.requests_per_minute else []
        if self._state.per_second:
            rates.append(60 * self._state.per_second)
        if rates:
            pace = replace(pace, requests_per_minute=min(rates) / parts)
        if pace.tokens_per_minute:
            pace = replace(pace, tokens_per_minute=pace.tokens_per_minute / parts)
        self._alone, self._alone_since = Gate(pace, jitter=self._jitter), self.now()
        # The burst of this moment may have been sent by way of the limiter already.
        self._alone.begin_empty()
        # What is in flight counts against this run's part as well.
        for permit in self._held.values():
            permit.alone = self._alone.adopt(permit.request, permit.tokens)
        _LOG.warning(
            "the limiter is lost; this run goes on with 1/%d of each limit until it is back", parts
        )
        self._ask()

    def _rejoin(self, connection: Connection) -> None:
        self._note_alone()
        self._take_back()
        self._alone, self._connection = None, connection
        for permit in self._held.values():
            permit.alone = None
        _LOG.warning("the limiter is back")
        self._ask()

    def _note_alone(self) -> None:
        if self._alone is not None:
            self.use.seconds_alone += self.now() - self._alone_since
            self._alone_since = self.now()

    def _take(self, message: list[object]) -> None:
        try:
            if message[0] == "grant":
                self._grant(number_at(message, 1), is_probe=message[-1] is True)
            elif message[0] == "state":
                self._note_state(read_state(message[-1]))
            elif message[0] == "ended":
                self._end(EndpointDown(str(message[-1])))
        except BadMessage as error:
            _LOG.warning("the limiter says what this version does not know: %s", error)

    def _note_state(self, state: State) -> None:
        self._state, self.slowed_by = state, state.slowed_by
        down = state.down_seconds
        self._down_since = None if down is None else time.monotonic() - down

    def _end(self, error: Exception) -> None:
        super()._end(error)
        if self._alone is not None:
            self._alone.close()
        for waiter in (*self._asked.values(), *self._queue):
            if not waiter.granted.done():
                waiter.granted.set_exception(self._ended or error)
        for number in self._asked:
            self._send(["release", number])
        self._asked.clear()
        self._queue.clear()
