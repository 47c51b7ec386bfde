"""The two OpenAI-compatible protocols: request bodies out, answers in. Sends nothing.

What a model thinks is not its answer. Reasoning comes in a field of its own or as a leading
``<think>`` block, and a block that never closes means that the answer was cut off before it began.
Recorded answers are read in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any, Final

from nel.core.finish_reasons import ending_of
from nel.core.thinking import split_reasoning
from nel.models.faults import (
    Fault,
    aborted,
    fault_of_error_object,
    malformed,
    no_answer,
    object_in,
)
from nel.models.tool_calls import CALL_FIELDS, sent_call, tool_calls_in
from nel.types import Generation, Message, Protocol, Request, Response, Usage

PATHS: Final[Mapping[str, str]] = {"chat": "/chat/completions", "completions": "/completions"}

_COUNT_MAX = 2**53
_ALTERNATIVES_MAX: Final = 100
_NAME_CHARACTERS_MAX = 200
_SENT: Final = ("role", "tool_calls", "function_call")
"""Fields of a message that a request has from elsewhere."""
_THOUGHTS: Final = ("thinking", "reasoning")
"""What the type of a part begins with that is no part of the answer."""


def build_body(request: Request, *, stream: bool = False) -> dict[str, Any]:
    """Return the JSON body of a request.

    Args:
        stream: Ask for the answer as it is made, and for its usage at the end.
    """
    body: dict[str, object] = {"model": request.model}
    if request.protocol == "chat":
        body["messages"] = [_message(message) for message in request.messages]
        body |= {"tools": list(request.tools)} if request.tools else {}
        body |= {"tool_choice": request.tool_choice} if request.tool_choice is not None else {}
    else:
        body["prompt"] = request.prompt
    body.update(_settings(request.generation, request.repeat))
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def parse_answer(protocol: Protocol, payload: object) -> Response | Fault:
    """Return the answer in a decoded HTTP 200 body, or the fault it is instead."""
    body = object_in(payload)
    if isinstance(body, Fault):
        return body
    choice = first_choice(body.get("choices"))
    if choice is None:
        return no_answer(body, "the body has no choices")
    finish_reason = choice.get("finish_reason")
    if choice.get("error") or finish_reason == "error":
        return fault_of_error_object(choice.get("error") or "finish_reason is error")
    if isinstance(finish_reason, str) and ending_of(finish_reason) == "aborted":
        return aborted(finish_reason)
    source = choice.get("message") if protocol == "chat" else choice
    if (
        source is None
        and isinstance(finish_reason, str)
        and ending_of(finish_reason) == "content_filter"
    ):
        source = {}  # Azure leaves the message out
    if not isinstance(source, dict):
        return malformed("the choice has no message")
    answer = _answer(source, "content" if protocol == "chat" else "text", body, finish_reason)
    if isinstance(answer, Response) and (alternatives := first_token_of(choice.get("logprobs"))):
        return replace(answer, first_token=alternatives)
    return answer


def first_token_of(logprobs: object) -> dict[str, float]:
    """Return the log-probability of each alternative for the first token of a choice; empty where
    it gives none.

    Chat has a list of alternatives for each token, completions a mapping.
    """
    if not isinstance(logprobs, dict):
        return {}
    tokens = logprobs.get("content")
    pairs: list[tuple[object, object]] = []
    if isinstance(tokens, list) and tokens and isinstance(tokens[0], dict):
        listed = tokens[0].get("top_logprobs")
        if isinstance(listed, list):
            pairs = [
                (entry.get("token"), entry.get("logprob"))
                for entry in listed
                if isinstance(entry, dict)
            ]
    else:
        listed = logprobs.get("top_logprobs")
        first = listed[0] if isinstance(listed, list) and listed else None
        pairs = list(first.items()) if isinstance(first, dict) else []
    return {
        token: value
        for token, value in pairs[:_ALTERNATIVES_MAX]
        if isinstance(token, str) and isinstance(value, float | int) and math.isfinite(value)
    }


def logprob_settings(protocol: Protocol, n: int) -> dict[str, object]:
    """Return the settings that request n alternatives for each token; none where n is 0."""
    if not n:
        return {}
    return {"logprobs": True, "top_logprobs": n} if protocol == "chat" else {"logprobs": n}


def first_choice(choices: object) -> dict[str, Any] | None:
    """Return the choice with the lowest index, which is 0; None where there is no choice.

    Choices without an index count in the order in which they stand.
    """
    listed = (
        [choice for choice in choices if isinstance(choice, dict)]
        if isinstance(choices, list)
        else []
    )
    numbered = [(index_of(choice, position), position) for position, choice in enumerate(listed)]
    return listed[min(numbered)[1]] if numbered else None


def index_of(choice: Mapping[str, object], position: int) -> int:
    """Return the index of a choice, or its place in the list where it has none."""
    index = choice.get("index")
    return index if type(index) is int else position


def read_text(
    text: str, *, finish_reason: str | None = None, reasoning: str | None = None
) -> Response:
    """Return the answer that a model's text holds, recorded or just received, without its
    reasoning.

    A text whose reasoning never closes is truncated, whatever the finish reason says. It is split
    here and nowhere else, so that a tag in the answer stays there.

    Args:
        text: As received.
        finish_reason: As received.
        reasoning: What came in a field of its own; then the text is the answer.
    """
    if reasoning:
        return Response(text=text, reasoning=reasoning, finish_reason=finish_reason)
    inner, answer, closed = split_reasoning(text)
    return Response(
        text=answer,
        reasoning=inner or None,
        finish_reason=finish_reason if closed else "length",
        received=None if inner is None else text,
    )


def _answer(
    source: dict[str, object], field: str, payload: dict[str, object], finish_reason: object
) -> Response | Fault:
    content = read_content(source.get(field))
    if content is None:
        return malformed(
            f"the choice's {field} is a {type(source.get(field)).__name__} that holds no text"
        )
    refusal = source.get("refusal") or content.refusal
    outer = source.get("reasoning_content") or source.get("reasoning")
    reasoning = outer if isinstance(outer, str) else content.reasoning
    finish = finish_reason if isinstance(finish_reason, str) else None
    response = read_text(content.text, finish_reason=finish, reasoning=reasoning or None)
    if isinstance(refusal, str) and refusal and not response.text:
        response = replace(response, text=refusal, finish_reason="refusal")
    if called := source.get("tool_calls"):
        response = replace(response, tool_calls=tool_calls_in(called))
        response = (
            response
            if response.text or response.finish_reason == "length"
            else replace(response, finish_reason="tool_calls")
        )
    return replace(
        response,
        usage=parse_usage(payload.get("usage")),
        model=name_in(payload, "model"),
        system_fingerprint=name_in(payload, "system_fingerprint"),
    )


@dataclass(frozen=True, slots=True)
class Content:
    """What the content of a message, or of a piece of one, says."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""


def read_content(content: object) -> Content | None:
    """Return what a content says, text or a list of parts; None where part of it cannot be read.

    >>> read_content([{"type": "thinking", "thinking": "2, then?"}, {"type": "text", "text": "2"}])
    Content(text='2', reasoning='2, then?', refusal='')
    """
    if content is None or isinstance(content, str):
        return Content(content or "")
    if not isinstance(content, list):
        return None
    texts: dict[str, list[str]] = {"text": [], "reasoning": [], "refusal": []}
    for item in content:
        block = {"text": item} if isinstance(item, str) else item
        if not isinstance(block, dict):
            return None
        kind = str(block.get("type"))
        field = (
            "reasoning"
            if kind.startswith(_THOUGHTS)
            else "refusal"
            if kind == "refusal"
            else "text"
        )
        value = block.get("text") or (block.get(kind) if field != "text" else None) or ""
        if field == "reasoning" and isinstance(value, list):  # as Mistral has them
            value = "".join(
                str(piece.get("text") or "") for piece in value if isinstance(piece, dict)
            )
        if not isinstance(value, str):
            return None
        texts[field].append(value)
    return Content(**{name: "".join(values) for name, values in texts.items()})


def name_in(payload: Mapping[str, object], field: str) -> str | None:
    """Return a name that a server gives itself, of bounded length; None where it gives none."""
    name = payload.get(field)
    return name[:_NAME_CHARACTERS_MAX] if isinstance(name, str) and name else None


def native_fields(source: object, message: Message) -> tuple[dict[str, Any], ...]:
    """Return the fields of an answer's message, and of its calls, that a request built from text
    and calls would not have: reasoning by whichever name, and what else a server signs.
    """
    received = source if isinstance(source, Mapping) else {}
    fields = {
        name: value
        for name, value in received.items()
        if name not in _SENT and value and not (name == "content" and value == message.content)
    }
    calls = received.get("tool_calls")
    extras = [_extras(call) for call in calls] if isinstance(calls, list) else []
    if any(extras):
        fields["tool_calls"] = extras
    return (fields,) if fields else ()


def _extras(call: object) -> dict[str, Any]:
    fields = call if isinstance(call, Mapping) else {}
    return {name: value for name, value in fields.items() if name not in CALL_FIELDS}


def names_listed(payload: object) -> list[str]:
    """Return the names in the body of a list of models; empty where it is none."""
    listing = payload if isinstance(payload, dict) else {}
    listed, field = (
        (listing.get("data"), "id") if "data" in listing else (listing.get("models"), "name")
    )  # of Gemini
    names = (
        [model.get(field) for model in listed if isinstance(model, dict)]
        if isinstance(listed, list)
        else []
    )
    return [name for name in names if isinstance(name, str)]


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
    if (seed := generation.seed_of(repeat)) is not None:
        settings["seed"] = seed
    if generation.reasoning_effort is not None:
        settings["reasoning_effort"] = generation.reasoning_effort
    return settings


def _message(message: Message) -> dict[str, Any]:
    content = message.content
    sent: dict[str, Any] = {
        "role": message.role,
        "content": content if isinstance(content, str) else list(content),
    }
    fields, of_calls = _native_fields(message)
    if message.tool_calls:
        extras = chain(of_calls, repeat({}))
        sent["tool_calls"] = [
            {**extra, **sent_call(call)}
            for call, extra in zip(message.tool_calls, extras, strict=False)
        ]
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    return {**sent, **fields}


def _native_fields(message: Message) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the fields that the server wants back with a message, and those of each call."""
    native = message.native
    if native is None or native.protocol != "chat":
        return {}, []
    fields = dict(native.items[0])
    return fields, fields.pop("tool_calls", [])


def _inner(usage: dict[str, object], name: str) -> dict[str, Any]:
    inner = usage.get(name)
    return inner if isinstance(inner, dict) else {}


def _count(value: object) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_MAX
        else None
    )
