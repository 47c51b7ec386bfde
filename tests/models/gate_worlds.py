"""Endpoints of several kinds, and a gate that paces requests to them under a virtual clock. Nothing here waits.

An endpoint is a function of the time and of the requests that it has: it says whether it takes one more.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from nel.models.pacing import Gate, Pace
from tests.simulation.loop import Clock, run_virtually

Takes = Callable[[float, int], bool]
"""Whether an endpoint takes a request at a time, beside so many that it has."""

_BACKOFF_SECONDS = 1.0
_BACKOFF_SECONDS_MAX = 60.0
_REFUSAL_SECONDS = 0.002


def bucket(rate: Callable[[float], float] | float, burst: float = 5.0) -> Takes:
    """Return an endpoint with a token bucket; its rate may depend on the time."""
    level, filled = burst, 0.0

    def takes(now: float, _: int) -> bool:
        nonlocal level, filled
        level = min(burst, level + (now - filled) * (rate(now) if callable(rate) else rate))
        filled = now
        is_taken = level >= 1
        level -= is_taken
        return is_taken

    return takes


def window(requests: int, seconds: float) -> Takes:
    """Return an endpoint that takes so many requests in each window of time."""
    current, count = -1, 0

    def takes(now: float, _: int) -> bool:
        nonlocal current, count
        if int(now // seconds) != current:
            current, count = int(now // seconds), 0
        count += 1
        return count <= requests

    return takes


def places(number: int) -> Takes:
    """Return an endpoint that has so many places."""
    return lambda _, beside: beside < number


def by_chance(share: float, seed: int = 0) -> Takes:
    """Return an endpoint that refuses a share of all requests, whatever the rate."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    return lambda _, __: chance.random() >= share


def both(*all_of: Takes) -> Takes:
    """Return an endpoint that takes what all of these take."""
    return lambda now, beside: all(takes(now, beside) for takes in all_of)


@dataclass
class Seen:
    """What an endpoint saw."""

    answered: int = 0
    refused: int = 0
    seconds: float = 0.0
    log: list[tuple[float, bool]] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.answered / self.seconds

    @property
    def share(self) -> float:
        return self.refused / max(1, self.answered + self.refused)


class World:
    """Requests that go through a gate to an endpoint until each is answered."""

    def __init__(
        self, takes: Takes, n: int, *, pace: Pace, latency: float, seed: int, hint: float | None, tokens: int
    ) -> None:
        """Nothing is asked yet."""
        self.seen = Seen()
        self._takes = takes
        self._pace = pace
        self._tokens = tokens
        self._latency = latency
        self._hint = hint
        self._chance = random.Random(seed)  # noqa: S311 - nothing secret
        self._names = iter(map(str, range(n)))
        self._workers: set[asyncio.Task[None]] = set()
        self._there = 0

    async def run(self) -> None:
        """Ask all of them."""
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._gate = Gate(self._pace, jitter=self._chance.random)
        self._gate.on_back_off = self._more
        for _ in range(self._pace.concurrency_max):
            self._more()
        while self._workers:
            await asyncio.wait(list(self._workers))
        self.seen.seconds = self._loop.time() - self._start

    def _more(self) -> None:
        task = self._loop.create_task(self._work())
        self._workers.add(task)
        task.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        for name in self._names:
            self._gate.retries.deposit()
            tries = 0
            while not await self._is_answered(name):
                tries = min(tries + 1, 7)
                wait = self._chance.random() * min(_BACKOFF_SECONDS_MAX, _BACKOFF_SECONDS * 2 ** (tries - 1))
                wait = max(wait, self._hint or 0.0)
                await self._gate.back_off(max(wait, self._gate.retries.take(self._loop.time())))

    async def _is_answered(self, name: str) -> bool:
        permit = await self._gate.acquire(name, tokens=self._tokens)
        try:
            now = self._loop.time() - self._start
            is_taken = self._takes(now, self._there)
            self.seen.log.append((now, is_taken))
            if not is_taken:
                await asyncio.sleep(_REFUSAL_SECONDS)
                self.seen.refused += 1
                self._gate.record_refusal(permit, self._hint)
                return False
            self._there += 1
            await asyncio.sleep(self._latency * (0.5 + self._chance.random()))
            self._there -= 1
            self.seen.answered += 1
            self._gate.record_success(permit, tokens=None, quotas={})
            return True
        finally:
            self._gate.release(permit)


def paced(
    takes: Takes,
    n: int,
    *,
    concurrency: int = 64,
    latency: float = 0.1,
    seed: int = 1,
    hint: float | None = None,
    tokens: int = 0,
    **limits: float,
) -> Seen:
    """Return what an endpoint saw of n requests, each asked again until it was answered.

    Args:
        takes: The endpoint.
        n: How many.
        concurrency: How many the gate lets be out at once.
        latency: Mean seconds of an answer, from half to one and a half; refusals come at once.
        seed: Of latencies and waits.
        hint: Seconds that a refusal asks to be left alone.
        tokens: That each request may take.
        limits: That the gate is given, by their names in `Pace`.
    """
    pace = Pace(concurrency_max=concurrency, **limits)  # type: ignore[arg-type]
    world = World(takes, n, pace=pace, latency=latency, seed=seed, hint=hint, tokens=tokens)
    run_virtually(world.run(), Clock(), started=lambda _: None, died=lambda: None)
    return world.seen
