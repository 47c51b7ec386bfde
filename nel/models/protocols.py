"""The two OpenAI-compatible protocols: request bodies out, answers in. Sends nothing.

What a model thinks is not its answer. Reasoning comes in a field of its own or as a leading ``<think>`` block, and a
block that never closes means that the answer was cut off before it began.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from nel.models.faults import Fault, fault_of_error_object, malformed
from nel.types import Generation, Message, Protocol, Request, Response, Usage

PATHS: Final[Mapping[Protocol, str]] = {"chat": "/chat/completions", "completions": "/completions"}

_COUNT_MAX = 2**53
_THINK = re.compile(r"\s*<think(?:ing)?>(.*?)(</think(?:ing)?>|\Z)", re.DOTALL)


def build_body(request: Request, *, stream: bool = False) -> dict[str, Any]:
    """Return the JSON body of a request.

    Args:
        stream: Ask for the answer as it is made, and for its usage at the end.
    """
    body: dict[str, object] = {"model": request.model}
    if request.protocol == "chat":
        body["messages"] = [_message(message) for message in request.messages]
    else:
        body["prompt"] = request.prompt
    body.update(_settings(request.generation, request.repeat))
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def parse_answer(protocol: Protocol, payload: object) -> Response | Fault:
    """Return the answer in a decoded HTTP 200 body, or the fault it is instead."""
    if not isinstance(payload, dict):
        return malformed(f"the body is a JSON {type(payload).__name__}, not an object")
    if payload.get("error"):
        return fault_of_error_object(payload["error"])
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return malformed("the body has no choices")
    choice = choices[0]
    finish_reason = choice.get("finish_reason")
    if finish_reason == "error":
        return fault_of_error_object(choice.get("error") or "finish_reason is error")
    source = choice.get("message") if protocol == "chat" else choice
    if not isinstance(source, dict):
        return malformed("the choice has no message")
    return _answer(source, "content" if protocol == "chat" else "text", payload, finish_reason)


def split_reasoning(text: str) -> tuple[str | None, str, bool]:
    """Return ``(reasoning, answer, closed)`` of a text that may open with a ``<think>`` block.

    Some chat templates put the opening tag into the prompt, so that the text has the closing one alone.
    """
    match = _THINK.match(text)
    if match is None:
        before, closing, after = text.partition("</think>")
        return (before.strip(), after.lstrip(), True) if closing else (None, text, True)
    return match[1].strip(), text[match.end() :].lstrip(), bool(match[2])


def _answer(
    source: dict[str, object], field: str, payload: dict[str, object], finish_reason: object
) -> Response | Fault:
    refusal = source.get("refusal")
    text = _text(source.get(field))
    if text is None:
        return malformed(f"the choice's {field} is a {type(source.get(field)).__name__}, not text")
    inner, answer, closed = split_reasoning(text) if "think" in text else (None, text, True)
    outer = source.get("reasoning_content") or source.get("reasoning")
    reasoning = "\n".join(part for part in (outer, inner) if isinstance(part, str) and part) or None
    finish = finish_reason if isinstance(finish_reason, str) else None
    if isinstance(refusal, str) and refusal and not answer:
        answer, finish = refusal, "refusal"
    if not answer and source.get("tool_calls"):
        finish = "tool_calls"
    model = payload.get("model")
    return Response(
        text=answer,
        reasoning=reasoning,
        finish_reason=finish if closed else "length",
        usage=parse_usage(payload.get("usage")),
        model=model if isinstance(model, str) else None,
    )


def parse_usage(usage: object) -> Usage:
    """Return the token counts of a usage object; whatever is absent or not a count is None."""
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(_inner(usage, "completion_tokens_details").get("reasoning_tokens")),
        cached_tokens=_count(_inner(usage, "prompt_tokens_details").get("cached_tokens")),
    )


def _settings(generation: Generation, repeat: int) -> dict[str, Any]:
    settings: dict[str, object] = dict(generation.extra)
    if generation.temperature is not None:
        settings["temperature"] = generation.temperature
    if generation.top_p is not None:
        settings["top_p"] = generation.top_p
    if generation.max_tokens is not None:
        settings["max_tokens"] = generation.max_tokens
    if generation.stop is not None:
        settings["stop"] = list(generation.stop)
    if generation.seed is not None:
        settings["seed"] = generation.seed + repeat
    return settings


def _message(message: Message) -> dict[str, Any]:
    content = message.content
    return {"role": message.role, "content": content if isinstance(content, str) else list(content)}


def _text(content: object) -> str | None:
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _inner(usage: dict[str, object], name: str) -> dict[str, Any]:
    inner = usage.get(name)
    return inner if isinstance(inner, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_MAX else None
