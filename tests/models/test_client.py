"""The client: what waits grow from, what is waited for, and its headers; `tests.faults` has retries and deadlines."""

from __future__ import annotations

import asyncio
import errno
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from nel.config.schema import EndpointConfig
from nel.core.strict_json import dumps_bytes
from nel.engine.store.codec import decode_response, encode_response
from nel.models.cache import ResponseCache
from nel.models.client import Client
from nel.models.client_context import ClientContext
from nel.models.faults import Fault
from nel.models.pacing import Gate, Pace
from nel.models.transport import Fetched, fault_of_exception
from nel.models.transport.faults import ConnectFailed
from nel.models.wire.registry import build_body
from nel.types import Message, Request, Response
from tests.simulation.loop import Clock, run_virtually
from tests.support.endpoint import Call, Reply, answer, scripted


def _request(text: str = "hi", repeat: int = 0) -> Request:
    messages = (Message(role="user", content=text),)
    return Request(protocol="chat", model="m", sample_id="sample-é", repeat=repeat, messages=messages)


async def _complete(url: str, *, key: str | None = None, **settings: Any) -> tuple[Response, Client]:
    endpoint = EndpointConfig(url=url, model="m", **{"backoff_seconds": 0.001, **settings})
    async with Client(endpoint, api_key=key, connections=4, context=ClientContext(jitter=lambda: 0.0)) as client:
        request = _request()
        return await client.complete(request, dumps_bytes(build_body(request))), client


def test_equal_requests_at_once_are_sent_once_where_there_is_a_cache(tmp_path: Path) -> None:
    """The others wait for the first one's answer and find it; after a failure the next one asks itself."""

    def script(call: Call, number: int) -> Reply:
        return Reply(status=400, body={"error": {"message": "no"}}) if number == 0 else answer("yes")

    async def ask(url: str) -> list[Response]:
        endpoint = EndpointConfig(url=url, model="m")
        body = dumps_bytes(build_body(_request()))
        with closing(ResponseCache(tmp_path, encode=encode_response, decode=decode_response)) as cache:
            async with Client(endpoint, api_key=None, connections=4, context=ClientContext(cache=cache)) as client:
                return await asyncio.gather(*(client.complete(_request(), body) for _ in range(4)))

    with scripted(script) as endpoint:
        answers = asyncio.run(ask(endpoint.url))
    assert len(endpoint.calls) == 2
    assert [response.cached for response in answers] == [False, False, True, True]
    assert [response.text for response in answers] == ["", "yes", "yes", "yes"]


def test_a_wait_that_the_retry_budget_made_longer_is_grown_from() -> None:
    """The jitter is nothing here: only what was really waited makes the next wait longer."""
    endpoint = EndpointConfig(url="http://127.0.0.1:9/v1", model="m", backoff_seconds=0.001, attempts_max=4)
    taken = iter([0.2, 0.0, 0.0])
    sent: list[float] = []

    class Refusing:
        unasked: tuple[int, ...] = ()

        async def fetch(self, *_: Any) -> Fault:
            sent.append(asyncio.get_running_loop().time())
            return Fault(kind="server_error", message="no", retryable=True, status=500)

        async def __aenter__(self) -> Refusing:
            return self

        async def __aexit__(self, *_: Any) -> None:
            return None

    async def ask() -> None:
        gate = Gate(Pace(concurrency_max=1))
        gate.retries.take = lambda now: next(taken)  # type: ignore[method-assign]
        async with Client(
            endpoint,
            api_key=None,
            connections=1,
            gate=gate,
            context=ClientContext(jitter=lambda: 0.0, transport=Refusing()),
        ) as client:
            await client.complete(_request(), b"{}")

    run_virtually(ask(), Clock(), started=lambda _: None, died=lambda: None)
    gaps = [later - earlier for earlier, later in pairwise(sent)]
    assert len(gaps) == 3
    assert all(later > 1.1 * earlier > 0.2 for earlier, later in pairwise(gaps))


def test_a_machine_without_open_files_is_waited_for() -> None:
    """Five connections may be open: all requests are answered, none has used up an attempt, and few were in vain."""
    endpoint = EndpointConfig(url="http://127.0.0.1:9/v1", model="m", attempts_max=1)
    seen = {"open": 0, "refused": 0}

    class Short:
        unasked: tuple[int, ...] = ()

        async def fetch(self, *_: Any) -> Fetched | Fault:
            if seen["open"] == 5:
                seen["refused"] += 1
                return fault_of_exception(OSError(errno.EMFILE, "Too many open files"))
            seen["open"] += 1
            await asyncio.sleep(1)
            seen["open"] -= 1
            return Fetched(200, {}, dumps_bytes(answer("4").body), 1.0)

        async def __aenter__(self) -> Short:
            return self

        async def __aexit__(self, *_: Any) -> None:
            return None

    async def ask() -> list[Response]:
        async with Client(
            endpoint, api_key=None, connections=40, context=ClientContext(jitter=lambda: 0.5, transport=Short())
        ) as client:
            return await asyncio.gather(*(client.complete(_request(str(n)), b"{}") for n in range(100)))

    found = run_virtually(ask(), Clock(), started=lambda _: None, died=lambda: None)
    assert [one.error for one in found] == [None] * 100
    assert seen["refused"] < 100


def test_an_outage_that_is_hidden_by_late_answers_costs_no_request() -> None:
    """Three requests are refused for 600 s, while a slow answer arrives every 0.4 s at first: all are answered."""
    endpoint = EndpointConfig(url="http://127.0.0.1:9/v1", model="m", attempts_max=3, retry_seconds_max=60)
    seen = {"refused": 0}

    class Down:
        unasked: tuple[int, ...] = ()

        async def fetch(self, _: str, __: str, body: bytes, *___: Any) -> Fetched | Fault:
            loop = asyncio.get_running_loop()
            if body.isdigit():
                await asyncio.sleep(0.4 * int(body))
            elif loop.time() < begin[0] + 600:
                seen["refused"] += 1
                return fault_of_exception(ConnectFailed("refused"))
            return Fetched(200, {}, dumps_bytes(answer("4").body), 1.0)

        async def __aenter__(self) -> Down:
            return self

        async def __aexit__(self, *_: Any) -> None:
            return None

    begin: list[float] = []

    async def ask() -> list[Response]:
        begin.append(asyncio.get_running_loop().time())
        async with Client(
            endpoint, api_key=None, connections=40, context=ClientContext(jitter=lambda: 0.5, transport=Down())
        ) as client:
            late = [client.complete(_request(str(n)), str(n).encode()) for n in range(1, 30)]
            new = [client.complete(_request(f"new {n}"), b"{}") for n in range(3)]
            return await asyncio.gather(*late, *new)

    found = run_virtually(ask(), Clock(), started=lambda _: None, died=lambda: None)
    assert [one.error for one in found] == [None] * 32
    assert seen["refused"] > 3 * 3


async def test_sample_headers_are_opt_in() -> None:
    """X-Nel-Sample-Id and X-Nel-Repeat are sent only when asked for, as plain ASCII."""

    def script(_: Call, __: int) -> Reply:
        return answer("yes")

    with scripted(script) as endpoint:
        await _complete(endpoint.url)
        await _complete(endpoint.url, send_sample_id=True)
        first, second = endpoint.calls
    assert "X-Nel-Sample-Id" not in first.headers
    assert (second.headers["X-Nel-Sample-Id"], second.headers["X-Nel-Repeat"]) == ("sample-\\xe9", "0")
