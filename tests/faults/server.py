"""A scripted loopback server on raw sockets, which may break HTTP in every way that a real endpoint does.

What it sends for a call is a `Reply`: a list of steps that are bytes to write, seconds to wait, or one of the actions
below. It logs each call with its time, attempt number, open connections and calls in flight. Note: it does not repair
anything, so a reply without a length or a close leaves the client waiting, which is sometimes the point.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from nel.models.refusals import NEUTRAL_PROMPT

HANGS_SECONDS = 120.0
"""What takes longer than this hangs; nothing that works comes near it, however slow the machine."""


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds that will."""
    deadline = time.monotonic() + HANGS_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"it never came to this: {what}"
        time.sleep(0.002)


class Do(Enum):
    """What a server can do to a connection besides writing."""

    RESET = "reset"
    """Close with a TCP reset."""
    CLOSE = "close"
    """Close in order; bytes before it arrive."""
    HALF_CLOSE = "half_close"
    """End the writing side alone and go on reading."""
    HANG = "hang"
    """Do nothing until the client goes away."""


@dataclass(frozen=True)
class Endless:
    """Write a block over and over until the client goes away, or at most so many times."""

    block: bytes
    times: int = 1 << 20
    pause: float = 0.0


@dataclass(frozen=True)
class Gate:
    """Wait until an event is set, or the server ends."""

    event: threading.Event


Step: TypeAlias = "bytes | float | Do | Endless | Gate"
Reply: TypeAlias = "list[Step]"


@dataclass(kw_only=True)
class Call:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    raw: bytes
    body: Any
    at: float
    """Monotonic seconds."""
    attempt: int
    """How often this body was seen before."""
    connections: int
    """Open connections, this one included."""
    in_flight: int
    """Calls that have no answer yet, this one included."""
    connection: int
    """The number of its connection."""
    order: int = -1
    """How many other bodies came before the first of its own; questions come in a drawn order."""
    answered: bool = False
    """The whole reply was written and the client was still there."""
    sent_bytes: int = 0
    good: bool = False
    """The reply is the whole right answer."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str:
        body = self.body if isinstance(self.body, dict) else {}
        if "prompt" in body:
            return str(body["prompt"])
        return "\n".join(str(message["content"]) for message in body.get("messages", []))

    @property
    def number(self) -> int:
        """The number in ``What is N plus N?``; -1 in the neutral prompt."""
        return -1 if self.text == NEUTRAL_PROMPT else int(self.text.rpartition("What is ")[2].split()[0])


Script: TypeAlias = "Callable[[Call], Reply]"
Table: TypeAlias = "Mapping[int, Reply | Sequence[Reply]]"
"""Replies by the number in the prompt: one for always, or one for each attempt, and after those the right answer."""


def http(
    body: bytes | str = b"",
    *,
    status: int = 200,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    length: int | None = None,
    kind: str = "application/json",
    version: str = "1.1",
) -> Reply:
    """Return a whole response with its length."""
    data = body.encode() if isinstance(body, str) else body
    pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    lines = [f"HTTP/{version} {status} Status", f"Content-Type: {kind}"]
    lines += [f"{name}: {value}" for name, value in pairs]
    lines.append(f"Content-Length: {len(data) if length is None else length}")
    return [("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + data]


def error(status: int, message: str = "broken", *, headers: Any = (), **fields: Any) -> Reply:
    """Return an error as OpenAI-compatible servers write it."""
    return http(json.dumps({"error": {"message": message, **fields}}), status=status, headers=headers)


def chunked(*parts: Step, kind: str = "application/json", headers: Sequence[str] = (), end: bool = True) -> Reply:
    """Return a response in chunks; steps other than bytes go between them."""
    head = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Transfer-Encoding: chunked", *headers]
    steps: Reply = [("\r\n".join(head) + "\r\n\r\n").encode("latin-1")]
    steps += [chunk(part) if isinstance(part, bytes) else part for part in parts]
    return [*steps, b"0\r\n\r\n"] if end else steps


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def answer_json(text: str | None, *, finish: str | None = "stop", usage: Any = ..., **message: Any) -> dict[str, Any]:
    """Return the body of a well-formed chat answer."""
    counts = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    body: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
        "usage": counts if usage is ... else usage,
    }
    if usage is None:
        del body["usage"]
    return body


def answer(text: str | None, *, headers: Any = (), **more: Any) -> Reply:
    """Return a well-formed chat answer as a reply."""
    return http(json.dumps(answer_json(text, **more)), headers=headers)


def right(call: Call) -> Reply:
    """Return the right answer to ``What is N plus N?``."""
    return answer(f"Answer: {2 * call.number}")


def by_number(table: Table, *, otherwise: Script = right) -> Script:
    """Return a script that looks the reply up by the number in the prompt."""

    def script(call: Call) -> Reply:
        found = table.get(call.number)
        if found is None:
            return otherwise(call)
        if found and isinstance(found[0], list):
            return found[call.attempt] if call.attempt < len(found) else otherwise(call)  # type: ignore[return-value]
        return found  # type: ignore[return-value]

    return script


@dataclass
class Server:
    """A running server."""

    url: str = ""
    port: int = 0
    calls: list[Call] = field(default_factory=list)
    """Requests for the answer to a sample."""
    others: list[Call] = field(default_factory=list)
    """Every other request, such as the list of models, or a neutral prompt."""
    connections: int = 0
    """Open now."""
    accepted: int = 0
    in_flight: int = 0

    def resent(self) -> int:
        """Return how many requests repeated an earlier body."""
        return sum(count - 1 for count in Counter(call.digest for call in self.calls).values())

    def of(self, number: int) -> list[Call]:
        """Return the calls for one prompt."""
        return [call for call in self.calls if call.number == number]

    def wait_for(self, n: int) -> None:
        """Wait until so many calls have come; the caller holds the answers that would end the run."""
        wait_until(lambda: len(self.calls) >= n, f"{n} calls have come")


class _Gone(Exception):
    """The connection is over."""


class _Serving:
    def __init__(self, server: Server, script: Script, models: list[str] | Reply | None) -> None:
        self.server, self.script, self.models = server, script, models
        self.seen: Counter[str] = Counter()
        self.orders: dict[str, int] = {}
        self.tasks: set[asyncio.Task[Any]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        self.server.connections += 1
        self.server.accepted += 1
        number = self.server.accepted
        try:
            while await self._serve_one(reader, writer, number):
                pass
        except (_Gone, OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
            pass
        finally:
            self.server.connections -= 1
            self.tasks.discard(task)
            with suppress(OSError, RuntimeError):
                writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        call = self._note(method, path, headers, raw, number)
        self.server.in_flight += 1
        try:
            reply = self._reply(call)
            with suppress(ValueError, IndexError):
                call.good = call.method == "POST" and reply[-1:] == right(call)[-1:]
            for step in reply:
                await self._do(step, reader, writer, call)
            call.answered = not reader.at_eof()
        finally:
            self.server.in_flight -= 1
        return headers.get("connection", "").lower() != "close"

    def _note(self, method: str, path: str, headers: dict[str, str], raw: bytes, number: int) -> Call:
        digest = hashlib.sha256(raw).hexdigest()
        body = None
        with suppress(ValueError):
            body = json.loads(raw)
        call = Call(
            method=method, path=path, headers=headers, raw=raw, body=body, at=time.monotonic(),
            attempt=self.seen[digest], connections=self.server.connections, in_flight=self.server.in_flight + 1,
            connection=number, order=self.orders.setdefault(digest, len(self.orders)) if method == "POST" else -1,
        )  # fmt: skip
        asked = method == "POST"
        if asked:
            self.seen[digest] += 1
        is_sample = asked and call.text != NEUTRAL_PROMPT
        (self.server.calls if is_sample else self.server.others).append(call)
        return call

    def _reply(self, call: Call) -> Reply:
        if call.method == "POST":
            return self.script(call)
        if self.models is None or not call.path.endswith("/models"):
            return error(404, "not here")
        if self.models and not isinstance(self.models[0], str):
            return self.models  # type: ignore[return-value]
        return http(json.dumps({"object": "list", "data": [{"id": name} for name in self.models]}))

    async def _do(self, step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, call: Call) -> None:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
            call.sent_bytes += len(step)
        elif isinstance(step, (float, int)):
            await asyncio.sleep(step)
        elif isinstance(step, Gate):
            while not step.event.is_set():  # noqa: ASYNC110 - another thread sets it
                await asyncio.sleep(0.002)
        elif isinstance(step, Endless):
            await self._endlessly(step, writer, call)
        elif step is Do.HALF_CLOSE:
            writer.write_eof()
        elif step is Do.HANG:
            while await reader.read(65536):
                pass
            raise _Gone
        elif step is Do.RESET:
            kernel_socket = writer.get_extra_info("socket")
            kernel_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            raise _Gone
        else:
            writer.close()
            raise _Gone

    async def _endlessly(self, step: Endless, writer: asyncio.StreamWriter, call: Call) -> None:
        for _ in range(step.times):
            writer.write(step.block)
            await writer.drain()
            call.sent_bytes += len(step.block)
            if step.pause:
                await asyncio.sleep(step.pause)


@contextmanager
def serving(
    script: Script | Table = right,
    *,
    models: list[str] | Reply | None = None,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    on: socket.socket | None = None,
) -> Iterator[Server]:
    """Serve a script until the block ends.

    Args:
        script: Gets the call and returns the reply; or replies by the number in the prompt.
        models: What ``GET /v1/models`` lists, or the reply to it; None answers 404.
        tls: Serve HTTPS with this context.
        host: The address to bind, on any free port; an IPv6 one as well.
        on: The bound socket to listen on instead; it is closed at the end.
    """
    server = Server()
    serve = script if callable(script) else by_number(script)
    loop = asyncio.new_event_loop()
    ready, stopped = threading.Event(), asyncio.Event()

    async def run() -> None:
        state = _Serving(server, serve, models)
        where: dict[str, Any] = {"host": host, "port": 0} if on is None else {"sock": on}
        listening = await asyncio.start_server(state.connected, **where, ssl=tls, limit=1 << 26, backlog=2048)
        server.port = listening.sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        server.url = f"{'https' if tls else 'http'}://{shown}:{server.port}/v1"
        ready.set()
        await stopped.wait()
        listening.close()
        tasks = list(state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert ready.wait(HANGS_SECONDS)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(HANGS_SECONDS)
        loop.close()


@contextmanager
def black_hole(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """Hold a port whose queue of connections is full, so that a further one is never made; yield the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.bind((host, port))
        listening.listen(0)
        fillers = []
        for _ in range(4):
            filler = socket.socket(family)
            filler.setblocking(False)
            with suppress(BlockingIOError):
                filler.connect(listening.getsockname()[:2])
            fillers.append(filler)
        try:
            yield int(listening.getsockname()[1])
        finally:
            for filler in fillers:
                filler.close()


@contextmanager
def closed_port() -> Iterator[tuple[int, socket.socket]]:
    """Hold a port where nothing listens, so that no other process gets it; yield it and its socket."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1]), held
