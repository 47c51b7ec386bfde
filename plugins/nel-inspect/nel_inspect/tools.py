"""The tools that a task offers a model: as they are sent, and the calls in an answer as Inspect has
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nel.types import JsonObject, ToolCall
from nel_inspect.watching import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The tools of one request."""

    tools: tuple[JsonObject, ...] = ()
    """In the OpenAI shape."""
    choice: Any = None
    """Which of them must be called, in the OpenAI shape; None where there is no tool."""
    infos: tuple[Any, ...] = ()
    """The same as Inspect's ToolInfo."""


async def offer_of(tools: Any, choice: Any, watch: Watch) -> Offer:
    """Return what Inspect would send of tools.

    Args:
        tools: Tools of Inspect in any of its forms, or none.
        choice: A ToolChoice of Inspect, or None.
        watch: Notes a refusal.

    Raises:
        Refused: One of them is run by the model's provider.
    """
    if not tools:
        return Offer()
    from inspect_ai.model._call_tools import prepare_tools  # noqa: PLC0415 - heavy
    from inspect_ai.tool import ToolFunction  # noqa: PLC0415 - heavy

    infos = tuple((await prepare_tools(tools)).base_tools)
    if isinstance(choice, ToolFunction):
        infos = tuple(info for info in infos if info.name == choice.name)
    if not infos or choice == "none":
        return Offer()
    by_the_provider = [info.name for info in infos if info.options]
    if by_the_provider:
        raise watch.refuse(f"offers the tool {by_the_provider[0]}, which a model's provider runs")
    if isinstance(choice, ToolFunction):
        choice = {"type": "function", "function": {"name": choice.name}}
    else:
        choice = {"any": "required", None: "auto"}.get(choice, choice)
    return Offer(tools=tuple(map(_tool_json, infos)), choice=choice, infos=infos)


def output_of(model: str, text: str, calls: Sequence[ToolCall], offer: Offer) -> Any:
    """Return an answer as Inspect's ModelOutput."""
    from inspect_ai.model import (  # noqa: PLC0415 - heavy
        ChatCompletionChoice,
        ChatMessageAssistant,
        ModelOutput,
    )
    from inspect_ai.model._call_tools import parse_tool_call  # noqa: PLC0415 - heavy

    if not calls:
        return ModelOutput.from_content(model, text)
    infos = list(offer.infos)
    tool_calls = [
        parse_tool_call(call.id or f"call_{number}", call.name, call.arguments, infos)
        for number, call in enumerate(calls)
    ]
    message = ChatMessageAssistant(
        content=text, tool_calls=tool_calls, model=model, source="generate"
    )
    return ModelOutput(
        model=model, choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls")]
    )


def _tool_json(info: Any) -> dict[str, Any]:
    parameters = info.parameters.model_dump(mode="json", exclude_none=True)
    function = {"name": info.name, "description": info.description, "parameters": parameters}
    return {"type": "function", "function": function}
