"""What an endpoint can do, as few requests show it: yes, no or unknown, with the evidence and never the key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from nel.apps.http_server import running
from nel.apps.mock.demo import DemoOptions, demo_app
from nel.apps.probe.capabilities import REQUESTS_MAX, Capabilities, probe
from nel.config.schema import EndpointConfig
from nel.core.strict_json import dumps, loads
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel
from tests.support.vendors import KEY

REFUSED = {"error": {"message": "Invalid key secret-key-1", "type": "invalid_request_error", "code": "invalid_api_key"}}


def _verdicts(found: Capabilities) -> dict[str, str]:
    assert found.requests <= REQUESTS_MAX
    return {cell.name: cell.verdict for cell in found.cells}


def _evidence(found: Capabilities, name: str) -> str:
    return next(cell.evidence for cell in found.cells if cell.name == name)


@asynccontextmanager
async def _served(reply: Any, listed: object) -> AsyncIterator[tuple[str, list[str]]]:
    """Serve one handler at every address, and a list of models."""
    asked: list[str] = []

    async def post(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        status, payload = reply(request.path, await request.json())
        return web.json_response(payload, status=status)

    async def models(_: web.Request) -> web.StreamResponse:
        return web.json_response(listed, status=401 if listed is REFUSED else 200)

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/{path:.*}", post)
    app.router.add_get("/v1/models", models)
    async with running(app) as url:
        yield f"{url.removesuffix('/v1')}/v1", asked


async def test_the_demo_endpoint() -> None:
    """What it answers is yes, what it refuses in words is no, and what it takes in silence is unknown."""
    async with running(demo_app(DemoOptions(accuracy=1))) as url:
        found = await probe(EndpointConfig(url=url, model="demo"), None)
    assert found.answers
    assert _verdicts(found) == {
        "list of models": "yes",
        "protocol chat": "yes",
        "protocol completions": "yes",
        "protocol responses": "no",
        "protocol anthropic": "no",
        "streaming": "yes",
        "stop": "unknown",
        "logprobs": "no",
        "n": "no",
        "tools": "unknown",
        "seed": "yes",
        "images": "unknown",
        "limit of an answer": "unknown",
        "prompt too long": "unknown",
        "echo with logprobs": "yes",
        "BOS": "no",
    }
    assert _evidence(found, "n") == "HTTP 400: n: Input should be 1"


async def test_a_server_that_refuses_everything() -> None:
    """A refused key ends the questions, and is not shown, though the server repeats it."""
    async with _served(lambda _path, _body: (401, REFUSED), REFUSED) as (url, asked):
        found = await probe(EndpointConfig(url=url, model="m"), KEY)
    assert (found.answers, len(asked), found.requests) == (False, 1, 2)
    assert _verdicts(found) == {"list of models": "unknown", "protocol chat": "unknown", "parameters": "unknown"}
    assert KEY not in dumps(asdict(found))


async def test_a_server_that_has_no_protocol_known() -> None:
    """Addresses that are missing are not protocols, and no parameter is asked for."""
    async with _served(lambda _path, _body: (404, {"error": "not found"}), {"data": []}) as (url, asked):
        found = await probe(EndpointConfig(url=url, model="m"), None)
    assert not found.answers
    assert set(asked) == {"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"}
    assert _verdicts(found)["parameters"] == "unknown"
    assert {verdict for name, verdict in _verdicts(found).items() if name.startswith("protocol")} == {"no"}


async def test_limits_are_found() -> None:
    """The list of models names the context, so a prompt beyond it is sent; the refusal names the limit of an answer."""

    def reply(path: str, body: dict[str, Any]) -> tuple[int, object]:
        if path != "/v1/chat/completions":
            return 404, {}
        if len(str(body["messages"])) > 2000:
            words = (
                "This model's maximum context length is 1000 tokens. However, your messages resulted in 1351 tokens."
            )
            return 400, {"error": {"message": words, "code": "context_length_exceeded"}}
        if body.get("max_tokens", 0) > 1000:
            return 400, {"error": {"message": "max_tokens is too large: 100000000"}}
        return 200, answer("Red" if "image" in str(body) else "OK").body

    async with _served(reply, {"data": [{"id": "m", "max_model_len": 1000}]}) as (url, _):
        found = await probe(EndpointConfig(url=url, model="m"), None)
    verdicts = _verdicts(found)
    assert [verdicts[name] for name in ("context length", "limit of an answer", "prompt too long", "images")] == [
        "yes"
    ] * 4
    assert _evidence(found, "prompt too long").startswith("told apart as the prompt's length: HTTP 400: This model's")
    assert (verdicts["streaming"], verdicts["logprobs"], verdicts["echo with logprobs"]) == ("no", "unknown", "no")


def test_a_reasoning_model_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings that it takes are found first; the command prints them as JSON, and the key nowhere."""

    def script(call: Call, _: int) -> Reply:
        if "max_tokens" in call.body:
            words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            return Reply(status=400, body={"error": {"message": f"{words} Your key: {KEY}"}})
        return answer(f"OK {KEY}")

    monkeypatch.setenv("PROBED_KEY", KEY)
    with scripted(script, models=["m"], key=KEY) as endpoint:
        arguments = ("endpoint", "probe", endpoint.url, "--model", "m", "--api-key-env", "PROBED_KEY")
        done = nel(*arguments, "--json", cwd=tmp_path)
        shown = nel(*arguments, cwd=tmp_path)
    assert (done.returncode, shown.returncode) == (0, 0), done.stderr
    cells = {cell["name"]: cell for cell in loads(done.stdout)["cells"]}
    assert cells["protocol chat"]["evidence"].startswith(
        "answered; max_tokens is sent as max_completion_tokens: 'OK [red"
    )
    assert "at most 28 small requests" in done.stderr
    assert "requests were sent" in shown.stdout
    assert KEY not in done.stdout + done.stderr + shown.stdout + shown.stderr
    wrong = nel(*arguments[:-2], "--header-env", "api-key", cwd=tmp_path)
    assert (wrong.returncode, "write NAME=VARIABLE" in wrong.stderr) == (2, True)
