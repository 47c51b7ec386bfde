"""Messages: Inspect's as JSON with the fields of nel's `Message`, and that JSON as nel's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from nel.core.strict_json import dumps
from nel.types import Message, ToolCall
from nel_inspect.watching import Watch

_IMAGES: Final = ("data:", "http://", "https://")


def turn_of(message: Any, watch: Watch) -> dict[str, Any]:
    """Return one of Inspect's messages with the fields of nel's `Message`, as JSON has them.

    Raises:
        Refused: It holds what is neither text nor an image.
    """
    content = message.content
    if not isinstance(content, str):
        content = [_block(item, watch) for item in content]
    turn = {"role": message.role, "content": content}
    if message.role == "tool":
        content_text = message.text if message.error is None else f"Error: {message.error.message}"
        return {**turn, "content": content_text, "tool_call_id": message.tool_call_id or ""}
    calls = getattr(message, "tool_calls", None) or []
    if calls:
        turn["tool_calls"] = [
            {"id": item.id, "name": item.function, "arguments": dumps(item.arguments)}
            for item in calls
        ]
    return turn


def message_of(turn: Mapping[str, Any]) -> Message:
    """Return what `turn_of` describes as a message of nel's."""
    content = turn["content"]
    return Message(
        role=turn["role"],
        content=content if isinstance(content, str) else tuple(content),
        tool_calls=tuple(ToolCall(**call) for call in turn.get("tool_calls", ())),
        tool_call_id=turn.get("tool_call_id"),
    )


def as_turn(message: Message) -> dict[str, Any]:
    """Return a message of nel's as `turn_of` describes it."""
    content = message.content
    turn: dict[str, Any] = {
        "role": message.role,
        "content": content if isinstance(content, str) else [dict(item) for item in content],
    }
    if message.tool_calls:
        turn["tool_calls"] = [asdict(item) for item in message.tool_calls]
    return turn if message.tool_call_id is None else {**turn, "tool_call_id": message.tool_call_id}


def _block(block: Any, watch: Watch) -> dict[str, Any]:
    if block.type == "text":
        return {"type": "text", "text": block.text}
    if block.type == "image" and block.image.startswith(_IMAGES):
        return {"type": "image_url", "image_url": {"url": block.image, "detail": block.detail}}
    if block.type == "image":
        raise watch.refuse(
            "shows the model an image by its file's name, which this bridge does not send"
        )
    raise watch.refuse(
        f"shows the model content of the kind {block.type}, which this bridge does not send"
    )
