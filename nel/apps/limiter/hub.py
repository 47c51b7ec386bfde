"""The gates of endpoints that several runs share, and their permits: messages in, messages out.

A run that leaves gives its permits back; one that is lost keeps them for a few seconds, in which it
may come back and after which the endpoint has surely seen them. A limiter that has just started
grants nothing for some seconds, since runs that lost one before it may go on alone until they have
found it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Final

from nel.core.json_values import finite, is_whole
from nel.models.limiter.messages import BadMessage, Hello, Message, State, number_at
from nel.models.limiter.shared_gate import WAITS_SECONDS
from nel.models.pacing import EndpointDown, Gate, GateClosed, Pace, Permit
from nel.models.rate_limit_headers import Quota

_LOG = logging.getLogger(__name__)
LEASE_SECONDS: Final = 10.0
"""For which the permits of a lost run are kept."""
SETTLE_SECONDS: Final = 2 * WAITS_SECONDS
"""In which a limiter that has just started grants nothing."""
_STATE_SECONDS: Final = 0.25
Send = Callable[[Message], None]


class JoinRefused(Exception):
    """A run is not taken; the message says why."""


class _SharedEndpoint:
    def __init__(self, name: str, pace: Pace) -> None:
        self.name = name
        self.pace = pace
        self.gate = Gate(pace)
        self.seats: dict[str, Seat] = {}
        self.sent_state: State | None = None
        self.is_over = False
        """The endpoint was given up, and every run has the message."""

    def state(self) -> State:
        gate = self.gate
        return State(
            clients=len(self.seats),
            is_up=gate.is_endpoint_up,
            down_seconds=gate.down_seconds,
            limit=gate.limit,
            per_second=gate.requests_per_second,
            slowed_by=gate.slowed_by,
        )

    def send_state(self) -> None:
        """Send all runs the state where it has changed."""
        state = self.state()
        if state != self.sent_state:
            self.sent_state = state
            for seat in self.seats.values():
                seat.send(["state", state.as_json()])


class Hub:
    """All endpoints of the service; bound to one event loop."""

    def __init__(
        self, *, lease_seconds: float = LEASE_SECONDS, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        """Grant the first permits once the service has settled; see `SETTLE_SECONDS`."""
        self._lease_seconds = lease_seconds
        self._open_at = asyncio.get_running_loop().time() + settle_seconds
        self._endpoints: dict[str, _SharedEndpoint] = {}

    def join(self, hello: Hello, send: Send) -> Seat:
        """Return the seat of a run at its endpoint; ``send`` delivers messages to it.

        Raises:
            JoinRefused: The run's limits are not those of the others, or there are too many runs.
        """
        shared = self._endpoints.get(hello.endpoint)
        # The first run's limits hold until the last one has left; a gate that has ended is not
        # opened again, so the endpoint gets a new one.
        if shared is None or shared.is_over or (not shared.seats and shared.pace != hello.pace):
            shared = self._endpoints[hello.endpoint] = _SharedEndpoint(hello.endpoint, hello.pace)
        elif shared.pace != hello.pace:
            raise JoinRefused(_difference(shared.pace, hello.pace))
        before = shared.seats.get(hello.client)
        if before is None and len(shared.seats) >= shared.pace.concurrency_max:
            raise JoinRefused(
                f"{shared.pace.concurrency_max:,} requests in flight cannot be shared by"
                f" {len(shared.seats) + 1:,} runs; raise the concurrency of all of them"
            )
        seat = Seat(shared, hello, send, wait=self._wait_open, lease_seconds=self._lease_seconds)
        seat.adopt(hello, before)
        shared.seats[hello.client] = seat
        send(["welcome"])
        shared.sent_state = None  # so that the newcomer is told, and the others of its number
        shared.send_state()
        _LOG.info("%s: a run has joined, there are %d", shared.name, len(shared.seats))
        return seat

    async def keep_sending(self) -> None:
        """Send runs the states of their endpoints as they change, until cancelled."""
        while True:
            await asyncio.sleep(_STATE_SECONDS)
            for shared in list(self._endpoints.values()):
                shared.send_state()

    def overview(self) -> list[dict[str, object]]:
        """Return what is known of each endpoint, for people."""
        return [
            {"endpoint": name, "in_flight": shared.gate.in_flight, **shared.state().as_json()}
            for name, shared in self._endpoints.items()
        ]

    async def _wait_open(self) -> None:
        wait = self._open_at - asyncio.get_running_loop().time()
        if wait > 0:
            await asyncio.sleep(wait)


class Seat:
    """One run at one endpoint."""

    def __init__(
        self,
        shared: _SharedEndpoint,
        hello: Hello,
        send: Send,
        *,
        wait: Callable[[], Awaitable[None]],
        lease_seconds: float,
    ) -> None:
        self._shared, self._client, self.send = shared, hello.client, send
        self._wait_open = wait
        self._lease_seconds = lease_seconds
        self._held: dict[int, Permit] = {}
        self._waiting: dict[int, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def adopt(self, hello: Hello, before: Seat | None) -> None:
        """Hold what the run has in flight, which the seat that it lost may hold already."""
        permits = {} if before is None else before.hand_over()
        for request in hello.permits:
            permit = permits.pop(request.number, None)
            if permit is None:  # granted by a limiter before this one
                permit = self._shared.gate.adopt(request.request, request.tokens)
            self._held[request.number] = permit
        # What the run no longer has in flight: its answer came while the connection was lost.
        for permit in permits.values():
            self._shared.gate.release(permit)

    def hand_over(self) -> dict[int, Permit]:
        """Give up the seat and return its permits, which are held still."""
        self._stop_waiting()
        permits, self._held = self._held, {}
        return permits

    def take(self, message: Message) -> None:
        """Do what a run asks for.

        Raises:
            BadMessage: The message is none of this version.
        """
        kind = message[0]
        if kind == "want" and len(message) == 4:  # noqa: PLR2004 - with number, request and tokens
            number, tokens = number_at(message, 1), number_at(message, 3)
            if number in self._held or number in self._waiting:
                raise BadMessage(f"request {number} is asked for twice")
            task = asyncio.get_running_loop().create_task(
                self._acquire(number, str(message[2]), tokens)
            )
            self._waiting[number] = task
        elif kind == "release":
            self._release(number_at(message, 1))
        elif kind == "answered":
            self._shared.gate.record_answer()
        elif kind == "bye":
            self.leave()
        else:
            self._note(message)
        # An outage and its end are said at once; other changes wait for `Hub.keep_sending`.
        sent_state = self._shared.sent_state
        if sent_state is not None and sent_state.is_up != self._shared.gate.is_endpoint_up:
            self._shared.send_state()

    def lose(self) -> None:
        """Keep the permits for a while, since the run may come back; then give them back."""
        if self._shared.seats.get(self._client) is not self:
            return  # the run is back already, on a connection that has a seat of its own
        self._stop_waiting()
        self._timer = asyncio.get_running_loop().call_later(self._lease_seconds, self.leave)

    def leave(self) -> None:
        """Give everything back."""
        self._stop_waiting()
        for number in list(self._held):
            self._release(number)
        if self._shared.seats.get(self._client) is self:
            del self._shared.seats[self._client]
            _LOG.info(
                "%s: a run has left, there are %d", self._shared.name, len(self._shared.seats)
            )

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in self._waiting.values():
            task.cancel()
        self._waiting.clear()

    def _release(self, number: int) -> None:
        permit = self._held.pop(number, None)
        if permit is not None:
            self._shared.gate.release(permit)
        elif (task := self._waiting.pop(number, None)) is not None:
            task.cancel()

    async def _acquire(self, number: int, request: str, tokens: int) -> None:
        await self._wait_open()
        try:
            permit = await self._shared.gate.acquire(request, tokens)
        except EndpointDown as error:
            self._end(str(error))
            return
        except GateClosed:
            return
        # The run took its request back, or was lost, at the moment when the permit came.
        if self._waiting.pop(number, None) is None:
            self._shared.gate.release(permit)
            return
        self._held[number] = permit
        self.send(["grant", number, permit.is_probe])

    def _end(self, reason: str) -> None:
        """Send every run that the endpoint is given up; later runs begin with a new gate."""
        shared = self._shared
        seats, shared.seats, shared.is_over = shared.seats, {}, True
        for seat in seats.values():
            seat.send(["ended", reason])

    def _note(self, message: Message) -> None:
        number = number_at(message, 1)
        permit = self._held.get(number)
        if permit is None:
            return  # its lease was over before the run came back
        gate, (kind, _, *values) = self._shared.gate, message
        if kind == "ok" and len(values) == 2:  # noqa: PLR2004 - tokens and quotas
            tokens = values[0] if is_whole(values[0]) else None
            gate.record_success(permit, tokens=tokens, quotas=_quotas(values[1]))
        elif kind == "refused" and len(values) == 1:
            gate.record_refusal(permit, finite(values[0]))
        elif kind == "failed" and len(values) == 2:  # noqa: PLR2004 - of_connection and is_suspect
            gate.record_failure(
                permit, of_connection=values[0] is True, is_suspect=values[1] is True
            )
        else:
            raise BadMessage(f"{kind!r} is not a message of this version")


def _quotas(value: object) -> dict[str, Quota]:
    if not isinstance(value, dict):
        raise BadMessage("quotas are not an object")
    try:
        return {str(name): Quota(**quota) for name, quota in value.items()}
    except TypeError as error:
        raise BadMessage(f"a quota cannot be read: {error}") from error


def _difference(ours: Pace, theirs: Pace) -> str:
    pairs = zip(asdict(ours).items(), asdict(theirs).values(), strict=True)
    differences = ", ".join(
        f"{name} is {here} there and {there} here" for (name, here), there in pairs if here != there
    )
    return (
        f"other runs share this endpoint with other limits: {differences}; give all runs the same"
    )
