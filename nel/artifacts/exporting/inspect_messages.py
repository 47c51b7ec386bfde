"""Chat messages, calls and usage in the shape of Inspect's logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.core.strict_json import dumps
from nel.types import ToolCall

STOP_REASONS: Final = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}


def inspect_usage(tokens: Mapping[str, Any]) -> dict[str, Any]:
    """Return tokens as Inspect counts them."""
    prompt, completion = tokens.get("prompt") or 0, tokens.get("completion") or 0
    return {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": prompt + completion,
        "input_tokens_cache_read": tokens.get("cached"),
        "reasoning_tokens": tokens.get("reasoning"),
    }


def inspect_message(sent: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return a message of Inspect for one in the shape of OpenAI's."""
    role, content = str(sent.get("role")), sent.get("content")
    message: dict[str, Any] = {
        "role": role if role in ("system", "user", "assistant", "tool") else "user"
    }
    parts = (
        [_content_part(element) for element in content]
        if isinstance(content, list | tuple)
        else content
    )
    message["content"] = parts if isinstance(parts, list | str) else ""
    if role == "tool":
        message["tool_call_id"] = str(sent.get("tool_call_id") or "")
    calls = sent.get("tool_calls")
    if role == "assistant" and isinstance(calls, list):
        message["tool_calls"] = [
            inspect_call(element, f"{position}.{number}") for number, element in enumerate(calls)
        ]
    return message


def _content_part(content_part: Any) -> dict[str, Any]:  # checked here
    kind = content_part.get("type") if isinstance(content_part, dict) else None
    if kind == "text":
        return {"type": "text", "text": str(content_part.get("text"))}
    if kind == "image_url":
        image = content_part.get("image_url")
        return {
            "type": "image",
            "image": str(image.get("url") if isinstance(image, dict) else image),
        }
    return {"type": "text", "text": dumps(content_part)}


def inspect_call(call: Any, name: str) -> dict[str, Any]:  # checked here
    """Return a call of Inspect; what is not a JSON object is the argument ``unread``.

    Args:
        call: In the shape of OpenAI's, or of results.jsonl.
        name: Of a call that has none.
    """
    fields = call if isinstance(call, dict) else {}
    function = fields.get("function", fields)  # of the OpenAI shape, or of results.jsonl
    function = function if isinstance(function, dict) else {}
    written = ToolCall(
        id=str(fields.get("id") or name),
        name=str(function.get("name")),
        arguments=str(function.get("arguments")),
    )
    return {
        "id": written.id,
        "function": written.name,
        "arguments": {"unread": written.arguments} if written.values is None else written.values,
        "parse_error": written.parse_error,
        "type": "function",
    }
