"""Server-sent events to one answer: the same payload that the endpoint would have sent without a
stream. Sends nothing.

A stream that simply ends was cut off. It is whole only once a finish reason or ``[DONE]`` was seen.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from nel.core.finish_reasons import ending_of, has_ended
from nel.models.answer_json import Contradiction, answer_of
from nel.models.error_bodies import BOM, error_in
from nel.models.faults import UNREADABLE, Fault, fault_of_error_object, malformed, unreadable
from nel.models.protocols import first_token_of, index_of, read_content
from nel.models.tool_calls import CallPieces, accumulated

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_NO_PAYLOAD: Final = (b"", b"[DONE]")
"""Data of an event that keeps a connection alive, and of the last one."""
_NAMES: Final = (b"data", b"event", b"id", b"retry", b"")
"""Of the fields of an event; a comment has none."""
_FIELDS: Final = (b"data:", b"event:", b": ")
"""What a stream of events begins with, and no JSON does."""
_START_BYTES: Final = 64
_EXCLUSIVE: Final = frozenset({"complete", "truncated", "content_filter"})
"""What an answer can end as, and only as one of them."""
_TEXTS: Final = ("reasoning_content", "reasoning", "refusal")
"""Fields of a chunk beside its content."""
_KNOWN: Final = frozenset(("role", "content", "tool_calls", *_TEXTS))
"""Fields of a chunk that are read; others are put together as they come."""


def is_event_stream(body: bytes) -> bool:
    """Return whether a whole body is a stream of events, whatever its content type says."""
    return body[:_START_BYTES].removeprefix(BOM).lstrip().startswith(_FIELDS)


class AnswerStream(ABC):
    """Collects the events of one streamed answer; feed it bytes as they come."""

    content_type: ClassVar[str] = "text/event-stream"
    """That a streamed answer has; one of another type is read as a whole."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._pending: list[bytes] = []
        self._ends_in_cr = False
        self._data: list[bytes] = []
        self._unframed: list[
            bytes
        ] = []  # lines that are no field of an event, but may be the body of an answer
        self._is_error = False
        self._fault: Fault | None = None
        self._done = False
        self._started = False
        self.token_times: list[float] = []
        """When each chunk with text or reasoning came, on the caller's clock."""

    @property
    def is_finished(self) -> bool:
        """Return whether nothing more needs to be read."""
        return self._done or self._fault is not None

    @property
    def is_broken(self) -> bool:
        """Return whether what was read is a fault already."""
        return self._fault is not None

    def feed(self, chunk: bytes, now: float) -> bool:
        """Take the next bytes; return whether they held data, which comments and blank lines are
        not.
        """
        chunk = b"\r" + chunk if self._ends_in_cr else chunk
        self._ends_in_cr = chunk.endswith(b"\r")  # the other half of a line end may follow
        first, *rest = _LINE_END.split(chunk[:-1] if self._ends_in_cr else chunk)
        self._pending.append(first)  # joined once: a line of megabytes comes in thousands of pieces
        if not rest:
            return False
        lines = [b"".join(self._pending), *rest[:-1]]
        self._pending = [rest[-1]]
        held_data = False
        for line in lines:
            held_data = self._line(line, now) or held_data
        return held_data

    def whole(self, body: bytes) -> Any | Fault:
        """Return what `answer` does, of a stream that came in one piece."""
        self.feed(body, 0.0)
        return self.answer()

    def answer(self) -> Any | Fault:
        """Return the payload of the whole answer, or the fault that the stream ended with."""
        self._line(b"".join(self._pending), 0.0)
        self._line(b"", 0.0)
        if self._fault is not None:
            return self._fault
        if not self._started:
            return self._unframed_answer()
        if (lost := next((line for line in self._unframed if b"{" in line), None)) is not None:
            return malformed(
                f"a line of the stream has data, but is no field of an event: {lost[:80]!r}"
            )
        return self._result()

    def _unframed_answer(self) -> Any | Fault:
        """Return the payload of an answer, or of an error, that came under the name of a stream and
        is none.
        """
        try:
            payload = answer_of(b"\n".join(self._unframed))
        except ValueError:
            return malformed("the stream has no data")
        return payload if isinstance(payload, dict) else malformed("the stream has no data")

    def _line(self, line: bytes, now: float) -> bool:
        line = line.removeprefix(BOM)  # some proxies put one before each piece
        if not line:
            if self._data:
                data, self._data = b"\n".join(self._data), []
                try:
                    self._event(data, now)
                except UNREADABLE as error:
                    self._fail(unreadable(error))
            self._is_error = False
            return False
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            return True
        if field == b"event":
            self._is_error = value.strip() == b"error"
        elif field not in _NAMES:
            self._unframed.append(line)
        return False

    def _event(self, data: bytes, now: float) -> None:
        if self._done or data.strip().upper() in _NO_PAYLOAD:
            self._done = self._done or bool(data.strip())
            return
        self._started = True
        try:
            payload = answer_of(data)
        except Contradiction as error:
            self._fail(malformed(str(error)))
            return
        except ValueError as error:
            self._fail(malformed(f"a chunk of the stream is not JSON ({error}): {data[:80]!r}"))
            return
        body_error = error_in(payload)
        if body_error is not None or (self._is_error and isinstance(payload, dict)):
            self._fail(fault_of_error_object(body_error or payload))
        elif not isinstance(payload, dict):
            self._fail(malformed("a chunk of the stream is not a JSON object"))
        else:
            self._take(payload, now)

    def _fail(self, fault: Fault) -> None:
        """End the answer with a fault; the first one counts."""
        self._fault = self._fault or fault

    @abstractmethod
    def _take(self, payload: dict[str, Any], now: float) -> None:
        """Take the data of one event that is no error."""

    @abstractmethod
    def _result(self) -> object:
        """Return the payload of the whole answer, or the fault of one that broke off."""


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
        self._index: int | None = None
        self._rest: dict[str, object] = {}
        self._logprobs: object = (
            None  # of the first chunk that has some, which are the first token's
        )
        self._tool_calls = CallPieces()
        self._extras: dict[str, Any] = {}
        self._lists_thoughts = False

    def _result(self) -> object:
        if not self._done and self._finish is None:
            return malformed("the stream broke off: neither a finish reason nor [DONE]")
        if self._index is None:
            return malformed(
                "the stream has no choices; is this the protocol that the endpoint has?"
            )
        texts = {name: "".join(parts) for name, parts in self._texts.items()}
        ending = {"finish_reason": self._finish, "logprobs": self._logprobs}
        if not self._chat:
            return {**self._rest, "choices": [{"text": texts.get("content", ""), **ending}]}
        message: dict[str, object] = {
            "content": None,
            **self._extras,
            **(_thinking_apart(texts) if self._lists_thoughts else texts),
            **({"tool_calls": self._tool_calls.whole()} if self._tool_calls else {}),
        }
        return {**self._rest, "choices": [{"message": message, **ending}]}

    def _is_chosen(self, index: int) -> bool:
        """Return whether a chunk belongs to the choice with the lowest index; drops what came of a
        higher one.
        """
        if self._index is not None and index < self._index:
            self._texts, self._finish, self._logprobs, self._tool_calls = (
                {},
                None,
                None,
                CallPieces(),
            )
            self._extras, self._lists_thoughts = {}, False
            self.token_times.clear()
        self._index = index if self._index is None else min(index, self._index)
        return index == self._index

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
        is_late = self._finish is not None and not has_ended(choice.get("finish_reason"))
        self._take_finish(choice.get("finish_reason"))
        if self._logprobs is None and first_token_of(choice.get("logprobs")):
            self._logprobs = choice["logprobs"]
        text = {"content": choice.get("text")}
        delta = (choice.get("delta") or choice.get("message") or {}) if self._chat else text
        content = read_content(delta.get("content")) if isinstance(delta, dict) else None
        if content is None or (self._chat and not delta and choice.get("text")):
            self._fail(malformed("a chunk of the stream holds something else than text"))
            return
        if is_late:
            if content.text.strip() or content.refusal or delta.get("tool_calls"):
                self._fail(malformed("the stream goes on with the answer after its finish reason"))
            return
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
            self._extras = accumulated(self._extras, extras)

    def _take_finish(self, reason: object) -> None:
        """Keep why the answer ended; one that is both whole and cut off, or filtered, cannot be
        known.
        """
        if not has_ended(reason):
            return
        endings = {
            ending_of(reason_given)
            for reason_given in (self._finish, reason)
            if isinstance(reason_given, str)
        }
        if len(endings & _EXCLUSIVE) > 1:
            self._fail(malformed(f"the stream has two finish reasons: {self._finish} and {reason}"))
        self._finish = reason

    def _forget_repeated(self, text: str) -> None:
        """Drop the pieces that came, where the last chunk says the whole text once more, as
        MiniMax's does.
        """
        content = "".join(self._texts.get("content", []))
        if content and text.startswith(content):
            self._texts.pop("content")
