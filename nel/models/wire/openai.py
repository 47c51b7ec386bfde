"""The protocols of OpenAI that most servers speak, chat and completions. Sends nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, ClassVar, Final, NamedTuple

from nel.core.finish_reasons import ending_of, has_ended
from nel.core.json_values import present
from nel.models.faults import (
    Fault,
    aborted_fault,
    fault_of_error_object,
    malformed_fault,
    no_answer,
    object_in,
)
from nel.models.streams import AnswerStream
from nel.models.tool_calls import CALL_FIELDS, CallPieces, accumulate, sent_call, tool_calls_in
from nel.models.wire.base import (
    Wire,
    first_choice,
    index_of,
    name_in,
    read_text,
    usage_in,
)
from nel.types import Generation, JsonObject, Message, Native, Protocol, Request, Response

_ALTERNATIVES_MAX: Final = 100
_SENT: Final = ("role", "tool_calls", "function_call")
"""Fields of a message that a request has from elsewhere."""
_THOUGHTS: Final = ("thinking", "reasoning")
"""What the type of a part begins with that is not part of the answer."""
_EXCLUSIVE: Final = frozenset({"complete", "truncated", "content_filter"})
"""What an answer can end as, and only as one of them."""
_TEXTS: Final = ("reasoning_content", "reasoning", "refusal")
"""Fields of a chunk beside its content."""
_KNOWN: Final = frozenset(("role", "content", "tool_calls", *_TEXTS))
"""Fields of a chunk that are read; others are put together as they come."""


class _OpenAI(Wire):
    """What chat and completions have in common."""

    name: ClassVar[Protocol]
    lists_all = True
    _last_generation: Generation | None = None
    _last_settings: Mapping[str, object] = {}
    """Of the last request: most of a run have the same."""

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request; it takes every setting."""
        body: dict[str, object] = {"model": request.model}
        if request.protocol == "chat":
            body["messages"] = [_message(message) for message in request.messages]
            if request.tools:
                body["tools"] = list(request.tools)
            if request.tool_choice is not None:
                body["tool_choice"] = request.tool_choice
        else:
            body["prompt"] = request.prompt
        generation = request.generation
        # Compared by identity: the samples of a benchmark share one object.
        if generation is not self._last_generation:
            self._last_generation, self._last_settings = generation, _settings(generation)
        body |= self._last_settings
        if generation.seed is not None:
            body["seed"] = generation.seed_of(request.repeat)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def answer(self, payload: object) -> Response | Fault:
        """Return the first choice."""
        body = object_in(payload)
        if isinstance(body, Fault):
            return body
        choice = first_choice(body.get("choices"))
        if choice is None:
            return no_answer(body, "the body has no choices")
        finish = choice.get("finish_reason")
        # OpenRouter reports a failure of the server behind it here, with HTTP 200.
        if choice.get("error") or finish == "error":
            return fault_of_error_object(choice.get("error") or "finish_reason is error")
        finish_reason = finish if isinstance(finish, str) else None
        ending = ending_of(finish_reason)
        if ending == "aborted":
            return aborted_fault(finish_reason or "")
        source = choice.get("message") if self.name == "chat" else choice
        if source is None and ending == "content_filter":
            source = {}  # Azure leaves the message out
        if not isinstance(source, dict):
            return malformed_fault("the choice has no message")
        field = "content" if self.name == "chat" else "text"
        answer = _answer(source, field, body, finish_reason)
        if isinstance(answer, Fault):
            return answer
        alternatives = first_token_of(choice.get("logprobs"))
        return replace(answer, first_token=alternatives) if alternatives else answer

    def native(self, payload: JsonObject, message: Message) -> Sequence[JsonObject]:
        """Return the fields of the message that text and calls have no place for."""
        choice = first_choice(payload.get("choices")) or {}
        return _native_items(choice.get("message"), message)

    def stream(self) -> AnswerStream:
        """Return a collector of chunks."""
        return EventStream(chat=self.name == "chat")


class Chat(_OpenAI):
    """Chat completions, as most servers have them."""

    name = "chat"
    takes_tools = True

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go."""
        return "/chat/completions"

    def neutral(self, body: JsonObject, prompt: str) -> dict[str, Any]:
        """Return a body with one message."""
        return {**body, "messages": [{"role": "user", "content": prompt}]}


class Completions(_OpenAI):
    """Completions of a text."""

    name = "completions"

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go."""
        return "/completions"

    def neutral(self, body: JsonObject, prompt: str) -> dict[str, Any]:
        """Return a body with another text."""
        return {**body, "prompt": prompt}


def first_token_of(logprobs: object) -> dict[str, float]:
    """Return each alternative's log-probability for a choice's first token; empty if none is given.

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
        first_entry = listed[0] if isinstance(listed, list) and listed else None
        pairs = list(first_entry.items()) if isinstance(first_entry, dict) else []
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


def _answer(
    source: dict[str, object], field: str, payload: dict[str, object], finish_reason: str | None
) -> Response | Fault:
    content = read_content(source.get(field))
    if content is None:
        return malformed_fault(
            f"the choice's {field} is a {type(source.get(field)).__name__} that holds no text"
        )
    refusal = source.get("refusal") or content.refusal
    reasoning_field = source.get("reasoning_content") or source.get("reasoning")
    reasoning = reasoning_field if isinstance(reasoning_field, str) else content.reasoning
    called = source.get("tool_calls")
    # Some servers end an answer of calls alone with "stop".
    if called and not content.text and finish_reason != "length":
        finish_reason = "tool_calls"
    response = read_text(
        content.text,
        finish_reason=finish_reason,
        reasoning=reasoning or None,
        usage=usage_in(payload.get("usage")),
        model=name_in(payload, "model"),
        system_fingerprint=name_in(payload, "system_fingerprint"),
        tool_calls=tool_calls_in(called) if called else (),
    )
    if isinstance(refusal, str) and refusal and not response.text:
        response = replace(response, text=refusal, finish_reason="refusal")
    # The text may have held reasoning alone, which `read_text` has taken out of it.
    if called and not response.text and response.finish_reason not in ("length", "tool_calls"):
        return replace(response, finish_reason="tool_calls")
    return response


class Content(NamedTuple):
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
        field = "text"
        if kind.startswith(_THOUGHTS):
            field = "reasoning"
        elif kind == "refusal":
            field = "refusal"
        # {"type": "thinking", "thinking": "…"}: beside texts, the type names the field.
        value = block.get("text") or (block.get(kind) if field != "text" else None) or ""
        # Mistral: {"type": "thinking", "thinking": [{"type": "text", "text": "…"}]}.
        if field == "reasoning" and isinstance(value, list):
            pieces = [piece for piece in value if isinstance(piece, dict)]
            value = "".join(str(piece.get("text") or "") for piece in pieces)
        if not isinstance(value, str):
            return None
        texts[field].append(value)
    return Content(**{name: "".join(values) for name, values in texts.items()})


def _native_items(source: object, message: Message) -> tuple[dict[str, Any], ...]:
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


def _settings(generation: Generation) -> dict[str, Any]:
    """Return the settings of all repeats; the seed of each is its own."""
    settings = {
        "temperature": generation.temperature,
        "top_p": generation.top_p,
        "max_tokens": generation.max_tokens,
        "stop": None if generation.stop is None else list(generation.stop),
        "reasoning_effort": generation.reasoning_effort,
    }
    return {**generation.extra, **present(settings)}


def _message(message: Message) -> dict[str, Any]:
    content = message.content
    message_json: dict[str, Any] = {
        "role": message.role,
        "content": content if isinstance(content, str) else list(content),
    }
    fields, of_calls = ({}, []) if message.native is None else _native_fields(message.native)
    if message.tool_calls:
        extras = chain(of_calls, repeat({}))  # `of_calls` is empty where no call has further fields
        message_json["tool_calls"] = [
            {**extra, **sent_call(call)}
            for call, extra in zip(message.tool_calls, extras, strict=False)
        ]
    if message.tool_call_id is not None:
        message_json["tool_call_id"] = message.tool_call_id
    return message_json | fields


def _native_fields(native: Native) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the fields that the server wants back with a message, and those of each call."""
    if native.protocol != "chat":
        return {}, []
    fields = dict(native.items[0])
    return fields, fields.pop("tool_calls", [])


def _thinking_apart(texts: Mapping[str, str]) -> dict[str, object]:
    """Return the texts of a message in whose content thinking stood beside text, as Mistral has
    them in one piece.
    """
    thought = {"type": "text", "text": texts["reasoning"]}
    content: list[dict[str, object]] = [{"type": "thinking", "thinking": [thought]}]
    if text := texts.get("content"):
        content.append({"type": "text", "text": text})
    others = {name: text for name, text in texts.items() if name != "reasoning"}
    return {**others, "content": content}


class EventStream(AnswerStream):
    """Collects the chunks of chat or completions."""

    def __init__(self, *, chat: bool) -> None:
        """Start with nothing seen.

        Args:
            chat: Chat chunks carry a ``delta``, completions chunks a ``text``.
        """
        super().__init__()
        self._chat = chat
        self._texts: dict[str, list[str]] = {}
        self._finish: object = None
        self._rest: dict[str, object] = {}
        self._logprobs: object = None
        """Of the first chunk that has some, which are the first token's."""
        self._tool_calls = CallPieces()
        self._extras: dict[str, Any] = {}
        self._lists_thoughts = False

    def _result(self) -> object:
        if not self._done and self._finish is None:
            return malformed_fault("the stream broke off: neither a finish reason nor [DONE]")
        if self._index is None:
            return malformed_fault(
                "the stream has no choices; is this the protocol that the endpoint has?"
            )
        texts = {name: "".join(parts) for name, parts in self._texts.items()}
        ending = {"finish_reason": self._finish, "logprobs": self._logprobs}
        if not self._chat:
            return {**self._rest, "choices": [{"text": texts.get("content", ""), **ending}]}
        content = _thinking_apart(texts) if self._lists_thoughts else texts
        message: dict[str, object] = {"content": None, **self._extras, **content}
        if self._tool_calls:
            message["tool_calls"] = self._tool_calls.whole()
        return {**self._rest, "choices": [{"message": message, **ending}]}

    def _restart(self) -> None:
        self._texts, self._finish, self._logprobs = {}, None, None
        self._tool_calls, self._extras, self._lists_thoughts = CallPieces(), {}, False
        self.token_times.clear()

    def _take(self, payload: dict[str, Any], now: float) -> None:
        for name in ("model", "usage", "system_fingerprint"):
            if payload.get(name) is not None:
                self._rest[name] = payload[name]
        choices = payload.get("choices")
        for position, choice in enumerate(choices if isinstance(choices, list) else []):
            if isinstance(choice, dict) and self._is_chosen(index_of(choice, position)):
                self._choice(choice, now)

    def _choice(self, choice: dict[str, Any], now: float) -> None:
        if choice.get("error"):
            self._fail(fault_of_error_object(choice["error"]))
        # After the finish reason only usage and empty pieces may come; see below.
        is_late = self._finish is not None and not has_ended(choice.get("finish_reason"))
        self._take_finish(choice.get("finish_reason"))
        if self._logprobs is None and first_token_of(choice.get("logprobs")):
            self._logprobs = choice["logprobs"]
        text = {"content": choice.get("text")}
        delta = (choice.get("delta") or choice.get("message") or {}) if self._chat else text
        content = read_content(delta.get("content")) if isinstance(delta, dict) else None
        if content is None or (self._chat and not delta and choice.get("text")):
            self._fail(malformed_fault("a chunk of the stream holds something else than text"))
            return
        if is_late:
            if content.text.strip() or content.refusal or delta.get("tool_calls"):
                self._fail(
                    malformed_fault("the stream goes on with the answer after its finish reason")
                )
            return
        # A last chunk with a whole `message` instead of a `delta`.
        if self._chat and not choice.get("delta") and has_ended(choice.get("finish_reason")):
            self._forget_repeated(content.text)
        if delta.get("tool_calls"):
            self._tool_calls.add(delta["tool_calls"])
        self._lists_thoughts = self._lists_thoughts or bool(content.reasoning)
        self._add_extras(delta)
        texts = {
            "content": content.text,
            "reasoning": content.reasoning,
            "refusal": content.refusal,
        }
        self._add(texts | {name: delta[name] for name in _TEXTS if delta.get(name)}, now)

    def _add(self, texts: Mapping[str, object], now: float) -> None:
        """Add the pieces of a chunk to the texts of the answer."""
        for name, piece in texts.items():
            if isinstance(piece, str) and piece:
                self._texts.setdefault(name, []).append(piece)
                self.token_times.append(now)

    def _add_extras(self, delta: Mapping[str, object]) -> None:
        """Add the fields of a chunk of chat that are not read, which its server may want back."""
        if self._chat and not _KNOWN.issuperset(delta):
            extras = {name: value for name, value in delta.items() if name not in _KNOWN}
            self._extras = accumulate(self._extras, extras)

    def _take_finish(self, reason: object) -> None:
        """Keep why the answer ended; fail if it is both whole and cut off, or filtered."""
        if not has_ended(reason):
            return
        endings = {
            ending_of(reason_given)
            for reason_given in (self._finish, reason)
            if isinstance(reason_given, str)
        }
        if len(endings & _EXCLUSIVE) > 1:
            self._fail(
                malformed_fault(f"the stream has two finish reasons: {self._finish} and {reason}")
            )
        self._finish = reason

    def _forget_repeated(self, text: str) -> None:
        """Drop the pieces if the last chunk repeats the whole text, as MiniMax's does."""
        content = "".join(self._texts.get("content", []))
        if content and text.startswith(content):
            self._texts.pop("content")
