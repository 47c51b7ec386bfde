"""Calls of tools in the shape of OpenAI's chat: out of an answer, out of the chunks of a streamed
one, and back again.

Sends nothing and runs no tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nel.core.strict_json import dumps
from nel.types import ToolCall


def tool_calls_in(listed: object) -> tuple[ToolCall, ...]:
    """Return the calls that an answer lists, none of them where one cannot be read.

    >>> tool_calls_in([{"id": "1", "function": {"name": "add", "arguments": {"a": 2}}}])
    (ToolCall(id='1', name='add', arguments='{"a":2}'),)
    >>> tool_calls_in([{"function": {"name": "add", "arguments": "{}"}}, {"id": "2"}])
    ()
    """
    read = [_call(entry) for entry in listed] if isinstance(listed, list) else []
    calls = tuple(call for call in read if call is not None)
    return calls if len(calls) == len(read) else ()


def sent_call(call: ToolCall) -> dict[str, Any]:
    """Return a call as a message carries it."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _call(entry: object) -> ToolCall | None:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if (
        not isinstance(entry, Mapping)
        or not isinstance(function, Mapping)
        or not isinstance(name, str)
        or not name
    ):
        return None
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping) or arguments is None:  # as Ollama and some others give them
        arguments = dumps(arguments or {})
    identity = entry.get("id")
    if not isinstance(arguments, str):
        return None
    return ToolCall(
        id=identity if isinstance(identity, str) else "", name=name, arguments=arguments
    )


@dataclass(slots=True)
class _Piecemeal:
    identity: object = None
    name: object = None
    arguments: list[object] = field(default_factory=list)


class CallPieces:
    """Puts together the calls that come in chunks."""

    def __init__(self) -> None:
        """Start with none."""
        self._calls: dict[int, _Piecemeal] = {}
        self._last = -1

    def __bool__(self) -> bool:
        """Return whether there was a piece of any."""
        return bool(self._calls)

    def add(self, pieces: object) -> None:
        """Take the pieces of one chunk."""
        for piece in pieces if isinstance(pieces, list) else [pieces]:
            fields = piece if isinstance(piece, Mapping) else {}
            function = fields.get("function")
            function = function if isinstance(function, Mapping) else {}
            call = self._calls.setdefault(self._index(fields), _Piecemeal())
            call.identity = call.identity or fields.get("id")
            call.name = call.name or function.get("name")
            if function.get("arguments"):
                call.arguments.append(function["arguments"])

    def whole(self) -> list[dict[str, object]]:
        """Return the calls as an answer in one piece lists them."""
        return [
            {
                "id": call.identity,
                "function": {"name": call.name, "arguments": _joined(call.arguments)},
            }
            for _, call in sorted(self._calls.items())
        ]

    def _index(self, piece: Mapping[str, object]) -> int:
        """Return the number of the call that a piece belongs to; without one, a new id begins a new
        call.
        """
        index = piece.get("index")
        if type(index) is int:
            self._last = index
        elif self._last < 0 or (
            piece.get("id") and piece.get("id") != self._calls[self._last].identity
        ):
            self._last += 1
        return self._last


def _joined(pieces: list[object]) -> object:
    texts = [piece for piece in pieces if isinstance(piece, str)]
    return "".join(texts) if len(texts) == len(pieces) else pieces[-1]
