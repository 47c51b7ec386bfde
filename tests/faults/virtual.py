"""The client alone against a script, without a run: over sockets, or under a virtual clock.

Under the virtual clock waits of hours take no time and are exact. It takes the scripts of `tests.faults.server`, as far
as their replies are bytes and seconds. Only the transport and the clock are replaced; faults of sockets need a server.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from multidict import CIMultiDict

from nel.config.schema import EndpointConfig
from nel.models.client import Client
from nel.models.client_context import ClientContext
from nel.models.faults import Fault
from nel.models.pacing import Gate, pace_of
from nel.models.transport import Fetched
from nel.types import Generation, Message, Request, Response
from tests.faults.runs import QUICK
from tests.faults.server import Call, Script, Server, Table, by_number
from tests.simulation.loop import Clock, run_virtually
from tests.support.transport import OpenTransport


class VirtualServer(OpenTransport, Server):
    """A transport that answers as a script says; its calls have the virtual times at which they were sent."""

    def __init__(self, script: Script | Table) -> None:
        super().__init__(url="http://127.0.0.1:9/v1")
        self._script = script if callable(script) else by_number(script)
        self._seen: Counter[str] = Counter()

    async def fetch(
        self, method: str, url: str, body: bytes, headers: Mapping[str, str], stream: Any
    ) -> Fetched | Fault:
        loop = asyncio.get_running_loop()
        digest = hashlib.sha256(body).hexdigest()
        self.in_flight += 1
        call = Call(
            method=method, path=url, headers=dict(headers), raw=body, body=json.loads(body), at=loop.time(),
            attempt=self._seen[digest], connections=0, in_flight=self.in_flight, connection=0,
            order=list(self._seen).index(digest) if digest in self._seen else len(self._seen),
        )  # fmt: skip
        self._seen[digest] += 1
        self.calls.append(call)
        try:
            received = b""
            for step in self._script(call):
                if isinstance(step, bytes):
                    if stream is not None and received:  # what comes after the head
                        stream.feed(step, loop.time())
                    received += step
                else:
                    assert isinstance(step, float | int), "only bytes and seconds are simulated"
                    await asyncio.sleep(step)
        finally:
            self.in_flight -= 1
        fetched = _read(received, loop.time() - call.at)
        return fetched if stream is None else replace(fetched, body=b"", streamed=True, started=call.at)


def _read(received: bytes, seconds: float) -> Fetched:
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = CIMultiDict((name, value.strip()) for name, _, value in pairs)
    return Fetched(int(status.split()[1]), headers, body, seconds=seconds)


def ask(
    server: Server, n: int = 1, *, concurrency: int = 4, max_tokens: int | None = None, **endpoint: Any
) -> list[Response]:
    """Return the responses to n sums; they end as an evaluation's requests do, after every retry."""
    jitter = random.Random(5).random  # noqa: S311 - nothing secret
    settings = EndpointConfig.model_validate({**QUICK, "url": server.url, **endpoint})
    is_virtual = isinstance(server, VirtualServer)
    context = ClientContext(jitter=jitter, transport=server) if is_virtual else ClientContext(jitter=jitter)

    async def ask_all() -> list[Response]:
        gate = Gate(pace_of(settings, concurrency), jitter=jitter)
        async with Client(settings, api_key=None, connections=concurrency, gate=gate, context=context) as client:
            sums = (_sum(number, max_tokens) for number in range(n))
            return await asyncio.gather(*(client.complete(request, body) for request, body in sums))

    if not is_virtual:
        return asyncio.run(ask_all())
    return run_virtually(ask_all(), Clock(), started=lambda _: None, died=lambda: None)


def end_of(response: Response) -> str:
    """Return ``answered``, the kind of the model's failure, or ``infra:kind`` as in a run."""
    if (error := response.error) is None:
        return "answered"
    return str(error.model_failure or f"{error.cause}:{error.kind}")


def _sum(number: int, max_tokens: int | None) -> tuple[Request, bytes]:
    text = f"What is {number} plus {number}?"
    request = Request(
        protocol="chat", model="m", sample_id=str(number), repeat=0, messages=(Message(role="user", content=text),),
        generation=Generation(max_tokens=max_tokens),
    )  # fmt: skip
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return request, json.dumps(body if max_tokens is None else {**body, "max_tokens": max_tokens}).encode()
