"""The transports against a server that is written byte by byte: straight, and through a proxy."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nel.config.schema import EndpointConfig
from nel.errors import ConfigError
from nel.models.doubtful import CarriedRequests
from nel.models.faults import Fault
from nel.models.transport import Fetched, Transport, transport_for
from nel.models.transport.http import HttpTransport
from nel.models.wire.openai import EventStream
from nel.types import Request

Part = bytes | float | asyncio.Event
"""Bytes to send, seconds to wait, or what to wait for; no bytes close the connection."""
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = OK + b"Content-Length: 2\r\n\r\n{}"
EVENTS = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
STREAMED = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n") % (
    len(EVENTS),
    EVENTS,
)
"""All events of a stream, without the end of the message."""
ROUTES = pytest.mark.parametrize("route", ["straight", "proxied"])


class Server:
    """Answers each request with the next of some scripts, and keeps what it was sent."""

    def __init__(self, *scripts: list[Part]) -> None:
        self.scripts = list(scripts)
        self.requests: list[bytes] = []
        self.connections = 0
        self.served: list[Any] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.served.append(asyncio.current_task())
        try:
            while self.scripts:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
                self.requests.append(head + body)
                for part in self.scripts.pop(0):
                    if isinstance(part, float):
                        await asyncio.sleep(part)
                    elif isinstance(part, asyncio.Event):
                        await part.wait()
                    elif part == b"":
                        writer.close()
                        return
                    else:
                        writer.write(part)
                        await writer.drain()
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Yield ``host:port``."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        try:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            await asyncio.gather(*self.served, return_exceptions=True)
            await server.wait_closed()


@asynccontextmanager
async def talking(server: Server, route: str = "straight", **settings: Any) -> AsyncIterator[tuple[Transport, str]]:
    """Yield a transport to a server and the URL to ask."""
    async with server.listening() as place:
        host = "model.invalid" if route == "proxied" else place
        proxy = {"proxy": f"http://{place}"} if route == "proxied" else {}
        endpoint = EndpointConfig(url=f"http://{host}/v1", model="m", **settings, **proxy)
        async with transport_for(endpoint, {"Content-Type": "application/json"}) as transport:
            yield transport, f"http://{host}/v1/chat/completions"


async def ask(transport: Transport, url: str, stream: EventStream | None = None) -> Fetched | Fault:
    return await transport.fetch("POST", url, b'{"a":1}', {"Idempotency-Key": "k"}, stream)


@pytest.fixture
def carried(tmp_path: Path) -> Iterator[CarriedRequests]:
    """Yield what notes the requests of a test."""
    noted = CarriedRequests(tmp_path)
    yield noted
    noted.close()


def touched(carried: CarriedRequests, transport: Transport) -> list[str] | None:
    """Return the names of the requests in doubt; None where no response came that was not asked for."""
    found = carried.doubtful(transport)
    return None if found is None else [asked.sample_id for asked in found]


async def named(carried: CarriedRequests, transport: Transport, url: str, name: str) -> bytes:
    """Send one request, note its name, and return what it got."""
    fetched = await ask(transport, url)
    assert isinstance(fetched, Fetched)
    carried.note(fetched, Request(protocol="chat_completions", model="m", sample_id=name, repeat=0), "")
    return fetched.body


def open_connections(transport: Transport) -> int:
    """Return how many connections are open, in use or idle."""
    assert isinstance(transport, HttpTransport)
    assert transport._pool is not None
    return len(transport._pool._open)


async def comes_to(holds: Callable[[], bool]) -> None:
    """Wait until something holds that will."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.002)


async def bodies(server: Server, route: str, n: int, **settings: Any) -> list[Any]:
    """Return what n requests, one after the other, gave: the body, or the fault's kind."""
    found: list[Any] = []
    async with talking(server, route, **settings) as (transport, url):
        for _ in range(n):
            fetched = await ask(transport, url)
            found.append(fetched.kind if isinstance(fetched, Fault) else fetched.body)
    return found


@ROUTES
@pytest.mark.parametrize(
    ("sent", "body"),
    [
        ([WHOLE], b"{}"),
        ([part.to_bytes() for part in WHOLE], b"{}"),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", 0.01, b"1\r\n}\r\n0\r\n\r\n"], b"{}"),
        ([OK + b"Connection: close\r\n\r\n{", 0.01, b"}", b""], b"{}"),
        ([OK + b"Content-Encoding: gzip\r\nContent-Length: 22\r\n\r\n" + gzip.compress(b"{}")], b"{}"),
        ([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + WHOLE], b"{}"),
        ([b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"], b""),
    ],
    ids=["whole", "byte-by-byte", "chunked", "until-closed", "gzip", "early-hints", "empty"],
)
async def test_bodies_of_all_shapes(route: str, sent: list[Part], body: bytes) -> None:
    """Whatever way HTTP/1.1 has of saying where a body ends."""
    assert await bodies(Server(sent), route, 1) == [body]


@ROUTES
@pytest.mark.parametrize(
    ("sent", "kind", "limits"),
    [
        ([b""], "connection", {}),
        ([OK + b"Content-Length: 9\r\n\r\n{", 0.01, b""], "malformed", {}),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", 0.01, b""], "malformed", {}),
        ([b"SSH-2.0-OpenSSH_9.2\r\n"], "malformed", {}),
        ([OK + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\nxx"], "malformed", {}),
        ([OK + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx"], "malformed", {}),
        ([OK + b"Content-Length: 2000\r\n\r\n" + b"x" * 2000], "too_large", {}),
        ([b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n"], "not_found", {}),
        ([], "timeout", {"total": 0.3}),
        ([OK + b"Content-Length: 9\r\n\r\n{"], "timeout", {"total": 0.3}),
        ([0.6], "first_byte_timeout", {"first_byte": 0.3}),
        ([OK, 0.6], "first_byte_timeout", {"first_byte": 0.3}),
        ([OK + b"Content-Length: 9\r\n\r\n{", 0.6], "idle_timeout", {"idle": 0.3}),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n", 0.1] * 30], "timeout",
         {"idle": 1.5, "total": 2.0}),
    ],
)  # fmt: skip
async def test_faults(route: str, sent: list[Part], kind: str, limits: dict[str, float]) -> None:
    """Each has its kind, on either way; only the deadline that is to be met is short."""
    limits = {f"{name}_timeout_seconds": seconds for name, seconds in limits.items()}
    server = Server(sent)
    assert await bodies(server, route, 1, response_bytes_max=1024, **limits) == [kind]


@ROUTES
async def test_a_connection_serves_many_and_a_closed_one_is_no_attempt(route: str) -> None:
    """One connection carries what comes after; when it was closed meanwhile, that is told apart from a fault."""
    server = Server([WHOLE], [WHOLE], [b""], [WHOLE])
    async with talking(server, route) as (transport, url):
        assert [isinstance(await ask(transport, url), Fetched) for _ in range(2)] == [True, True]
        assert server.connections == 1
        hung_up = await ask(transport, url)
        assert isinstance(hung_up, Fault)
        assert (hung_up.hung_up, hung_up.on_reused) == (True, True)
        assert isinstance(await ask(transport, url), Fetched)
    assert server.connections == 2


@pytest.mark.parametrize(
    "first",
    [
        [WHOLE + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen"],
        [WHOLE, 0.01, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen"],
        [WHOLE + b"\x00garbage"],
        [OK + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}stolen"],
    ],
    ids=["two-answers", "a-second-one-later", "garbage", "after-close"],
)
async def test_an_answer_is_never_taken_for_another_requests(first: list[Part]) -> None:
    """What was not asked for closes the connection; the next request goes out on a new one."""
    server = Server(first, [OK + b"Content-Length: 4\r\n\r\nmine"])
    async with talking(server) as (transport, url):
        one = await ask(transport, url)
        assert isinstance(one, Fetched)
        assert one.body == b"{}"
        assert isinstance(transport, HttpTransport)
        await comes_to(lambda: open_connections(transport) == 0)
        two = await ask(transport, url)
    assert isinstance(two, Fetched)
    assert two.body == b"mine"
    assert server.connections == 2


async def test_a_request_that_is_given_up_takes_its_connection_with_it() -> None:
    """The late answer to a cancelled request is dropped."""
    given_up = asyncio.Event()
    server = Server([given_up, OK + b"Content-Length: 4\r\n\r\nlate"], [WHOLE])
    async with talking(server) as (transport, url):
        asking = asyncio.create_task(ask(transport, url))
        await comes_to(lambda: len(server.requests) == 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        given_up.set()
        fetched = await ask(transport, url)
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"{}"
    assert server.connections == 2


async def test_the_connection_of_a_stream_is_used_again() -> None:
    """After ``[DONE]`` the end of the message is still to come; what comes later than that closes the connection."""
    server = Server([STREAMED, 0.05, b"0\r\n\r\n"], [WHOLE])
    async with talking(server) as (transport, url):
        stream = EventStream(chat=True)
        streamed = await ask(transport, url, stream)
        assert isinstance(streamed, Fetched)
        assert streamed.streamed
        assert stream.answer()["choices"][0]["message"]["content"] == "x"
        assert isinstance(transport, HttpTransport)
        pool = transport._pool
        assert pool is not None
        await comes_to(lambda: bool(pool._idle))
        assert isinstance(await ask(transport, url), Fetched)
    assert server.connections == 1


async def test_a_connection_that_was_idle_for_long_is_not_used_again() -> None:
    """Servers close idle connections, so after a quarter of a minute a new one is made."""
    server = Server([WHOLE], [WHOLE], [WHOLE])
    async with talking(server) as (transport, url):
        assert isinstance(transport, HttpTransport)
        assert isinstance(await ask(transport, url), Fetched)
        assert isinstance(await ask(transport, url), Fetched)
        assert server.connections == 1
        assert transport._pool is not None
        transport._pool._idle[0].idle_since -= 16
        assert isinstance(await ask(transport, url), Fetched)
    assert server.connections == 2


async def test_a_stream_whose_end_does_not_come_costs_its_connection() -> None:
    """The answer is there; the connection is dropped and nothing of it kept."""
    server = Server([STREAMED, 0.05, b""], [WHOLE])
    async with talking(server) as (transport, url):
        assert isinstance(transport, HttpTransport)
        assert isinstance(await ask(transport, url, EventStream(chat=True)), Fetched)
        await comes_to(lambda: open_connections(transport) == 0)
        assert isinstance(await ask(transport, url), Fetched)
    assert server.connections == 2


async def test_a_head_without_end_is_cut_off() -> None:
    """A server that sends headers for ever fills no memory."""
    server = Server([OK, *[b"X-Filler: " + b"y" * 60_000 + b"\r\n"] * 8])
    assert await bodies(server, "straight", 1) == ["too_large"]


@pytest.mark.parametrize("name", ["Content-Length", "Transfer-Encoding", "Connection", "a b", ""])
def test_headers_that_would_break_the_framing_are_refused(name: str) -> None:
    """What says where a message ends is not the user's to set."""
    with pytest.raises(ConfigError, match="cannot be set"):
        transport_for(EndpointConfig(url="http://x/v1", model="m"), {name: "1"})


async def test_a_line_break_in_a_header_is_never_sent() -> None:
    """A value that would become two headers is a fault of this request alone."""
    server = Server([WHOLE])
    async with talking(server) as (transport, url):
        fault = await transport.fetch("POST", url, b"{}", {"X-Nel-Sample-Id": "a\r\nX-Other: b"})
        assert isinstance(fault, Fault)
        assert isinstance(await ask(transport, url), Fetched)
    assert len(server.requests) == 1


def _says(word: str) -> bytes:
    return OK + b"Content-Length: %d\r\n\r\n%b" % (len(word), word.encode())


@pytest.mark.parametrize("parts", [[_says("a") + _says("a")], [_says("a"), 0.0, _says("a")]], ids=["at-once", "later"])
async def test_a_second_response_before_the_next_request_touches_nothing(
    parts: list[Part], carried: CarriedRequests
) -> None:
    """The connection is closed, the next request has one of its own, and no answer is in doubt."""
    server = Server(parts, [_says("b")], [_says("c")])
    async with talking(server) as (transport, url):
        assert await named(carried, transport, url, "A") == b"a"
        await comes_to(lambda: touched(carried, transport) == [])
        assert [await named(carried, transport, url, "B"), await named(carried, transport, url, "C")] == [b"b", b"c"]
        assert touched(carried, transport) == []
    assert server.connections == 3  # none is used again once this has happened


async def test_a_second_response_after_the_next_request_puts_the_rest_in_doubt(carried: CarriedRequests) -> None:
    """B got the answer to A, and C that to B: both are named when the answer to C arrives, which nothing waits for."""
    server = Server([_says("a")], [_says("a")], [_says("b"), _says("c")], [_says("d")])
    async with talking(server) as (transport, url):
        assert [await named(carried, transport, url, name) for name in "ABC"] == [b"a", b"a", b"b"]
        await comes_to(lambda: touched(carried, transport) == ["B", "C"])
        assert await named(carried, transport, url, "D") == b"d"
    assert server.connections == 2


@pytest.mark.parametrize("late", [b"\r\n", b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"])
async def test_what_is_no_response_to_another_request_is_no_doubt(late: bytes, carried: CarriedRequests) -> None:
    """A line break too many, and the 408 with which servers take leave of an idle connection."""
    idle = asyncio.Event()
    server = Server([_says("a")], [_says("b"), idle, late, b""], [_says("c")])
    async with talking(server) as (transport, url):
        assert isinstance(transport, HttpTransport)
        assert [await named(carried, transport, url, name) for name in "AB"] == [b"a", b"b"]
        idle.set()
        await comes_to(lambda: open_connections(transport) == 0)
        assert await named(carried, transport, url, "C") == b"c"
        assert touched(carried, transport) is None


async def test_bytes_that_the_event_loop_has_not_read_keep_a_connection_from_being_used(
    carried: CarriedRequests,
) -> None:
    """A second response has arrived, but was not read when the next request is about to be sent."""
    sent = threading.Event()

    def serve(listening: socket.socket) -> None:
        first, _ = listening.accept()
        first.recv(65536)
        first.sendall(_says("a"))
        go.wait(60)
        first.sendall(_says("a"))
        sent.set()
        second, _ = listening.accept()
        second.recv(65536)
        second.sendall(_says("b"))
        first.close()
        second.close()

    go = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        async with transport_for(EndpointConfig(url=url, model="m"), {}) as transport:
            assert await named(carried, transport, f"{url}/chat/completions", "A") == b"a"
            go.set()
            sent.wait(60)  # blocks the event loop on purpose
            assert await named(carried, transport, f"{url}/chat/completions", "B") == b"b"
            await comes_to(lambda: touched(carried, transport) == [])
        thread.join(60)
