"""The parts of the gate, each alone, on a clock of the test's own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.config.schema import BudgetConfig, Price
from nel.models.budget import BudgetSpent, Ledger, Spend, cost_of, exact_cost
from nel.models.faults import Fault
from nel.models.pacing import Gate, Pace
from nel.models.pacing.adaptive_limit import AdaptiveLimit
from nel.models.pacing.circuit_breaker import CircuitBreaker
from nel.models.pacing.rate_limiter import RateLimiter, TokenBucket
from nel.models.pacing.retries import RetryBudget
from nel.models.rate_limit_headers import Quota, duration_seconds
from nel.models.wire.registry import wire_of
from nel.types import Response, Usage
from tests.simulation.loop import Clock, run_virtually


@given(base=st.floats(0.1, 1e4), pause=st.floats(0, 100), later=st.floats(0, 1000))
def test_a_limit_only_rises(base: float, pause: float, later: float) -> None:
    """After a cut the bound stands still for a pause and never falls until the next cut."""
    limit = AdaptiveLimit()
    assert limit.value(0) == float("inf")
    limit.cut(base, 10)
    limit.skip(pause)
    assert limit.value(10) == limit.value(10 + pause) == base
    assert limit.value(10 + pause + later) >= base


def test_a_rate_is_learnt_from_what_was_accepted() -> None:
    """Fifty a second were let in between two refusals: the limit is near that."""
    rate = RateLimiter(requests_per_minute=None, tokens_per_minute=None)
    rate.record_request(0, 0.0)
    assert not rate.record_refusal(0.001)
    for number in range(100):
        rate.record_request(0, 0.001 + number / 50)
        rate.record_acceptance(0)
    assert rate.record_refusal(2.001)
    assert 45 <= (rate.requests_per_second(2.001) or 0) <= 50


def test_headers_are_heeded_only_near_the_limit() -> None:
    """With plenty left nothing is slowed down; near the end the rate is what refills."""
    rate = RateLimiter(requests_per_minute=None, tokens_per_minute=None)
    rate.update_from_headers({"requests": Quota(limit=600, remaining=500, reset_seconds=10)}, 4, 0.0)
    assert rate.requests_per_second(0.0) is None
    rate.update_from_headers({"requests": Quota(limit=600, remaining=8, reset_seconds=59.2)}, 4, 0.0)
    assert rate.requests_per_second(0.0) == pytest.approx(9.8)


async def test_a_request_cancelled_as_it_is_let_in_gives_its_permit_back() -> None:
    """A permit that was granted and not taken goes to the next request."""
    gate = Gate(Pace(concurrency_max=1))
    first = await gate.acquire("first")
    waiting = asyncio.create_task(gate.acquire("cancelled"))
    await asyncio.sleep(0)
    gate.release(first)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert gate.in_flight == 0
    assert (await asyncio.wait_for(gate.acquire("next"), 60)).is_held


def test_a_bucket_keeps_to_its_rate() -> None:
    """Ten a second: never more than the burst and what flowed in."""
    bucket, now, taken = TokenBucket(burst_seconds=0.1), 0.0, 0
    while now < 10:
        wait = bucket.wait(now, 10.0)
        if wait == 0.0:
            bucket.take(1)
            taken += 1
        else:
            now += wait
    assert 99 <= taken <= 102


def test_the_breaker_tells_an_outage_from_a_poisonous_sample() -> None:
    """One request that fails for ever never opens it; five failures of three do; so do refused connections of one."""
    breaker = CircuitBreaker(probe_seconds=5)
    for now in range(50):
        breaker.record_failure("poison", now, of_connection=False, is_suspect=False)
    assert not breaker.is_open
    for name in "abcde":
        breaker.record_failure(name, 60, of_connection=False, is_suspect=False)
    assert breaker.is_open
    assert breaker.record_answer()
    for now in range(5):
        breaker.record_failure("one", now, of_connection=True, is_suspect=False)
    assert breaker.is_open


def test_retries_are_a_share_of_the_traffic() -> None:
    """Beyond a tenth of the requests and the floor of five a second, retries wait."""
    budget = RetryBudget(0.1)
    for _ in range(100):
        budget.deposit()
    waits = [budget.take(0.0) for _ in range(40)]
    assert waits[:20] == [0.0] * 20
    assert waits[-1] == pytest.approx(20 / 5)


PRICE = Price(input=2.0, output=10.0, cached_input=0.5)


def test_cached_tokens_have_their_own_price() -> None:
    """They are some of the prompt's, also where a vendor counts them beside it; unknown usage has no cost."""
    usage = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
    assert cost_of(usage, PRICE) == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
    counts = {"input_tokens": 600, "cache_read_input_tokens": 400, "output_tokens": 100}
    message = {"content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn", "usage": counts}
    answer = wire_of("anthropic").answer(message)
    assert isinstance(answer, Response)
    assert cost_of(answer.usage, PRICE) == cost_of(usage, PRICE)
    assert cost_of(Usage(prompt_tokens=5), PRICE) is None
    assert cost_of(usage, None) is None


async def test_a_cap_is_kept_by_what_is_reserved() -> None:
    """What is set aside counts until it is settled; a lost answer counts at its worst, a refused one not at all."""
    ledger = Ledger(BudgetConfig(max_tokens_total=1000))
    reserved = await ledger.reserve(300, 300, None)
    ledger.settle(reserved, Fault(kind="connection", message="reset", retryable=True), None)
    assert ledger.spent.tokens == 600
    with pytest.raises(BudgetSpent, match="max-tokens-total"):
        await ledger.reserve(300, 300, None)
    reserved = await ledger.reserve(200, 200, None)
    ledger.settle(reserved, Fault(kind="rate_limit", message="slow down", retryable=True, status=429), None)
    assert ledger.spent.tokens == 600
    reserved = await ledger.reserve(200, 200, None)
    ledger.settle(reserved, Response(text="x", usage=Usage(prompt_tokens=20, completion_tokens=5)), None)
    assert (ledger.spent.tokens, ledger.spent.requests) == (625, 3)


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        ({"max_tokens_total": 1_500_000}, "max_tokens_total=1,500,000, and the next request may take 2,000,001;"),
        ({"max_cost": 1.5, "prices": {"m": PRICE}}, "0 of budget.max_cost=1.50, and the next request may take 2.00;"),
    ],
)
async def test_what_a_cap_refuses_is_said_in_numbers_as_they_are_set(caps: Any, said: str) -> None:
    """Not 1.5e+06."""
    with pytest.raises(BudgetSpent, match=re.escape(said)):
        await Ledger(BudgetConfig(**caps)).reserve(1, 2_000_000, Price(input=0.0, output=1.0))


async def test_the_reason_counts_what_was_spent_after_the_first_refusal() -> None:
    """A smaller request still fits after one that does not; the last word is what was spent in the end."""
    ledger = Ledger(BudgetConfig(max_tokens_total=1000))
    with pytest.raises(BudgetSpent, match="the budget is spent: 0 of"):
        await ledger.reserve(1000, 1000, None)
    reserved = await ledger.reserve(100, 100, None)
    ledger.settle(reserved, Response(text="x", usage=Usage(prompt_tokens=20, completion_tokens=5)), None)
    expected = "the budget is spent: 25 of budget.max_tokens_total=1,000, and the next request may take 2,000;"
    assert ledger.reason().startswith(expected)


def test_costs_add_up_to_the_same_in_any_order() -> None:
    """As binary fractions a tenth and two tenths are not three tenths, and another order gives another last digit."""
    price = Price(input=0.1, output=0.2)
    usages = [Usage(prompt_tokens=1_000_000 * n, completion_tokens=1_000_000) for n in range(1, 40)]
    sums = []
    for order in (usages, usages[::-1]):
        total = Spend()
        for usage in order:
            total.add(Spend(cost=exact_cost(usage, price) or Decimal(0)))
        sums.append(Spend.of_json(total.as_json()).cost)
    assert sums == [Decimal("85.8")] * 2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1.5", 1.5), ("1m30s", 90.0), ("250ms", 0.25), ("6m0s", 360.0), ("1h", 3600.0), ("x", None), ("-1", None)],
)
def test_durations_are_read(text: str, seconds: float | None) -> None:
    """Seconds and the vendors' own forms; anything else is none."""
    assert duration_seconds(text) == seconds


@pytest.mark.parametrize("seconds", [0.02, 1.0, 50.0, 60.0, 86_400.0])
def test_a_gate_lets_others_in_however_long_the_first_answer_takes(seconds: float) -> None:
    """The opening is over after a moment; a first request that took a minute, or a day, changes nothing."""

    async def ask() -> int:
        gate = Gate(Pace(concurrency_max=16))
        permit = await gate.acquire("first")
        await asyncio.sleep(seconds)
        gate.release(permit)
        for number in range(16):
            await gate.acquire(str(number))
        return gate.in_flight

    assert run_virtually(ask(), Clock(), started=lambda _: None, died=lambda: None) == 16


def _paced_by_headers(
    remains: Callable[[float, int], Quota], *, kind: str = "requests", refused_at: int = -1, n: int = 20
) -> tuple[float, RateLimiter]:
    """Return the seconds that n requests take, one after the other, and the limiter that paced them.

    Args:
        remains: What the headers of an answer claim, by its time and number.
        kind: Of the limit.
        refused_at: The number of a request that is refused.
        n: How many.
    """
    limiter, now = RateLimiter(requests_per_minute=None, tokens_per_minute=None), 0.0
    for number in range(n):
        now += limiter.wait(now)
        limiter.record_request(100, now)
        sent_at, now = now, now + 0.1
        if number == refused_at:
            limiter.record_refusal(now, is_costly=True)
            continue
        limiter.record_acceptance(0)
        limiter.update_from_headers({kind: remains(now, number)}, 1, now, tokens=100, sent_at=sent_at)
    return now, limiter


@pytest.mark.parametrize(
    ("kind", "limit", "reset"),
    [
        ("requests", 1, 60),
        ("requests", 30, None),
        ("requests", 60, 60),
        ("tokens", 100, None),
        ("tokens", 1000, 60),
        ("tokens", 6000, 60),
    ],
)
def test_a_header_limit_that_is_contradicted_by_what_passes_is_not_believed(
    kind: str, limit: float, reset: float | None
) -> None:
    """Six requests beyond it are tried; where they pass, it is ignored; where one is refused, it holds."""
    used_up = Quota(limit=limit, remaining=0, reset_seconds=reset)
    seconds, limiter = _paced_by_headers(lambda _now, _number: used_up, kind=kind)
    assert limiter.disbelieved is not None
    assert limiter.disbelieved.startswith(f"{limit:g} {kind} a minute")
    assert seconds == pytest.approx(2.0)
    held, limiter = _paced_by_headers(lambda _now, _number: used_up, kind=kind, refused_at=1)
    assert limiter.disbelieved is None
    assert held > seconds


def test_a_remainder_that_never_falls_is_not_believed() -> None:
    """29 of 30 remain, whatever passes."""
    _, limiter = _paced_by_headers(lambda _now, _number: Quota(limit=30, remaining=29, reset_seconds=None))
    assert limiter.disbelieved is not None


@pytest.mark.parametrize("limit", [5, 30, 120, 600])
@pytest.mark.parametrize("is_window", [True, False], ids=["window", "bucket"])
def test_a_header_limit_that_is_kept_is_believed(limit: int, *, is_window: bool) -> None:
    """The remainder falls with each request, and refills all at once or bit by bit."""
    level, seen = float(limit), 0.0

    def remains(now: float, _number: int) -> Quota:
        nonlocal level, seen
        if is_window:
            level = float(limit) if now // 60 > seen // 60 else level
        else:
            level = min(float(limit), level + (now - seen) * limit / 60)
        seen, level = now, max(0.0, level - 1)
        return Quota(limit=limit, remaining=float(int(level)), reset_seconds=60 - now % 60 if is_window else None)

    _, limiter = _paced_by_headers(remains, n=5 * limit + 50, refused_at=limit + 1)
    assert limiter.disbelieved is None
    level, seen = float(limit), 0.0
    assert _paced_by_headers(remains, n=limit)[1].disbelieved is None
