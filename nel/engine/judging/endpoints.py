"""The endpoints that judge and who is with each of them. Sends nothing itself.

Trap: whoever is with a judge holds a place among all samples that may be scored at once. A judge that is down gives
none back, so the seats of all judges together leave room for the samples that need none.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from nel.config.schema import ModelConfig
from nel.engine.scorers.worker_process import SLOTS
from nel.errors import JudgeError
from nel.models.client import Client

PARKED: Final = "parked"
"""The kind of a `JudgeError` that says: not now, and nothing is known of the sample."""
ROOM_BESIDE_JUDGES: Final = 512
"""Samples that can be scored at once while every seat of every judge is taken."""
_MORE_SEATS: Final = 64
_SEATS_MIN: Final = 3
"""Of a judge: so many requests must fail before its gate takes it to be down."""
_STALLED_SECONDS: Final = 10.0
"""So long nobody has come back from a judge whose seats are all taken."""
_REFUSED_MIN: Final = 3
"""Questions in a row after which a judge is said to refuse all."""


@dataclass(slots=True)
class Slots:
    """So many may be with a judge; the others wait where they can be turned away."""

    free: int
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    async def take(self) -> None:
        """Take one, in the order of arrival; raises JudgeError, ``parked``, when `turn_away` comes first."""
        if self.free > 0:
            self.free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled() and mine.exception() is None:
                self.give()
            raise

    def give(self) -> None:
        """Give one back."""
        while self.waiting:
            other = self.waiting.popleft()
            if not other.done():
                other.set_result(None)
                return
        self.free += 1

    def turn_away(self) -> None:
        """Let nobody wait any longer."""
        while self.waiting:
            other = self.waiting.popleft()
            if not other.done():
                other.set_exception(parked())


@dataclass(slots=True)
class JudgeEndpoint:
    """One endpoint that judges: its client, and who is with it."""

    client: Client
    slots: Slots
    inside: int = 0
    down: str | None = None
    """Why it is not asked any more in this session."""
    unreachable: str | None = None
    """What was found before anything was asked; nothing when it could be reached."""
    moved_at: float = 0.0
    """When somebody came back from it last, or went to it when nobody was there; on the event loop's clock."""
    n_refused: int = 0
    """Questions in a row that were refused in a way that will meet every further one."""

    @classmethod
    def of(cls, client: Client, concurrency: int) -> JudgeEndpoint:
        """Return a bench with room for everything that may be in flight, and some that wait for another try."""
        return cls(client=client, slots=Slots(concurrency + _MORE_SEATS))

    @property
    def name(self) -> str:
        """Return the name of the judge; of several at one endpoint, that of the first."""
        endpoint = self.client.endpoint
        return endpoint.label if isinstance(endpoint, ModelConfig) else endpoint.model

    @property
    def trouble(self) -> str | None:
        """Return that it judges nobody now, where it is served and what it said last; None while it judges."""
        who = f"judge {self.name}"
        if self.down is not None or not self.client.gate.is_open:
            return f"{who} is down: {self.client.trouble}"
        if self.n_refused >= _REFUSED_MIN:
            return f"{who} refuses every question: {self.client.trouble}"
        if self.unreachable is not None and not self.client.gate.n_answered:
            return f"{who} cannot be reached: {self.unreachable}"
        return None

    @property
    def is_evaluated(self) -> bool:
        """Return whether it is the evaluated model that judges here, with one limiter for both."""
        return not isinstance(self.client.endpoint, ModelConfig)

    @property
    def is_out(self) -> bool:
        """Return whether its endpoint is down and somebody is trying it already."""
        return self.inside > 0 and not self.client.gate.is_open

    @property
    def is_stalled(self) -> bool:
        """Return whether it keeps everybody waiting and is not known to be down: silent, or far too slow."""
        is_full = self.slots.free == 0 and self.inside > 0 and not self.is_evaluated
        return is_full and _now() - self.moved_at > _STALLED_SECONDS

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Be with the judge; the slot was taken before."""
        if not self.inside:
            self.moved_at = _now()
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1
            self.moved_at = _now()
            self.slots.give()


def _now() -> float:
    return asyncio.get_running_loop().time()


def parked() -> JudgeError:
    """Return what turns a sample away that is judged later."""
    return JudgeError("the judge is down or the run is stopping; the answer is kept and judged later", kind=PARKED)


def share_slots(judge_endpoints: Iterable[JudgeEndpoint]) -> None:
    """Take seats away from judges that together would leave too little room for samples that are with none of them.

    A judge that is the evaluated model keeps its seats: while that is down there is nobody to make room for.
    """
    others = [bench for bench in judge_endpoints if not bench.is_evaluated]
    wanted = sum(bench.slots.free for bench in others)
    left = SLOTS - ROOM_BESIDE_JUDGES
    for bench in others if wanted > left else ():
        bench.slots.free = max(_SEATS_MIN, bench.slots.free * left // wanted)
