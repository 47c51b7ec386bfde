"""A scripted OpenAI-compatible endpoint on loopback, in a thread of its own, with a log of what it was sent."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from nel.models.refusals import NEUTRAL_PROMPT
from tests.support.serving import serve_in_thread


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
    query: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        if "prompt" in self.body:
            return str(self.body["prompt"])
        asked = self.body["messages"] if "messages" in self.body else self.body["input"]
        return "\n".join(str(message.get("content")) for message in asked)

    @property
    def number(self) -> int:
        """Return the number in the question of `tests.support.runs.sums`."""
        return int(self.text.rpartition("What is ")[2].split()[0])


Script = Callable[[Call, int], Reply]
_HELD_LOOK_SECONDS = 0.01


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


def right_sum(call: Call, _: int) -> Reply:
    """Answer a question of `tests.support.runs.sums` right."""
    return answer(f"Answer: {2 * call.number}")


class Turnstile:
    """A script that lets so many requests pass and keeps the others waiting, so that a run cannot get to its end."""

    def __init__(self, script: Script) -> None:
        """Let everything pass."""
        self._script = script
        self._seen = 0
        self._last: float = math.inf
        self._opened = threading.Event()

    def __call__(self, call: Call, number: int) -> Reply:
        """Reply as the script does, at once or when the turnstile is opened."""
        reply = self._script(call, number)
        self._seen += 1
        if self._seen > self._last:
            reply.wait = self._opened
        return reply

    def hold_after(self, n: int) -> None:
        """Let n more requests pass."""
        self._opened = threading.Event()
        self._last = self._seen + n

    def open(self) -> None:
        """Let everything pass, and what waits first."""
        self._last = math.inf
        self._opened.set()


@dataclass
class Endpoint:
    """A running scripted endpoint."""

    url: str
    calls: list[Call]
    models: list[str] | None

    @property
    def of_samples(self) -> list[Call]:
        """Return the calls without the neutral prompts."""
        return [call for call in self.calls if call.text != NEUTRAL_PROMPT]

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
    stopped = threading.Event()

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
        call = Call(body=json.loads(raw), headers=dict(request.headers), path=request.path, query=dict(request.query))
        number = seen[raw.decode()]
        seen[raw.decode()] += 1
        endpoint.calls.append(call)
        reply = script(call, number)
        # Not in a thread for each: those of the loop are few, and they would outlive the endpoint.
        while reply.wait is not None and not (reply.wait.is_set() or stopped.is_set()):  # noqa: ASYNC110
            await asyncio.sleep(_HELD_LOOK_SECONDS)
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

    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_post("/v1/completions", complete)
    app.router.add_post("/v1/responses", complete)
    app.router.add_get("/v1/models", list_models)
    with serve_in_thread(app) as port:
        endpoint.url = f"http://127.0.0.1:{port}/v1"
        try:
            yield endpoint
        finally:
            stopped.set()
