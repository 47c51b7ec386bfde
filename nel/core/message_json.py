"""Chat messages as JSON, as nel stores them and as the bodies of requests have them. No I/O.

A stored message has all that the next request needs of it. Only bodies that nel wrote are read, so
a protocol is known by the name of its field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.types import JsonObject, Message, Native, ToolCall


def message_json(message: Message) -> dict[str, object]:
    """Return a message as a JSON object; empty fields are left out."""
    fields: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = list(map(call_json, message.tool_calls))
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    if message.native is not None:
        fields["native"] = native_json(message.native)
    return fields


def call_json(call: ToolCall) -> dict[str, object]:
    """Return a call as messages, responses and steps store it."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def read_message(fields: JsonObject) -> Message:
    """Return the message that `message_json` wrote."""
    content = fields["content"]
    return Message(
        role=fields["role"],
        content=content if isinstance(content, str) else tuple(content),
        tool_calls=tuple(ToolCall(**call) for call in fields.get("tool_calls", ())),
        tool_call_id=fields.get("tool_call_id"),
        native=read_native(fields),
    )


def native_json(native: Native) -> dict[str, object]:
    """Return as JSON what a message or a response keeps for its vendor."""
    # Items are JSON of any depth, which `asdict` copies with four frames of the stack a level.
    return {"protocol": native.protocol, "items": native.items}


def read_native(fields: JsonObject) -> Native | None:
    """Return what a message or a response keeps for its vendor; None where it keeps nothing."""
    native = fields.get("native")
    if native is None:
        return None
    return Native(protocol=native["protocol"], items=tuple(native["items"]))


def chat_message(message: Message) -> dict[str, object]:
    """Return a message in the shape of OpenAI's chat protocol."""
    fields: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


MESSAGE_FIELDS: Final = ("messages", "system", "input", "contents", "systemInstruction")
"""Of a body, the fields that hold what the model was asked; the others are settings."""


def messages_in(body: JsonObject) -> list[dict[str, Any]] | None:
    """Return the messages of a body; None where it has none, as one with a prompt."""
    # Chat has all in `messages`; Anthropic's protocol has the system message beside them.
    if isinstance(body.get("messages"), list):
        system, messages = body.get("system"), list(body["messages"])
        if isinstance(system, str):
            messages.insert(0, {"role": "system", "content": system})
        return messages
    if isinstance(body.get("input"), list):  # OpenAI's Responses
        return list(body["input"])
    if not isinstance(body.get("contents"), list):  # Gemini
        return None
    system = body.get("systemInstruction")
    turns = [(_role(entry), _text(entry)) for entry in body["contents"]]
    if isinstance(system, dict):
        turns.insert(0, ("system", _text(system)))
    return [{"role": role, "content": content} for role, content in turns]


def _role(content: JsonObject) -> str:
    return "assistant" if content.get("role") == "model" else str(content.get("role"))


def _text(content: JsonObject) -> str | list[dict[str, Any]]:
    """Return the text of Gemini's parts, or the parts where one is not a text."""
    parts = content.get("parts") or []
    if all(set(item) == {"text"} for item in parts):
        return "".join(str(item["text"]) for item in parts)
    return list(parts)


def with_calls(answer: str | None, calls: object) -> str | None:
    """Return an answer followed by its calls, one on a line.

    Args:
        answer: The text of the answer; None where there is none.
        calls: As results.jsonl has them: objects with ``name`` and ``arguments``; anything else is
            left out.

    >>> with_calls("I add.", [{"id": "1", "name": "add", "arguments": '{"x": 1}'}])
    'I add.\\n[calls add({"x": 1})]'
    """
    entries = calls if isinstance(calls, list) else []
    lines = [_line(call) for call in entries if isinstance(call, Mapping)]
    if not lines:
        return answer
    return "\n".join([answer, *lines] if answer else lines)


def _line(call: JsonObject) -> str:
    return f"[calls {call.get('name')}({call.get('arguments')})]"
