"""What a server says about when to come back: understood, bounded, and held for the whole endpoint."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.faults.invariants import nothing_paid_twice
from tests.faults.runs import run
from tests.faults.server import Call, Reply, by_number, error, right, serving
from tests.faults.virtual import VirtualServer, ask

_JITTER = 1.25
"""A wait that a server asks for becomes this much longer at most."""
_SENDING_SECONDS = 0.01
"""Some turns of the virtual loop: next to nothing."""


def _gap(server: VirtualServer, number: int = 0) -> float:
    """Return the virtual seconds between the first two attempts of a prompt."""
    first, second = server.of(number)[:2]
    return second.at - first.at


def _waits(seconds: float, gap: float) -> bool:
    """Return whether a wait is what was asked for, with its jitter."""
    return seconds <= gap <= seconds * _JITTER + _SENDING_SECONDS


def _gap_without_a_hint() -> float:
    server = VirtualServer({0: [error(429)]})
    ask(server)
    return _gap(server)


def _used_up(kind: str) -> dict[str, str]:
    return {f"x-ratelimit-limit-{kind}": "600", f"x-ratelimit-remaining-{kind}": "0"}


def test_f01_retry_after_holds_for_the_whole_endpoint() -> None:
    """One 429 that asks for a pause: no request is sent until it is over, and no latency contains it."""
    server = VirtualServer({0: [error(429, headers={"Retry-After": "2"})]})
    answers = ask(server, 20, concurrency=2)
    told = server.of(0)[0].at
    early = [call for call in server.calls if told < call.at < told + 2]
    assert len(early) <= 1, "more are asked than were under way when it answered"
    assert _waits(2, _gap(server))
    assert [one.text for one in answers] == [f"Answer: {2 * number}" for number in range(20)]
    assert max(one.latency_seconds or 0 for one in answers) < _SENDING_SECONDS


def test_f03_a_hint_of_nothing_is_no_wait() -> None:
    server = VirtualServer({0: [error(429, headers={"Retry-After": "0"})]})
    assert ask(server)[0].text == "Answer: 0"
    assert _gap(server) < _gap_without_a_hint()


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "86400"},
        {**_used_up("requests"), "x-ratelimit-reset-requests": "26h0m0s"},
    ],
    ids=["f03-86400", "f04-reset-26h"],
)
def test_a_wait_that_is_too_long_stops_the_run_resumably(tmp_path: Path, headers: dict[str, str]) -> None:
    """A server that closes until tomorrow: exit 75 at once with the time it named, and no sample is lost."""
    closed = True

    def script(call: Call) -> Reply:
        return error(429, "daily limit", headers=headers) if closed and call.order >= 2 else right(call)

    with serving(script) as server:
        ran = run(tmp_path, server, n=40, engine={"concurrency": 4}, endpoint={"retry_after_seconds_max": 1})
        assert len(server.calls) <= 12
        assert ran.exit_code == 75
        assert any(word in ran.reason for word in ("24", "86", "26", "reopen", ":")), ran.reason
        assert ran.accounting["n_scored"] >= 2
        closed = False
        assert run(tmp_path, server, n=40, resume=True).states == ["scored"] * 40
        nothing_paid_twice(server)


def test_f04_a_point_in_time_without_a_date() -> None:
    """Where the response has no Date, our own clock says how long it is until then."""

    def in_an_hour(call: Call) -> Reply:
        reset = str(int(datetime.now(UTC).timestamp()) + 3600)
        headers = {**_used_up("requests"), "x-ratelimit-reset-requests": reset}
        return right(call) if call.attempt else error(429, headers=headers)

    server = VirtualServer(in_an_hour)
    assert ask(server, retry_after_seconds_max=7200, retry_seconds_max=86400)[0].text == "Answer: 0"
    assert 1800 <= _gap(server) <= 3600 * _JITTER + _SENDING_SECONDS


@pytest.mark.parametrize(("status", "calls"), [(500, 1), (429, 1)], ids=["f04-no-retry-500", "f04-no-retry-429"])
def test_a_server_that_forbids_a_retry_gets_none(tmp_path: Path, status: int, calls: int) -> None:
    """x-should-retry: false is the server's last word."""
    with serving({1: error(status, headers={"x-should-retry": "false"})}) as server:
        ran = run(tmp_path, server)
        assert len(server.of(1)) == calls
    assert ran.states[1].startswith("infra:")


def test_f05_without_a_hint_the_waits_spread_and_grow() -> None:
    """Eighty clients refused at once come back spread over the whole wait, and later the second time."""
    server = VirtualServer(lambda call: [0.01, *(right(call) if call.attempt > 1 else error(429))])
    settings = {"backoff_seconds": 0.4, "backoff_seconds_max": 2, "attempts_max": 10}
    answers = ask(server, 80, concurrency=80, **settings)
    assert [(one.text, one.attempts) for one in answers] == [(f"Answer: {2 * number}", 3) for number in range(80)]
    times = [[call.at for call in server.of(number)] for number in range(80)]
    back = sorted(at[1] for at in times)
    width = (back[-1] - back[0]) / 10
    fullest = max(sum(1 for at in back if k * width <= at - back[0] <= (k + 1) * width) for k in range(10))
    assert fullest <= 40, "most come back at the same moment"
    first, second = (statistics.mean(at[k + 1] - at[k] for at in times) for k in (0, 1))
    assert second > first * 1.1


class Bucket:
    """A server that allows so many requests a second, with room for a few at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.tokens, self.last = rate, burst, burst, 0.0
        self.refused = 0
        self.began: float | None = None

    def __call__(self, call: Call) -> Reply:
        self.began = call.at if self.began is None else self.began
        self.tokens = min(self.burst, self.tokens + (call.at - self.last) * self.rate)
        self.last = call.at
        if self.tokens < 1:
            self.refused += call.at - self.began > 0.7
            return error(429)
        self.tokens -= 1
        return right(call)


@pytest.mark.parametrize(
    "limits",
    [{"requests_per_minute": 6000}, {"tokens_per_minute": 100 * 60 * 10, "requests_per_minute": 60000}],
    ids=["f08-requests", "f08-tokens"],
)
def test_a_known_limit_is_kept(limits: dict[str, Any]) -> None:
    """100 requests (1,000 tokens) a second are allowed: after its start next to no refusal.

    That the rate is used as well is shown in `tests/models/test_gate_worlds.py`.
    """
    bucket = Bucket(115, 25)
    answers = ask(
        VirtualServer(bucket), 200, concurrency=16, max_tokens=3 if "tokens_per_minute" in limits else None,
        **{**limits, "attempts_max": 20},
    )  # fmt: skip
    assert [one.error for one in answers] == [None] * 200
    assert bucket.refused <= 20, "one in ten was refused"


def test_f13_retries_have_a_budget_and_lose_nothing() -> None:
    """Three of ten requests fail once: retries stay a small share while first asks go on, and all are answered."""
    table: dict[int, Any] = {number: [error(503)] for number in range(200) if number % 10 < 3}
    server = VirtualServer(by_number(table, otherwise=lambda call: [0.01, *right(call)]))
    answers = ask(server, 200, concurrency=8, retry_budget=0.1)
    last_first = max(index for index, call in enumerate(server.calls) if call.attempt == 0)
    before = server.calls[:last_first]
    again = sum(call.attempt > 0 for call in before)
    seconds = before[-1].at - before[0].at
    assert again <= 0.2 * len(before) + 12 * max(1.0, seconds)
    assert len(server.calls) == 260
    assert [one.error for one in answers] == [None] * 200


def test_f20_a_back_off_holds_no_permit() -> None:
    """At concurrency 1 all others are asked while one sample waits for its next attempt."""
    server = VirtualServer({0: [error(500, headers={"Retry-After": "4"})]})
    answers = ask(server, 10, concurrency=1)
    tries = [index for index, call in enumerate(server.calls) if call.number == 0]
    assert tries == [0, 10], "the others waited for the one that waits"
    assert [one.error for one in answers] == [None] * 10
