"""What a server says about when to come back: understood, bounded, and held for the whole endpoint."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from nel.config.schema import EndpointConfig
from nel.models.client import Client, pace_of
from nel.models.faults import Fault
from nel.models.pacing import Gate
from nel.models.transport import Fetched
from nel.types import Message, Request, Response
from tests.faults.invariants import nothing_paid_twice
from tests.faults.runs import QUICK, run
from tests.faults.server import HANGS_SECONDS, Call, Reply, Server, answer_json, by_number, error, right, serving
from tests.simulation.loop import Clock, run_virtually

SOON = 12.0
"""Seconds within which a slow machine still does what takes a second or two, and no other reading of a hint would."""


def _gap(server: Server, number: int) -> float:
    """Return the seconds between the first two attempts of a prompt."""
    first, second = server.of(number)[:2]
    return second.at - first.at


def _used_up(kind: str) -> dict[str, str]:
    return {f"x-ratelimit-limit-{kind}": "600", f"x-ratelimit-remaining-{kind}": "0"}


def test_f01_retry_after_holds_for_the_whole_endpoint(tmp_path: Path) -> None:
    """One 429 that asks for a pause: nobody asks the endpoint until it is over, and no latency contains it."""
    with serving({0: [error(429, headers={"Retry-After": "2"})]}) as server:
        ran = run(tmp_path, server, n=20, engine={"concurrency": 2})
        told = server.of(0)[0].at
        early = [call for call in server.calls if told < call.at < told + 1.97]
        assert len(early) <= 4, "more are asked than can have been under way before the client had read it"
        assert 1.97 <= _gap(server, 0) < SOON
    assert ran.states == ["scored"] * 20
    assert max(row["timing"]["latency_seconds"] for row in ran.rows) < 1.9


FORMATS = {
    "imf": lambda moment: format_datetime(moment, usegmt=True),
    "rfc850": lambda moment: moment.strftime("%A, %d-%b-%y %H:%M:%S GMT"),
    "asctime": lambda moment: moment.strftime("%a %b %e %H:%M:%S %Y"),
}


@pytest.mark.parametrize(
    ("style", "skew"),
    [("imf", 0), ("rfc850", 0), ("asctime", 0), ("imf", -86400), ("imf", 86400), ("asctime", -86400)],
    ids=["f02-imf", "f02-rfc850", "f02-asctime", "f02-clock-behind", "f02-clock-ahead", "f02-asctime-behind"],
)
def test_a_date_is_measured_by_the_servers_own_clock(tmp_path: Path, style: str, skew: int) -> None:
    """A date one second after the response's own Date is a wait of one second, whatever our clock says."""
    now = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=skew)
    headers = {"Date": FORMATS["imf"](now), "Retry-After": FORMATS[style](now + timedelta(seconds=1))}
    with serving({0: [error(429, headers=headers)]}) as server:
        ran = run(tmp_path, server, n=1)
        assert 0.9 <= _gap(server, 0) < SOON
    assert ran.states == ["scored"]


def test_f02_a_date_in_the_past_is_no_wait(tmp_path: Path) -> None:
    """A date that is over leaves the client to its own back-off."""
    now = datetime.now(UTC)
    headers = {"Date": FORMATS["imf"](now), "Retry-After": FORMATS["imf"](now - timedelta(hours=3))}
    with serving({0: [error(429, headers=headers)]}) as server:
        assert run(tmp_path, server, n=1).states == ["scored"]
        assert _gap(server, 0) < SOON


UNREADABLE = ["-1", "0", "inf", "-inf", "nan", "abc", "", "1e", "0x10", "-86400", "١", "Tue, 99 Foo 2025 99:99:99 GMT"]


@pytest.mark.parametrize("value", UNREADABLE, ids=[f"f03-{value.encode()[:12]!r}" for value in UNREADABLE])
def test_a_hint_that_says_nothing_is_ignored(tmp_path: Path, value: str) -> None:
    """A hint without a meaning neither crashes nor waits."""
    header = value.encode("utf-8").decode("latin-1")
    with serving({0: [error(429, headers={"Retry-After": header})]}) as server:
        assert run(tmp_path, server, n=1).states == ["scored"]
        assert _gap(server, 0) < SOON


def test_f03_a_fraction_of_a_second(tmp_path: Path) -> None:
    """Fractions are not rounded down."""
    with serving({0: [error(429, headers={"Retry-After": "0.7"})]}) as server:
        run(tmp_path, server, n=1)
        assert 0.65 <= _gap(server, 0) < SOON


def test_f03_a_header_that_stands_twice(tmp_path: Path) -> None:
    """Two values: one of them holds, or none; never a crash."""
    headers = [("Retry-After", "0.3"), ("Retry-After", "0.4")]
    with serving({0: [error(429, headers=headers)]}) as server:
        assert run(tmp_path, server, n=1).states == ["scored"]
        assert _gap(server, 0) < SOON


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "86400"},
        {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)},
        {"retry-after-ms": "86400000"},
        {**_used_up("requests"), "x-ratelimit-reset-requests": "26h0m0s"},
    ],
    ids=["f03-86400", "f03-date-tomorrow", "f04-ms-tomorrow", "f04-reset-26h"],
)
def test_a_wait_that_is_too_long_stops_the_run_resumably(tmp_path: Path, headers: dict[str, str]) -> None:
    """A server that closes until tomorrow: exit 75 at once with the time it named, and no sample is lost."""
    closed = True

    def script(call: Call) -> Reply:
        return error(429, "daily limit", headers=headers) if closed and call.number >= 2 else right(call)

    with serving(script) as server:
        started = time.monotonic()
        ran = run(tmp_path, server, n=40, engine={"concurrency": 4}, endpoint={"retry_after_seconds_max": 1})
        assert time.monotonic() - started < HANGS_SECONDS
        assert len(server.calls) <= 12
        assert ran.exit_code == 75
        assert any(word in ran.reason for word in ("24", "86", "26", "reopen", ":")), ran.reason
        assert ran.accounting["n_scored"] >= 2
        closed = False
        assert run(tmp_path, server, n=40, resume=True).states == ["scored"] * 40
        nothing_paid_twice(server)


def test_f03_a_wait_that_is_too_long_is_not_begun(tmp_path: Path) -> None:
    """One request at a time: a hint above the limit makes nobody wait longer than the limit before the run stops."""
    closed = error(429, headers={"Retry-After": "86400"})
    with serving(lambda call: right(call) if call.number < 2 else closed) as server:
        started = time.monotonic()
        ran = run(tmp_path, server, n=6, engine={"concurrency": 1}, endpoint={"retry_after_seconds_max": 1})
        assert time.monotonic() - started < HANGS_SECONDS
    assert ran.exit_code == 75


def test_f03_four_hundred_digits(tmp_path: Path) -> None:
    """A number that no float holds is ignored or too long, and never a crash or a wait."""
    with serving({0: [error(429, headers={"Retry-After": "9" * 400})]}) as server:
        started = time.monotonic()
        ran = run(tmp_path, server, n=1)
        assert time.monotonic() - started < HANGS_SECONDS
    assert (ran.states, ran.exit_code) in ((["scored"], 0), (["infra:rate_limit"], 75))


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after-ms": "500"},
        {"retry-after-ms": "500", "Retry-After": "60"},
        {**_used_up("requests"), "x-ratelimit-reset-requests": "500ms"},
        {**_used_up("tokens"), "x-ratelimit-reset-tokens": "0.5s"},
        {**_used_up("requests"), "x-ratelimit-reset-requests": "1s"},
        {**_used_up("requests"), "x-ratelimit-reset-requests": "EPOCH"},
        {"x-ratelimit-limit": "9", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "EPOCH"},
    ],
    ids=[
        "f04-ms",
        "f04-ms-wins",
        "f04-reset-500ms",
        "f04-reset-tokens",
        "f04-reset-1s",
        "f04-reset-epoch",
        "f04-reset-plain",
    ],
)
def test_other_headers_are_understood(tmp_path: Path, headers: dict[str, str]) -> None:
    """Vendors' own headers give the wait where Retry-After does not."""

    def script(call: Call) -> Reply:
        moment = str(int(time.time()) + 3)  # of the answer, since the run begins as late as it does
        named = {key: value.replace("EPOCH", moment) for key, value in headers.items()}
        return right(call) if call.attempt else error(429, headers=named)

    with serving(script) as server:
        assert run(tmp_path, server, n=1).states == ["scored"]
        assert 0.45 <= _gap(server, 0) < SOON


@pytest.mark.parametrize(("status", "calls"), [(500, 1), (429, 1)], ids=["f04-no-retry-500", "f04-no-retry-429"])
def test_a_server_that_forbids_a_retry_gets_none(tmp_path: Path, status: int, calls: int) -> None:
    """x-should-retry: false is the server's last word."""
    with serving({1: error(status, headers={"x-should-retry": "false"})}) as server:
        ran = run(tmp_path, server)
        assert len(server.of(1)) == calls
    assert ran.states[1].startswith("infra:")


class _RefusingTwice:
    """A transport that refuses each request twice, and when it was asked; nothing leaves the process."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    async def fetch(self, method: str, url: str, body: bytes, headers: dict[str, str], stream: Any) -> Fetched | Fault:
        loop = asyncio.get_running_loop()
        seen = self.times.setdefault(headers["Idempotency-Key"], [])
        seen.append(loop.time())
        await asyncio.sleep(0.01)
        if len(seen) > 2:
            return Fetched(200, {}, json.dumps(answer_json("yes")).encode(), seconds=0.01)
        return Fault(kind="rate_limit", message="HTTP 429", retryable=True, status=429)

    async def __aenter__(self) -> _RefusingTwice:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


def test_f05_without_a_hint_the_waits_spread_and_grow() -> None:
    """Eighty clients refused at once come back spread over the whole wait, and later the second time."""
    jitter = random.Random(5).random  # noqa: S311 - nothing secret
    transport = _RefusingTwice()
    settings = {**QUICK, "backoff_seconds": 0.4, "backoff_seconds_max": 2, "attempts_max": 10}
    endpoint = EndpointConfig.model_validate({**settings, "url": "http://127.0.0.1:9/v1"})

    async def ask_all() -> list[Response]:
        gate = Gate(pace_of(endpoint, 80), jitter=jitter)
        async with Client(
            endpoint, api_key=None, connections=80, jitter=jitter, gate=gate, transport=transport
        ) as client:
            return await asyncio.gather(*(client.complete(_numbered(number), b"{}") for number in range(80)))

    answers = run_virtually(ask_all(), Clock(), started=lambda _: None, died=lambda: None)
    assert [(one.text, one.attempts) for one in answers] == [("yes", 3)] * 80
    times = list(transport.times.values())
    back = sorted(at[1] for at in times)
    width = (back[-1] - back[0]) / 10
    fullest = max(sum(1 for at in back if k * width <= at - back[0] <= (k + 1) * width) for k in range(10))
    assert fullest <= 40, "most come back at the same moment"
    first, second = (statistics.mean(at[k + 1] - at[k] for at in times) for k in (0, 1))
    assert second > first * 1.1


def _numbered(number: int) -> Request:
    messages = (Message(role="user", content="What?"),)
    return Request(protocol="chat", model="m", sample_id=str(number), repeat=0, messages=messages)


class Storm:
    """Refuses everything for some seconds, from the n-th call on."""

    def __init__(self, after: int, seconds: float, reply: Reply) -> None:
        self.after, self.seconds, self.reply = after, seconds, reply
        self.began: float | None = None
        self.good = 0

    def __call__(self, call: Call) -> Reply:
        if self.began is None and self.good >= self.after:
            self.began = call.at
        if self.began is not None and call.at < self.began + self.seconds:
            return self.reply
        self.good += 1
        return [0.02, *right(call)]


@pytest.mark.slow
def test_f06_a_storm_makes_the_client_small_and_passes(tmp_path: Path) -> None:
    """1.5 s of 429 at concurrency 32: few requests while it lasts, everything scored, and full speed after it."""
    storm = Storm(40, 1.5, error(429))
    settings = {"attempts_max": 50, "backoff_seconds": 0.05, "backoff_seconds_max": 0.5, "outage_seconds_max": 60}
    with serving(storm) as server:
        ran = run(tmp_path, server, n=300, engine={"concurrency": 32}, endpoint=settings)
        began = storm.began
        assert began is not None
        during = [call for call in server.calls if began <= call.at < began + 1.5]
        late = [call.in_flight for call in during if call.at > began + 0.75]
        took = max(call.at for call in server.calls) - began - 1.5
        assert len(during) <= 200, "the client storms back"
        assert max(late, default=0) <= 16
        assert took < HANGS_SECONDS
        nothing_paid_twice(server)
    assert ran.states == ["scored"] * 300


def test_f07_hints_that_go_on_do_not_freeze_the_limiter(tmp_path: Path) -> None:
    """A hint with every tenth answer slows the run and never stops it."""
    count = 0

    def script(call: Call) -> Reply:
        nonlocal count
        count += 1
        return error(429, headers={"Retry-After": "0.1"}) if count % 10 == 0 else right(call)

    with serving(script) as server:
        ran = run(tmp_path, server, n=100, endpoint={"attempts_max": 20})
        assert len(server.calls) <= 125
    assert ran.states == ["scored"] * 100


class Bucket:
    """A server that allows so many requests a second, with room for a few at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.tokens, self.last = rate, burst, burst, time.monotonic()
        self.refused = 0
        self.began: float | None = None

    def __call__(self, call: Call) -> Reply:
        now = time.monotonic()
        self.began = self.began or now
        self.tokens = min(self.burst, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            self.refused += now - self.began > 0.7
            return error(429)
        self.tokens -= 1
        return right(call)


@pytest.mark.parametrize(
    "limits",
    [{"requests_per_minute": 6000}, {"tokens_per_minute": 100 * 60 * 10, "requests_per_minute": 60000}],
    ids=["f08-requests", "f08-tokens"],
)
def test_a_known_limit_is_kept(tmp_path: Path, limits: dict[str, Any]) -> None:
    """100 requests (1,000 tokens) a second are allowed: after its start next to no refusal.

    That the rate is used as well is shown under a virtual clock, in `tests/models/test_gate_worlds.py`.
    """
    bucket = Bucket(115, 25)
    with serving(bucket) as server:
        ran = run(
            tmp_path, server, n=200, engine={"concurrency": 16}, endpoint={**limits, "attempts_max": 20},
            generation={"max_tokens": 3} if "tokens_per_minute" in limits else {},
        )  # fmt: skip
    assert ran.states == ["scored"] * 200
    assert bucket.refused <= 20, "one in ten was refused"


@pytest.mark.slow
def test_f08_an_unknown_limit_is_found(tmp_path: Path) -> None:
    """A limit that nobody configured is approached from above: refusals become rare and nothing is lost."""
    bucket = Bucket(150, 5)
    settings = {"attempts_max": 50, "backoff_seconds": 0.02, "backoff_seconds_max": 0.2}
    with serving(bucket) as server:
        ran = run(tmp_path, server, n=300, engine={"concurrency": 32}, endpoint=settings)
        assert len(server.calls) <= 450, "more than a third of the requests were refused"
    assert ran.states == ["scored"] * 300


def test_f13_retries_have_a_budget_and_lose_nothing(tmp_path: Path) -> None:
    """Three of ten requests fail once: retries stay a small share while first asks go on, and all are scored."""
    table: dict[int, Any] = {number: [error(503)] for number in range(200) if number % 10 < 3}

    def slower(call: Call) -> Reply:
        return [0.01, *right(call)]

    with serving(by_number(table, otherwise=slower)) as server:
        ran = run(tmp_path, server, n=200, engine={"concurrency": 8}, endpoint={"retry_budget": 0.1})
        last_first = max(index for index, call in enumerate(server.calls) if call.attempt == 0)
        before = server.calls[:last_first]
        again = sum(call.attempt > 0 for call in before)
        seconds = before[-1].at - before[0].at
        assert again <= 0.2 * len(before) + 12 * max(1.0, seconds)
        assert len(server.calls) == 260
    assert ran.states == ["scored"] * 200


def test_f20_a_back_off_holds_no_permit(tmp_path: Path) -> None:
    """At concurrency 1 the others are asked while one sample waits for its next attempt."""
    later = error(500, headers={"Retry-After": "4"})
    with serving({0: [later]}) as server:
        ran = run(tmp_path, server, n=10, engine={"concurrency": 1})
        tries = [index for index, call in enumerate(server.calls) if call.number == 0]
        between = tries[-1] - tries[0] - (len(tries) - 1)
        assert between >= 5, "the others waited for the one that waits"
    assert ran.states == ["scored"] * 10
