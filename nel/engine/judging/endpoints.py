"""The endpoints of judges and the slots that limit how many samples wait for each.

Sends nothing itself.

A sample that waits for a judge holds one of the slots of all samples that may be scored at once. A
judge that is down releases none, so the slots of all judges together leave some free for samples
that need no judge.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from nel.config.schema import ModelConfig
from nel.engine.scorers.call import SLOTS
from nel.errors import JudgeError
from nel.models.client import Client

PARKED: Final = "parked"
"""Kind of a `JudgeError`: there is no judgement in this attempt, and the sample is not at fault."""
SLOTS_WITHOUT_JUDGE: Final = 512
"""Samples that can be scored at once while every slot of every judge is taken."""
_RETRY_SLOTS: Final = 64
"""Slots of a judge beyond its concurrency, for requests that wait for their retry."""
_SLOTS_MIN: Final = 3
"""Slots of any judge: so many requests must fail before its gate takes it to be down."""
_STALLED_SECONDS: Final = 10.0
"""A judge whose slots are all taken is stalled when no request has ended for this long."""
_REFUSED_MIN: Final = 3
"""Refused questions in a row after which a judge is reported to refuse every question."""


@dataclass(slots=True)
class Slots:
    """A semaphore whose waiters can be rejected."""

    free: int
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    async def acquire(self) -> None:
        """Take a slot, in the order of arrival.

        Raises:
            JudgeError: ``parked``: `reject_waiters` comes first.
        """
        if self.free > 0:
            self.free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            # Cancelled after `release` handed the slot over, but before this task ran: pass it on.
            if mine.done() and not mine.cancelled() and mine.exception() is None:
                self.release()
            raise

    def release(self) -> None:
        """Hand a slot to the first waiter, or make it free."""
        while self.waiting:
            waiter = self.waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self.free += 1

    def reject_waiters(self) -> None:
        """Raise JudgeError, ``parked``, in everything that waits for a slot."""
        while self.waiting:
            waiter = self.waiting.popleft()
            if not waiter.done():
                waiter.set_exception(parked_error())


@dataclass(slots=True)
class JudgeEndpoint:
    """One endpoint of a judge: its client, its slots and what is known of its health."""

    client: Client
    slots: Slots
    in_flight: int = 0
    disabled: str | None = None
    """Why it gets no further request in this session."""
    unreachable: str | None = None
    """What the pre-flight found; None where it could be reached."""
    progressed_at: float = 0.0
    """Event-loop time when a request last ended, or the first of a new group was sent."""
    n_refused: int = 0
    """Questions in a row that were refused for a reason that holds for every further one."""

    @classmethod
    def of(cls, client: Client, concurrency: int) -> JudgeEndpoint:
        """Return an endpoint with slots for its concurrency and for some waiting retries."""
        return cls(client=client, slots=Slots(concurrency + _RETRY_SLOTS))

    @property
    def name(self) -> str:
        """Return the name of the judge; where several share one endpoint, that of the first."""
        endpoint = self.client.endpoint
        return endpoint.label if isinstance(endpoint, ModelConfig) else endpoint.model

    @property
    def problem(self) -> str | None:
        """Return why it judges nothing now, with address and last answer; None while it judges."""
        name = f"judge {self.name}"
        if self.disabled is not None or not self.client.gate.is_endpoint_up:
            return f"{name} is down: {self.client.trouble}"
        if self.n_refused >= _REFUSED_MIN:
            return f"{name} refuses every question: {self.client.trouble}"
        if self.unreachable is not None and not self.client.gate.n_answered:
            return f"{name} cannot be reached: {self.unreachable}"
        return None

    @property
    def is_evaluated(self) -> bool:
        """Return whether it is the evaluated model itself, with one limiter for both."""
        return not isinstance(self.client.endpoint, ModelConfig)

    @property
    def is_down(self) -> bool:
        """Return whether its endpoint is down and a request is already probing it."""
        return self.in_flight > 0 and not self.client.gate.is_endpoint_up

    @property
    def is_stalled(self) -> bool:
        """Return whether all slots are held by requests that do not end."""
        is_full = self.slots.free == 0 and self.in_flight > 0 and not self.is_evaluated
        return is_full and _now() - self.progressed_at > _STALLED_SECONDS

    @contextmanager
    def request_in_flight(self) -> Iterator[None]:
        """Count a request, and release its slot at the end; the slot was acquired before."""
        if not self.in_flight:
            self.progressed_at = _now()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self.progressed_at = _now()
            self.slots.release()


def _now() -> float:
    return asyncio.get_running_loop().time()


def parked_error() -> JudgeError:
    """Return the error of a sample that is to be judged later."""
    return JudgeError(
        "the judge is down or the run is stopping; the answer is kept and judged later", kind=PARKED
    )


def share_slots(judge_endpoints: Iterable[JudgeEndpoint]) -> None:
    """Reduce the slots of judges that together would leave too few for samples that need no judge.

    A judge that is the evaluated model keeps its slots: while it is down, no other sample can be
    asked either.
    """
    others = [endpoint for endpoint in judge_endpoints if not endpoint.is_evaluated]
    demand = sum(endpoint.slots.free for endpoint in others)
    supply = SLOTS - SLOTS_WITHOUT_JUDGE
    if demand <= supply:
        return
    for endpoint in others:
        endpoint.slots.free = max(_SLOTS_MIN, endpoint.slots.free * supply // demand)
