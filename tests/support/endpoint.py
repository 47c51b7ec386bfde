"""A scripted OpenAI-compatible endpoint on loopback, in a thread of its own, with a log of what it was sent."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Reply:
    """What the endpoint sends back."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    wait: threading.Event | None = None
    reset: bool = False


@dataclass
class Call:
    """What the endpoint was sent."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str

    @property
    def text(self) -> str:
        if "prompt" in self.body:
            return str(self.body["prompt"])
        return "\n".join(str(message["content"]) for message in self.body["messages"])


Script = Callable[[Call, int], Reply]


def answer(text: str | None, *, finish: str = "stop", **message: Any) -> Reply:
    """Return a well-formed chat answer."""
    return Reply(
        body={
            "model": "served-model",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
            ],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        }
    )


@dataclass
class Endpoint:
    """A running scripted endpoint."""

    url: str
    calls: list[Call]
    models: list[str] | None

    def resent(self) -> int:
        """Return how many requests repeated an earlier body."""
        counts = Counter(json.dumps(call.body, sort_keys=True) for call in self.calls)
        return sum(count - 1 for count in counts.values())


@contextmanager
def scripted(script: Script, *, models: list[str] | None = None, key: str | None = None) -> Iterator[Endpoint]:
    """Serve a script until the block ends.

    Args:
        script: Gets the call and how often its body was seen before; returns the reply.
        models: What ``GET /v1/models`` lists; None answers 404.
        key: Refuse every request without this bearer token.
    """
    endpoint = Endpoint(url="", calls=[], models=models)
    seen: Counter[str] = Counter()
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stopped = asyncio.Event()

    def refused(request: web.Request) -> web.Response | None:
        if key is not None and request.headers.get("Authorization") != f"Bearer {key}":
            body = {
                "error": {
                    "message": "Incorrect API key provided",
                    "type": "invalid_request_error",
                    "code": "invalid_api_key",
                }
            }
            return web.json_response(body, status=401)
        return None

    async def complete(request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        if (refusal := refused(request)) is not None:
            return refusal
        call = Call(body=json.loads(raw), headers=dict(request.headers), path=request.path)
        number = seen[raw.decode()]
        seen[raw.decode()] += 1
        endpoint.calls.append(call)
        reply = script(call, number)
        if reply.wait is not None:
            await asyncio.to_thread(reply.wait.wait, 30)
        if reply.reset and request.transport is not None:
            request.transport.abort()
        if reply.raw is not None:
            return web.Response(status=reply.status, body=reply.raw, headers=reply.headers)
        return web.json_response(reply.body, status=reply.status, headers=reply.headers)

    async def list_models(request: web.Request) -> web.Response:
        if (refusal := refused(request)) is not None:
            return refusal
        if models is None:
            return web.json_response({"error": {"message": "not here"}}, status=404)
        return web.json_response({"object": "list", "data": [{"id": name} for name in models]})

    async def serve() -> None:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/chat/completions", complete)
        app.router.add_post("/v1/completions", complete)
        app.router.add_get("/v1/models", list_models)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await stopped.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(10)
        loop.close()
