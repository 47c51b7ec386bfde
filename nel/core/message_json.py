"""Chat messages as JSON, with all that the next request needs of them. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from nel.types import Message, Native, ToolCall


def message_json(message: Message) -> dict[str, object]:
    """Return a message as a JSON object; empty fields are left out."""
    fields: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    if message.native is not None:
        fields["native"] = asdict(message.native)
    return fields


def read_message(fields: Mapping[str, Any]) -> Message:
    """Return the message that `message_json` wrote."""
    content = fields["content"]
    return Message(
        role=fields["role"],
        content=content if isinstance(content, str) else tuple(content),
        tool_calls=tuple(ToolCall(**call) for call in fields.get("tool_calls", ())),
        tool_call_id=fields.get("tool_call_id"),
        native=read_native(fields),
    )


def read_native(fields: Mapping[str, Any]) -> Native | None:
    """Return what a message or a response keeps for its vendor; None where it keeps nothing."""
    stored = fields.get("native")
    if stored is None:
        return None
    return Native(protocol=stored["protocol"], items=tuple(stored["items"]))


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
