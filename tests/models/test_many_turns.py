"""Answers with calls go back to their vendor as it wants them, over every protocol, streamed and not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from nel.engine.store.codec import decode_response, decode_sample, encode_response, encode_sample, seal_text
from nel.models.wire.registry import build_body, native_note, parse_answer, wire_of
from nel.types import Generation, Message, Native, Request, Response, Sample

PROTOCOLS = ("chat", "responses", "anthropic", "gemini")
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
THINKING = {"type": "thinking", "thinking": "Two calls.", "signature": "c2lnMQ=="}
REDACTED = {"type": "redacted_thinking", "data": "hidden"}
USE = {"type": "tool_use", "id": "c1", "name": "add", "input": {"x": 1}}
NOW = {"type": "tool_use", "id": "c2", "name": "now", "input": {}}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Two calls."}],
             "encrypted_content": "enc-1"}  # fmt: skip
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "I add.", "annotations": []}]}  # fmt: skip
CALLED = [
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add", "arguments": '{"x": 1}', "status": "completed"},
    {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "now", "arguments": "{}", "status": "completed"},
]  # fmt: skip
OUTPUT = [REASONING, SAID, *CALLED]
DETAIL = {"type": "reasoning.text", "text": "Two calls.", "format": "f", "index": 0}
CHAT_CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1}'},
     "extra_content": {"google": {"thought_signature": "c2lnMQ=="}}},
    {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
]  # fmt: skip
PARTS = [
    {"text": "Two calls.", "thought": True},
    {"text": "I add."},
    {"functionCall": {"name": "add", "args": {"x": 1}}, "thoughtSignature": "c2lnMQ=="},
    {"functionCall": {"name": "now", "args": {}}},
]
CHAT_MESSAGE = {"role": "assistant", "content": "I add.", "reasoning_content": "Two calls.", "refusal": None,
                "reasoning_details": [DETAIL], "tool_calls": CHAT_CALLS}  # fmt: skip
WHOLE: dict[str, Any] = {
    "chat": {"choices": [{"index": 0, "message": CHAT_MESSAGE, "finish_reason": "tool_calls"}]},
    "responses": {"status": "completed", "output": OUTPUT},
    "anthropic": {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "stop_sequence": None, "content": [THINKING, REDACTED, {"type": "text", "text": "I add."}, USE, NOW],
        "usage": {"input_tokens": 1, "output_tokens": 9},
    },
    "gemini": {"candidates": [{"content": {"role": "model", "parts": PARTS}, "finishReason": "STOP"}]},
}  # fmt: skip


def _delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def _block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    pieces = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    start = {"type": "content_block_start", "index": index, "content_block": block}
    return [start, *pieces, {"type": "content_block_stop", "index": index}]


def _chunk(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}]}


EVENTS: dict[str, list[dict[str, Any]]] = {
    "chat": [
        _delta(role="assistant", content="", reasoning_content="Two ", reasoning_details=[{**DETAIL, "text": "Two "}]),
        _delta(reasoning_content="calls.", reasoning_details=[{"type": "reasoning.text", "text": "calls.", "index": 0}]),
        _delta(content="I "),
        _delta(content="add."),
        _delta(tool_calls=[{**CHAT_CALLS[0], "index": 0, "function": {"name": "add", "arguments": ""}}]),
        _delta(tool_calls=[{"index": 0, "function": {"arguments": '{"x":'}}]),
        _delta(tool_calls=[{"index": 0, "function": {"arguments": " 1}"}}]),
        _delta(tool_calls=[{**CHAT_CALLS[1], "index": 1}]),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ],
    "responses": [
        {"type": "response.output_text.delta", "delta": "I add."},
        *({"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(OUTPUT)),
        {"type": "response.completed", "response": WHOLE["responses"]},
    ],
    "anthropic": [
        {"type": "message_start", "message": {**WHOLE["anthropic"], "content": [], "stop_reason": None}},
        *_block(0, {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "Two calls."}, {"type": "signature_delta", "signature": "c2lnMQ=="}),
        *_block(1, REDACTED),
        *_block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "I "}, {"type": "text_delta", "text": "add."}),
        *_block(3, {**USE, "input": {}}, {"type": "input_json_delta", "partial_json": ""},
                {"type": "input_json_delta", "partial_json": '{"x":'}, {"type": "input_json_delta", "partial_json": " 1}"}),
        *_block(4, NOW),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ],
    "gemini": [
        _chunk({"text": "Two ", "thought": True}),
        _chunk({"text": "calls.", "thought": True}),
        _chunk({"text": "I "}),
        _chunk({"text": "add."}),
        _chunk(PARTS[2]),
        _chunk(PARTS[3], finishReason="STOP"),
    ],
}  # fmt: skip


def answered(protocol: str, payload: object) -> Response:
    """Return an answer that can be read."""
    response = parse_answer(protocol, payload, offers_tools=True)
    assert isinstance(response, Response), response
    return response


def streamed(protocol: str, events: list[dict[str, Any]]) -> Any:
    stream = wire_of(protocol).stream()
    for event in events:
        stream.feed(f"data: {json.dumps(event)}\n\n".encode(), 0.0)
    return stream.answer()


def comparable(response: Response) -> Response:
    """Return an answer whose arguments are in one spelling."""
    calls = [replace(call, arguments=json.dumps(call.values, sort_keys=True)) for call in response.tool_calls]
    return replace(response, tool_calls=tuple(calls))


def asked_again(protocol: str, response: Response, **fields: Any) -> dict[str, Any]:
    """Return the body of the request that hands on the results of an answer's calls."""
    ids = [call.id for call in response.message.tool_calls]
    results = [Message(role="tool", content=f"result {n}", tool_call_id=name) for n, name in enumerate(ids)]
    messages = (Message(role="user", content="1 + 1?"), response.message, *results)
    generation = Generation(max_tokens=9)
    request = Request(protocol=protocol, model="m", sample_id="s", repeat=0, messages=messages, tools=(TOOL,),
                      generation=generation)  # fmt: skip
    return build_body(replace(request, **fields))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_streamed_answer_with_calls_is_the_whole_one(protocol: str) -> None:
    """Text, reasoning, calls, and what the vendor wants back."""
    whole = answered(protocol, WHOLE[protocol])
    assert (whole.text, whole.reasoning) == ("I add.", "Two calls.")
    assert [(call.name, call.values) for call in whole.tool_calls] == [("add", {"x": 1}), ("now", {})]
    assert comparable(answered(protocol, streamed(protocol, EVENTS[protocol]))) == comparable(whole)


SENT: dict[str, Any] = {
    "chat": [
        {"role": "assistant", "content": "I add.", "reasoning_content": "Two calls.", "reasoning_details": [DETAIL],
         "tool_calls": CHAT_CALLS},
        {"role": "tool", "tool_call_id": "c1", "content": "result 0"},
        {"role": "tool", "tool_call_id": "c2", "content": "result 1"},
    ],
    "responses": [
        *OUTPUT,
        {"type": "function_call_output", "call_id": "c1", "output": "result 0"},
        {"type": "function_call_output", "call_id": "c2", "output": "result 1"},
    ],
    "anthropic": [
        {"role": "assistant", "content": WHOLE["anthropic"]["content"]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "result 0"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "result 1"},
        ]},
    ],
    "gemini": [
        {"role": "model", "parts": PARTS},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "add", "response": {"output": "result 0"}}},
            {"functionResponse": {"name": "now", "response": {"output": "result 1"}}},
        ]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_goes_back_unchanged_with_its_results(protocol: str) -> None:
    """Signed and unknown items included; an id that Gemini's model did not give is not sent."""
    body = asked_again(protocol, answered(protocol, WHOLE[protocol]))
    sent = body[{"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}[protocol]]
    assert sent[1:] == SENT[protocol]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_vendor_wants_back_is_stored(protocol: str) -> None:
    """With the answer, and with the message of a conversation; without tools there is nothing."""
    response = answered(protocol, WHOLE[protocol])
    assert response.native is not None
    assert decode_response(encode_response(response)) == response
    sample = Sample(id="s", input=(Message(role="user", content="?"), response.message))
    assert decode_sample("s", seal_text(encode_sample(sample))) == sample
    alone = parse_answer(protocol, WHOLE[protocol])
    assert isinstance(alone, Response)
    assert alone.native is None


@pytest.mark.parametrize(("came", "goes"), list(zip(PROTOCOLS, PROTOCOLS[1:] + PROTOCOLS[:1], strict=True)))
def test_over_another_protocol_text_and_calls_alone_are_sent(came: str, goes: str) -> None:
    """And a note says so."""
    response = answered(came, WHOLE[came])
    assert asked_again(goes, response) == asked_again(goes, replace(response, native=None))
    request = Request(protocol=goes, model="m", sample_id="s", repeat=0, messages=(response.message,))
    assert native_note(request) == f"reasoning that came over {came} is not sent over {goes}, which has no form for it"
    assert native_note(replace(request, protocol=came)) is None


def test_reasoning_is_asked_for_where_it_can_be_sent_back() -> None:
    """Responses are not stored, so it has to be encrypted; models that do not reason refuse to be asked."""
    response = answered("responses", WHOLE["responses"])
    thinking = Generation(max_tokens=9, reasoning_effort="low")
    assert asked_again("responses", response, generation=thinking)["include"] == ["reasoning.encrypted_content"]
    assert "include" not in asked_again("responses", response)
    assert "include" not in asked_again("responses", response, generation=thinking, tools=())
    unreadable = {"status": "completed", "output": [{**REASONING, "encrypted_content": None}, *CALLED]}
    assert answered("responses", unreadable).native is None


def test_thinking_beside_text_goes_back_as_mistral_has_it() -> None:
    """As parts of the content, whole and put together from chunks."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Two calls."}]}
    content = [thinking, {"type": "text", "text": "I add."}]
    whole = {
        "choices": [{"message": {"content": content, "tool_calls": CHAT_CALLS[1:]}, "finish_reason": "tool_calls"}]
    }
    events = [_delta(content=[thinking]), _delta(content="I "), _delta(content="add."),
              _delta(tool_calls=[{**CHAT_CALLS[1], "index": 0}]), EVENTS["chat"][-1]]  # fmt: skip
    response = answered("chat", whole)
    assert response.native == Native(protocol="chat", items=({"content": content},))
    assert answered("chat", streamed("chat", events)) == response
    assert asked_again("chat", response)["messages"][1]["content"] == content


@pytest.mark.parametrize("protocol", ["chat", "responses", "anthropic"])
def test_a_call_that_breaks_off_is_kept_beside_others_and_sent_as_an_object(protocol: str) -> None:
    """Streamed over Anthropic's protocol too; servers that read arguments would refuse the request otherwise."""
    broken = '{"x": '
    payloads = {
        "chat": {"choices": [{"message": {"tool_calls": [CHAT_CALLS[1], {**CHAT_CALLS[0], "function": {
            "name": "add", "arguments": broken}}]}}]},
        "responses": {"status": "completed", "output": [CALLED[1], {**CALLED[0], "arguments": broken}]},
        "anthropic": streamed("anthropic", [
            EVENTS["anthropic"][0], *_block(0, NOW),
            *_block(1, {**USE, "input": {}}, {"type": "input_json_delta", "partial_json": broken}),
            *EVENTS["anthropic"][-2:]]),
    }  # fmt: skip
    response = answered(protocol, payloads[protocol])
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("now", "{}"), ("add", broken)]
    assert [bool(call.parse_error) for call in response.tool_calls] == [False, True]
    if protocol != "responses":
        assert "INVALID_JSON" in json.dumps(asked_again(protocol, response))
