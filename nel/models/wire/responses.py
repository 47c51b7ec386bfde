"""The Responses API of OpenAI. Sends nothing.

A response is asked not to be stored. Reasoning arrives as a summary at most, which is kept apart
from the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from nel.core.json_values import inner, present
from nel.models.faults import Fault, aborted_fault, malformed_fault, no_answer, object_in
from nel.models.streams import AnswerStream
from nel.models.wire.base import (
    IMAGE_PART,
    TEXT_PART,
    NotInProtocol,
    UsageNames,
    Wire,
    all_objects,
    join_texts,
    merge_body,
    name_in,
    native_items,
    objects,
    only_text,
    read_text,
    unfinished_fault,
    unknown_part,
    usage_in,
    word,
)
from nel.models.wire.tools import calls_of, forced_name, function_of
from nel.types import JsonObject, Message, Request, Response, ToolCall

_DELTAS: Final = (
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
)
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
ENCRYPTED_REASONING: Final = "reasoning.encrypted_content"
_ROLES: Final = ("system", "developer", "user", "assistant")
_FINAL: Final = "final_answer"
"""Phase of the message that is the answer, with models that comment on their work in others
(gpt-5.3-codex and later).
"""
_USAGE: Final = UsageNames(
    "input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"
)


class Responses(Wire):
    """The Responses API of OpenAI."""

    name = "responses"
    takes_tools = True
    lists_all = True
    unsupported: ClassVar = {"stop": "--stop", "seed": "--seed"}

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go."""
        return "/responses"

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request."""
        generation = request.generation
        body: dict[str, object] = {
            "model": request.model,
            "input": [item for message in request.messages for item in _items(message)],
            "store": False,
        }
        effort = generation.reasoning_effort
        settings = {
            "max_output_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "reasoning": None if effort is None else {"effort": effort},
            "stream": True if stream else None,
        }
        body |= present(settings)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not None:
            name = forced_name(request.tool_choice)
            body["tool_choice"] = (
                request.tool_choice if name is None else {"type": "function", "name": name}
            )
        # Reasoning has to be sent back with the results of calls; a response that is not stored
        # brings it only in encrypted form, on demand.
        if "store" in generation.extra:
            del body["store"]
        elif request.tools and ("reasoning" in body or "reasoning" in generation.extra):
            body["include"] = [ENCRYPTED_REASONING]  # other models refuse it
        return merge_body(body, generation.extra)

    def neutral(self, body: JsonObject, prompt: str) -> dict[str, Any]:
        """Return a body with one message."""
        return {**body, "input": [{"role": "user", "content": prompt}]}

    def answer(self, payload: object) -> Response | Fault:
        """Return the text of all messages of a response."""
        body = object_in(payload)
        if isinstance(body, Fault):
            return body
        status = body.get("status")
        if word(status) in ("failed", "cancelled"):
            return aborted_fault(word(status))
        is_finished = status is None or word(status) in ("completed", "incomplete")
        if not is_finished or not isinstance(body.get("output"), list):
            return no_answer(body, f'the body has no finished output (status "{word(status)}")')
        return self._of_output(body)

    def _of_output(self, payload: dict[str, Any]) -> Response | Fault:
        """Return the texts and calls of tools of a finished output."""
        items = objects(payload["output"])
        messages = [item for item in items if item.get("type") == "message"]
        if not all_objects(payload["output"]) or not all(
            all_objects(message.get("content")) for message in messages
        ):
            return malformed_fault("the output, or a message in it, is not a list of objects")
        blocks = [block for message in messages for block in message["content"]]
        if any(not isinstance(block.get("text"), str) for block in blocks if _is_text(block)):
            return malformed_fault("a text of the output is not a text")
        # Without phases, as of most models, every message is of the answer.
        final_messages = [message for message in messages if message.get("phase") == _FINAL]
        text = "\n".join(filter(None, map(_text_of, final_messages or messages)))
        refusal = join_texts(
            [block.get("refusal") for block in blocks if block.get("type") == "refusal"]
        )
        is_cut = payload.get("status") == "incomplete"
        finish: object = inner(payload, "incomplete_details").get("reason") if is_cut else "stop"
        if not text and refusal:
            text, finish = refusal, "refusal"
        if not text and any(word(item.get("type")).endswith("_call") for item in items):
            finish = "tool_calls"
        reason = word(finish) or "incomplete"
        if (fault := unfinished_fault(text, None, reason)) is not None:
            return fault
        return read_text(
            text,
            finish_reason=reason,
            reasoning=_reasoning(items, has_final=bool(final_messages)),
            usage=usage_in(payload.get("usage"), _USAGE),
            model=name_in(payload, "model"),
            tool_calls=_calls(items),
        )

    def native(self, payload: JsonObject, message: Message) -> Sequence[JsonObject]:
        """Return the output, unless it has reasoning that only a server that stored it reads."""
        items = objects(payload["output"])
        thoughts = [item for item in items if item.get("type") == "reasoning"]
        is_stored = payload.get("store") is True
        can_return = all(item.get("encrypted_content") or item.get("content") for item in thoughts)
        return items if can_return or is_stored else ()

    def stream(self) -> AnswerStream:
        """Return a collector of events, the last of which holds the whole response."""
        return ResponseStream()


class ResponseStream(AnswerStream):
    """Collects the events of one response."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__()
        self._whole: dict[str, Any] | None = None
        self._has_text = False
        self._items: dict[int, dict[str, Any]] = {}

    def _take(self, payload: dict[str, Any], now: float) -> None:
        kind = payload.get("type")
        if word(kind) in _DELTAS and payload.get("delta"):
            self.token_times.append(now)
            self._has_text = self._has_text or kind == _DELTAS[0]
        elif kind == "response.output_item.done" and type(payload.get("output_index")) is int:
            self._items[payload["output_index"]] = inner(payload, "item")
        elif word(kind) in _ENDS:
            self._whole, self._done = inner(payload, "response"), True

    def _result(self) -> object:
        if self._whole is None:
            return malformed_fault("the stream broke off: the response never ended")
        if self._items and self._whole.get("output") == []:  # as the endpoint of Codex has it
            return {**self._whole, "output": [item for _, item in sorted(self._items.items())]}
        if self._has_text and self._whole.get("output") == []:
            return malformed_fault(
                "the last event of the stream leaves out the output that came before; ask without"
                " stream"
            )
        return self._whole


def _tool(tool: JsonObject) -> dict[str, Any]:
    function = function_of(tool)
    return {"type": "function", **function, "strict": False} if function else dict(tool)


def _items(message: Message) -> list[dict[str, Any]]:
    """Return a message and, as items of their own, its tool calls; of a tool's, only the result."""
    if message.role == "tool" and message.tool_call_id is not None:
        output = only_text(message, "responses")
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": output}]
    if native := native_items(message, "responses"):
        return native
    calls = [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in message.tool_calls
    ]
    return [*([_item(message)] if message.content or not calls else []), *calls]


def _calls(items: Sequence[JsonObject]) -> tuple[ToolCall, ...]:
    """Return the calls of tools among the items of an output."""
    called = [item for item in items if item.get("type") == "function_call"]
    return calls_of(
        [(call.get("call_id"), call.get("name"), call.get("arguments")) for call in called]
    )


def _item(message: Message) -> dict[str, Any]:
    if message.role not in _ROLES:
        raise NotInProtocol(
            f'the responses protocol has no place for a message of the role "{message.role}"'
        )
    if isinstance(message.content, str):
        return {"role": message.role, "content": message.content}
    return {
        "role": message.role,
        "content": [_block(block, message.role) for block in message.content],
    }


def _block(block: JsonObject, role: str) -> dict[str, Any]:
    if block.get("type") == TEXT_PART:
        return {
            "type": "output_text" if role == "assistant" else "input_text",
            "text": block.get("text"),
        }
    if block.get("type") == IMAGE_PART and role == "user":
        image = block.get("image_url")
        fields = image if isinstance(image, Mapping) else {"url": image}
        detail = {"detail": fields["detail"]} if "detail" in fields else {}
        return {"type": "input_image", "image_url": fields.get("url"), **detail}
    raise unknown_part(block, "responses")


def _is_text(block: JsonObject) -> bool:
    return block.get("type") in ("output_text", "text")


def _text_of(message: JsonObject) -> str:
    return join_texts([block.get("text") for block in message["content"] if _is_text(block)])


def _reasoning(items: list[dict[str, Any]], *, has_final: bool) -> str | None:
    """Return the reasoning, with what stands beside a final answer as commentary."""
    texts: list[str] = []
    for item in items:
        if item.get("type") == "reasoning":
            blocks = objects(item.get("content") or item.get("summary"))
            texts += [block["text"] for block in blocks if isinstance(block.get("text"), str)]
        elif has_final and item.get("type") == "message" and item.get("phase") != _FINAL:
            texts.append(_text_of(item))
    return "\n".join(texts) or None
