"""The answers of each vendor's protocol, whole and streamed; and what each refuses."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from nel.core.finish_reasons import ending_of
from nel.core.message_json import messages_in
from nel.core.strict_json import loads
from nel.models.faults import Fault, fault_of_status
from nel.models.wire.base import NotInProtocol
from nel.models.wire.registry import build_body, parse_answer, wire_of
from nel.types import Generation, Message, Request, Response, Usage
from tests.fuzzing.mutation import break_json
from tests.fuzzing.readers import assert_sound

RESPONSE = {
    "model": "gpt-x",
    "status": "completed",
    "error": None,
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "first"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "four"}]},
    ],
    "usage": {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
    },
}
REFUSED = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
MESSAGE = {
    "type": "message",
    "model": "claude-x",
    "content": [{"type": "thinking", "thinking": "first", "signature": "s"}, {"type": "text", "text": "four"}],
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 4,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 2,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 5},
    },
}
CANDIDATE = {
    "candidates": [
        {"content": {"parts": [{"text": "first", "thought": True}, {"text": "four"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 5,
    },
    "modelVersion": "gemini-x",
}
WHOLE: dict[str, Any] = {"responses": RESPONSE, "anthropic": MESSAGE, "gemini": CANDIDATE}
EVENTS: dict[str, list[dict[str, Any]]] = {
    "responses": [
        {"type": "response.created", "response": {}},
        {"type": "response.reasoning_summary_text.delta", "delta": "first"},
        {"type": "response.output_text.delta", "delta": "fo"},
        {"type": "response.output_text.delta", "delta": "ur"},
        {"type": "response.completed", "response": RESPONSE},
    ],
    "anthropic": [
        {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None, "usage": {
            "input_tokens": 4, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "first"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "fo"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "ur"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {
            "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 5}}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "first", "thought": True}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "fo"}]}}]},
        {**CANDIDATE, "candidates": [{"content": {"parts": [{"text": "ur"}]}, "finishReason": "STOP"}]},
    ],
}  # fmt: skip
EXPECTED = Response(
    text="four",
    reasoning="first",
    usage=Usage(prompt_tokens=10, completion_tokens=7, reasoning_tokens=5, cached_tokens=4),
)
NAMES = ("responses", "anthropic", "gemini")


def _answer(name: Any, payload: object) -> Response:
    found = wire_of(name).answer(payload)
    assert isinstance(found, Response), found
    return found


def _fed(name: Any, events: list[dict[str, Any]]) -> Any:
    stream = wire_of(name).stream()
    for event in events:
        kind = f"event: {event['type']}\n" if "type" in event else ""
        stream.feed(f"{kind}data: {json.dumps(event)}\n\n".encode(), 1.0)
    return stream


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_answer(name: Any) -> None:
    """The text alone is the answer; thinking stands apart, and usage counts what is billed."""
    found = _answer(name, WHOLE[name])
    assert replace(found, model=None, finish_reason=None) == EXPECTED
    assert (ending_of(found.finish_reason), str(found.model)[-2:]) == ("complete", "-x")


def _message(text: str, **fields: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text}], **fields}


@pytest.mark.parametrize(
    ("messages", "text", "reasoning"),
    [
        (
            [_message("I will add 5.", phase="commentary"), _message("4", phase="final_answer")],
            "4",
            "first\nI will add 5.",
        ),
        ([_message("Is it 5?"), _message("4")], "Is it 5?\n4", "first"),
    ],
    ids=["phases", "no phases"],
)
def test_of_several_messages_the_final_one_is_the_answer(
    messages: list[dict[str, Any]], text: str, reasoning: str
) -> None:
    """Commentary of gpt-5.3-codex and later is no part of it; messages without a phase do not run into each other."""
    answer = _answer("responses", {**RESPONSE, "output": [RESPONSE["output"][0], *messages]})  # type: ignore[index]
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize("name", NAMES)
def test_a_streamed_answer_is_the_whole_one(name: Any) -> None:
    """Event by event, with a time for each piece of text; one that breaks off is a fault that is worth another try."""
    stream = _fed(name, EVENTS[name])
    assert _answer(name, stream.answer()) == _answer(name, WHOLE[name])
    assert len(stream.token_times) == 3
    n_left_out = 2 if name == "anthropic" else 1  # the last but one has the reason
    broken = _fed(name, EVENTS[name][:-n_left_out]).answer()
    assert isinstance(broken, Fault)
    assert (broken.kind, broken.retryable, "broke off" in broken.message) == ("malformed", True, True)


def _cut(reason: str) -> dict[str, Any]:
    return {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": reason}}


@pytest.mark.parametrize(
    ("name", "payload", "ending"),
    [
        ("responses", _cut("max_output_tokens"), "truncated"),
        ("responses", _cut("content_filter"), "content_filter"),
        ("responses", {**RESPONSE, "output": [REFUSED]}, "refusal"),
        ("responses", {**RESPONSE, "output": [{"type": "function_call", "name": "f"}]}, "tool_calls"),
        ("anthropic", {**MESSAGE, "stop_reason": "max_tokens"}, "truncated"),
        ("anthropic", {**MESSAGE, "stop_reason": "refusal", "content": []}, "refusal"),
        ("anthropic", {**MESSAGE, "stop_reason": "tool_use", "content": [{"type": "tool_use"}]}, "tool_calls"),
        ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS"}]}, "truncated"),
        ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, "content_filter"),
        ("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "content_filter"),
        ("gemini", {"candidates": [{"content": {"parts": [{"functionCall": {}}]}}]}, "tool_calls"),
    ],
)
def test_how_an_answer_ended(name: str, payload: object, ending: str) -> None:
    """Limits, filters and refusals are told apart, in each vendor's words."""
    assert ending_of(_answer(name, payload).finish_reason) == ending


@pytest.mark.parametrize(
    ("name", "payload", "kind", "retryable"),
    [
        ("responses", {"status": "failed", "error": {"code": "server_error", "message": "x"}}, "server_error", True),
        ("responses", {"status": "failed", "error": {"code": "rate_limit_exceeded"}}, "rate_limit", True),
        ("responses", {"status": "cancelled", "output": []}, "aborted", True),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "server_error", True),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}, "server_error", True),
        ("gemini", {"candidates": []}, "malformed", True),
        *((name, payload, "malformed", True) for name in NAMES for payload in ([], 3, {}, {"content": 3})),
    ],
)
def test_a_body_that_is_no_answer(name: str, payload: object, kind: str, retryable: bool) -> None:
    """HTTP 200 is not success in any protocol; the same holds for an error in the middle of a stream."""
    fault = wire_of(name).answer(payload)  # type: ignore[arg-type]
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.retryable) == (kind, retryable)
    if isinstance(payload, dict) and "error" in payload and name != "responses":
        streamed = _fed(name, [*EVENTS[name][:2], payload]).answer()
        assert (streamed.kind, streamed.retryable) == (kind, retryable)


def _said(*blocks: object) -> dict[str, Any]:
    return {**MESSAGE, "content": list(blocks)}


def _candidate(**fields: Any) -> dict[str, Any]:
    return {"candidates": [fields]}


@pytest.mark.parametrize(
    ("name", "payload", "kind"),
    [
        ("anthropic", _said("four"), "malformed"),
        ("anthropic", _said({"type": "text", "text": ["four"]}), "malformed"),
        ("anthropic", {"content": []}, "malformed"),
        ("anthropic", {**MESSAGE, "stop_reason": "error"}, "aborted"),
        ("gemini", _candidate(content="four", finishReason="STOP"), "malformed"),
        ("gemini", _candidate(content={"parts": [{"text": 4}]}, finishReason="STOP"), "malformed"),
        ("gemini", _candidate(index=0), "malformed"),
        ("gemini", _candidate(content={"parts": [{"text": "fo"}]}, finishReason="CANCELLED"), "aborted"),
        ("responses", {**RESPONSE, "output": ["four"]}, "malformed"),
        ("responses", {**RESPONSE, "output": [{"type": "message", "content": [{"type": "text"}]}]}, "malformed"),
        ("responses", _cut("error"), "aborted"),
        ("responses", {**RESPONSE, "status": "incomplete", "incomplete_details": None}, "aborted"),
        ("responses", {"detail": "worker lost"}, "server_error"),
        ("gemini", [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}}], "rate_limit"),
    ],
)
def test_what_no_reader_expects_is_no_empty_answer(name: str, payload: object, kind: str) -> None:
    """A shape that the protocol does not have is the endpoint's fault; else the model is blamed for an empty answer."""
    fault = wire_of(name).answer(payload)  # type: ignore[arg-type]
    assert isinstance(fault, Fault), fault
    assert (fault.kind, fault.retryable) == (kind, True)


def _chat(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **choice}]}


def _block(**fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", **fields}


@pytest.mark.parametrize(
    ("name", "event", "kind"),
    [
        ("chat", _chat(delta={"content": {"text": "4"}}), "malformed"),
        ("chat", _chat(delta={"content": [{"type": "text", "text": {"value": "4"}}]}), "malformed"),
        ("chat", _chat(delta="4"), "malformed"),
        ("chat", _chat(delta={"content": "4"}, error={"code": 502, "message": "x"}), "server_error"),
        ("chat", {"detail": "worker lost"}, "server_error"),
        ("chat", {"type": "error", "message": "slow down", "code": 429}, "rate_limit"),
        ("anthropic", _block(index=0, delta={"type": "text_delta", "text": 4}), "malformed"),
        ("anthropic", _block(delta={"type": "text_delta", "text": "4"}), "malformed"),
        ("gemini", _candidate(content={"parts": ["4"]}), "malformed"),
        ("gemini", _candidate(content="4"), "malformed"),
        ("responses", {"type": "response.completed", "response": {**RESPONSE, "output": []}}, "malformed"),
    ],
)
def test_a_piece_of_a_stream_that_cannot_be_read_is_not_left_out(name: Any, event: object, kind: str) -> None:
    """An answer without the piece is another answer, and would be scored as the model's."""
    whole = {"chat": _chat(delta={"content": "It is 4"}, finish_reason="stop"), "completions": _chat(text="It is 4")}
    events = [whole[name]] if name in whole else EVENTS[name]
    stream = wire_of(name).stream()
    for one in [*events[:-1], event, events[-1], "[DONE]"]:
        stream.feed(f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n".encode(), 1.0)
    fault = stream.answer()
    assert isinstance(fault, Fault), fault
    assert (fault.kind, fault.retryable) == (kind, True)


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("chat", _chat(delta={"content": "4"})),
        ("anthropic", _block(index=0, delta={"type": "text_delta", "text": "4"})),
        ("gemini", _candidate(content={"parts": [{"text": "4"}]})),
        ("gemini", _candidate(content={"parts": [{"functionCall": {"name": "f"}}]})),
    ],
)
def test_what_follows_the_finish_reason_is_no_part_of_the_answer(name: Any, event: object) -> None:
    """Whether the answer ended there or goes on cannot be known, so neither is scored."""
    first = {"chat": _chat(delta={"content": "It is 4"}, finish_reason="stop")}
    first["completions"] = _chat(text="It is 4", finish_reason="stop")
    events = [first[name]] if name in first else [one for one in EVENTS[name] if one != {"type": "message_stop"}]
    fault = _fed(name, [*events, event]).answer()
    assert isinstance(fault, Fault), fault
    assert "goes on with the answer after" in fault.message


def test_google_says_in_the_body_how_long_to_wait() -> None:
    """The other errors of vendors are in vendor_texts.jsonl."""
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x", "details": [wait]}
    fault = fault_of_status(429, {}, json.dumps({"error": error}).encode())
    assert (fault.kind, fault.wait_seconds, fault.model_failure) == ("rate_limit", 34.5, None)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("responses", {"seed": 1, "stop": ("x",)}, ["no stop; leave out --stop", "no seed; leave out --seed"]),
        ("anthropic", {"seed": 1}, ["no seed; leave out --seed", "a limit on the answer; give --max-tokens"]),
        ("gemini", {"seed": 1, "stop": ("x",)}, []),
        ("chat", {"seed": 1, "stop": ("x",)}, []),
    ],
)
def test_settings_that_a_protocol_has_not(name: Any, settings: dict[str, Any], said: list[str]) -> None:
    found = wire_of(name).problems(Generation(**settings))
    assert len(found) == len(said)
    assert all(part in one for part, one in zip(said, found, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_messages_that_a_protocol_has_not(name: Any) -> None:
    """A tool's message, or a part of an unknown kind, is refused and nothing of it left out."""
    for content in (Message(role="tool", content="x"), Message(role="user", content=({"type": "input_audio"},))):
        with pytest.raises(NotInProtocol, match=name):
            build_body(Request(protocol=name, model="m", sample_id="s", repeat=0, messages=(content,)))


@pytest.mark.parametrize("name", ["chat", *NAMES])
def test_the_messages_are_read_back(name: Any) -> None:
    """What was asked is shown alike, whatever was sent; further fields are put beside nel's own."""
    asked = [("system", "Be brief."), ("user", "2 + 2?"), ("assistant", "4"), ("user", "3 + 3?")]
    extra = {"generationConfig": {"topK": 3}} if name == "gemini" else {"metadata": {"a": 1}}
    request = Request(
        protocol=name,
        model="m",
        sample_id="s",
        repeat=0,
        messages=tuple(Message(role=role, content=content) for role, content in asked),
        generation=Generation(max_tokens=5, extra=extra),
    )
    body = build_body(request)
    assert [(one["role"], one["content"]) for one in messages_in(body) or []] == asked
    if name == "gemini":
        assert body["generationConfig"] == {"topK": 3, "maxOutputTokens": 5}
    else:
        assert body["metadata"] == {"a": 1}
    neutral = messages_in(wire_of(name).neutral(body, "OK?"))
    assert neutral == [{"role": "user", "content": "OK?"}]


@pytest.mark.parametrize("name", NAMES)
def test_answers_of_any_shape_are_read(name: Any) -> None:
    """Broken in hundreds of places, whole or in one event of a stream, each is an answer or a fault."""
    rng, read = Random(7), Counter[type]()  # noqa: S311 - the same breaks every time
    for number in range(300):
        broken = break_json(rng, WHOLE[name]).encode("utf-8", "surrogatepass")
        with suppress(ValueError):
            found = parse_answer(name, loads(broken), offers_tools=True)
            assert_sound(found)
            read[type(found)] += 1
        stream = wire_of(name).stream()
        for place, event in enumerate(EVENTS[name]):
            data = break_json(rng, event) if place == number % len(EVENTS[name]) else json.dumps(event)
            stream.feed(b"data: " + data.replace("\n", " ").encode("utf-8", "surrogatepass") + b"\n\n", 0.0)
        whole = stream.answer()
        streamed = whole if isinstance(whole, Fault) else parse_answer(name, whole, offers_tools=True)
        assert_sound(streamed)
        read[type(streamed)] += 1
    assert set(read) == {Response, Fault}
    assert read.total() > 400  # the others are not JSON at all
