"""Calls of tools in the shape of OpenAI's chat: out of an answer, out of the chunks of a streamed
one, and back again.

Sends nothing and runs no tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from nel.core.strict_json import dumps
from nel.types import JsonObject, ToolCall

CALL_FIELDS: Final = ("id", "type", "index", "function")
"""Of a call as OpenAI has it; servers that sign calls add others."""
UNREAD: Final = "INVALID_JSON"
"""The field that arguments stand in that are not an object, where one has to be sent."""


def tool_calls_in(listed: object) -> tuple[ToolCall, ...]:
    """Return an answer's calls, each as far as it can be read; see `ToolCall.parse_error`.

    An id that is given twice gets the position of its call, since results name calls by ids.

    >>> tool_calls_in([{"id": "1", "function": {"name": "add", "arguments": {"a": 2}}}])
    (ToolCall(id='1', name='add', arguments='{"a":2}'),)
    >>> [call.parse_error for call in tool_calls_in([{"function": {"name": "add"}}, {"id": "2"}])]
    [None, 'it names no tool']
    >>> [call.id for call in tool_calls_in([{"id": "1"}, {"id": "1"}, {}, {}])]
    ['1', '1-1', '', '']
    """
    calls: dict[str, ToolCall] = {}
    for position, entry in enumerate(listed if isinstance(listed, list) else ()):
        call = _call(entry)
        if call.id in calls:
            call = replace(call, id=f"{call.id}-{position}")
        calls[call.id or f" {position}"] = call  # several may have none
    return tuple(calls.values())


def sent_call(call: ToolCall) -> dict[str, Any]:
    """Return a call as a message carries it.

    Servers that read the arguments, as vLLM does, refuse a request where they are not a JSON
    object.
    """
    is_read = call.values is not None
    arguments = call.arguments if is_read else dumps(sent_arguments(call.arguments))
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def sent_arguments(arguments: str) -> dict[str, Any]:
    """Return a call's arguments as an object; unreadable ones in a field, as Anthropic advises.

    >>> sent_arguments('{"x": 1}'), sent_arguments('{"x":')
    ({'x': 1}, {'INVALID_JSON': '{"x":'})
    """
    values = ToolCall(id="", name="", arguments=arguments).values
    return {UNREAD: arguments} if values is None else dict(values)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _call(entry: object) -> ToolCall:
    fields = _object(entry)
    function = _object(fields.get("function"))
    identity, name = fields.get("id"), function.get("name")
    arguments = function.get("arguments")
    if not isinstance(name, str) or not name:
        name, arguments = "", entry
    elif arguments is None:
        arguments = {}
    return ToolCall(
        id=identity if isinstance(identity, str) else "",
        name=name,
        arguments=arguments if isinstance(arguments, str) else _arguments_text(arguments),
    )


def _arguments_text(arguments: object) -> str:
    """Return as JSON an object, as Ollama and some others give one, or what are not arguments at all;
    null for what is nested deeper than can be written.
    """
    try:
        return dumps(arguments)
    except RecursionError:
        return "null"


@dataclass(slots=True)
class _Piecemeal:
    identity: object = None
    name: object = None
    arguments: list[object] = field(default_factory=list)
    extras: dict[str, object] = field(default_factory=dict)


class CallPieces:
    """Puts together the calls that come in chunks."""

    def __init__(self) -> None:
        """Start with none."""
        self._calls: list[_Piecemeal] = []
        self._by_index: dict[int, _Piecemeal] = {}

    def __bool__(self) -> bool:
        """Return whether there was a piece of any."""
        return bool(self._calls)

    def add(self, pieces: object) -> None:
        """Take the pieces of one chunk."""
        for piece in pieces if isinstance(pieces, list) else [pieces]:
            fields = _object(piece)
            function = _object(fields.get("function"))
            call = self._call_of(fields, function)
            call.identity = call.identity or fields.get("id")
            call.name = call.name or function.get("name")
            if function.get("arguments"):
                call.arguments.append(function["arguments"])
            extras = {name: value for name, value in fields.items() if name not in CALL_FIELDS}
            call.extras = accumulate(call.extras, extras)

    def whole(self) -> list[dict[str, object]]:
        """Return the calls as an answer in one piece lists them."""
        return [
            {
                **call.extras,
                "id": call.identity,
                "function": {"name": call.name, "arguments": _join(call.arguments)},
            }
            for call in self._calls
        ]

    def _call_of(self, piece: Mapping[str, object], function: Mapping[str, object]) -> _Piecemeal:
        """Return the call that a piece belongs to.

        It is that of its index, or the last one. Another id begins another call, since some
        servers number all calls 0; so does a name after whole arguments where there are no ids.
        """
        index = piece.get("index")
        call = self._calls[-1] if self._calls else None
        if type(index) is int:
            call = self._by_index.get(index)
        # By its index this is the latest call of that number, where all are numbered 0.
        if call is None or _begins_another(call, piece.get("id"), function.get("name")):
            call = _Piecemeal()
            self._calls.append(call)
            if type(index) is int:
                self._by_index[index] = call
        return call


def _begins_another(call: _Piecemeal, identity: object, name: object) -> bool:
    if identity or call.identity:
        return bool(identity and call.identity and identity != call.identity)
    arguments_text = "".join(piece for piece in call.arguments if isinstance(piece, str))
    is_whole = ToolCall(id="", name="", arguments=arguments_text).values is not None
    return bool(name and call.name) and is_whole


def _join(pieces: list[object]) -> object:
    texts = [piece for piece in pieces if isinstance(piece, str)]
    return "".join(texts) if len(texts) == len(pieces) else pieces[-1]


def accumulate(accumulated: Mapping[str, object], piece: Mapping[str, object]) -> dict[str, Any]:
    """Return fields after a further chunk of them, as OpenAI's SDK puts chunks together: texts are
    joined, objects and lists too; entries of a list with an index are one entry where it is equal.

    >>> accumulate({"a": [{"index": 0, "text": "2"}]}, {"a": [{"index": 0, "text": "+"}], "b": 1})
    {'a': [{'index': 0, 'text': '2+'}], 'b': 1}
    """
    fields: dict[str, Any] = dict(accumulated)
    for name, value in piece.items():
        earlier = fields.get(name)
        if name in ("index", "type") or value is None or earlier is None:
            fields[name] = earlier if value is None else value
        elif isinstance(earlier, str) and isinstance(value, str):
            fields[name] = earlier + value
        elif isinstance(earlier, Mapping) and isinstance(value, Mapping):
            fields[name] = accumulate(earlier, value)
        elif isinstance(earlier, list) and isinstance(value, list):
            fields[name] = _join_entries(earlier, value)
        else:
            fields[name] = value
    return fields


def _join_entries(earlier: list[Any], later: list[Any]) -> list[Any]:
    entries = list(earlier)
    for entry in later:
        index = _object(entry).get("index")
        indices = [_object(earlier_entry).get("index") for earlier_entry in entries]
        if index is not None and index in indices:
            position = indices.index(index)
            entries[position] = accumulate(entries[position], entry)
        else:
            entries.append(entry)
    return entries
