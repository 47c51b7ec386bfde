"""Messages between a run and the limiter: JSON lists led by their kind, several to a frame.

From a run: ``hello``, then ``want``, ``ok``, ``answered``, ``refused``, ``failed``, ``release`` and
``bye``; numbers name requests and are the run's own. From the limiter: ``welcome`` or ``refuse``,
then ``grant``, ``state`` and ``ended``. `Connection` carries them. No I/O.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final, Protocol, TypeAlias

from nel.core.json_values import is_number, is_whole
from nel.core.strict_json import dumps_bytes, loads
from nel.models.pacing import Pace

PROTOCOL: Final = 1
JOIN: Final = "/v1/join"
"""The path of the service's WebSocket."""
Message: TypeAlias = Sequence[object]


class BadMessage(ValueError):
    """What came is not what this version of the protocol says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A request in flight when a run joins."""

    number: int
    request: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """How a run joins."""

    client: str
    """Names the run's process and endpoint; random."""
    endpoint: str
    """The address and the model, without secrets: runs that say the same share the limits."""
    pace: Pace
    """The limits of all runs together."""
    permits: tuple[Held, ...] = ()
    """What it has in flight already, as after a lost connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the limiter reports of the endpoint."""

    clients: int
    """Runs that share it."""
    is_up: bool
    down_seconds: float | None
    limit: int
    """Requests in flight, of all runs together."""
    per_second: float | None
    """Requests a second, of all runs together; None where no rate is known."""
    slowed_by: str | None

    def as_json(self) -> dict[str, object]:
        """Return it as a message has it."""
        return asdict(self)


def encode(messages: Sequence[Message]) -> bytes:
    """Return a frame."""
    return dumps_bytes([list(message) for message in messages])


def decode(frame: str | bytes) -> list[list[object]]:
    """Return the messages of a frame.

    Raises:
        BadMessage: It holds something else.
    """
    try:
        message = loads(frame)
    except ValueError as error:
        raise BadMessage(f"a frame is not JSON: {error}") from error
    if not isinstance(message, list) or not all(
        isinstance(item, list) and item for item in message
    ):
        raise BadMessage("a frame is not a list of messages")
    return message


def hello_json(hello: Hello) -> dict[str, object]:
    """Return how a run joins, as a message has it."""
    return {
        "protocol": PROTOCOL,
        "client": hello.client,
        "endpoint": hello.endpoint,
        "pace": asdict(hello.pace),
        "held": [[permit.number, permit.request, permit.tokens] for permit in hello.permits],
    }


def read_hello(message: Message) -> Hello:
    """Return how a run joins.

    Raises:
        BadMessage: It says something else, or belongs to another version of the protocol.
    """
    body = message[1] if len(message) > 1 else None
    if message[0] != "hello" or not isinstance(body, Mapping):
        raise BadMessage("the first message is not a hello")
    if body.get("protocol") != PROTOCOL:
        raise BadMessage(
            f"protocol {body.get('protocol')!r} is spoken here as {PROTOCOL}; install the same nel"
            " on both sides"
        )
    try:
        permits = tuple(
            Held(number=int(n), request=str(request), tokens=int(t))
            for n, request, t in body["held"]
        )
        # Fields that this version does not know are left out.
        pace = Pace(**{field.name: body["pace"][field.name] for field in fields(Pace)})
        _check_pace(pace)
        return Hello(
            client=str(body["client"]), endpoint=str(body["endpoint"]), pace=pace, permits=permits
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadMessage(f"a hello cannot be read: {error!r}") from error


def read_state(body: object) -> State:
    """Return what the limiter says of the endpoint.

    Raises:
        BadMessage: It is something else.
    """
    if not isinstance(body, dict):
        raise BadMessage("a state is not an object")
    try:
        return State(**body)
    except TypeError as error:
        raise BadMessage(f"a state cannot be read: {error}") from error


def number_at(message: Message, index: int) -> int:
    """Return a whole number of a message; raises BadMessage where there is none."""
    value = message[index] if len(message) > index else None
    if not is_whole(value):
        raise BadMessage(f"{message[0]!r} has no whole number at place {index}")
    return value


def _check_pace(pace: Pace) -> None:
    if not is_whole(pace.concurrency_max) or pace.concurrency_max < 1:
        raise BadMessage(f"concurrency_max is {pace.concurrency_max!r}")
    for rate in (pace.requests_per_minute, pace.tokens_per_minute):
        if rate is not None and not (is_number(rate) and rate > 0):
            raise BadMessage(f"a rate is {rate!r}")


class LimiterUnreachable(Exception):
    """There is no connection; another attempt may succeed."""


class LimiterRefused(Exception):
    """The limiter does not take this run; the message says why."""


class Connection(Protocol):
    """An open connection; `send` never waits."""

    def send(self, message: Message) -> None:
        """Send a message, together with what else is sent in this turn of the event loop."""

    async def receive(self) -> list[list[object]] | None:
        """Return the next messages, None once the connection is lost."""
        ...

    async def close(self) -> None:
        """Send what is left, and close."""


Connect: TypeAlias = Callable[[Hello], Awaitable[Connection]]
"""Joins the limiter; raises LimiterUnreachable or LimiterRefused."""
