"""Scripts of the scripted endpoint: their shape, read from YAML, and which turn answers a request.

A request alone decides that; nothing is remembered between two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias

import yaml
from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from nel.apps.mock.conversations import MockRequest
from nel.apps.mock.request_parsing import EndpointFault
from nel.config.yaml_file import compose_file
from nel.errors import ConfigError

_DELAY_SECONDS_MAX: Final = 600.0


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(_Shape):
    """A call of a tool."""

    name: Annotated[str, MinLen(1)]
    arguments: dict[str, Any] = {}
    raw: str | None = None
    """What stands in place of the arguments, JSON or not."""


class ScriptedTurn(_Shape):
    """One answer, or the fault in its place."""

    text: str = ""
    reasoning: str = ""
    """Sent apart from the text, signed where the protocol signs."""
    calls: tuple[ScriptedCall, ...] = ()
    ending: Literal["length", "content_filter"] | None = None
    """Why the answer ended; without it, since it was over or calls tools."""
    delay_seconds: Annotated[float, Ge(0), Le(_DELAY_SECONDS_MAX)] = 0.0
    status: Annotated[int, Ge(400), Le(599)] | None = None
    """The HTTP status of an error in place of the answer."""
    cut: bool = False
    """Whether the connection ends in the middle of the answer."""
    empty: bool = False
    """Whether the body has no bytes."""


class ScriptedConversation(_Shape):
    """The turns of one conversation."""

    when: str = ""
    """A text in any user message; the first conversation that fits answers."""
    turns: Annotated[tuple[ScriptedTurn, ...], MinLen(1)]
    repeat_last: bool = False
    """Whether the last turn answers all later requests; otherwise they are refused."""

    @property
    def calls_tools(self) -> bool:
        """Return whether a turn of it calls a tool."""
        return any(turn.calls for turn in self.turns)


_ON_THE_SIDE: Final = ScriptedTurn(text="A scripted answer.")
"""To a request that offers no tools in a conversation with calls: agents ask for titles so."""


class Director(Protocol):
    """Who decides what a request is answered."""

    def turn_of(self, request: MockRequest) -> tuple[int, tuple[ScriptedTurn, ...]]:
        """Return the number of the turn that answers, and all turns up to it.

        Raises:
            EndpointFault: There is none.
        """
        ...


class Script:
    """Conversations of a file."""

    def __init__(self, conversations: tuple[ScriptedConversation, ...]) -> None:
        self._conversations = conversations

    def turn_of(self, request: MockRequest) -> tuple[int, tuple[ScriptedTurn, ...]]:
        """Return the turn of the first conversation that fits; see `Director`."""
        for conversation in self._conversations:
            n_answers = request.n_answers
            if conversation.when:
                number = request.n_answers_after(conversation.when)
                if number is None:
                    continue
                n_answers = number
            if not request.tools and conversation.calls_tools:
                return 0, (_ON_THE_SIDE,)
            return turn_at(conversation.turns, n_answers, is_last_repeated=conversation.repeat_last)
        raise EndpointFault(
            404, "no_conversation", "no conversation of the script fits any user message"
        )


def turn_at(
    turns: tuple[ScriptedTurn, ...], number: int, *, is_last_repeated: bool = False
) -> tuple[int, tuple[ScriptedTurn, ...]]:
    """Return the number of a turn and all turns up to it.

    Raises:
        EndpointFault: The script has ended.
    """
    if number < 0 or (number >= len(turns) and not is_last_repeated):
        raise EndpointFault(
            400, "script_ended", f"the script has {len(turns)} turns; this asks for {number + 1}"
        )
    n_beyond = max(number + 1 - len(turns), 0)
    return number, (*turns[: number + 1], *turns[-1:] * n_beyond)


_CONVERSATIONS: Final[TypeAdapter[tuple[ScriptedConversation, ...]]] = TypeAdapter(
    Annotated[tuple[ScriptedConversation, ...], MinLen(1)]
)
_Path: TypeAlias = tuple[int | str, ...]


def read_script(path: Path) -> Script:
    """Return the script in a file: YAML with a list of conversations.

    Raises:
        ConfigError: The file cannot be read, or is not a script; the message names line and key.
    """
    lines: dict[_Path, int] = {}
    value = _of_node(compose_file(path), (), lines)
    try:
        return Script(_CONVERSATIONS.validate_python(value))
    except ValidationError as error:
        problem = error.errors()[0]
        key_path: _Path = tuple(problem["loc"])
        key = ".".join(map(str, key_path[1:])) or "conversation"
        # A key that is missing has no line; then that of what should have it is named.
        while key_path and key_path not in lines:
            key_path = key_path[:-1]
        raise ConfigError(
            f"{path}, line {lines.get(key_path, 1)}: {key}: {problem['msg'].lower()}; see"
            " docs/how-to/rehearse-an-agent.md for what a script holds"
        ) from error


def _of_node(node: yaml.Node, key_path: _Path, lines: dict[_Path, int]) -> Any:
    """Return the value of a node, and note the line of each key and entry below it."""
    lines.setdefault(key_path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_of_node(item, (*key_path, at), lines) for at, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return yaml.SafeLoader("").construct_object(node)
    fields = {}
    for key, value in node.value:
        lines[(*key_path, str(key.value))] = key.start_mark.line + 1
        fields[str(key.value)] = _of_node(value, (*key_path, str(key.value)), lines)
    return fields
