"""Reads the binary events of ConverseStream to the payload that Converse would have sent. Sends
nothing.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Final

from nel.clients import AnswerStream, Fault, fault_of_status, malformed_fault

_STATUS: Final = {
    "internalServerException": 500,
    "modelStreamErrorException": 500,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}


class ConverseStream(AnswerStream):
    """Collects the events of one answer."""

    content_type: ClassVar[str] = "application/vnd.amazon.eventstream"

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__()
        from botocore.eventstream import (  # noqa: PLC0415 - needed for a request only
            EventStreamBuffer,
        )

        self._buffer = EventStreamBuffer()
        self._texts: dict[int, list[str]] = {}
        self._thoughts: dict[int, list[str]] = {}
        self._stop: str | None = None
        self._usage: object = None
        self._role = "assistant"

    def feed(self, chunk: bytes, now: float) -> bool:
        """Take the next bytes; return whether an event was whole."""
        from botocore.eventstream import ParserError  # noqa: PLC0415 - needed for a request only

        self._buffer.add_data(chunk)
        held_data = False
        try:
            for event in self._buffer:
                held_data = self._started = True
                self._event_of(event.headers, event.payload, now)
        except (ParserError, ValueError) as error:
            self._fault = self._fault or malformed_fault(
                f"the stream cannot be read ({type(error).__name__}: {error})"
            )
        return held_data

    def answer(self) -> Any | Fault:
        """Return the payload of the whole answer, or the fault that the stream ended with."""
        if self._fault is not None:
            return self._fault
        return self._result()

    def _event_of(self, headers: dict[str, Any], payload: bytes, now: float) -> None:
        if headers.get(":message-type") != "event":
            name = str(headers.get(":exception-type") or headers.get(":error-code"))
            detail = (
                payload
                or json.dumps({"message": str(headers.get(":error-message", name))}).encode()
            )
            self._fault = self._fault or fault_of_status(_STATUS.get(name, 500), {}, detail)
            return
        event = json.loads(payload)
        if isinstance(event, dict):
            self._take({**event, ":event-type": headers.get(":event-type")}, now)

    def _take(self, payload: dict[str, Any], now: float) -> None:
        kind, index = payload.pop(":event-type"), payload.get("contentBlockIndex", 0)
        if kind == "messageStart":
            self._role = payload.get("role", self._role)
        elif kind == "contentBlockDelta":
            delta = payload.get("delta") or {}
            thought = (delta.get("reasoningContent") or {}).get("text")
            for pieces, piece in ((self._texts, delta.get("text")), (self._thoughts, thought)):
                if isinstance(piece, str) and piece:
                    pieces.setdefault(index, []).append(piece)
                    self.token_times.append(now)
        elif kind == "messageStop":
            self._stop = payload.get("stopReason")
        elif kind == "metadata":  # the last event; it comes after messageStop
            self._usage = payload.get("usage")
            self._done = True

    def _result(self) -> object:
        if self._stop is None:
            return malformed_fault("the stream broke off: no messageStop")
        content: list[dict[str, Any]] = []
        for index in sorted({*self._texts, *self._thoughts}):
            if index in self._thoughts:
                content.append(
                    {
                        "reasoningContent": {
                            "reasoningText": {"text": "".join(self._thoughts[index])}
                        }
                    }
                )
            if index in self._texts:
                content.append({"text": "".join(self._texts[index])})
        message = {"role": self._role, "content": content}
        return {"output": {"message": message}, "stopReason": self._stop, "usage": self._usage}
