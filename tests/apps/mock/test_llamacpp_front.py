"""The front of llama.cpp's server: what it echoes, what it refuses, and that all else passes as it is.

The server behind it is a small one with llama.cpp's routes, whose model gives a token the log-probability -id/100; the
real one is asked in tests/servers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from nel.apps.http_server import running
from nel.apps.mock.llamacpp_front import front_of

CONTEXT = 40
STAND_IN = 97


class LlamaCpp:
    """A server with llama.cpp's routes; its tokens are words, and the four bytes of an emoji."""

    def __init__(self) -> None:
        self.vocabulary: dict[str | bytes, int] = {"a": STAND_IN}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.hung_up = asyncio.Event()
        self.is_shifted = False

    def app(self) -> web.Application:
        app = web.Application()
        app.add_routes(
            [
                web.post("/tokenize", self.tokenize),
                web.post("/completion", self.complete),
                web.post("/v1/completions", self.answer),
                web.get("/v1/slow", self.slow),
            ]
        )
        return app

    def id_of(self, piece: str | bytes) -> int:
        return self.vocabulary.setdefault(piece, 200 + len(self.vocabulary))

    async def tokenize(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") == "Bearer wrong":
            error = {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}
            return web.json_response({"error": error}, status=401)
        body = await request.json()
        if not body.get("with_pieces"):
            return web.json_response({"tokens": [STAND_IN]})
        pieces: list[str | bytes] = []
        for word in body["content"].replace(" ", "\0 ").replace("<|end|>", "\0<|end|>").split("\0"):
            raw = word.encode()
            pieces += [word] if word.isascii() else [raw[:2], *(raw[at : at + 1] for at in range(2, len(raw)))]
        tokens = [{"id": self.id_of(one), "piece": one if isinstance(one, str) else list(one)} for one in pieces if one]
        return web.json_response({"tokens": tokens})

    def said(self, token: int, n_probs: int) -> dict[str, Any]:
        listed = [{"id": one, "token": str(piece), "logprob": -one / 100} for piece, one in self.vocabulary.items()]
        return {
            "id": token,
            "token": "x",
            "logprob": -token / 100,
            "top_logprobs": sorted(listed, key=lambda one: -one["logprob"])[:n_probs],
        }

    async def complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append((request.path, body))
        if "grammar" in body:
            ids = [int(one.strip("<[]>")) for one in body["grammar"].removeprefix("root ::= ").split()]
            assert len(ids) == body["n_predict"]
        else:
            ids = [body["logit_bias"][0][0]]
        if self.is_shifted:
            ids = ids[1:]
        return web.json_response({"completion_probabilities": [self.said(one, body["n_probs"]) for one in ids]})

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append((request.path, body))
        content = [{**self.said(self.id_of(" yes"), body.get("logprobs") or 1), "token": " yes"}]
        choice = {"index": 0, "text": " yes", "finish_reason": "length", "logprobs": {"content": content}}
        return web.json_response({"choices": [choice]}, headers={"X-Own": "kept"})

    async def slow(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            await response.write(b"first")
            while True:
                await response.write(b".")
                await asyncio.sleep(0.01)
        except (ConnectionError, asyncio.CancelledError):
            self.hung_up.set()
            raise
        return response


@asynccontextmanager
async def served() -> AsyncIterator[tuple[LlamaCpp, str, aiohttp.ClientSession]]:
    behind = LlamaCpp()
    async with (
        running(behind.app()) as root,
        front_of(root.removesuffix("/v1"), "127.0.0.1", 0, context_tokens=CONTEXT) as url,
        aiohttp.ClientSession() as session,
    ):
        yield behind, url, session


async def echoed(session: aiohttp.ClientSession, url: str, **body: Any) -> tuple[int, Any]:
    asked = {"model": "m", "echo": True, "logprobs": 1, "max_tokens": 1, **body}
    async with session.post(f"{url}/completions", json=asked) as answer:
        return answer.status, await answer.json()


async def test_a_prompt_is_echoed_in_the_legacy_form() -> None:
    """Tokens are the prompt's and the answer's, each with its own log-probability and the likeliest beside it."""
    async with served() as (behind, url, session):
        status, answer = await echoed(session, url, prompt="one two three")
        ids = [behind.id_of(word) for word in ("one", " two", " three", " yes")]
    assert status == 200
    choice = answer["choices"][0]
    assert choice["text"] == "one two three yes"
    assert choice["logprobs"] == {
        "tokens": ["one", " two", " three", " yes"],
        "token_logprobs": [None, *(-one / 100 for one in ids[1:])],
        "top_logprobs": [
            None,
            {"a": -0.97, " two": -ids[1] / 100},
            {"a": -0.97, " three": -ids[2] / 100},
            {"a": -0.97, " yes": -ids[3] / 100},
        ],
        "text_offset": [0, 3, 7, 13],
    }
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    path, dictated = behind.asked[0]
    assert (path, dictated["prompt"], dictated["grammar"]) == (
        "/completion",
        ids[:1],
        f"root ::= <[{ids[1]}]> <[{ids[2]}]>",
    )


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"prompt": "one " * 40}, 400, "exceeds the available context size"),
        ({"prompt": ""}, 400, "none of the prompts"),
        ({"prompt": [1, 2]}, 400, "prompt[0]"),
        ({"prompt": "x", "logprobs": 99}, 400, "less than or equal to 20"),
        ({"prompt": "x", "n": 2}, 400, "n: Input should be 1"),
        ({"prompt": "x", "stream": True}, 400, "stream"),
    ],
)
async def test_what_cannot_be_echoed_is_refused(body: dict[str, Any], status: int, says: str) -> None:
    """Each refusal is an error in OpenAI's form, and nothing is asked of the model."""
    async with served() as (behind, url, session):
        found, answer = await echoed(session, url, **body)
    assert (found, behind.asked) == (status, [])
    assert says in answer["error"]["message"]


async def test_faults_of_the_upstream_server_are_passed_on() -> None:
    """A refused key has the server's words and status; tokens that it did not repeat are not log-probabilities."""
    async with served() as (behind, url, session):
        async with session.post(
            f"{url}/completions",
            json={"model": "m", "prompt": "x y", "echo": True},
            headers={"Authorization": "Bearer wrong"},
        ) as answer:
            assert (answer.status, (await answer.json())["error"]["message"]) == (401, "Invalid API Key")
        behind.is_shifted = True
        status, answer = await echoed(session, url, prompt="one two three")
        assert (status, answer["error"]["code"]) == (500, "echo_failed")


async def test_everything_else_passes_as_it_is() -> None:
    """A request without echo has the server's own answer and headers, and a client that hangs up ends it."""
    async with served() as (behind, url, session):
        async with session.post(f"{url}/completions", json={"prompt": "x", "logprobs": 1}) as answer:
            assert answer.headers["X-Own"] == "kept"
            assert "content" in (await answer.json())["choices"][0]["logprobs"]
        async with session.get(f"{url}/none") as answer:
            assert answer.status == 404
        async with session.get(f"{url}/slow") as answer:
            assert await answer.content.readexactly(5) == b"first"
        async with asyncio.timeout(30):
            await behind.hung_up.wait()
