"""Chat messages, calls and usage in the shape of Inspect's logs."""

from __future__ import annotations

from typing import Any, Final

from nel.core.strict_json import dumps
from nel.types import JsonObject, ToolCall

STOP_REASONS: Final = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}


def inspect_usage(tokens: JsonObject) -> dict[str, Any]:
    """Return tokens as Inspect counts them."""
    prompt, completion = tokens["prompt"] or 0, tokens["completion"] or 0
    return {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": prompt + completion,
        "input_tokens_cache_read": tokens["cached"],
        "reasoning_tokens": tokens["reasoning"],
    }


def inspect_message(chat_message: JsonObject, position: int) -> dict[str, Any]:
    """Return a message of Inspect for one in the shape of OpenAI's."""
    role, content = str(chat_message.get("role")), chat_message.get("content")
    if isinstance(content, list | tuple):
        content = [content_part(element) for element in content]
    elif not isinstance(content, str):
        content = ""
    is_role = role in ("system", "user", "assistant", "tool")
    message: dict[str, Any] = {"role": role if is_role else "user", "content": content}
    if role == "tool":
        message["tool_call_id"] = str(chat_message.get("tool_call_id") or "")
    calls = chat_message.get("tool_calls")
    if role == "assistant" and isinstance(calls, list):
        message["tool_calls"] = [
            inspect_call(element, f"{position}.{number}") for number, element in enumerate(calls)
        ]
    return message


def content_part(content: Any) -> dict[str, Any]:  # checked here
    """Return a part of a message; what is neither a text nor an image is its JSON."""
    fields = content if isinstance(content, dict) else {}
    kind, text, image = fields.get("type"), fields.get("text"), fields.get("image_url")
    if kind == "text" and isinstance(text, str):
        return {"type": "text", "text": text}
    url = image.get("url") if isinstance(image, dict) else image
    if kind == "image_url" and isinstance(url, str):
        return {"type": "image", "image": url}
    return {"type": "text", "text": dumps(content)}


def answer_parts(result: JsonObject) -> list[dict[str, Any]]:
    """Return what a model thought and what it answered, as parts of a message."""
    reasoning = result["reasoning"]
    parts = [{"type": "reasoning", "reasoning": reasoning}] if reasoning else []
    return [*parts, {"type": "text", "text": result["model_response"] or ""}]


def inspect_output(result: JsonObject, model: str, answer: JsonObject) -> dict[str, Any]:
    """Return the output of a result; without an answer there is no choice."""
    reason = STOP_REASONS.get(str(result["finish_reason"]), "unknown")
    has_response = result["model_response"] is not None
    return {
        "model": str(result["served_model"] or model),
        "choices": [{"message": answer, "stop_reason": reason}] if has_response else [],
        "usage": inspect_usage(result["tokens"]),
        "time": result["timing"]["latency_seconds"],
    }


def failure_text(outcome: JsonObject) -> str:
    """Return how the model failed."""
    return f"a failure of the model, {outcome['kind']}: {outcome['detail'] or 'no detail'}"


def inspect_call(call: Any, name: str) -> dict[str, Any]:  # checked here
    """Return a call of Inspect; what is not a JSON object is the argument ``unread``.

    Args:
        call: In the shape of OpenAI's, or of results.jsonl.
        name: Of a call that has none.
    """
    fields = call if isinstance(call, dict) else {}
    function = fields.get("function", fields)  # of the OpenAI shape, or of results.jsonl
    function = function if isinstance(function, dict) else {}
    tool_call = ToolCall(
        id=str(fields.get("id") or name),
        name=str(function.get("name")),
        arguments=str(function.get("arguments")),
    )
    arguments = tool_call.values
    if arguments is None:
        arguments = {"unread": tool_call.arguments}
    return {
        "id": tool_call.id,
        "function": tool_call.name,
        "arguments": arguments,
        "parse_error": tool_call.parse_error,
        "type": "function",
    }
