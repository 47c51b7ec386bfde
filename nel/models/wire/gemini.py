"""The Gemini API of Google: generateContent and streamGenerateContent. Sends nothing.

The model is part of the address. A prompt that is blocked has no candidate; its reason counts as a
content filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote

from nel.core.json_values import inner, present
from nel.models.faults import Fault, malformed_fault, no_answer, object_in
from nel.models.streams import AnswerStream
from nel.models.tool_calls import sent_arguments
from nel.models.wire.base import (
    IMAGE_PART,
    TEXT_PART,
    NotInProtocol,
    Wire,
    all_objects,
    count,
    data_of,
    first_choice,
    image_of,
    index_of,
    join_texts,
    merge_body,
    name_in,
    native_items,
    only_text,
    read_text,
    system_apart,
    unfinished_fault,
    unknown_part,
)
from nel.models.wire.tools import REQUIRED, calls_of, forced_name, function_of
from nel.types import JsonObject, Message, Request, Response, ToolCall, Usage

_ROLES: Final = {"user": "user", "assistant": "model"}


class Gemini(Wire):
    """generateContent, of Gemini."""

    name = "gemini"
    takes_tools = True
    listing = "/models?pageSize=1000"

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go: the model's name stands in it."""
        model_path = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"/{quote(model_path)}:{method}"

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the header that carries a key."""
        return {"X-Goog-Api-Key": key}

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request."""
        generation = request.generation
        system, messages = system_apart(request.messages, self.name)
        effort = generation.reasoning_effort
        settings = {
            "temperature": generation.temperature,
            "topP": generation.top_p,
            "maxOutputTokens": generation.max_tokens,
            "stopSequences": None if generation.stop is None else list(generation.stop),
            "seed": generation.seed_of(request.repeat),
            "thinkingConfig": None if effort is None else {"thinkingLevel": effort.upper()},
        }
        body: dict[str, object] = {"contents": _contents(messages)}
        if system is not None:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        if configured := present(settings):
            body["generationConfig"] = configured
        if request.tools:
            body["tools"] = [
                {"functionDeclarations": [_declaration(tool) for tool in request.tools]}
            ]
        if request.tool_choice is not None:
            body["toolConfig"] = {"functionCallingConfig": _choice(request.tool_choice)}
        return merge_body(body, generation.extra)

    def neutral(self, body: JsonObject, prompt: str) -> dict[str, Any]:
        """Return a body with one message and no system message."""
        settings = {name: value for name, value in body.items() if name != "systemInstruction"}
        return {**settings, "contents": [{"role": "user", "parts": [{"text": prompt}]}]}

    def answer(self, payload: object) -> Response | Fault:
        """Return the first candidate."""
        body = object_in(payload)
        if isinstance(body, Fault):
            return body
        usage, model = _usage(body.get("usageMetadata")), name_in(body, "modelVersion")
        candidate = first_choice(body.get("candidates"))
        if candidate is None:
            if inner(body, "promptFeedback").get("blockReason"):
                return Response(finish_reason="content_filter", usage=usage, model=model)
            return no_answer(body, "the body has no candidates")
        parts = _parts_of(candidate)
        if parts is None:
            return malformed_fault("the candidate's content is not a list of parts")
        if any(not isinstance(item["text"], str) for item in parts if "text" in item):
            return malformed_fault("a part's text is not a text")
        text = join_texts([item.get("text") for item in parts if not item.get("thought")])
        thoughts = join_texts([item.get("text") for item in parts if item.get("thought")])
        finish = candidate.get("finishReason")
        reason = finish if isinstance(finish, str) else None
        if not text and any("functionCall" in item for item in parts):
            reason = "tool_calls"
        if (fault := unfinished_fault(text, thoughts, reason)) is not None:
            return fault
        return read_text(
            text,
            finish_reason=reason,
            reasoning=thoughts or None,
            usage=usage,
            model=model,
            tool_calls=_calls(parts),
        )

    def native(self, payload: JsonObject, message: Message) -> Sequence[JsonObject]:
        """Return all parts, where there are others than a text and calls, such as signed ones."""
        parts: list[dict[str, Any]] = []
        for item in _parts_of(first_choice(payload.get("candidates")) or {}) or []:
            if parts and _continues(parts[-1], item):
                parts[-1] = {**item, "text": f"{parts[-1]['text']}{item['text']}"}
            else:
                parts.append(item)
        return () if parts == _content(message)["parts"] else parts

    def stream(self) -> AnswerStream:
        """Return a collector of chunks, each a response with the next parts."""
        return ContentStream()


class ContentStream(AnswerStream):
    """Collects the chunks of one answer."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__()
        self._rest: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._finish: object = None

    def _take(self, payload: dict[str, Any], now: float) -> None:
        for name in ("usageMetadata", "modelVersion", "promptFeedback"):
            if payload.get(name) is not None:
                self._rest[name] = payload[name]
        candidates = payload.get("candidates") or []
        if not all_objects(candidates):
            self._fail(
                malformed_fault(
                    "a chunk of the stream has candidates that are not a list of objects"
                )
            )
            return
        for position, candidate in enumerate(candidates):
            if self._is_chosen(index_of(candidate, position)):
                self._candidate(candidate, now)

    def _restart(self) -> None:
        self._parts, self._finish = [], None

    def _candidate(self, candidate: dict[str, Any], now: float) -> None:
        parts = _parts_of(candidate)
        if parts is None:
            self._fail(
                malformed_fault("a chunk of the stream has content that is not a list of parts")
            )
            return
        if self._finish and not candidate.get("finishReason") and any(map(_says_something, parts)):
            self._fail(
                malformed_fault("the stream goes on with the answer after its finish reason")
            )
            return
        self._parts += parts
        if any(item.get("text") for item in parts):
            self.token_times.append(now)
        self._finish = candidate.get("finishReason") or self._finish

    def _result(self) -> object:
        if self._finish is None and inner(self._rest, "promptFeedback").get("blockReason") is None:
            return malformed_fault("the stream broke off: no finish reason")
        if self._finish is None:
            return self._rest
        return {
            **self._rest,
            "candidates": [{"content": {"parts": self._parts}, "finishReason": self._finish}],
        }


def _calls(parts: Sequence[JsonObject]) -> tuple[ToolCall, ...]:
    """Return the calls of tools among the parts of an answer."""
    called = [inner(item, "functionCall") for item in parts if "functionCall" in item]
    return calls_of([(call.get("id"), call.get("name"), call.get("args")) for call in called])


def _continues(earlier: JsonObject, item: JsonObject) -> bool:
    """Return whether a part goes on with the text of the one before, which a stream has in pieces;
    what is signed stays apart.
    """
    return (
        earlier.keys() == item.keys() <= {"text", "thought"}
        and "text" in item
        and earlier.get("thought") == item.get("thought")
    )


def _says_something(item: JsonObject) -> bool:
    """Return whether a part belongs to the answer, which an empty text and a thought do not."""
    return "functionCall" in item or bool(
        not item.get("thought") and str(item.get("text") or "").strip()
    )


def _parts_of(candidate: JsonObject) -> list[dict[str, Any]] | None:
    """Return a candidate's parts, none without content; None where they are not a list of parts."""
    content = candidate.get("content") or {}
    parts = (content.get("parts") or []) if isinstance(content, dict) else None
    return parts if all_objects(parts) else None


def _declaration(tool: JsonObject) -> dict[str, Any]:
    function = function_of(tool)
    schema = function.pop("parameters", None)
    return function if schema is None else {**function, "parametersJsonSchema": schema}


def _choice(choice: object) -> dict[str, Any]:
    name = forced_name(choice)
    if name is not None:
        return {"mode": "ANY", "allowedFunctionNames": [name]}
    return {"mode": "ANY" if choice == REQUIRED else str(choice).upper()}


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the turns of a conversation; results of calls that follow each other are one turn of
    the user, which Gemini demands.
    """
    contents: list[dict[str, Any]] = []
    # By the id in nel's messages, which Gemini itself may not have given.
    called: dict[str, dict[str, Any]] = {}
    for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
        if is_result:
            results = [_result(message, called) for message in group]
            contents.append({"role": "user", "parts": results})
            continue
        for message in group:
            content = _content(message)
            calls = [inner(item, "functionCall") for item in content["parts"]]
            named_calls = [call for call in calls if call]
            called |= dict(zip((call.id for call in message.tool_calls), named_calls, strict=False))
            contents.append(content)
    return contents


def _result(message: Message, called: Mapping[str, JsonObject]) -> dict[str, Any]:
    """Return the result of a call, with its name, which the message does not have, and its id,
    unless the model gave none.
    """
    identity = message.tool_call_id or ""
    call = called.get(identity, {"id": identity})
    output = {"output": only_text(message, "gemini")}
    response = {"name": call.get("name", ""), "response": output}
    if call.get("id"):
        response = {"id": call["id"], **response}
    return {"functionResponse": response}


def _content(message: Message) -> dict[str, Any]:
    content = message.content
    role = _ROLES[message.role]
    if native := native_items(message, "gemini"):
        return {"role": role, "parts": native}
    calls = [
        {
            "functionCall": {
                "id": call.id,
                "name": call.name,
                "args": sent_arguments(call.arguments),
            }
        }
        for call in message.tool_calls
    ]
    if isinstance(content, str):
        parts = [{"text": content}] if content or not calls else []
    else:
        parts = [_block(item) for item in content]
    return {"role": role, "parts": [*parts, *calls]}


def _block(item: JsonObject) -> dict[str, Any]:
    if item.get("type") == TEXT_PART:
        return {"text": item.get("text")}
    if item.get("type") == IMAGE_PART:
        data = data_of(image_of(item))
        if data is None:
            raise NotInProtocol(
                "the gemini protocol takes images as data; give the file or a data URL, not an"
                " address"
            )
        return {"inlineData": {"mimeType": data[0], "data": data[1]}}
    raise unknown_part(item, "gemini")


def _usage(usage: object) -> Usage:
    """Return the counts; what the model thought is not among ``candidatesTokenCount``."""
    fields = usage if isinstance(usage, dict) else {}
    n_answer = count(fields.get("candidatesTokenCount"))
    n_thought = count(fields.get("thoughtsTokenCount"))
    counts = [n for n in (n_answer, n_thought) if n is not None]
    return Usage(
        prompt_tokens=count(fields.get("promptTokenCount")),
        completion_tokens=sum(counts) if counts else None,
        reasoning_tokens=n_thought,
        cached_tokens=count(fields.get("cachedContentTokenCount")),
    )
