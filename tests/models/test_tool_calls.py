"""Calls of tools are read from answers in one piece and in many, kept, shown, handed on and read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.store.codec import (
    decode_response,
    decode_sample,
    encode_response,
    encode_sample,
    seal_text,
)
from nel.episodes.solvers.generate import build_request
from nel.models.cache import ResponseCache
from nel.models.faults import Fault
from nel.models.tool_calls import tool_calls_in
from nel.models.wire.base import NotInProtocol
from nel.models.wire.openai import EventStream
from nel.models.wire.registry import build_body, parse_answer, wire_of
from nel.types import Generation, Message, Request, Response, Sample, ToolCall

TOOL = {"type": "function", "function": {"name": "add", "description": "Add.", "parameters": {"type": "object"}}}
ADD = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1}'}}
CALL = ToolCall(id="c1", name="add", arguments='{"x": 1}')
SAMPLE = Sample(
    id="s",
    input=(
        Message(role="user", content="1 + 1?"),
        Message(role="assistant", content="", tool_calls=(CALL,)),
        Message(role="tool", content="2", tool_call_id="c1"),
    ),
    target="2",
    tools=(TOOL,),
    tool_choice="required",
)
RESPONSE = Response(text="I add.", finish_reason="tool_calls", tool_calls=(CALL,), attempts=1)


def chat(calls: object, *, text: str | None = None, finish: str = "tool_calls") -> dict[str, Any]:
    """Return the body of an answer that calls tools."""
    return {"choices": [{"message": {"content": text, "tool_calls": calls}, "finish_reason": finish}]}


def read(payload: object, *, offers_tools: bool = True) -> Response:
    """Return an answer that can be read."""
    found = parse_answer("chat", payload, offers_tools=offers_tools)
    assert isinstance(found, Response)
    return found


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ([ADD], (CALL,)),
        ([{"function": {"name": "add", "arguments": {"x": 1}}}], (ToolCall(id="", name="add", arguments='{"x":1}'),)),
        ([{**ADD, "id": 7}], (ToolCall(id="", name="add", arguments='{"x": 1}'),)),
        (
            [ADD, {**ADD, "function": {"name": "add", "arguments": "no JSON"}}],
            (CALL, ToolCall(id="c1-1", name="add", arguments="no JSON")),
        ),
        (
            [ADD, {"id": "c2", "type": "function"}],
            (CALL, ToolCall(id="c2", name="", arguments='{"id":"c2","type":"function"}')),
        ),
        ([{**ADD, "function": {"name": "add", "arguments": [1]}}], (ToolCall(id="c1", name="add", arguments="[1]"),)),
        ([None], (ToolCall(id="", name="", arguments="null"),)),
        ("add", ()),
    ],
)
def test_every_call_is_read_as_far_as_it_can_be(calls: object, found: tuple[ToolCall, ...]) -> None:
    """Arguments stay as the model wrote them, JSON or not; one that cannot be read takes no other with it."""
    assert tool_calls_in(calls) == found


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (CALL, None),
        (replace(CALL, arguments=""), None),
        (replace(CALL, name=""), "it names no tool"),
        (replace(CALL, arguments="[1]"), "its arguments are a list, not an object"),
        (replace(CALL, arguments='{"x": 1'), "its arguments are not JSON: Expecting"),
        (replace(CALL, arguments="[" * 100_000), "its arguments are not JSON: nested too deeply"),
    ],
)
def test_a_call_says_why_it_cannot_be_read(call: ToolCall, error: str | None) -> None:
    """None where it can; an empty text is a call without arguments."""
    assert (call.parse_error or "").startswith(error or "")
    assert (call.parse_error is None) == (call.values is not None and call.name != "") == (error is None)


def test_a_call_is_an_answer_only_where_tools_were_offered() -> None:
    """Elsewhere it is dropped, as ever; where it cannot be read the endpoint is at fault; a cut one is truncated."""
    assert read(chat([ADD])).tool_calls == (CALL,)
    assert verdict_before_scoring(read(chat([ADD], finish="stop")), truncated="failure") is None
    unasked = read(chat([ADD]), offers_tools=False)
    verdict = verdict_before_scoring(unasked, truncated="failure")
    assert (unasked.tool_calls, getattr(verdict, "kind", None)) == ((), "no_answer")
    found = parse_answer("chat", chat([{"id": "c1"}]), offers_tools=True)
    assert isinstance(found, Fault)
    assert (found.kind, found.retryable) == ("malformed", True)
    assert read(chat([{"id": "c1"}], text="It is 2.")).text == "It is 2."
    cut = verdict_before_scoring(read(chat([ADD], finish="length")), truncated="failure")
    assert getattr(cut, "kind", None) == "truncated"


def piece(index: int | None = None, identity: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    """Return a piece of a call as chunks carry it."""
    function = {key: one for key, one in (("name", name), ("arguments", arguments)) if one is not None}
    own = {key: one for key, one in (("index", index), ("id", identity)) if one is not None}
    return {**own, "function": function}


@pytest.mark.parametrize(
    "chunks",
    [
        [[piece(0, "a", "f")], [piece(0, arguments='{"x"')], [piece(0, arguments=": 1}")], [piece(1, "b", "g", "{}")]],
        [[piece(0, "a", "f", ""), piece(1, "b", "g", "")], [piece(1, arguments="{}"), piece(0, arguments='{"x": 1}')]],
        [[piece(None, "a", "f", '{"x": 1}')], [piece(None, "b", "g", "{}")]],
        [[piece(None, "a", "f", '{"x"')], [piece(None, "a", "f", ": 1}")], [piece(None, "b", "g", "{}")]],
        [[piece(0, "a", "f", '{"x": 1}'), piece(1, "b", "g", "{}")]],
        [[piece(0, "a", "f", '{"x": 1}')], [piece(0, "b", "g", "{}")]],
        [[piece(0, "a", "f", '{"x"'), piece(0, arguments=": 1}")], [piece(0, "b", "g"), piece(0, arguments="{}")]],
    ],
)  # fmt: skip
def test_streamed_calls_are_put_together(chunks: list[list[Any]]) -> None:
    """With numbers, mixed, without them, and with the same number for all, as some servers send them."""
    stream = EventStream(chat=True)
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": one}}]} for one in chunks]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    for number, event in enumerate(events):
        stream.feed(f"data: {json.dumps(event)}\n\n".encode(), float(number))
    calls = read(stream.answer()).tool_calls
    assert [(one.id, one.name, one.arguments) for one in calls] == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]


def test_tools_are_sent_with_what_was_called() -> None:
    """The messages hold calls and results; completions have no place for them."""
    made = {"repeat": 0, "model": "m", "generation": Generation(), "system_prompt": None}
    body = build_body(build_request(SAMPLE, protocol="chat", **made))
    assert (body["tools"], body["tool_choice"]) == ([TOOL], "required")
    assert body["messages"][1]["tool_calls"] == [ADD]
    assert body["messages"][2] == {"role": "tool", "content": "2", "tool_call_id": "c1"}
    plain = Sample(id="s", input="1 + 1?")
    assert not {"tools", "tool_choice"} & build_body(build_request(plain, protocol="chat", **made)).keys()
    with pytest.raises(NotInProtocol, match="completions protocol has no place for tools here; use chat, responses"):
        build_body(build_request(SAMPLE, protocol="completions", **made))


ANSWERS: dict[str, Any] = {
    "chat": chat([ADD]),
    "responses": {
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"x": 1}'}],
    },
    "anthropic": {
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "c1", "name": "add", "input": {"x": 1}}],
    },
    "gemini": {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"id": "c1", "name": "add", "args": {"x": 1}}}]},
                "finishReason": "STOP",
            }
        ]
    },
}
_EVENTS = [
    {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I add."}},
    {"type": "content_block_start", "index": 1,
     "content_block": {"type": "tool_use", "id": "c1", "name": "add", "input": {}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"x":'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 1}"}},
    {"type": "content_block_start", "index": 2,
     "content_block": {"type": "tool_use", "id": "c2", "name": "now", "input": {}}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]  # fmt: skip


@pytest.mark.parametrize("protocol", ANSWERS)
def test_calls_are_read_over_every_protocol(protocol: str) -> None:
    """Their id, name and arguments; elsewhere the model called a tool that it was not offered."""
    found = parse_answer(protocol, ANSWERS[protocol], offers_tools=True)
    assert isinstance(found, Response)
    assert [(one.id, one.name, json.loads(one.arguments)) for one in found.tool_calls] == [("c1", "add", {"x": 1})]
    unasked = parse_answer(protocol, ANSWERS[protocol])
    assert isinstance(unasked, Response)
    verdict = verdict_before_scoring(unasked, truncated="failure")
    assert (unasked.tool_calls, getattr(verdict, "kind", None)) == ((), "no_answer")


@pytest.mark.parametrize("protocol", ["chat", "responses", "anthropic"])
def test_a_tool_of_the_vendors_own_server_is_sent_as_it_is(protocol: Any) -> None:
    """Beside a function, which has the protocol's own form."""
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    sample = replace(SAMPLE, tools=(TOOL, search))
    generation = Generation(max_tokens=9)
    body = build_body(
        build_request(sample, protocol=protocol, model="m", generation=generation, repeat=0, system_prompt=None)
    )
    assert body["tools"][1] == search
    assert len(body["tools"]) == 2


def test_calls_of_anthropic_are_streamed() -> None:
    """Arguments in pieces, or none at all."""
    stream = wire_of("anthropic").stream()
    for number, event in enumerate(_EVENTS):
        stream.feed(f"event: x\ndata: {json.dumps(event)}\n\n".encode(), float(number))
    found = parse_answer("anthropic", stream.answer(), offers_tools=True)
    assert isinstance(found, Response)
    assert found.text == "I add."
    assert [(one.name, json.loads(one.arguments)) for one in found.tool_calls] == [("add", {"x": 1}), ("now", {})]


@pytest.mark.parametrize(
    ("parallel", "choice", "sent"),
    [
        (None, None, None),
        (None, "auto", {"type": "auto"}),
        (None, "required", {"type": "any"}),
        (False, None, {"type": "auto", "disable_parallel_tool_use": True}),
        (False, {"type": "function", "function": {"name": "add"}},
         {"type": "tool", "name": "add", "disable_parallel_tool_use": True}),
    ],
)  # fmt: skip
def test_anthropics_choice_says_whether_several_may_be_called(parallel: Any, choice: Any, sent: Any) -> None:
    """The setting of OpenAI's is a part of it."""
    extra = {} if parallel is None else {"parallel_tool_calls": parallel}
    sample = replace(SAMPLE, tool_choice=choice)
    generation = Generation(max_tokens=9, extra=extra)
    request = build_request(
        sample, protocol="anthropic", repeat=0, model="m", generation=generation, system_prompt=None
    )
    body = build_body(request)
    assert (body.get("tool_choice"), "parallel_tool_calls" in body) == (sent, False)


def test_results_that_follow_each_other_are_one_turn_of_anthropics() -> None:
    """And words of the model stand before its calls."""
    calls = (CALL, ToolCall(id="c2", name="add", arguments="no JSON"))
    messages = (
        Message(role="user", content="1 + 1?"),
        Message(role="assistant", content="I add.", tool_calls=calls),
        Message(role="tool", content="2", tool_call_id="c1"),
        Message(role="tool", content="no number", tool_call_id="c2"),
        Message(role="user", content="So?"),
    )
    request = Request(
        protocol="anthropic", model="m", sample_id="s", repeat=0, messages=messages, generation=Generation(max_tokens=9)
    )
    turns = build_body(request)["messages"]
    assert [one["role"] for one in turns] == ["user", "assistant", "user", "user"]
    assert [one["type"] for one in turns[1]["content"]] == ["text", "tool_use", "tool_use"]
    assert turns[1]["content"][2]["input"] == {"INVALID_JSON": "no JSON"}
    assert [one["tool_use_id"] for one in turns[2]["content"]] == ["c1", "c2"]


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    """In the store and in the cache, which keeps a call as it keeps a text."""
    assert decode_sample("s", seal_text(encode_sample(SAMPLE))) == SAMPLE
    assert decode_response(encode_response(RESPONSE)) == RESPONSE
    cache = ResponseCache(tmp_path / "cache.db", encode=encode_response, decode=decode_response)
    silent = Response(finish_reason="tool_calls", tool_calls=(CALL,), attempts=1)
    cache.put("key", silent)
    assert cache.get("key") == silent
    cache.close()
