"""What nel sends is what the vendors' own SDKs send, as recorded in the files beside this one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel.config.schema import EndpointConfig
from nel.models.wire.registry import build_body, request_headers, wire_of
from nel.types import Generation, Message, Protocol, Request, ToolCall
from tests.models.vendor_requests.record import ADD, AGAIN, ARGUMENTS, ASKED, PIXEL, SAID, SCHEMA, SYSTEM

RECORDED = Path(__file__).parent / "vendor_requests"
BASES = {"responses": "http://h/v1", "anthropic": "http://h/v1", "gemini": "http://h/v1"}
FULL: dict[str, dict[str, Any]] = {
    "responses": {},
    "anthropic": {"stop": ("END",)},
    "gemini": {"stop": ("END",), "seed": 7},
    "chat": {"stop": ("END",), "seed": 7},
}
LIMITED = {"anthropic": {"max_tokens": 64}}
"""What a request needs that is otherwise without settings."""


def _request(protocol: Protocol, case: str) -> Request:
    generation = Generation(**LIMITED.get(protocol, {}))
    messages: tuple[Message, ...] = (Message(role="user", content=ASKED),)
    if case == "plain":
        generation = Generation(max_tokens=64)
    elif case == "full":
        generation = Generation(max_tokens=64, temperature=0.5, top_p=0.9, reasoning_effort="low", **FULL[protocol])
        messages = (
            Message(role="system", content=SYSTEM),
            *messages,
            Message(role="assistant", content=SAID),
            Message(role="user", content=AGAIN),
        )
    elif case == "image":
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        messages = (Message(role="user", content=({"type": "text", "text": ASKED}, image)),)
    elif case == "tools":
        call = ToolCall(id="c1", name="add", arguments=json.dumps(ARGUMENTS))
        messages = (
            *messages,
            Message(role="assistant", content="", tool_calls=(call,)),
            Message(role="tool", content=SAID, tool_call_id="c1"),
        )
        generation = replace(generation, max_tokens=None if protocol == "responses" else 64)
    request = Request(protocol=protocol, model="m", sample_id="s", repeat=0, messages=messages, generation=generation)
    if case != "tools":
        return request
    tool = {"type": "function", "function": {**ADD, "parameters": SCHEMA}}
    return replace(request, tools=(tool,), tool_choice={"type": "function", "function": {"name": "add"}})


def _camel(value: Any) -> Any:
    """Return JSON with names as nel writes them: Google's API takes both spellings, and its SDK mixes them."""
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda one: one[1].upper(), name): _camel(item) for name, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


CASES_OF_AZURE = ("plain", "full", "image", "stream")


@pytest.mark.parametrize("case", CASES_OF_AZURE)
def test_a_request_to_a_deployment_is_that_of_the_sdk(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the documentation names a deployment: the address with its version, the key's own header and the body."""
    recorded = json.loads((RECORDED / "azure.json").read_text(encoding="utf-8"))["requests"][case]
    monkeypatch.setenv("AZURE_KEY", "k")
    endpoint = EndpointConfig(
        url="http://h/openai/deployments/dep/chat/completions?api-version=2024-10-21",
        model="m",
        headers_env={"api-key": "AZURE_KEY"},
        stream=case == "stream",
    )
    assert build_body(_request("chat", case), stream=endpoint.stream) == recorded["body"]
    assert wire_of(endpoint.spoken).address(endpoint) == f"http://h{recorded['path']}"
    sent = {name.lower(): value for name, value in request_headers(endpoint, None).items()}
    assert sent["api-key"] == recorded["headers"]["api-key"]
    assert "authorization" not in sent.keys() | recorded["headers"].keys()


CASES = [(file, case) for file in ("responses", "anthropic", "anthropic-0", "gemini") for case in ("plain", "full", "image", "stream", "tools")]  # fmt: skip


@pytest.mark.parametrize(("file", "case"), CASES)
def test_a_request_is_that_of_the_sdk(file: str, case: str) -> None:
    """Address, key and body; the newer SDK of Anthropic sends its key and version in another way."""
    recorded = json.loads((RECORDED / f"{file}.json").read_text(encoding="utf-8"))["requests"][case]
    protocol: Any = file.removesuffix("-0")
    endpoint = EndpointConfig(url=BASES[protocol], model="m", protocol=protocol, stream=case == "stream")
    body = build_body(_request(protocol, case), stream=endpoint.stream)
    assert _camel(body) == _camel(recorded["body"]) if protocol == "gemini" else body == recorded["body"]
    assert wire_of(protocol).address(endpoint) == f"http://h{recorded['path']}"
    sent = {name.lower(): value for name, value in request_headers(endpoint, "k").items()}
    keys = {"authorization", "x-api-key", "x-goog-api-key", "anthropic-version"} & recorded["headers"].keys()
    if file != "anthropic":
        assert {name: sent[name] for name in keys} == {name: recorded["headers"][name] for name in keys}
    else:
        assert {"x-api-key", "anthropic-version"} <= sent.keys()
