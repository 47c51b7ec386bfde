"""Joins server-sent events to the payload that comes without a stream. Sends nothing.

A stream that simply ends was cut off. It is whole only once a finish reason or ``[DONE]`` was seen.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

from nel.models.answer_json import Contradiction, answer_of
from nel.models.error_bodies import BOM, error_in
from nel.models.faults import UNREADABLE, Fault, fault_of_error_object, malformed_fault, unreadable

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_NO_PAYLOAD: Final = (b"", b"[DONE]")
"""Data of an event that keeps a connection alive, and of the last one."""
_NAMES: Final = (b"data", b"event", b"id", b"retry", b"")
"""Of the fields of an event; a comment has none."""
_FIELDS: Final = (b"data:", b"event:", b": ")
"""What a stream of events begins with, and no JSON does."""
_START_BYTES: Final = 64


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
        self._unframed: list[bytes] = []
        """Lines that are not a field of an event, but may be the body of an answer."""
        self._is_error = False
        self._fault: Fault | None = None
        self._done = False
        self._started = False
        self._index: int | None = None
        """The lowest index of a choice so far."""
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
        """Take the next bytes; return whether they held data, not just comments or blank lines."""
        chunk = b"\r" + chunk if self._ends_in_cr else chunk
        self._ends_in_cr = chunk.endswith(b"\r")  # the other half of a line end may follow
        line_end, *later_lines = _LINE_END.split(chunk[:-1] if self._ends_in_cr else chunk)
        # Joined once: a line of megabytes comes in thousands of pieces.
        self._pending.append(line_end)
        if not later_lines:
            return False
        lines = [b"".join(self._pending), *later_lines[:-1]]
        self._pending = [later_lines[-1]]
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
        # JSON in a line without the name of a field: part of the answer may have been in it.
        lost = next((line for line in self._unframed if b"{" in line), None)
        if lost is not None:
            return malformed_fault(
                f"a line of the stream has data, but is not a field of an event: {lost[:80]!r}"
            )
        return self._result()

    def _unframed_answer(self) -> Any | Fault:
        """Return the payload of an answer or error that was declared a stream and is not one."""
        try:
            payload = answer_of(b"\n".join(self._unframed))
        except ValueError:
            return malformed_fault("the stream has no data")
        return payload if isinstance(payload, dict) else malformed_fault("the stream has no data")

    def _line(self, line: bytes, now: float) -> bool:
        line = line.removeprefix(BOM)  # some proxies put one before each piece
        if not line:  # a blank line ends an event, which may have several lines of data
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
            self._fail(malformed_fault(str(error)))
            return
        except ValueError as error:
            self._fail(
                malformed_fault(f"a chunk of the stream is not JSON ({error}): {data[:80]!r}")
            )
            return
        body_error = error_in(payload)
        if body_error is not None or (self._is_error and isinstance(payload, dict)):
            self._fail(fault_of_error_object(body_error or payload))
        elif not isinstance(payload, dict):
            self._fail(malformed_fault("a chunk of the stream is not a JSON object"))
        else:
            self._take(payload, now)

    def _fail(self, fault: Fault) -> None:
        """End the answer with a fault; the first one counts."""
        self._fault = self._fault or fault

    def _is_chosen(self, index: int) -> bool:
        """Return whether a chunk is of the lowest choice so far; a lower one drops the rest."""
        if self._index is not None and index < self._index:
            self._restart()
        self._index = index if self._index is None else min(index, self._index)
        return index == self._index

    def _restart(self) -> None:  # noqa: B027 - most protocols have one choice
        """Drop what came of the answer."""

    @abstractmethod
    def _take(self, payload: dict[str, Any], now: float) -> None:
        """Take the data of one event that is not an error."""

    @abstractmethod
    def _result(self) -> object:
        """Return the payload of the whole answer, or the fault of one that broke off."""
