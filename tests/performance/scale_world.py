"""A run in shards over many workers and endpoints, paced by nel's own limiter and gates, on a virtual clock.

Every worker is a shard with a `SharedGate`; one `Hub` shares the limits of all endpoints. Latency, stragglers, lost
workers, endpoints that refuse and a limiter that dies are simulated, and nothing of the pacing is. With a grain of k a
simulated request stands for k requests: rates, concurrency and samples are divided by k, which costs a k-th of it.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nel.apps.limiter.hub import Hub
from nel.models.limiter.messages import Connection, Hello, LimiterUnreachable, Message
from nel.models.limiter.shared_gate import SharedGate
from nel.models.pacing import Pace, Permit
from tests.apps.limiter.world import WAY_SECONDS, Wire
from tests.models.gate_worlds import bucket
from tests.simulation.loop import Clock, run_virtually

_WINDOW_SECONDS = 10.0
_BACKOFF_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is simulated."""

    samples: int
    workers: int = 1_000
    endpoints: int = 50
    grain: int = 1
    seed: int = 0
    rate_median: float = 100.0
    """Requests a second that an endpoint takes; they are spread by a factor of two either way."""
    latency_median: float = 2.0
    stragglers: float = 0.005
    """Share of requests that take fifteen times as long, a minute at most."""
    slow_workers: float = 0.02
    """Share of workers whose every request takes three times as long, as on a busy node."""
    lost_workers: float = 0.05
    """Share of workers whose node is lost once; the shard goes on after a minute."""
    unknown_limits: float = 0.2
    """Share of endpoints whose limit is not configured, and learned from refusals."""
    limiter_dead_seconds: float = 60.0
    """For so long the limiter is dead, from a third of the run on; 0 for never."""


@dataclass
class Seen:
    """What came of it; counts are of requests, whatever the grain."""

    samples: int = 0
    seconds: float = 0.0
    answered: int = 0
    sent_twice: int = 0
    """Requests that were in flight on a worker that was lost."""
    refused: int = 0
    capacity: float = 0.0
    """Requests a second that all endpoints take together."""
    worst: float = 0.0
    """The most requests that an endpoint with a configured limit got in any ten seconds, over what it takes."""
    messages: int = 0
    """Between workers and limiter, both ways."""
    nine_tenths: float = 0.0
    """Seconds until nine tenths were answered."""

    @property
    def use(self) -> float:
        """Return the share of the capacity that was used."""
        return self.answered / self.seconds / self.capacity


class _Wire(Wire):
    """A connection that counts its messages and does not write them out, for the sake of speed."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def carried(self, message: Message) -> Message:
        self._world.seen.messages += 1
        return message


@dataclass
class _Endpoint:
    name: str
    pace: Pace
    takes: object
    rate: float
    is_known: bool
    sent: deque[float] = field(default_factory=deque)
    worst: float = 0.0
    in_flight: int = 0

    def note(self, now: float) -> None:
        """Keep the largest count of any ten seconds."""
        self.sent.append(now)
        while self.sent[0] <= now - _WINDOW_SECONDS:
            self.sent.popleft()
        if self.is_known:
            self.worst = max(self.worst, len(self.sent) / (self.rate * _WINDOW_SECONDS))


class World:
    """One simulation."""

    def __init__(self, plan: Plan) -> None:
        # The layout is the same whatever the grain; what happens to single requests has chances of its own.
        self.plan, self.chance, self.luck = plan, random.Random(plan.seed), random.Random(plan.seed + 1_000_003)
        self.seen = Seen(samples=plan.samples)
        self.hub: Hub | None = None
        self.wires: set[_Wire] = set()
        self.endpoints = list(self._made_endpoints())
        self.seen.capacity = sum(one.rate for one in self.endpoints) * plan.grain
        self.n_left = 0
        self.nine_tenths_at = 0.0

    def _made_endpoints(self) -> Iterator[_Endpoint]:
        plan, per_endpoint = self.plan, -(-self.plan.workers // self.plan.endpoints)
        for number in range(plan.endpoints):
            rate = plan.rate_median * 2 ** self.chance.uniform(-1, 1) / plan.grain
            is_known = self.chance.random() >= plan.unknown_limits
            concurrency = max(per_endpoint, math.ceil(3 * rate * plan.latency_median))
            pace = Pace(concurrency_max=concurrency, requests_per_minute=60 * rate if is_known else None)
            takes = bucket(rate, burst=max(5.0 / plan.grain, 1.0) if not is_known else 1e9)
            yield _Endpoint(name=str(number), pace=pace, takes=takes, rate=rate, is_known=is_known)

    async def connect(self, hello: Hello) -> Connection:
        await asyncio.sleep(WAY_SECONDS)
        if self.hub is None:
            raise LimiterUnreachable("nothing listens")
        wire = _Wire(self)
        wire.seat = self.hub.join(hello, wire.told)
        self.wires.add(wire)
        return wire

    async def run(self) -> None:
        plan = self.plan
        self.hub = Hub()
        telling = asyncio.create_task(self.hub.keep_sending())
        shares = self._shares()
        self.n_left = sum(shares)
        expected = self.n_left * plan.grain / self.seen.capacity
        dying = asyncio.create_task(self._kill_limiter(expected / 3)) if plan.limiter_dead_seconds else None
        workers = []
        for number, share in enumerate(shares):
            lost_at = self.chance.uniform(5, expected) if self.chance.random() < plan.lost_workers else None
            slow = 3.0 if self.chance.random() < plan.slow_workers else 1.0
            workers.append(self._worker(self.endpoints[number % plan.endpoints], share, slow, lost_at))
        await asyncio.gather(*workers)
        self._summarise()
        for task in (telling, dying):
            if task is not None:
                task.cancel()

    def _summarise(self) -> None:
        seen = self.seen
        seen.seconds = asyncio.get_running_loop().time()
        seen.worst = max((one.worst for one in self.endpoints), default=0.0)
        seen.nine_tenths = self.nine_tenths_at

    def _shares(self) -> list[int]:
        """Return how many samples each shard has: a hash divides them, and endpoints get what they take."""
        total = sum(one.rate for one in self.endpoints)
        per_worker = self.plan.samples / self.plan.grain / self.plan.workers * self.plan.endpoints
        means = [per_worker * self.endpoints[n % self.plan.endpoints].rate / total for n in range(self.plan.workers)]
        spread = 1 / math.sqrt(self.plan.grain)
        shares = [max(1, round(self.chance.gauss(mean, spread * math.sqrt(mean)))) for mean in means]
        off = round(self.plan.samples / self.plan.grain) - sum(shares)
        for number in range(abs(off)):  # so that the sum is exact
            shares[number % len(shares)] += 1 if off > 0 else -1
        return [max(0, share) for share in shares]

    async def _kill_limiter(self, at: float) -> None:
        await asyncio.sleep(at)
        self.hub = None
        for wire in self.wires:
            wire.seat = None
            wire.cut()
        self.wires.clear()
        await asyncio.sleep(self.plan.limiter_dead_seconds)
        self.hub = Hub()
        await self.hub.keep_sending()

    async def _worker(self, endpoint: _Endpoint, share: int, slow: float, lost_at: float | None) -> None:
        """Ask all samples of a shard; where its node is lost, go on a minute later."""
        left, taken = [share], [0]
        while True:
            # As shards in any number: those that share an endpoint are the parts of its limits.
            gate = SharedGate(
                endpoint.pace,
                endpoint=endpoint.name,
                connect=self.connect,
                parts=-(-self.plan.workers // self.plan.endpoints),
                own_max=endpoint.pace.concurrency_max,
                jitter=self.luck.random,
            )
            await gate.open()
            asking = asyncio.create_task(self._ask_all(gate, endpoint, left, taken, slow))
            wait = None if lost_at is None else max(0.1, lost_at - asyncio.get_running_loop().time())
            await asyncio.wait([asking], timeout=wait)
            if asking.done():
                await gate.aclose()
                return
            lost_at = None
            self.seen.sent_twice += gate.in_flight * self.plan.grain
            endpoint.in_flight -= gate.in_flight
            left[0], taken[0] = left[0] + taken[0], 0
            asking.cancel()
            self._lose(gate)
            await asyncio.gather(asking, return_exceptions=True)
            taken[0] = 0
            await asyncio.sleep(60.0)

    @staticmethod
    def _lose(gate: SharedGate) -> None:
        """End a worker without a word, as a lost node does."""
        if gate._following is not None:
            gate._following.cancel()
        if isinstance(gate._connection, _Wire):
            gate._connection.cut()

    async def _ask_all(
        self, gate: SharedGate, endpoint: _Endpoint, left: list[int], taken: list[int], slow: float
    ) -> None:
        """Ask with as many tasks as may ever be in flight of this shard."""
        mine = max(1, 2 * endpoint.pace.concurrency_max * self.plan.endpoints // self.plan.workers)

        async def ask() -> None:
            while left[0] > 0:
                left[0] -= 1
                taken[0] += 1
                await self._ask(gate, endpoint, slow)
                taken[0] -= 1

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(mine, left[0])):
                tasks.create_task(ask())

    async def _ask(self, gate: SharedGate, endpoint: _Endpoint, slow: float) -> None:
        wait = _BACKOFF_SECONDS
        while True:
            permit = await gate.acquire("r")
            now = asyncio.get_running_loop().time()
            endpoint.in_flight += 1
            if not endpoint.is_known and not endpoint.takes(now, 0):  # type: ignore[operator] # a function
                await self._end(gate, endpoint, permit, 0.002, refused=True)
                await gate.back_off(wait)
                wait = min(60.0, 2 * wait)
                continue
            endpoint.note(now)
            latency = self.plan.latency_median * slow * math.exp(self.luck.gauss(0, 0.4))
            latency = min(60.0, latency * 15) if self.luck.random() < self.plan.stragglers else latency
            await self._end(gate, endpoint, permit, latency, refused=False)
            return

    async def _end(
        self, gate: SharedGate, endpoint: _Endpoint, permit: Permit, seconds: float, *, refused: bool
    ) -> None:
        await asyncio.sleep(seconds)
        endpoint.in_flight -= 1
        if refused:
            self.seen.refused += self.plan.grain
            gate.record_refusal(permit, None)
        else:
            gate.record_success(permit, tokens=None, quotas={})
            self.seen.answered += self.plan.grain
            self.n_left -= 1
            if not self.nine_tenths_at and self.seen.answered >= 0.9 * self.plan.samples:
                self.nine_tenths_at = asyncio.get_running_loop().time()
        gate.release(permit)


def simulate(plan: Plan) -> Seen:
    """Run a simulation to its end."""
    world = World(plan)
    run_virtually(world.run(), Clock(now=0.0), started=lambda _: None, died=lambda: None)
    return replace(world.seen)
