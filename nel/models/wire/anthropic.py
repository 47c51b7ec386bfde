"""The Messages API of Anthropic. Sends nothing.

The system message stands apart, a limit on the answer is required, and thinking arrives in blocks
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, ClassVar, Final

from nel.config.schema import GenerationConfig
from nel.core.json_values import inner, present
from nel.models.faults import Fault, malformed_fault, no_answer, object_in
from nel.models.streams import AnswerStream
from nel.models.tool_calls import accumulate, sent_arguments
from nel.models.wire.base import (
    IMAGE_PART,
    TEXT_PART,
    Wire,
    all_objects,
    count,
    data_of,
    image_of,
    join_texts,
    merge_body,
    name_in,
    native_items,
    objects,
    read_text,
    system_apart,
    unfinished_fault,
    unknown_part,
    word,
)
from nel.models.wire.tools import REQUIRED, calls_of, forced_name, function_of
from nel.types import Generation, JsonObject, Message, Request, Response, Usage

VERSION: Final = "2023-06-01"
"""Sent as ``anthropic-version``; `endpoint.headers` may name another one."""
_TEXTS: Final = ("text", "thinking")
_PIECES: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
"""Kind of a piece of a block to its own field, and that of the block."""
_OF_BLOCKS: Final = ("content_block_start", "content_block_delta")


class Anthropic(Wire):
    """The Messages API of Anthropic."""

    name = "anthropic"
    takes_tools = True
    listing = "/models?limit=1000"
    unsupported: ClassVar = {"seed": "--seed"}

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go."""
        return "/messages"

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the header that carries a key."""
        return {"X-Api-Key": key}

    def headers(self) -> dict[str, str]:
        """Return the version of the protocol."""
        return {"Anthropic-Version": VERSION}

    def problems(self, generation: Generation | GenerationConfig) -> list[str]:
        """Return which settings it cannot send, and that it needs a limit."""
        problems = super().problems(generation)
        if generation.max_tokens is None:
            problems.append("it needs a limit on the answer; give --max-tokens N")
        return problems

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request."""
        generation = request.generation
        system, messages = system_apart(request.messages, self.name)
        effort = generation.reasoning_effort
        settings: dict[str, object] = {
            "system": system,
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "stop_sequences": None if generation.stop is None else list(generation.stop),
            "output_config": None if effort is None else {"effort": effort},
            "stream": True if stream else None,
        }
        body: dict[str, object] = {"model": request.model, "messages": _turns(messages)}
        body |= present(settings)
        extra = dict(generation.extra)
        if request.tools:
            body |= {"tools": [_tool(tool) for tool in request.tools]}
            body |= _choice(
                request.tool_choice, are_parallel=extra.pop("parallel_tool_calls", None)
            )
        return merge_body(body, extra)

    def neutral(self, body: JsonObject, prompt: str) -> dict[str, Any]:
        """Return a body with one message and no system message."""
        settings = {name: value for name, value in body.items() if name != "system"}
        return {**settings, "messages": [{"role": "user", "content": prompt}]}

    def answer(self, payload: object) -> Response | Fault:
        """Return the text of all blocks of a message."""
        body = object_in(payload)
        if isinstance(body, Fault):
            return body
        blocks = objects(body.get("content"))
        if not all_objects(body.get("content")):
            return no_answer(
                body, "the body has no content, or content that is not a list of blocks"
            )
        texts = [block.get("text") for block in blocks if block.get("type") == "text"]
        if not all(isinstance(text, str) for text in texts):
            return malformed_fault("a text block has no text")
        text = join_texts(texts)
        thoughts = [block.get("thinking") for block in blocks if block.get("type") == "thinking"]
        reasoning = "\n".join(thought for thought in thoughts if isinstance(thought, str))
        stop = body.get("stop_reason")
        finish = stop if isinstance(stop, str) else None
        if (fault := unfinished_fault(text, reasoning, finish)) is not None:
            return fault
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        calls = calls_of([(use.get("id"), use.get("name"), use.get("input")) for use in uses])
        return read_text(
            text,
            finish_reason=finish,
            reasoning=reasoning or None,
            usage=_usage(body.get("usage")),
            model=name_in(body, "model"),
            tool_calls=calls,
        )

    def native(self, payload: JsonObject, message: Message) -> Sequence[JsonObject]:
        """Return all blocks, if there are more than a text and calls, e.g. signed thinking."""
        blocks = objects(payload["content"])
        # A stream brings the input of a call as text, and only an object may be sent back.
        for position, block in enumerate(blocks):
            if isinstance(block.get("input"), str):
                blocks[position] = {**block, "input": sent_arguments(block["input"])}
        return () if blocks == _blocks_of(message) else blocks

    def stream(self) -> AnswerStream:
        """Return a collector of events."""
        return MessageStream()


class MessageStream(AnswerStream):
    """Collects the events of one message."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__()
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}

    def _take(self, payload: dict[str, Any], now: float) -> None:
        # message_start, then for each block content_block_start, …_delta and …_stop, then
        # message_delta with the stop reason and the usage, and message_stop; `ping` at any time.
        kind, index = payload.get("type"), payload.get("index")
        if kind == "message_start":
            self._message = inner(payload, "message")
            self._usage.update(inner(self._message, "usage"))
        elif kind == "content_block_start" and type(index) is int:
            self._blocks[index] = inner(payload, "content_block")
        elif kind == "content_block_delta" and self._message.get("stop_reason") is not None:
            self._fail(malformed_fault("the stream goes on with the answer after its stop reason"))
        elif kind == "content_block_delta" and type(index) is int:
            self._piece(index, inner(payload, "delta"), now)
        elif kind in _OF_BLOCKS:
            self._fail(
                malformed_fault("an event of the stream does not say which block it belongs to")
            )
        elif kind == "message_delta":
            self._message = {**self._message, **inner(payload, "delta")}
            self._usage.update(present(inner(payload, "usage")))
        elif kind == "message_stop":
            self._done = True

    def _piece(self, index: int, delta: dict[str, Any], now: float) -> None:
        own_field, field = _PIECES.get(word(delta.get("type")), ("", ""))
        if not field:
            self._blocks[index] = _with_piece(self._blocks.get(index, {}), delta)
            return
        text = delta.get(own_field)
        if text is not None and not isinstance(text, str):
            self._fail(malformed_fault("a piece of a block is not a text"))
        elif text:
            self._pieces.setdefault(index, {}).setdefault(field, []).append(text)
            if field in _TEXTS:
                self._blocks.setdefault(index, {"type": field})
                self.token_times.append(now)

    def _result(self) -> object:
        if not self._done and self._message.get("stop_reason") is None:
            return malformed_fault("the stream broke off: neither a stop reason nor message_stop")
        if not self._message:
            return malformed_fault(
                "the stream has no message; is this the protocol that the endpoint has?"
            )
        content = []
        for index, block in sorted(self._blocks.items()):
            pieces = self._pieces.get(index, {})
            texts = {name: join_texts([block.get(name), *texts]) for name, texts in pieces.items()}
            content.append({**block, **texts})
        return {**self._message, "content": content, "usage": self._usage}


def _with_piece(block: JsonObject, delta: JsonObject) -> dict[str, Any]:
    """Return a block after a piece of another kind than text; a citation joins those before it."""
    piece = {name: value for name, value in delta.items() if name != "type"}
    if "citation" in piece:
        piece["citations"] = [piece.pop("citation")]
    return accumulate(block, piece)


def _tool(tool: JsonObject) -> dict[str, Any]:
    function = function_of(tool)
    if not function:
        return dict(tool)
    return {
        **present({"name": function.get("name"), "description": function.get("description")}),
        "input_schema": function.get("parameters") or {"type": "object"},
    }


def _choice(choice: object, *, are_parallel: object) -> dict[str, Any]:
    """Return the field of which tools must be called, and if several may; empty without either."""
    if choice is None and are_parallel is None:
        return {}
    name = forced_name(choice)
    kind = "any" if choice == REQUIRED else "auto"
    if name is not None:
        kind = "tool"
    alone = None if are_parallel is None else not are_parallel
    fields = {"type": kind, "name": name, "disable_parallel_tool_use": alone}
    return {"tool_choice": present(fields)}


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation's turns; the results of successive calls are one turn of the user."""
    turns: list[dict[str, Any]] = []
    for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
        if is_result:
            turns.append({"role": "user", "content": [_result(message) for message in group]})
        else:
            turns += [{"role": message.role, "content": _content_of(message)} for message in group]
    return turns


def _result(message: Message) -> dict[str, Any]:
    content = _content(message)
    return {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}


def _content_of(message: Message) -> str | list[dict[str, Any]]:
    if native := native_items(message, "anthropic"):
        return native
    return _blocks_of(message) if message.tool_calls else _content(message)


def _blocks_of(message: Message) -> list[dict[str, Any]]:
    content = _content(message)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    calls = [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": sent_arguments(call.arguments),
        }
        for call in message.tool_calls
    ]
    return [*content, *calls]


def _content(message: Message) -> str | list[dict[str, Any]]:
    content = message.content
    return content if isinstance(content, str) else [_block(item) for item in content]


def _block(item: JsonObject) -> dict[str, Any]:
    if item.get("type") == TEXT_PART:
        return {"type": "text", "text": item.get("text")}
    if item.get("type") == IMAGE_PART:
        url = image_of(item)
        data = data_of(url)
        if data is None:
            return {"type": "image", "source": {"type": "url", "url": url}}
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": data[0], "data": data[1]},
        }
    raise unknown_part(item, "anthropic")


def _usage(usage: object) -> Usage:
    """Return the counts; ``input_tokens`` leaves out what was read from or written to the cache."""
    fields = usage if isinstance(usage, dict) else {}
    cache_read = count(fields.get("cache_read_input_tokens"))
    cache_written = count(fields.get("cache_creation_input_tokens"))
    uncached = count(fields.get("input_tokens"))
    from_cache = (cache_read or 0) + (cache_written or 0)
    return Usage(
        prompt_tokens=None if uncached is None else uncached + from_cache,
        completion_tokens=count(fields.get("output_tokens")),
        reasoning_tokens=count(inner(fields, "output_tokens_details").get("thinking_tokens")),
        cached_tokens=cache_read,
    )
