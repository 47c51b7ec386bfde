"""Connections that fail, break, stall or lead elsewhere: bounded, tried again, and never an answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.models.transport.pool import ConnectionPool
from tests.faults.certificates import Authority, authority
from tests.faults.invariants import nothing_paid_twice
from tests.faults.runs import cli_run, config, run
from tests.faults.server import (
    HANGS_SECONDS,
    Call,
    Do,
    Endless,
    Gate,
    Reply,
    answer_json,
    black_hole,
    chunked,
    error,
    http,
    right,
    serving,
)
from tests.faults.virtual import ask, end_of
from tests.support.tiers import representatives

GOOD = json.dumps(answer_json("Answer: 0")).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BROKEN: dict[str, Reply] = {
    "f15-reset-before-headers": [Do.RESET],
    "f15-close-before-headers": [Do.CLOSE],
    "f15-half-close": [Do.HALF_CLOSE, Do.HANG],
    "f16-reset-in-headers": [b"HTTP/1.1 200 OK\r\nContent-", Do.RESET],
    "f16-close-in-headers": [b"HTTP/1.1 200 OK\r\nContent-", Do.CLOSE],
    "f16-reset-mid-body": [HEAD + f"Content-Length: {len(GOOD)}\r\n\r\n".encode() + GOOD[:90], 0.02, Do.RESET],
    "f16-length-too-large": [*http(GOOD, length=len(GOOD) + 10), Do.CLOSE],
    "f16-chunked-without-end": [*chunked(GOOD, end=False), Do.CLOSE],
    "f16-chunk-cut": [HEAD + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n" + GOOD, Do.CLOSE],
    "f16-chunk-nonsense": [HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + GOOD, Do.CLOSE],
    "f16-until-close-cut": [HEAD + b"\r\n" + GOOD[:-9], Do.CLOSE],
    "f16-no-http": [b"SSH-2.0-OpenSSH_9.6\r\n", Do.CLOSE],
    "f16-tls-alert": [b"\x15\x03\x01\x00\x02\x02\x46", Do.CLOSE],
    "f16-huge-header": [b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n", Do.CLOSE],
    "f16-two-lengths": [HEAD + b"Content-Length: 5\r\nContent-Length: 9\r\n\r\n" + GOOD, Do.CLOSE],
    "f16-negative-length": [HEAD + b"Content-Length: -5\r\n\r\n" + GOOD, Do.CLOSE],
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_connection_that_breaks_is_tried_again(reply: Reply) -> None:
    """Broken once: the next attempt is answered. Broken always: a fault, with nothing of the partial text."""
    with serving({0: [reply], 1: reply}) as server:
        answers = ask(server, 3)
        assert len(server.of(0)) == 2
        assert 3 <= len(server.of(1)) <= 3 + 3, "three attempts, and at most one free for each connection that idled"
        nothing_paid_twice(server)
    assert end_of(answers[1]) in ("infra:connection", "infra:malformed")
    assert [answer.text for answer in answers] == ["Answer: 0", "", "Answer: 4"]


@pytest.mark.parametrize("end", [Do.CLOSE, Do.RESET], ids=["f15-idle-close", "f15-idle-reset"])
def test_a_closed_idle_connection_costs_no_attempt(end: Do) -> None:
    """A kept connection that is gone when it is used again is our race with the server, not a failed attempt."""
    used: set[int] = set()

    def script(call: Call) -> Reply:
        if call.connection in used:
            return [end]
        used.add(call.connection)
        return right(call)

    with serving(script) as server:
        answers = ask(server, 6, attempts_max=1, concurrency=1)
    assert [(end_of(answer), answer.attempts) for answer in answers] == [("answered", 1)] * 6


GIVEN_UP = {"outage_seconds_max": 0.5}


BODY_HEAD = HEAD + f"Content-Length: {len(GOOD)}\r\n\r\n".encode()
SLOW: dict[str, tuple[Reply, str]] = {
    "f18-never-answers": ([Do.HANG], "first_byte_timeout"),
    "f17-slow-headers": ([Endless(b"X", times=1, pause=0), Endless(b"-", times=60, pause=0.1)], "first_byte_timeout"),
    "f17-slow-body": ([BODY_HEAD, *[step for byte in GOOD[:60] for step in (bytes([byte]), 0.1)]], "timeout"),
    "f18-silent-body": ([BODY_HEAD + GOOD[:40], Do.HANG], "idle_timeout"),
    "f18-silent-chunks": ([*chunked(GOOD[:40], end=False), Do.HANG], "idle_timeout"),
    "f17-slow-chunks": (chunked(*[step for _ in range(60) for step in (b" ", 0.1)]), "timeout"),
}


@pytest.mark.parametrize(("reply", "kind"), representatives(SLOW, "f18-never-answers", "f17-slow-chunks"))
def test_a_slow_answer_meets_its_own_deadline(reply: Reply, kind: str) -> None:
    """Silence before the first byte, silence after it, and bytes that never end: three deadlines, three names.

    Only the deadline that is looked at is short, since the other samples have to keep it too.
    """
    if reply[:1] == [Endless(b"X", times=1, pause=0)]:
        reply = [b"HTTP/1.1 200 OK\r\nX-A: ", *reply[1:]]
    short = {f"{'total_timeout' if kind == 'timeout' else kind}_seconds": 2.0, "attempts_max": 1}
    with serving({1: reply}) as server:
        answers = ask(server, 8, concurrency=2, **short)
    assert [end_of(answer) for answer in answers] == ["answered", f"infra:{kind}", *["answered"] * 6]


def test_a_slow_answer_holds_up_no_other() -> None:
    """It comes when all others were asked, which with two requests at a time means that they did not wait for it."""
    others: set[int] = set()
    all_asked = threading.Event()

    def script(call: Call) -> Reply:
        if call.number == 1:
            return [Gate(all_asked), *right(call)]
        others.add(call.number)
        if len(others) == 7:
            all_asked.set()
        return right(call)

    with serving(script) as server:
        answers = ask(server, 8, concurrency=2)
        assert len(server.of(1)) == 1
    assert [end_of(answer) for answer in answers] == ["answered"] * 8


def test_a_plain_timeout_ends_an_answer_that_hangs(tmp_path: Path) -> None:
    """--timeout alone bounds each attempt; the last sample never gets an answer, and all others are reported."""
    with serving({3: [Do.HANG]}) as server:
        done, ran = cli_run(tmp_path, server, "--timeout", "1", n=4, endpoint={"attempts_max": 2})
        assert len(server.of(3)) == 2
    assert (done.returncode, ran.states) == (3, ["scored", "scored", "scored", "infra:timeout"])
    assert (ran.run_dir / "report.html").exists()


def test_f18_a_black_hole_is_a_connect_timeout(tmp_path: Path) -> None:
    """An address that drops packets ends at the connect deadline under its own name, and stops the run resumably."""
    with black_hole() as port:
        endpoint = {**GIVEN_UP, "connect_timeout_seconds": 0.3}
        ran = run(tmp_path, f"http://127.0.0.1:{port}/v1", n=4, endpoint=endpoint, engine={"preflight": True})
    assert ran.exit_code == 75
    assert set(ran.states) == {"infra:connect_timeout"}


def test_f34_a_name_that_cannot_be_resolved(tmp_path: Path) -> None:
    """A host without an address is waited for within bounds and stops resumably."""
    endpoint = {**GIVEN_UP, "connect_timeout_seconds": 2.0}
    ran = run(tmp_path, "http://no-such-host.invalid/v1", n=4, engine={"preflight": True}, endpoint=endpoint)
    assert ran.exit_code == 75
    assert all(state.startswith("infra:") for state in ran.states)


def test_f34_what_is_no_name_of_a_host(tmp_path: Path) -> None:
    """A name that no resolver takes is a connection that cannot be made, not a response that cannot be read."""
    ran = run(tmp_path, "http://a..b/v1", n=2, engine={"preflight": True})
    assert ran.exit_code == 75
    assert ran.states == ["infra:connection"] * 2
    assert "cannot connect to a..b:80: that is not a name of a host" in ran.reason


def test_f34_a_name_server_that_recovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two failed look-ups and then an address: everything is scored."""
    look_up = ConnectionPool._look_up
    failures = iter(range(2))

    async def flaky(self: ConnectionPool) -> Any:
        if next(failures, None) is not None:
            raise socket.gaierror(-3, "Temporary failure in name resolution")
        return await look_up(self)

    monkeypatch.setattr(ConnectionPool, "_look_up", flaky)
    with serving() as server:
        url = f"http://localhost:{server.port}/v1"
        ran = run(tmp_path, url, endpoint={"attempts_max": 5}, engine={"concurrency": 1})
    assert ran.states == ["scored"] * 3
    assert next(failures, None) is None, "the resolver was never asked"


def test_f34_an_address_that_is_a_black_hole_beside_one_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose IPv6 address drops packets is reached over IPv4, within the connect deadline."""
    with serving() as server, black_hole("::1", server.port):

        async def both(_: ConnectionPool) -> Any:
            where = [("::1", socket.AF_INET6), ("127.0.0.1", socket.AF_INET)]
            return [(family, socket.SOCK_STREAM, 6, "", (address, server.port)) for address, family in where]

        monkeypatch.setattr(ConnectionPool, "_look_up", both)
        ran = run(tmp_path, f"http://two-addresses:{server.port}/v1")
    assert ran.states == ["scored"] * 3
    assert max(ran.attempts) == 1


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize(
    ("name", "days", "bundle", "words", "preflight"),
    [
        ("IP:127.0.0.1", "2", False, ("self", "issuer", "verify"), True),
        ("IP:127.0.0.1", "2", False, ("self", "issuer", "verify"), False),
        ("IP:127.0.0.1", "-1", True, ("expired",), True),
        ("DNS:elsewhere.example", "2", True, ("match", "valid for", "mismatch"), False),
    ],
    ids=["f35-unknown-authority", "f35-first-request", "f35-expired", "f35-wrong-host"],
)
def test_a_certificate_that_is_not_trusted(
    tmp_path: Path, trusted: Authority, name: str, days: str, bundle: bool, words: tuple[str, ...], preflight: bool
) -> None:
    """Fails fast with the reason, sends neither prompt nor key, and is never tried without verification."""
    endpoint = {**GIVEN_UP, **({"ca_bundle": str(trusted.bundle)} if bundle else {})}
    with serving(tls=trusted.server(name=name, days=days)) as server:
        result = nel.evaluate(config(tmp_path, server.url, endpoint=endpoint, engine={"preflight": preflight}))
        assert server.calls == server.others == []
    assert result.exit_code == (2 if preflight else 75)
    assert any(word in result.ending.reason for word in words), result.ending.reason


@contextmanager
def _port_that_says(data: bytes) -> Iterator[int]:
    """Answer each connection with some bytes, whatever it sends, and close it in order; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer_all() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, suppress(OSError):
                        connection.recv(65536)
                        connection.sendall(data)

        thread = threading.Thread(target=answer_all)
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(HANGS_SECONDS)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "does not speak TLS there"),
        (b"", "it closed the connection in the handshake of TLS"),
    ],
    ids=["f35-http", "f35-closes"],
)
def test_https_where_no_tls_is_spoken(tmp_path: Path, data: bytes, words: str) -> None:
    """The scheme is named as what may be wrong, and no certificate."""
    with _port_that_says(data) as port:
        url = f"https://127.0.0.1:{port}/v1"
        result = nel.evaluate(config(tmp_path, url, endpoint=GIVEN_UP))
    assert result.exit_code == 75
    assert words in result.ending.reason
    assert "begins with http://" in result.ending.reason
    assert "certificate" not in result.ending.reason


def test_f35_a_bundle_of_ones_own(tmp_path: Path, trusted: Authority) -> None:
    """An authority given as ca_bundle is trusted."""
    with serving(tls=trusted.server()) as server:
        ran = run(tmp_path, server, endpoint={"ca_bundle": str(trusted.bundle)})
    assert ran.states == ["scored"] * 3


def test_f35_a_client_certificate(tmp_path: Path, trusted: Authority) -> None:
    """A server that wants a client certificate gets the configured one."""
    certificate, key = trusted.issue("client", name="DNS:client")
    both = {"ca_bundle": str(trusted.bundle), "client_certificate": str(certificate), "client_key": str(key)}
    with serving(tls=trusted.server(wants_client=True)) as server:
        ran = run(tmp_path, server, endpoint=both)
        assert len(server.calls) == 3
    assert ran.states == ["scored"] * 3


def test_f35_a_bundle_that_is_not_there(tmp_path: Path) -> None:
    """A ca_bundle that cannot be read is an error before anything is sent, and names the file."""
    with serving() as server, pytest.raises(nel.NelError, match=r"nowhere\.pem"):
        nel.evaluate(config(tmp_path, server.url, endpoint={"ca_bundle": str(tmp_path / "nowhere.pem")}))


def _as_proxy(call: Call) -> Reply:
    assert call.path.startswith("http://model.example/v1/"), call.path
    return right(call)


def test_f43_a_configured_proxy(tmp_path: Path) -> None:
    """endpoint.proxy is asked for the whole URL."""
    with serving(_as_proxy) as proxy:
        where = f"http://127.0.0.1:{proxy.port}"
        ran = run(tmp_path, "http://model.example/v1", endpoint={"proxy": where})
    assert ran.states == ["scored"] * 3


@pytest.mark.parametrize("through", [True, False], ids=["f43-http_proxy", "f43-no_proxy"])
def test_a_proxy_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through: bool) -> None:
    """HTTP_PROXY is used, and NO_PROXY wins over it."""
    with serving() as proxy, serving() as server:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "other.example" if through else "127.0.0.1")
        monkeypatch.setenv("no_proxy", "other.example" if through else "127.0.0.1")
        ran = run(tmp_path, server)
        assert (len(proxy.calls), len(server.calls)) == ((3, 0) if through else (0, 3))
    assert ran.states == ["scored"] * 3


@pytest.mark.parametrize(
    "reply",
    [
        [*http(GOOD, version="1.0"), Do.CLOSE],
        [b"HTTP/1.0 200 OK\r\n\r\n" + GOOD, Do.CLOSE],
        [b"HTTP/1.1 200\r\nContent-Length: %d\r\n\r\n" % len(GOOD) + GOOD],
    ],
    ids=["f43-http10", "f43-http10-until-close", "f43-no-reason"],
)
def test_old_servers_are_understood(reply: Reply) -> None:
    """HTTP/1.0, bodies that end with the connection, and a status without words."""
    with serving({0: reply}) as server:
        assert [end_of(answer) for answer in ask(server, 2)] == ["answered", "answered"]
        assert len(server.of(0)) == 1


def test_f42_the_wall_clock_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wall clock that jumps an hour to and fro makes no timeout, no negative latency and no long wait."""
    real, step = time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: real() + (3600 if next(step) % 2 else -3600))
    with serving({3: [error(503)], 5: [error(429, headers={"Retry-After": "0.1"})]}) as server:
        ran = run(tmp_path, server, n=20)
    assert ran.states == ["scored"] * 20
    assert all(0 <= row["timing"]["latency_seconds"] < 1800 for row in ran.rows)
    assert 0 <= ran.stats["elapsed_seconds"] < 1800


def _bytes_of(reply: Reply) -> bytes:
    return b"".join(part for part in reply if isinstance(part, bytes))


class OutOfStep:
    """Answers a number twice, the second time to the next request; each that follows gets the answer before its own.

    The last request of the connection gets its own answer too, which is then the one that was not asked for.
    """

    def __init__(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        self._owed: list[Reply] = []

    def __call__(self, call: Call) -> Reply:
        if call.order < self._first or call.connection > 1:
            return right(call)
        self._owed.append(right(call))
        if call.order == self._first:
            return right(call)
        late = _bytes_of(self._owed.pop(0))
        # In one piece: between two the client could ask for the next, to which the second would be the answer.
        return [late + _bytes_of(self._owed.pop(0))] if call.order == self._last else [late]


def test_an_answer_that_may_be_that_to_another_request_is_not_scored(tmp_path: Path) -> None:
    """A second response that comes late shifts all that follow: they are named, and unscored until a resume."""
    settings: dict[str, Any] = {"n": 12, "engine": {"concurrency": 1}, "cache": {"dir": str(tmp_path / "cache")}}
    with serving(OutOfStep(3, 9)) as server:
        done, ran = cli_run(tmp_path, server, **settings)
        again = run(tmp_path, server, resume=True, **settings)
    assert done.returncode == 3
    asked = list(dict.fromkeys(call.number for call in server.calls))
    doubtful = asked[1:10]
    assert [ran.states[number] for number in doubtful] == ["infra:unasked_response"] * 9
    assert ran.states.count("scored") == 3
    named = ", ".join(sorted(str(ran.rows[number]["sample_id"]) for number in doubtful))
    said = f"no request had asked for; 9 samples may have got the answer to another and are not scored: {named}"
    assert said in done.stderr
    assert said in (tmp_path / "out" / ran.run_dir.name / "run.log").read_text()
    assert again.states == ["scored"] * 12
    assert [row["model_response"] for row in again.rows] == [f"Answer: {2 * n}" for n in range(12)]
