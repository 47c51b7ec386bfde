"""Requests of agents, read out of the bodies of four protocols into messages and tools of chat.

Reads what agents send and refuses nothing that only adds: what has no place in chat is named in
``left_out``, so that it can be noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nel.core.strict_json import dumps
from nel.environments.agents.answers import Spoken
from nel.types import Json, JsonObject, Message, ToolCall

CUSTOM_PARAMETERS: Final = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""Of a tool of Responses that takes a text."""
_FIELDS: Final[Mapping[Spoken, tuple[str, ...]]] = {
    "chat": (
        "messages", "tools", "model", "stream", "stream_options", "temperature", "top_p",
        "max_tokens", "max_completion_tokens", "user", "metadata", "store", "parallel_tool_calls",
    ),
    "responses": (
        "input", "instructions", "tools", "model", "stream", "temperature", "top_p",
        "max_output_tokens", "include", "store", "metadata", "client_metadata", "prompt_cache_key",
        "parallel_tool_calls", "user",
    ),
    "anthropic": (
        "messages", "system", "tools", "model", "stream", "temperature", "top_p", "max_tokens",
        "metadata",
    ),
    "gemini": ("contents", "systemInstruction", "system_instruction", "tools", "generationConfig"),
}  # fmt: skip
"""Of a body: what is passed on, or changes no answer. Other fields are left out, and noted."""
_SETTINGS: Final[Mapping[str, str]] = {
    "temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens",
    "topP": "top_p", "maxOutputTokens": "max_tokens",
}  # fmt: skip


_DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
"""Of Gemini, which takes both spellings."""


class Unreadable(ValueError):
    """A body that is not a request of its protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """What an agent asks its model."""

    protocol: Spoken
    model: str
    """By the name that the agent asked for."""
    is_streamed: bool
    wants_usage: bool
    messages: tuple[Message, ...]
    tools: tuple[JsonObject, ...]
    """Functions, in the shape of chat."""
    custom_tools: frozenset[str]
    native_tools: Mapping[str, JsonObject]
    """Tools that a vendor's own server would run, by their types, as the agent offers them."""
    settings: Mapping[str, Json]
    """Generation settings, by nel's names."""
    left_out: tuple[str, ...]
    """Fields of the body that are not passed on."""


@dataclass(slots=True)
class _Tools:
    functions: list[JsonObject] = field(default_factory=list)
    custom: set[str] = field(default_factory=set)
    native: dict[str, JsonObject] = field(default_factory=dict)


def read_request(
    protocol: Spoken, body: object, *, model: str = "", is_streamed: bool = False
) -> AgentRequest:
    """Return what a decoded body asks.

    Args:
        protocol: Of its address.
        body: As JSON.
        model: Where the address names it, as Gemini's does.
        is_streamed: As the model.

    Raises:
        Unreadable: It is not a request.
    """
    if not isinstance(body, dict):
        raise Unreadable("the body is not a JSON object")
    readers: dict[Spoken, Callable[[JsonObject], Iterator[Message]]] = {
        "chat": _chat,
        "responses": _responses,
        "anthropic": _anthropic,
        "gemini": _gemini,
    }
    try:
        messages = tuple(readers[protocol](body))
        tools = _tools(protocol, body)
    except (AttributeError, KeyError, TypeError) as error:
        raise Unreadable(
            f"a message or tool is malformed ({type(error).__name__}: {error})"
        ) from error
    if not any(message.role in ("user", "tool") for message in messages):
        raise Unreadable("the request has no message of a user")
    options = body.get("stream_options")
    generation = body.get("generationConfig") if protocol == "gemini" else body
    left_out = [
        name
        for name, value in body.items()
        if name not in _FIELDS[protocol] and value not in (None, [], {}, "auto")
    ]
    return AgentRequest(
        protocol=protocol,
        model=model or str(body.get("model") or ""),
        is_streamed=is_streamed or body.get("stream") is True,
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
        messages=messages,
        tools=tuple(tools.functions),
        custom_tools=frozenset(tools.custom),
        native_tools=tools.native,
        settings=_settings(generation if isinstance(generation, dict) else {}),
        left_out=tuple(sorted(left_out)),
    )


def _settings(fields: JsonObject) -> dict[str, Json]:
    return {
        name: value
        for field_name, name in _SETTINGS.items()
        if type(value := fields.get(field_name)) in (int, float)
    }


def _chat(body: JsonObject) -> Iterator[Message]:
    for item in body["messages"]:
        role = item["role"]
        calls = tuple(
            ToolCall(
                id=str(call.get("id") or ""),
                name=str(call["function"].get("name") or ""),
                arguments=str(call["function"].get("arguments") or "{}"),
            )
            for call in item.get("tool_calls") or ()
        )
        yield Message(
            role="system" if role == "developer" else role,
            content=_content(item.get("content"), is_kept=role == "user"),
            tool_calls=calls,
            tool_call_id=item.get("tool_call_id") if role == "tool" else None,
        )


def _responses(body: JsonObject) -> Iterator[Message]:
    """Yield messages; what an assistant wrote in a row is one."""
    if body.get("previous_response_id"):
        raise Unreadable(
            "responses are not stored here; send all input without previous_response_id"
        )
    # Instructions and system messages at the start become the one system message of chat.
    items = body["input"]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    instructions = body.get("instructions")
    leading = [instructions] if instructions else []
    messages = list(_of_items(items))
    while messages and messages[0].role == "system":
        leading.append(_text(messages.pop(0).content))
    if leading:
        yield Message(role="system", content="\n\n".join(leading))
    yield from _join_answers(messages)


def _of_items(items: Sequence[JsonObject]) -> Iterator[Message]:
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            role = "system" if item["role"] == "developer" else item["role"]
            yield Message(role=role, content=_content(item["content"], is_kept=role == "user"))
        elif kind in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments")
            if kind == "custom_tool_call":
                arguments = dumps({"input": item.get("input", "")})
            call = ToolCall(id=item["call_id"], name=item["name"], arguments=str(arguments or "{}"))
            yield Message(role="assistant", content="", tool_calls=(call,))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            content = _text(_content(item.get("output"), is_kept=False))
            yield Message(role="tool", content=content, tool_call_id=item["call_id"])


def _join_answers(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages, with an assistant's text and calls in one; a system's later ones are a
    user's, since many models take a system's message at the start alone.
    """
    answer: Message | None = None
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if answer is not None and role == answer.role == "assistant":
            answer = Message(
                role=role,
                content=_text(answer.content) + _text(message.content),
                tool_calls=(*answer.tool_calls, *message.tool_calls),
            )
            continue
        if answer is not None:
            yield answer
        answer = Message(
            role=role,
            content=message.content,
            tool_calls=message.tool_calls,
            tool_call_id=message.tool_call_id,
        )
    if answer is not None:
        yield answer


def _anthropic(body: JsonObject) -> Iterator[Message]:
    system = _text(_content(body.get("system"), is_kept=False))
    if system:
        yield Message(role="system", content=system)
    for item in body["messages"]:
        content = item["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_result":
                text = _text(_content(block.get("content"), is_kept=False))
                yield Message(role="tool", content=text, tool_call_id=block["tool_use_id"])
        # Chat takes results right after the calls, so they precede what the user adds.
        others = [block for block in blocks if block["type"] in ("text", "image")]
        calls = tuple(
            ToolCall(id=block["id"], name=block["name"], arguments=dumps(block.get("input") or {}))
            for block in blocks
            if block["type"] == "tool_use"
        )
        if others or calls:
            content = _content(others, is_kept=item["role"] == "user")
            yield Message(role=item["role"], content=content, tool_calls=calls)


def _gemini(body: JsonObject) -> Iterator[Message]:
    """Yield messages; calls without ids are numbered, results go to the oldest of their name."""
    system = body.get("systemInstruction") or body.get("system_instruction")
    if system:
        yield Message(role="system", content=_text(_content(system.get("parts"), is_kept=False)))
    open_calls: list[ToolCall] = []
    n_calls = 0
    for item in body["contents"]:
        parts = item.get("parts") or []
        for result in (part["functionResponse"] for part in parts if "functionResponse" in part):
            # Gemini names no call: calls of one name are answered in the order of their asking.
            identifier = result["name"]
            for position, call in enumerate(open_calls):
                if call.name == result["name"]:
                    identifier = open_calls.pop(position).id
                    break
            text = dumps(result.get("response") or {})
            yield Message(role="tool", content=text, tool_call_id=result.get("id") or identifier)
        functions = [part["functionCall"] for part in parts if "functionCall" in part]
        calls = [
            _gemini_call(function, f"call_{n}") for n, function in enumerate(functions, n_calls)
        ]
        n_calls += len(calls)
        open_calls += calls
        texts = [part for part in parts if "text" in part and not part.get("thought")]
        texts += [part for part in parts if "inlineData" in part]
        role = "assistant" if item.get("role") == "model" else "user"
        if texts or calls:
            content = _content(texts, is_kept=role == "user")
            yield Message(role=role, content=content, tool_calls=tuple(calls))


def _gemini_call(function: JsonObject, identifier: str) -> ToolCall:
    return ToolCall(
        id=function.get("id") or identifier,
        name=function["name"],
        arguments=dumps(function.get("args") or {}),
    )


def _content(content: Any, *, is_kept: bool) -> str | tuple[JsonObject, ...]:
    """Return a content: texts as one, unless an image stands among them.

    Args:
        content: A text, blocks, or None.
        is_kept: Whether images stay, as in a user's message.
    """
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part for block in content if (part := _part(block)) is not None]
    if is_kept and any(part["type"] != "text" for part in parts):
        return tuple(parts)
    return "\n".join(str(part["text"]) for part in parts if part["type"] == "text")


def _part(block: JsonObject) -> JsonObject | None:
    """Return a text or an image in the shape of chat; None for anything else."""
    if isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    kind = block.get("type")
    if kind == "image_url":
        return {"type": "image_url", "image_url": block["image_url"]}
    if kind == "input_image":
        return {"type": "image_url", "image_url": {"url": block["image_url"]}}
    data = block.get("source") if kind == "image" else block.get("inlineData")
    if isinstance(data, dict) and "data" in data:
        media = data.get("media_type") or data.get("mimeType")
        return {"type": "image_url", "image_url": {"url": f"data:{media};base64,{data['data']}"}}
    return None


def _text(content: str | tuple[JsonObject, ...]) -> str:
    return content if isinstance(content, str) else ""


def _tools(protocol: Spoken, body: JsonObject) -> _Tools:
    tools = _Tools()
    for tool in body.get("tools") or ():
        kind = tool.get("type")
        if protocol == "gemini":
            # An entry holds declarations, or a tool of Gemini's own by its name, or both.
            for function in [item for name in _DECLARATIONS for item in tool.get(name) or ()]:
                parameters = function.get("parametersJsonSchema") or function.get("parameters")
                _add(tools, function, parameters)
            tools.native |= {name: tool for name in tool if name not in _DECLARATIONS}
        elif protocol == "anthropic" and kind in (None, "custom"):
            _add(tools, tool, tool["input_schema"])
        elif protocol == "responses" and kind == "custom":
            tools.custom.add(tool["name"])
            _add(tools, tool, CUSTOM_PARAMETERS)
        elif kind == "function":
            function = tool["function"] if protocol == "chat" else tool
            _add(tools, function, function.get("parameters"))
        else:
            tools.native[str(kind)] = tool
    return tools


def _add(tools: _Tools, function: JsonObject, parameters: object) -> None:
    shape = {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": parameters or {"type": "object", "properties": {}},
    }
    tools.functions.append({"type": "function", "function": shape})
