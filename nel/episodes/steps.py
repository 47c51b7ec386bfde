"""What is stored of an episode: numbered steps, each with a digest of what was asked. No I/O.

A step is on disk before it has an effect: an answer before its calls run, a result before it is
sent to the model. Replay gives stored steps back as long as the same is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

from nel.core.message_json import message_json
from nel.core.strict_json import dumps_bytes
from nel.tools.declaration import OnInterrupt
from nel.tools.results import ToolResult
from nel.types import JsonObject, Message, Response, ToolCall, value_class

StepKind: TypeAlias = Literal["model", "tool", "user", "verify", "note"]
_DIGEST_CHARACTERS: Final = 32
"""128 bits, in hexadecimal."""


@value_class(kw_only=True)
class Step:
    """One committed entry of an episode."""

    number: int
    """From 0, in the order in which the solver asked."""
    kind: StepKind
    digest: str
    """Of what was asked; replay compares it."""
    span: str = ""
    """The names of the spans that it lies in, joined by ``/``."""
    asked: JsonObject = field(default_factory=dict)
    """A call, a user's text, a note."""
    response: Response | None = None
    """Of a model step."""
    result: ToolResult | None = None
    """Of a tool step; None where it began and was interrupted."""
    wall_seconds: float = 0.0
    """From the attempt's start to the step's end, without the time between two sessions."""

    def with_end(
        self,
        wall_seconds: float,
        *,
        response: Response | None = None,
        result: ToolResult | None = None,
    ) -> Step:
        """Return the step with what it came to."""
        return Step(
            number=self.number,
            kind=self.kind,
            digest=self.digest,
            span=self.span,
            asked=self.asked,
            response=response,
            result=result,
            wall_seconds=wall_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """What the engine knows of a tool: its code runs in the episode's own process."""

    json: JsonObject
    """As requests offer it."""
    on_interrupt: OnInterrupt
    parallel: bool
    has_state: bool
    """Whether it is a method of the episode's environment."""
    has_snapshots: bool
    """Whether the environment's state comes from its snapshots, and never from calls run again."""


class Backend(Protocol):
    """What an episode is run on: the endpoint, the store of steps and the process of its tools."""

    def stored_step(self, number: int) -> Step | None:
        """Return a step of this attempt that an earlier session stored."""
        ...

    def digest(
        self, messages: Sequence[Message], tools: Sequence[JsonObject], options: JsonObject
    ) -> str:
        """Return the digest of a request for the model."""
        ...

    async def send(
        self,
        step: Step,
        messages: Sequence[Message],
        tools: Sequence[JsonObject],
        options: JsonObject,
        wall_seconds: Callable[[], float],
    ) -> Step:
        """Ask the model, commit the step with its response, and return it.

        Args:
            wall_seconds: Returns the time of the attempt, once the answer is there.

        Raises:
            EndpointLost: It gave no usable answer.
        """
        ...

    async def commit(self, step: Step) -> None:
        """Store a step; it counts once this returns."""
        ...

    def note(self, step: Step) -> None:
        """Queue a step that nothing waits for; it is on disk before any later step."""
        ...

    def note_replay(self, step: Step, messages: Sequence[Message]) -> None:
        """Note a stored step that answered for a request or a call."""
        ...

    async def run_tool(
        self, number: int, call: ToolCall, seconds: float | None, *, facts: ToolFacts
    ) -> ToolResult:
        """Run a step's call in the process of the episode's tools.

        Raises:
            EnvironmentFault: The tool's code raised, or its process died.
        """
        ...

    async def run_program(self, program: JsonObject, seconds: float) -> JsonObject:
        """Run an agent of others in the environment to its end, and return what it came to.

        Raises:
            EnvironmentFault: It cannot be started, or its world ended.
        """
        ...

    async def stop_program(self) -> None:
        """Have the agent killed; `run_program` then returns."""
        ...

    async def begin_turn(self, turn: int) -> Mapping[str, ToolFacts]:
        """Return the tools of a turn, counted from 0; a new environment is set up for the first."""
        ...

    async def next_stage(self) -> JsonObject | None:
        """Have the environment begin the next stage; None where there is none."""
        ...

    async def evidence(self) -> Any:
        """Return what the environment says of its final state."""
        ...


class MessageDigests:
    """Digests of messages, each computed once."""

    def __init__(self) -> None:
        """Start without digests."""
        self._entries: dict[int, tuple[Message, str]] = {}

    def of(self, message: Message) -> str:
        """Return the digest of a message."""
        entry = self._entries.get(id(message))
        # The message is kept beside its digest: an id may be given again after the object's end.
        if entry is None or entry[0] is not message:
            entry = (message, digest_of(message_json(message)))
            self._entries[id(message)] = entry
        return entry[1]


def digest_of(value: object) -> str:
    """Return a digest of a JSON value."""
    return hashlib.sha256(dumps_bytes(value)).hexdigest()[:_DIGEST_CHARACTERS]
