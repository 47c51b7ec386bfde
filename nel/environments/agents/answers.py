"""An answer of a model as each protocol's vendor gives it: one body, or the events of a stream.

What nel serves to agents and what its scripted endpoint serves to rehearse against is written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from nel.core.strict_json import dumps, dumps_unless_text
from nel.types import JsonObject, ToolCall, Usage

Event: TypeAlias = dict[str, Any]
Spoken: TypeAlias = Literal["chat", "responses", "anthropic", "gemini"]
_PIECE_CHARACTERS: Final = 8
_PIECES_MAX: Final = 256
_ENDINGS: Final[dict[str, dict[str | None, str]]] = {
    "chat": {"length": "length", "content_filter": "content_filter"},
    "anthropic": {"length": "max_tokens", "content_filter": "refusal"},
    "gemini": {"length": "MAX_TOKENS", "content_filter": "SAFETY"},
    "responses": {"length": "max_output_tokens", "content_filter": "content_filter"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedAnswer:
    """An answer, before it is written in the words of a protocol."""

    id: str
    model: str
    text: str = ""
    reasoning: str = ""
    signature: str = ""
    """Stands for the reasoning where a vendor signs it."""
    is_encrypted: bool = False
    """Whether the signature is sent over Responses, too."""
    calls: tuple[ToolCall, ...] = ()
    """Arguments that are not a JSON object are passed on as they are, where the protocol can."""
    custom_tools: frozenset[str] = frozenset()
    """Names of tools of Responses that take a text, not an object."""
    ending: Literal["length", "content_filter"] | None = None
    usage: Usage = field(default_factory=Usage)


def body_of(protocol: Spoken, answer: ServedAnswer) -> Event:
    """Return the whole body of an answer."""
    return {
        "chat": _chat,
        "responses": _response,
        "anthropic": _message,
        "gemini": _candidates,
    }[protocol](answer)


def events_of(
    protocol: Spoken, answer: ServedAnswer, *, wants_usage: bool = True
) -> Iterator[Event]:
    """Return the events of a streamed answer, in order.

    Args:
        protocol: That the client speaks.
        answer: What is said.
        wants_usage: Whether a stream of chat ends with the usage.
    """
    body = body_of(protocol, answer)
    if protocol == "chat":
        return chat_events(body, include_usage=wants_usage)
    if protocol == "responses":
        return _response_events(body)
    return _message_events(body) if protocol == "anthropic" else _candidate_events(body)


def frames_of(
    protocol: Spoken, answer: ServedAnswer, *, wants_usage: bool = True
) -> Iterator[bytes]:
    """Return the server-sent events of a streamed answer; arguments as of `events_of`."""
    for event in events_of(protocol, answer, wants_usage=wants_usage):
        yield frame_of(event)
    if protocol == "chat":
        yield b"data: [DONE]\n\n"


def frame_of(event: JsonObject) -> bytes:
    """Return one server-sent event."""
    name = f"event: {event['type']}\n" if isinstance(event.get("type"), str) else ""
    return f"{name}data: {dumps(event)}\n\n".encode()


def pieces_of(text: str) -> list[str]:
    """Return a text in the pieces that a stream sends."""
    size = max(_PIECE_CHARACTERS, len(text) // _PIECES_MAX)
    return [text[start : start + size] for start in range(0, len(text), size)]


def chat_events(body: JsonObject, *, include_usage: bool) -> Iterator[dict[str, Any]]:
    """Yield a chat completion as the chunks of a stream, the usage last where it is asked for."""
    head = {**body, "object": "chat.completion.chunk"}
    counts, (choice,) = head.pop("usage"), head.pop("choices")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    message = choice["message"]
    yield chunk({"role": "assistant", "content": ""})
    for name in ("reasoning_content", "content"):
        yield from (chunk({name: piece}) for piece in pieces_of(message.get(name) or ""))
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        head_of_call = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield chunk({"tool_calls": [head_of_call]})
        for piece in pieces_of(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    if include_usage:
        yield {**head, "choices": [], "usage": counts}


def _counts(answer: ServedAnswer) -> tuple[int, int]:
    return answer.usage.prompt_tokens or 0, answer.usage.completion_tokens or 0


def _chat(answer: ServedAnswer) -> Event:
    message: Event = {"role": "assistant", "content": answer.text or (None if answer.calls else "")}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answer.calls
        ]
    default = "tool_calls" if answer.calls else "stop"
    finish = _ENDINGS["chat"].get(answer.ending, default)
    n_prompt, n_answer = _counts(answer)
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": n_prompt,
            "completion_tokens": n_answer,
            "total_tokens": n_prompt + n_answer,
        },
    }


def _response(answer: ServedAnswer) -> Event:
    n_prompt, n_answer = _counts(answer)
    ending: Event = {"status": "completed", "incomplete_details": None}
    if answer.ending is not None:
        reason = _ENDINGS["responses"][answer.ending]
        ending = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        **ending,
        "error": None,
        "output": list(_output_items(answer)),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": n_prompt,
            "input_tokens_details": {"cached_tokens": answer.usage.cached_tokens or 0},
            "output_tokens": n_answer,
            "output_tokens_details": {"reasoning_tokens": answer.usage.reasoning_tokens or 0},
            "total_tokens": n_prompt + n_answer,
        },
    }


def _output_items(answer: ServedAnswer) -> Iterator[Event]:
    if answer.reasoning:
        item: Event = {"type": "reasoning", "id": f"rs_{answer.id}"}
        item["summary"] = [{"type": "summary_text", "text": answer.reasoning}]
        if answer.is_encrypted:
            item["encrypted_content"] = answer.signature
        yield item
    if answer.text or not answer.calls:
        yield {
            "type": "message", "id": f"msg_{answer.id}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }  # fmt: skip
    for call in answer.calls:
        yield _call_item(answer, call)


def _call_item(answer: ServedAnswer, call: ToolCall) -> Event:
    head = {"id": f"fc_{call.id}", "call_id": call.id, "name": call.name, "status": "completed"}
    if call.name in answer.custom_tools:
        text = (call.values or {}).get("input", call.arguments)
        return {"type": "custom_tool_call", **head, "input": str(text)}
    return {"type": "function_call", **head, "arguments": call.arguments}


def _response_events(body: Event) -> Iterator[Event]:
    start = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[Event] = [{"type": "response.created", "response": start}]
    for index, item in enumerate(body["output"]):
        events += _item_events(index, item)
    events.append({"type": f"response.{body['status']}", "response": body})
    return ({**event, "sequence_number": position} for position, event in enumerate(events))


_ITEM_FIELDS: Final = {
    "message": "content",
    "reasoning": "summary",
    "function_call": "arguments",
    "custom_tool_call": "input",
}
_CALL_EVENTS: Final = {
    "function_call": "response.function_call_arguments",
    "custom_tool_call": "response.custom_tool_call_input",
}


def _item_events(index: int, item: Event) -> Iterator[Event]:
    position = {"output_index": index, "item_id": item["id"]}
    kind = item["type"]
    field = _ITEM_FIELDS[kind]
    start = {**item, field: "" if kind in _CALL_EVENTS else []}
    yield {"type": "response.output_item.added", "output_index": index, "item": start}
    if kind in _CALL_EVENTS:
        name = _CALL_EVENTS[kind]
        for piece in pieces_of(item[field]):
            yield {"type": f"{name}.delta", **position, "delta": piece}
        yield {"type": f"{name}.done", **position, "name": item["name"], field: item[field]}
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


def _message(answer: ServedAnswer) -> Event:
    content: list[Event] = []
    if answer.reasoning:
        signed = {"thinking": answer.reasoning, "signature": answer.signature}
        content.append({"type": "thinking", **signed})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)}
        for call in answer.calls
    ]  # fmt: skip
    default = "tool_use" if answer.calls else "end_turn"
    n_prompt, n_answer = _counts(answer)
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": _ENDINGS["anthropic"].get(answer.ending, default),
        "stop_sequence": None,
        "usage": {"input_tokens": n_prompt, "output_tokens": n_answer},
    }


def _input(call: ToolCall) -> Any:
    """Return the arguments, as the text that they are where they are not an object."""
    return call.arguments if call.values is None else call.values


_DELTAS: Final = {
    "text": ("text", "text_delta", "text"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
    "tool_use": ("input", "input_json_delta", "partial_json"),
}
"""Of a kind of block: its own field, and the kind and field of its pieces."""


def _message_events(body: Event) -> Iterator[Event]:
    # As Anthropic sends it: the count of the answer's tokens follows with its stop reason.
    empty_body = {**body, "content": [], "stop_reason": None}
    empty_body["usage"] = {**body["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": empty_body}
    for index, block in enumerate(body["content"]):
        # A block begins empty and is filled by its deltas, the signature last.
        field, kind, piece_field = _DELTAS[block["type"]]
        value = block[field]
        start = {**block, field: {} if field == "input" else ""}
        if "signature" in block:
            start["signature"] = ""
        yield {"type": "content_block_start", "index": index, "content_block": start}
        deltas = [
            {"type": kind, piece_field: piece} for piece in pieces_of(dumps_unless_text(value))
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


def _candidates(answer: ServedAnswer) -> Event:
    parts: list[Event] = []
    if answer.reasoning:
        parts.append({"text": answer.reasoning, "thought": True})
    if answer.text or not answer.calls:
        parts.append({"text": answer.text})
    # Gemini has no text for arguments: a call whose arguments are no object is left out, and the
    # finish reason says so.
    readable = [call for call in answer.calls if call.values is not None]
    # As the vendor has it, the first call of an answer carries the signature of its reasoning.
    for position, call in enumerate(readable):
        signed = {"thoughtSignature": answer.signature} if answer.reasoning else {}
        function = {"name": call.name, "args": call.values}
        parts.append({"functionCall": function, **(signed if position == 0 else {})})
    default = "STOP" if len(readable) == len(answer.calls) else "MALFORMED_FUNCTION_CALL"
    n_prompt, n_answer = _counts(answer)
    return {
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", "parts": parts},
                "finishReason": _ENDINGS["gemini"].get(answer.ending, default),
            }
        ],
        "usageMetadata": {
            "promptTokenCount": n_prompt,
            "candidatesTokenCount": n_answer,
            "totalTokenCount": n_prompt + n_answer,
        },
        "modelVersion": answer.model,
    }


def _candidate_events(body: Event) -> Iterator[Event]:
    (candidate,) = body["candidates"]
    parts: list[Event] = []
    for block in candidate["content"]["parts"]:
        pieces = pieces_of(block.get("text", ""))
        parts += [{**block, "text": piece} for piece in pieces] if pieces else [block]
    head = {"modelVersion": body["modelVersion"]}
    for position, block in enumerate(parts):
        is_last = position == len(parts) - 1
        ending = {"finishReason": candidate["finishReason"]} if is_last else {}
        content = {"role": "model", "parts": [block]}
        usage = {"usageMetadata": body["usageMetadata"]} if is_last else {}
        yield {**head, "candidates": [{"index": 0, "content": content, **ending}], **usage}
    if not parts:
        yield body
