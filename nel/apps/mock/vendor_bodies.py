"""A scripted turn as each protocol's vendor answers it: one body, or the events of a stream."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from nel.apps.mock.conversations import MockRequest
from nel.apps.mock.openai_json import chat_events, pieces_of
from nel.apps.mock.scripts import ScriptedCall, ScriptedTurn
from nel.apps.mock.tokens import count_tokens
from nel.core.strict_json import dumps

Event: TypeAlias = dict[str, Any]
_ENDINGS: Final[dict[str, dict[str | None, str]]] = {
    "chat": {"length": "length", "content_filter": "content_filter"},
    "anthropic": {"length": "max_tokens", "content_filter": "refusal"},
    "gemini": {"length": "MAX_TOKENS", "content_filter": "SAFETY"},
    "responses": {"length": "max_output_tokens", "content_filter": "content_filter"},
}


def signature(turn: ScriptedTurn, number: int) -> str:
    """Return what stands for a turn's reasoning where a vendor signs or encrypts it."""
    # Hexadecimal digits have neither of the two letters in which the alphabets of base64 differ:
    # Google's SDK sends a signature back in that for URLs.
    digest = hashlib.blake2b(f"{number}\0{turn.reasoning}".encode(), digest_size=12).hexdigest()
    return base64.b64encode(digest.encode()).decode()


def body_of(request: MockRequest, turn: ScriptedTurn, number: int) -> Event:
    """Return the whole body of an answer."""
    return {
        "chat": _chat,
        "responses": _response,
        "anthropic": _message,
        "gemini": _candidates,
    }[request.protocol](request, turn, number)


def events_of(request: MockRequest, turn: ScriptedTurn, number: int) -> Iterator[Event]:
    """Return the events of a streamed answer, in order."""
    body = body_of(request, turn, number)
    if request.protocol == "chat":
        return chat_events(body, include_usage=request.wants_usage)
    if request.protocol == "responses":
        return _response_events(body)
    return _message_events(body) if request.protocol == "anthropic" else _candidate_events(body)


def _arguments(call: ScriptedCall) -> str:
    return dumps(call.arguments) if call.raw is None else call.raw


def _counts(request: MockRequest, turn: ScriptedTurn) -> tuple[int, int]:
    texts = [turn.text, turn.reasoning, *(call.name + _arguments(call) for call in turn.calls)]
    return sum(count_tokens(text) for _, text in request.entries), sum(map(count_tokens, texts))


def _chat(request: MockRequest, turn: ScriptedTurn, number: int) -> Event:
    message: Event = {"role": "assistant", "content": turn.text or (None if turn.calls else "")}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call)},
            }
            for position, call in enumerate(turn.calls)
        ]
    default = "tool_calls" if turn.calls else "stop"
    finish = _ENDINGS["chat"].get(turn.ending, default)
    n_prompt, n_answer = _counts(request, turn)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": n_prompt,
            "completion_tokens": n_answer,
            "total_tokens": n_prompt + n_answer,
        },
    }


def _response(request: MockRequest, turn: ScriptedTurn, number: int) -> Event:
    output: list[Event] = []
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        secret = {"encrypted_content": signature(turn, number)} if request.wants_encrypted else {}
        output.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary, **secret})
    if turn.text or not turn.calls:
        block = {"type": "output_text", "text": turn.text, "annotations": []}
        output.append({
            "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
            "content": [block],
        })  # fmt: skip
    output += [
        {"type": "function_call", "id": f"fc_{number}_{position}", "call_id": f"call_{number}_{position}",
         "name": call.name, "arguments": _arguments(call), "status": "completed"}
        for position, call in enumerate(turn.calls)
    ]  # fmt: skip
    n_prompt, n_answer = _counts(request, turn)
    reason = _ENDINGS["responses"].get(turn.ending)
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": request.model,
        "status": "completed" if reason is None else "incomplete",
        "incomplete_details": None if reason is None else {"reason": reason},
        "error": None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": n_prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": n_answer,
            "output_tokens_details": {"reasoning_tokens": count_tokens(turn.reasoning)},
            "total_tokens": n_prompt + n_answer,
        },
    }


def _response_events(body: Event) -> Iterator[Event]:
    start = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[Event] = [{"type": "response.created", "response": start}]
    for index, item in enumerate(body["output"]):
        events += _item_events(index, item)
    events.append({"type": f"response.{body['status']}", "response": body})
    return ({**event, "sequence_number": position} for position, event in enumerate(events))


def _item_events(index: int, item: Event) -> Iterator[Event]:
    position = {"output_index": index, "item_id": item["id"]}
    kind = item["type"]
    field = {"message": "content", "reasoning": "summary", "function_call": "arguments"}[kind]
    start = {**item, field: "" if kind == "function_call" else []}
    yield {"type": "response.output_item.added", "output_index": index, "item": start}
    if kind == "function_call":
        name = "response.function_call_arguments"
        for piece in pieces_of(item["arguments"]):
            yield {"type": f"{name}.delta", **position, "delta": piece}
        yield {
            "type": f"{name}.done",
            **position,
            "name": item["name"],
            "arguments": item["arguments"],
        }
    elif kind == "reasoning":
        (block,) = item["summary"]
        position |= {"summary_index": 0}
        name = "response.reasoning_summary"
        yield {"type": f"{name}_part.added", **position, "part": {**block, "text": ""}}
        for piece in pieces_of(block["text"]):
            yield {"type": f"{name}_text.delta", **position, "delta": piece}
        yield {"type": f"{name}_text.done", **position, "text": block["text"]}
        yield {"type": f"{name}_part.done", **position, "part": block}
    else:
        (block,) = item["content"]
        position |= {"content_index": 0}
        yield {"type": "response.content_part.added", **position, "part": {**block, "text": ""}}
        for piece in pieces_of(block["text"]):
            yield {"type": "response.output_text.delta", **position, "delta": piece, "logprobs": []}
        yield {
            "type": "response.output_text.done",
            **position,
            "text": block["text"],
            "logprobs": [],
        }
        yield {"type": "response.content_part.done", **position, "part": block}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _message(request: MockRequest, turn: ScriptedTurn, number: int) -> Event:
    content: list[Event] = []
    if turn.reasoning:
        signed = {"thinking": turn.reasoning, "signature": signature(turn, number)}
        content.append({"type": "thinking", **signed})
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{position}", "name": call.name,
         "input": call.arguments if call.raw is None else call.raw}
        for position, call in enumerate(turn.calls)
    ]  # fmt: skip
    default = "tool_use" if turn.calls else "end_turn"
    n_prompt, n_answer = _counts(request, turn)
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": _ENDINGS["anthropic"].get(turn.ending, default),
        "stop_sequence": None,
        "usage": {"input_tokens": n_prompt, "output_tokens": n_answer},
    }


_DELTAS: Final = {
    "text": ("text", "text_delta", "text"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
    "tool_use": ("input", "input_json_delta", "partial_json"),
}
"""Of a kind of block: its own field, and the kind and field of its pieces."""


def _message_events(body: Event) -> Iterator[Event]:
    empty_body = {**body, "content": [], "stop_reason": None}
    empty_body["usage"] = {**body["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": empty_body}
    for index, block in enumerate(body["content"]):
        field, kind, piece_field = _DELTAS[block["type"]]
        value = block[field]
        start = {**block, field: {} if field == "input" else ""}
        if "signature" in block:
            start["signature"] = ""
        yield {"type": "content_block_start", "index": index, "content_block": start}
        deltas = [
            {"type": kind, piece_field: piece}
            for piece in pieces_of(value if isinstance(value, str) else dumps(value))
        ]
        if "signature" in block:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": body["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": ending, "usage": usage}
    yield {"type": "message_stop"}


def _candidates(request: MockRequest, turn: ScriptedTurn, number: int) -> Event:
    parts: list[Event] = []
    if turn.reasoning:
        parts.append({"text": turn.reasoning, "thought": True})
    if turn.text or not turn.calls:
        parts.append({"text": turn.text})
    readable = [call for call in turn.calls if call.raw is None]
    for position, call in enumerate(readable):
        signed = {"thoughtSignature": signature(turn, number)} if turn.reasoning else {}
        function = {"name": call.name, "args": call.arguments}
        parts.append({"functionCall": function, **(signed if position == 0 else {})})
    default = "STOP" if len(readable) == len(turn.calls) else "MALFORMED_FUNCTION_CALL"
    n_prompt, n_answer = _counts(request, turn)
    return {
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", "parts": parts},
                "finishReason": _ENDINGS["gemini"].get(turn.ending, default),
            }
        ],
        "usageMetadata": {
            "promptTokenCount": n_prompt,
            "candidatesTokenCount": n_answer,
            "totalTokenCount": n_prompt + n_answer,
        },
        "modelVersion": request.model,
    }


def _candidate_events(body: Event) -> Iterator[Event]:
    (candidate,) = body["candidates"]
    parts = [
        {**block, "text": piece} if "text" in block else block
        for block in candidate["content"]["parts"]
        for piece in (pieces_of(block.get("text", "")) or [""])
    ]
    head = {"modelVersion": body["modelVersion"]}
    for position, block in enumerate(parts):
        is_last = position == len(parts) - 1
        ending = {"finishReason": candidate["finishReason"]} if is_last else {}
        content = {"role": "model", "parts": [block]}
        usage = {"usageMetadata": body["usageMetadata"]} if is_last else {}
        yield {**head, "candidates": [{"index": 0, "content": content, **ending}], **usage}
    if not parts:
        yield body
