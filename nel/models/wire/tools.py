"""Tools, choices and calls in OpenAI's chat shape, taken apart for protocols of other shapes.

Sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.models.tool_calls import tool_calls_in
from nel.types import JsonObject, ToolCall

REQUIRED: Final = "required"
"""The choice that a tool must be called, whichever."""


def function_of(tool: JsonObject) -> dict[str, Any]:
    """Return ``name``, ``description`` and ``parameters`` of a tool, those that it has; empty for a
    tool of a vendor's own server, which is sent as it is.
    """
    function = tool.get("function")
    return dict(function) if isinstance(function, Mapping) else {}


def forced_name(choice: object) -> str | None:
    """Return the name of the one tool that must be called; None for any other choice."""
    if not isinstance(choice, Mapping):
        return None
    return str(function_of(choice).get("name"))


def calls_of(called: list[tuple[object, object, object]]) -> tuple[ToolCall, ...]:
    """Return calls of which id, name and arguments are known."""
    return tool_calls_in(
        [
            {"id": identity, "function": {"name": name, "arguments": arguments}}
            for identity, name, arguments in called
        ]
    )
