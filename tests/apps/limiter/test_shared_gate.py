"""The rule of the limiter on a virtual clock: limits hold for all runs together, whatever dies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from nel.apps.limiter.hub import LEASE_SECONDS, SETTLE_SECONDS
from nel.models.limiter.messages import LimiterRefused
from nel.models.limiter.shared_gate import WAITS_SECONDS, SharedGate
from nel.models.pacing import EndpointDown, Pace
from tests.apps.limiter.world import World, in_world

PACE = Pace(concurrency_max=40, requests_per_minute=3_000, outage_seconds_max=20.0)
PER_SECOND = 50
Now = Callable[[], float]


async def _opened(world: World, n: int, pace: Pace = PACE, parts: int | None = 4) -> list[SharedGate]:
    gates = [world.gate(pace, parts=parts) for _ in range(n)]
    for gate in gates:
        await gate.open()
    return gates


async def _closed(gates: list[SharedGate]) -> None:
    for gate in gates:
        await gate.aclose()


def test_four_runs_hold_one_rate() -> None:
    """Fifty requests a second of four runs: never more than 5 % above in any ten seconds, nor below in all of them."""

    async def scenario(world: World, now: Now) -> None:
        gates = await _opened(world, 4)
        await asyncio.gather(*(world.keep_asking(gate, workers=20, until=34.0) for gate in gates))
        await _closed(gates)

    world = in_world(scenario)
    assert world.sent_between(0, SETTLE_SECONDS) == 0
    assert world.sent_between(SETTLE_SECONDS, 34) == pytest.approx(30 * PER_SECOND, rel=0.05)
    assert world.most_in_any(10) <= 1.05 * 10 * PER_SECOND
    assert world.in_flight_max <= PACE.concurrency_max


def test_concurrency_is_shared_where_no_rate_is_known() -> None:
    """Requests of all runs together in flight are at most the concurrency, and reach it."""
    pace = Pace(concurrency_max=10, adaptive=False)

    async def scenario(world: World, now: Now) -> None:
        gates = await _opened(world, 4, pace)
        await asyncio.gather(*(world.keep_asking(gate, workers=10, until=20.0, seconds=1.0) for gate in gates))
        await _closed(gates)

    assert in_world(scenario).in_flight_max == 10


def test_without_the_limiter_runs_go_on_with_their_part() -> None:
    """While the limiter is dead, and when it comes back, all runs together stay within the rate, and do not stop."""

    async def scenario(world: World, now: Now) -> None:
        gates = await _opened(world, 4)
        asking = [asyncio.create_task(world.keep_asking(gate, workers=20, until=60.0)) for gate in gates]
        await asyncio.sleep(20.0 - now())
        world.kill_limiter()
        await asyncio.sleep(35.0 - now())
        world.start_limiter()
        await asyncio.gather(*asking)
        await _closed(gates)
        for gate in gates:
            assert gate.use.times_lost == 1
            assert gate.use.parts == 4
            assert gate.use.seconds_alone == pytest.approx(15 - WAITS_SECONDS, abs=1.5)

    world = in_world(scenario)
    assert world.most_in_any(10) <= 1.05 * 10 * PER_SECOND
    assert world.sent_between(25, 35) == pytest.approx(10 * PER_SECOND, rel=0.05)
    assert world.sent_between(45, 60) == pytest.approx(15 * PER_SECOND, rel=0.05)


def test_a_dead_run_gives_its_permits_back() -> None:
    """A run that dies with every permit in its hands blocks the others for the time of its lease and no longer."""
    pace = Pace(concurrency_max=8, adaptive=False)

    async def scenario(world: World, now: Now) -> None:
        dying, living = await _opened(world, 2, pace)
        await asyncio.sleep(SETTLE_SECONDS)
        for number in range(8):
            await dying.acquire(f"dying-{number}")
        died_at = now()
        assert dying._following is not None
        dying._following.cancel()
        world.wires[0].cut()
        permit = await living.acquire("living")
        assert now() - died_at == pytest.approx(LEASE_SECONDS, abs=0.1)
        living.release(permit)
        await _closed([living])

    in_world(scenario)


def test_a_run_that_comes_back_keeps_what_it_has_in_flight() -> None:
    """A lost connection is joined again; what was in flight counts still, and what waited gets its permit."""
    pace = Pace(concurrency_max=2, adaptive=False)

    async def scenario(world: World, now: Now) -> None:
        (gate,) = await _opened(world, 1, pace)
        held = [await gate.acquire("one"), await gate.acquire("two")]
        waiting = asyncio.create_task(gate.acquire("three"))
        await asyncio.sleep(0.5)
        world.wires[0].cut()
        await asyncio.sleep(LEASE_SECONDS + 5)
        assert world.hub is not None
        assert world.hub.overview()[0]["in_flight"] == 2
        assert not waiting.done()
        gate.release(held[0])
        third = await waiting
        assert gate.use.seconds_alone == 0.0
        gate.release(held[1])
        gate.release(third)
        await asyncio.sleep(0.1)
        assert world.hub.overview()[0]["in_flight"] == 0
        await _closed([gate])

    in_world(scenario)


def test_an_outage_is_one_for_all() -> None:
    """Failures of one run open the breaker of the other, and an outage that lasts ends both; later runs begin again."""

    async def scenario(world: World, now: Now) -> None:
        failing, other = await _opened(world, 2)
        await asyncio.sleep(SETTLE_SECONDS)

        async def fail(number: int) -> None:
            while True:
                permit = await failing.acquire(f"sample-{number}")
                failing.record_failure(permit, of_connection=True)
                failing.release(permit)
                await asyncio.sleep(0.1)

        fails = [asyncio.create_task(fail(number)) for number in range(6)]
        await asyncio.sleep(3.0)
        assert not other.is_endpoint_up
        assert other.down_seconds is not None
        with pytest.raises(EndpointDown, match="has not answered"):
            await other.acquire("mine")
        await asyncio.gather(*fails, return_exceptions=True)
        await _closed([failing, other])
        (later,) = await _opened(world, 1)
        assert later.is_endpoint_up
        later.release(await later.acquire("again"))
        await _closed([later])

    in_world(scenario)


def test_other_limits_and_too_many_runs_are_refused() -> None:
    """A run whose limits differ learns which; more runs than requests in flight are refused."""

    async def scenario(world: World, now: Now) -> None:
        gates = await _opened(world, 1)
        other = world.gate(replace(PACE, requests_per_minute=600), parts=4)
        with pytest.raises(LimiterRefused, match="requests_per_minute is 3000 there and 600 here"):
            await other.open()
        few = await _opened(world, 0)
        for _ in range(2):
            few.append(world.gate(Pace(concurrency_max=2), endpoint="few"))
            await few[-1].open()
        with pytest.raises(LimiterRefused, match="cannot be shared by 3 runs"):
            await world.gate(Pace(concurrency_max=2), endpoint="few").open()
        await _closed([*gates, *few])

    in_world(scenario)
