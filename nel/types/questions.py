"""What is asked: samples, messages, calls of tools, requests. Imports nothing else of nel."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, dataclass_transform

Json: TypeAlias = Any
"""A JSON value whose shape only its writer knows: a dataset, a scorer, a plugin. Readers check what
they use.
"""
JsonObject: TypeAlias = Mapping[str, Json]
Row: TypeAlias = JsonObject
"""One row of a dataset."""
M = TypeVar("M")
Protocol: TypeAlias = str
"""How an endpoint is asked, the name of one of `nel.clients`: ``completions`` takes a prompt, any
other messages.
"""
Value: TypeAlias = str | int | float | bool | Sequence[Json] | JsonObject

FailureKind: TypeAlias = Literal[
    "truncated", "empty", "refusal", "content_filter", "no_answer", "context_exceeded", "limit"
]
"""Ways in which a model fails to answer; each counts 0 by declared policy."""

GoldKind: TypeAlias = Literal["label", "text", "index"]
"""How the gold answer of a multiple-choice problem names its choice; an index counts from 0."""
UnscoredCause: TypeAlias = Literal[
    "infra", "judge", "scorer", "sandbox", "environment", "budget", "cancelled", "bad_row"
]
"""Which component is at fault that a sample has no score; never the model."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_class(*, kw_only: bool = False) -> Callable[[type[M]], type[M]]:
    """Return what makes a class whose objects are never changed, as the type checker sees to.

    For classes of which each sample has objects: a frozen dataclass sets each field by a call, at
    three times the cost.

    Args:
        kw_only: Whether its fields are given by name, as the type checker sees to as well: Python
            would look up the default of each field that is left out.
    """
    # `unsafe_hash` gives them the hash that a frozen class has.
    return dataclass(slots=True, unsafe_hash=True)


class SampleKey(NamedTuple):
    """Which sample of a run, in which repeat, as numbered in the store."""

    benchmark: int
    idx: int
    repeat: int
    """Counts from 0; `SECOND_ASKING` for the second asking."""


@value_class(kw_only=True)
class ToolCall:
    """One call of a tool, as a model wrote it."""

    id: str
    """Names it in the message with its result; empty where the server gives none."""
    name: str
    """The tool's name."""
    arguments: str
    """JSON as the model wrote it, which may not be JSON; the whole call as JSON where it has no
    name.
    """

    @property
    def values(self) -> JsonObject | None:
        """Return the arguments by name; None where what the model wrote is not a JSON object.

        >>> ToolCall(id="1", name="add", arguments='{"x": 1}').values
        {'x': 1}
        """
        values = _decode(self.arguments)
        return values if isinstance(values, dict) else None

    @property
    def parse_error(self) -> str | None:
        """Return why the call cannot be run as the model wrote it; None where it can be read.

        >>> ToolCall(id="1", name="add", arguments="[2]").parse_error
        'its arguments are a list, not an object'
        """
        if not self.name:
            return "it names no tool"
        values = _decode(self.arguments)
        if isinstance(values, ValueError):
            return f"its arguments are not JSON: {values}"
        if not isinstance(values, dict):
            return f"its arguments are a {type(values).__name__}, not an object"
        return None


def _decode(arguments: str) -> Json:
    """Return what a call's arguments say, or the error of what is not JSON; an empty text, which
    servers write for a tool without parameters, says nothing.
    """
    # Returned, not raised: `values` and `parse_error` read the same text, and one ignores why.
    try:
        return json.loads(
            arguments or "{}", parse_constant=_refuse_number, parse_float=_finite_number
        )
    except RecursionError:
        return ValueError("nested too deeply")
    except ValueError as error:
        return error


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _finite_number(text: str) -> float:
    """Return a number; one beyond those of a float would become an infinity, which is not JSON."""
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """What a vendor sent with an answer and wants back with it in the next request, such as signed
    or encrypted reasoning.
    """

    protocol: Protocol
    """Over which it came; over any other it is not sent."""
    items: tuple[JsonObject, ...]
    """As received: the blocks, items or parts of the whole answer; over chat, the fields of the
    message that text and calls have no place for.
    """


@value_class(kw_only=True)
class Message:
    """One chat message."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    content: str | tuple[JsonObject, ...]
    """Text, or content parts in the OpenAI shape (``{"type": "image_url", …}``)."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message."""
    tool_call_id: str | None = None
    """Of a tool's message: the call whose result it is."""
    native: Native | None = None
    """Of an assistant's message."""


@value_class(kw_only=True)
class Sample:
    """One problem of a benchmark, with its prompt rendered."""

    id: str
    """Stable: the row's own id, or a hash of its content with an occurrence number."""
    input: str | tuple[Message, ...]
    """The rendered prompt, or the messages of a chat."""
    target: Json = None
    """The gold answer as the dataset has it."""
    choices: tuple[str, ...] | None = None
    """The options of a multiple-choice problem, in the order shown."""
    labels: tuple[str, ...] | None = None
    """The row's own labels of its choices, such as ``1`` to ``4``; None: A, B, …"""
    gold_kind: GoldKind | None = None
    """What a gold answer that reads two ways is, since all of the dataset read so; None: nothing
    says so.
    """
    metadata: Row = field(default_factory=dict)
    """The dataset row, after field mapping."""
    subset: str | None = None
    """The category for breakdowns."""
    group: str | None = None
    """The cluster for standard errors, e.g. the passage several questions share."""
    recorded_response: str | None = None
    """The answer to score where the dataset has recorded answers."""
    turns: tuple[str, ...] = ()
    """Further user messages, each sent after the answer to the previous one."""
    continuation: str | None = None
    """The text whose log-likelihood is requested after each choice, where the choices are
    contexts.
    """
    tools: tuple[JsonObject, ...] = ()
    """The tools that the model may call in its one answer, in the OpenAI shape; they are never
    run.
    """
    tool_choice: Json = None
    """Which of them it must call, in the OpenAI shape; None: not sent."""
    limits: JsonObject | None = None
    """Of its episode, beside those of benchmark and run; the least of each holds."""


SECOND_ASKING: Final = 10_000
"""The number under which the second asking of a sample is sent and stored, to check whether the
endpoint repeats itself. All numbers of repeats are below it, so that what reads repeats never reads
it.
"""


@value_class(kw_only=True)
class Generation:
    """Sampling settings. None: not sent; the endpoint's default applies."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    """Base seed; repeat k is sent as ``seed + k``, the second asking as ``seed``."""
    reasoning_effort: str | None = None
    """How long a reasoning model may think, in the words of its vendor: ``low``, ``high`` …"""
    extra: JsonObject = field(default_factory=dict)
    """Further body fields, sent unchanged."""

    def seed_of(self, repeat: int) -> int | None:
        """Return the seed of a repeat; the second asking has that of the first answer, which it is
        compared with.
        """
        if self.seed is None or repeat == SECOND_ASKING:
            return self.seed
        return self.seed + repeat


@value_class(kw_only=True)
class Request:
    """One request for a (sample, repeat) pair."""

    protocol: Protocol
    model: str
    sample_id: str
    repeat: int
    """Counts from 0."""
    benchmark: int = 0
    """Its number in the run; two benchmarks may have samples of one id."""
    messages: tuple[Message, ...] = ()
    """For every protocol but completions."""
    prompt: str | None = None
    """For completions."""
    tools: tuple[JsonObject, ...] = ()
    """As those of a `Sample`."""
    tool_choice: Json = None
    generation: Generation = field(default_factory=Generation)
