"""Scripts of the scripted endpoint: their shape, read from YAML, and which turn answers a request.

A request alone decides that; nothing is remembered between two.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Protocol

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from nel.apps.mock.conversations import MockRequest
from nel.apps.mock.request_parsing import EndpointFault
from nel.config.exact_yaml import YamlEntry, read_exact
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


def read_script(path: Path) -> Script:
    """Return the script in a file: YAML with a list of conversations.

    Raises:
        ConfigError: The file cannot be read, or is not a script; the message names line and key.
    """
    top = read_exact(path)
    try:
        return Script(_CONVERSATIONS.validate_python(top.json()))
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"][1:])) or "conversation"
        line = _entry_at(top, problem["loc"]).node.start_mark.line + 1
        raise ConfigError(
            f"{path}, line {line}: {key}: {problem['msg'].lower()}; see"
            " docs/how-to/rehearse-an-agent.md for what a script holds"
        ) from error


def _entry_at(entry: YamlEntry, key_path: Sequence[int | str]) -> YamlEntry:
    """Return the value at a path; where it is missing, what should have it."""
    for step in key_path:
        values: dict[Any, YamlEntry] = {}
        if entry.is_mapping:
            values = dict(entry.items())
        elif entry.is_list:
            values = dict(enumerate(entry.elements()))
        if step not in values:
            break
        entry = values[step]
    return entry
