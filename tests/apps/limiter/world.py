"""Runs that share an endpoint through a limiter, all on one virtual clock; the limiter, or a run, may die."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from nel.apps.limiter.hub import Hub, JoinRefused, Seat
from nel.models.limiter.messages import (
    Connection,
    Hello,
    LimiterRefused,
    LimiterUnreachable,
    Message,
    decode,
    encode,
    hello_json,
    read_hello,
)
from nel.models.limiter.shared_gate import SharedGate
from nel.models.pacing import Pace
from tests.simulation.loop import Clock, run_virtually

WAY_SECONDS = 0.001
"""What a message takes to the limiter or back."""


class Wire:
    """A connection of a run to the limiter, on a virtual clock."""

    def __init__(self) -> None:
        self.seat: Seat | None = None
        self._came: asyncio.Queue[list[list[object]] | None] = asyncio.Queue()
        self.is_open = True

    def send(self, message: Message) -> None:
        asyncio.get_running_loop().call_later(WAY_SECONDS, self._arrive, self.carried(message))

    def carried(self, message: Message) -> Message:
        """Return a message as it arrives: here through the form that it has on a real connection."""
        (arrived,) = decode(encode([message]))
        return arrived

    def _arrive(self, message: Message) -> None:
        if self.is_open and self.seat is not None:
            self.seat.take(message)

    def told(self, message: Message) -> None:
        arrived = self.carried(message)
        if self.is_open:
            asyncio.get_running_loop().call_later(WAY_SECONDS, self._came.put_nowait, [list(arrived)])

    async def receive(self) -> list[list[object]] | None:
        return await self._came.get() if self.is_open or not self._came.empty() else None

    async def close(self) -> None:
        self.cut()

    def cut(self) -> None:
        """Lose the connection."""
        if self.is_open:
            self.is_open = False
            self._came.put_nowait(None)
            if self.seat is not None:
                self.seat.lose()


@dataclass
class World:
    """One limiter and its runs."""

    hub: Hub | None = None
    wires: list[Wire] = field(default_factory=list)
    sent_at: list[float] = field(default_factory=list)
    in_flight: int = 0
    in_flight_max: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """The limiter was started or killed."""

    def start_limiter(self) -> None:
        self.hub = Hub()
        self.changed.set()

    def kill_limiter(self) -> None:
        self.hub = None
        self.changed.set()
        for wire in self.wires:
            wire.seat = None
            wire.cut()
        self.wires.clear()

    async def connect(self, hello: Hello) -> Connection:
        await asyncio.sleep(WAY_SECONDS)
        if self.hub is None:
            raise LimiterUnreachable("nothing listens")
        wire = Wire()
        try:
            wire.seat = self.hub.join(read_hello(["hello", hello_json(hello)]), wire.told)
        except JoinRefused as error:
            raise LimiterRefused(str(error)) from error
        self.wires.append(wire)
        return wire

    def gate(self, pace: Pace, *, parts: int | None = None, endpoint: str = "e") -> SharedGate:
        return SharedGate(
            pace,
            endpoint=endpoint,
            connect=self.connect,
            parts=parts,
            own_max=pace.concurrency_max,
            jitter=lambda: 0.5,
        )

    async def ask(self, gate: SharedGate, *, seconds: float, name: str) -> None:
        """Send one request and wait for its answer."""
        permit = await gate.acquire(name, 10)
        self.sent_at.append(asyncio.get_running_loop().time())
        self.in_flight += 1
        self.in_flight_max = max(self.in_flight_max, self.in_flight)
        await asyncio.sleep(seconds)
        self.in_flight -= 1
        gate.record_success(permit, tokens=10, quotas={})
        gate.release(permit)

    async def keep_asking(self, gate: SharedGate, *, workers: int, until: float, seconds: float = 0.2) -> None:
        """Ask with so many workers until a time."""
        now = asyncio.get_running_loop().time

        async def worker(number: int) -> None:
            while now() < until:
                await self.ask(gate, seconds=seconds, name=f"{id(gate)}-{number}")

        await asyncio.gather(*map(worker, range(workers)))

    def sent_between(self, begin: float, end: float) -> int:
        return sum(begin <= one < end for one in self.sent_at)

    def most_in_any(self, seconds: float) -> int:
        """Return the most requests in any window of so many seconds."""
        most, window = 0, deque[float]()
        for one in sorted(self.sent_at):
            window.append(one)
            while window[0] <= one - seconds:
                window.popleft()
            most = max(most, len(window))
        return most


def in_world(scenario: Callable[[World, Callable[[], float]], Coroutine[Any, Any, None]]) -> World:
    """Run a scenario on the virtual clock, which begins at 0 for it, and return its world."""
    world, clock = World(), Clock(now=0.0, deadline=3_600.0)

    async def main() -> None:
        world.start_limiter()
        telling = asyncio.create_task(_tell(world))
        await scenario(world, asyncio.get_running_loop().time)
        telling.cancel()

    run_virtually(main(), clock, started=lambda _: None, died=lambda: None)
    return world


async def _tell(world: World) -> None:
    while True:
        telling = asyncio.create_task(world.hub.keep_sending()) if world.hub is not None else None
        world.changed.clear()
        await world.changed.wait()
        if telling is not None:
            telling.cancel()
