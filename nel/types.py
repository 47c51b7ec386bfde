"""The core data types of nel. Does no I/O and imports nothing else of nel.

    Sample -> Request -> Response -> Outcome -> metrics -> artifacts

All are frozen but `ScorerInput`, which scorers written for other tools modify. A `Sample` has no
position: its id is the row's own or a hash of the row, so that the order of a dataset changes no
result.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
    """
    return dataclass(slots=True, kw_only=kw_only, unsafe_hash=True)


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
    """JSON as the model wrote it, which may be no JSON; the whole call as JSON where it has no
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
endpoint repeats itself. Repeats proper are below, so that nothing that reads these ever reads
it."""


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
        return None if self.seed is None else self.seed + (0 if repeat == SECOND_ASKING else repeat)


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


@value_class(kw_only=True)
class Usage:
    """Token counts as the endpoint reports them; None where it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    """A subset of `completion_tokens`."""
    cached_tokens: int | None = None
    """Prompt tokens served from the vendor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseError:
    """Why an endpoint returned no usable answer."""

    kind: str
    """A short stable word: ``auth``, ``rate_limit``, ``timeout``, ``connection``, ``server_error``
    …
    """
    message: str
    """One line, without secrets."""
    status: int | None = None
    """The HTTP status, where there was one."""
    model_failure: FailureKind | None = None
    """Set when the model is at fault (e.g. ``context_exceeded``), not the endpoint."""
    cause: UnscoredCause = "infra"
    """Which component is at fault where it is not the model."""


@dataclass(frozen=True, slots=True)
class Border:
    """The log-likelihood of a text from the start of one of its tokens on."""

    characters: int
    """Of the context, that the text begins with."""
    logprob: float
    is_greedy: bool
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceScore:
    """The log-likelihood that the model gives one continuation of a context."""

    text: str
    """The continuation, with the whitespace that separates it from the context."""
    logprob: float
    """The sum over the continuation's tokens, natural logarithm."""
    is_greedy: bool
    """Whether each of its tokens is a most likely one; ties count."""
    tokens: int
    borders: tuple[Border, ...] = field(default=(), compare=False, repr=False)
    """Where it may be counted from so that a token that reaches over from the context is in it; the
    nearest first. Of
    one choice alone: those of a sample are counted from one border, and have none left."""


@value_class(kw_only=True)
class Response:
    """The answer to one request, or why there is none."""

    text: str = ""
    """The answer, without reasoning."""
    reasoning: str | None = None
    """The model's reasoning; it is never scored as the answer."""
    received: str | None = field(default=None, repr=False)
    """The text as received, where its reasoning was split from it; None where it is the answer."""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    """The model's name in the server's response."""
    system_fingerprint: str | None = None
    """The server's own name of its configuration, where it gives one."""
    fallback: str | None = None
    """What a gateway says that it asked instead of the requested model; it may say so in a header
    alone.
    """
    latency_seconds: float | None = None
    """From sending the successful attempt to its last byte; backoff between attempts is
    excluded.
    """
    first_token_seconds: float | None = None
    """From sending to the first text or reasoning; None unless streamed."""
    inter_token_seconds: float | None = None
    """Mean time between two chunks of a streamed answer."""
    attempts: int = 0
    """HTTP attempts made; 0 for a recorded or cached response."""
    cached: bool = False
    """Whether it came from the response cache."""
    error: ResponseError | None = None
    first_token: Mapping[str, float] = field(default_factory=dict)
    """Log-probability of each alternative for the first token, natural logarithm; empty where none
    was requested.
    """
    tool_calls: tuple[ToolCall, ...] = ()
    """The model's calls of the tools that the request offered; empty where it offered none."""
    choice_scores: tuple[ChoiceScore, ...] = ()
    """The log-likelihood of each choice, in the sample's order; empty where none was requested."""
    episode: JsonObject | None = None
    """Of a sample that was answered in many steps: what they came to; None for one answer."""

    @property
    def endpoint_error(self) -> ResponseError | None:
        """Return its error where the endpoint is at fault, or the model; None otherwise."""
        return self.error if self.error is not None and self.error.cause == "infra" else None

    native: Native | None = None
    """What the vendor wants back with the answer; None where text and calls say it all, or the
    request offered no tools.
    """

    def set_measurements(
        self,
        *,
        latency_seconds: float,
        fallback: str | None,
        first_token_seconds: float | None,
        inter_token_seconds: float | None,
    ) -> Response:
        """Set what one attempt measured in an answer that its protocol has just made, and return
        it: a copy would set all fields for these.
        """
        self.latency_seconds = latency_seconds  # type: ignore[misc]
        self.attempts = 1  # type: ignore[misc]
        self.fallback = fallback  # type: ignore[misc]
        self.first_token_seconds = first_token_seconds  # type: ignore[misc]
        self.inter_token_seconds = inter_token_seconds  # type: ignore[misc]
        return self

    @property
    def message(self) -> Message:
        """Return the answer as the next request has it; a call without an id is named by its place,
        so that its result can name it.

        >>> Response(tool_calls=(ToolCall(id="", name="add", arguments="{}"),)).message.tool_calls[0].id
        'call_0'
        """
        calls = self.tool_calls
        if calls and not all(call.id for call in calls):
            calls = tuple(
                call if call.id else dataclasses.replace(call, id=f"call_{place}")
                for place, call in enumerate(calls)
            )
        return Message(role="assistant", content=self.text, tool_calls=calls, native=self.native)


@dataclass(slots=True)
class ScorerInput:
    """The argument of every scorer: one response with its gold answer."""

    response: str
    """Model output."""
    target: Json
    """The gold answer, from the benchmark's target field."""
    metadata: dict[str, Json] = field(default_factory=dict)
    """The dataset row plus reserved keys that start with ``_``."""
    model_call_fn: Callable[..., Any] | None = (
        None  # returns text in a sync scorer, an awaitable of it in an async one
    )
    """Calls the evaluated model again: text or messages in, text out."""
    config: dict[str, Json] = field(default_factory=dict)
    """The benchmark's ``extra``."""
    conversation: list[dict[str, Json]] | None = None
    """All messages up to this response, which is included; set in a benchmark of several turns."""
    turn_index: int | None = None
    """The turn that this response answers, from 0."""
    sandbox: Any = None  # a `nel.sandbox` handle; its type lies in a room above this one
    judge_fn: Callable[..., Any] | None = None  # as `model_call_fn`
    """Sends a `nel.judges.types.Case` to the run's judges and returns the `Judgement`, in an async
    scorer an awaitable of it; `nel.byob.judge` uses it. None outside a run."""
    sample: Sample | None = None
    """The whole sample, with its id, prompt and choices; None outside a run."""
    repeat: int = 0
    """The repeat, from 0."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The model's calls of the tools that the sample offers."""
    evidence: Json = None
    """Of an episode: what its environment says of its final state."""


CORRECT: Final = "C"
INCORRECT: Final = "I"
PARTIAL: Final = "P"
NOANSWER: Final = "N"
"""Grades a scorer may give instead of a number: 1, 0, 0.5 and 0."""


class _Unchanged(enum.Enum):
    UNCHANGED = "UNCHANGED"


UNCHANGED: Final = _Unchanged.UNCHANGED
"""In a `ScoreEdit`: this part of the score stayed as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEdit:
    """One edit of a score, as `Score.history` holds it: what each part became."""

    value: Value | _Unchanged = UNCHANGED
    answer: str | _Unchanged | None = UNCHANGED
    explanation: str | _Unchanged | None = UNCHANGED
    metadata: JsonObject | _Unchanged | None = UNCHANGED
    provenance: Json = None
    """Who made it and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A scorer's result for one response; frozen: `model_copy` gives a changed one."""

    value: Value
    """A number, bool, grade (``C``, ``I``, ``P``, ``N``), a list of those, or a mapping of metric
    names to them.
    """
    answer: str | None = None
    """The answer extracted from the response."""
    explanation: str | None = None
    metadata: JsonObject | None = None
    history: Sequence[ScoreEdit] = ()
    """The edits that made it, the first one first."""

    def edit(self, edit: ScoreEdit) -> Score:
        """Return the score after an edit, which joins its history.

        >>> score = Score(value="I").edit(ScoreEdit(value="C", provenance="read again"))
        >>> score.value, len(score.history)
        ('C', 1)
        """
        parts = {
            name: getattr(edit, name) for name in ("value", "answer", "explanation", "metadata")
        }
        changed = {name: value for name, value in parts.items() if value is not UNCHANGED}
        return dataclasses.replace(self, **changed, history=(*self.history, edit))

    def model_copy(self, *, update: JsonObject | None = None) -> Score:
        """Return the score with other parts."""
        return dataclasses.replace(self, **(update or {}))

    def model_dump(self) -> dict[str, Json]:
        """Return its parts by name, edits too; those of an edit that it left as they were are not
        there.

        >>> Score(value="C", answer="4").model_dump()
        {'value': 'C', 'answer': '4', 'explanation': None, 'metadata': None, 'history': []}
        """
        parts = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        edits = [
            {item.name: getattr(edit, item.name) for item in dataclasses.fields(edit)}
            for edit in self.history
        ]
        known = [
            {name: part for name, part in edit.items() if part is not UNCHANGED} for edit in edits
        ]
        return {**parts, "history": known}

    @classmethod
    def unscored(
        cls,
        *,
        answer: str | None = None,
        explanation: str | None = None,
        metadata: JsonObject | None = None,
    ) -> Score:
        """Return the score of a response that could not be judged; reducers and metrics leave it
        out.
        """
        return cls(value=math.nan, answer=answer, explanation=explanation, metadata=metadata)

    @property
    def is_unscored(self) -> bool:
        """Return whether this is the score of a response that could not be judged."""
        return isinstance(self.value, float) and math.isnan(self.value)

    @property
    def text(self) -> str:
        """Return the value as text."""
        return self.as_str()

    def as_str(self) -> str:
        """Return a scalar value as text; raises ValueError for a list or mapping."""
        return str(self._scalar())

    def as_int(self) -> int:
        """Return a scalar value as an integer; raises ValueError for a list, a mapping or a
        grade.
        """
        return int(self._scalar())

    def as_float(self) -> float:
        """Return a scalar value as a number; raises ValueError for a list, a mapping or a grade."""
        return float(self._scalar())

    def as_bool(self) -> bool:
        """Return a scalar value as a bool; raises ValueError for a list or mapping."""
        return bool(self._scalar())

    def as_list(self) -> list[Json]:
        """Return a list value; raises ValueError for anything else."""
        if not isinstance(self.value, (list, tuple)):
            raise ValueError(f"the score's value is a {type(self.value).__name__}, not a list")
        return list(self.value)

    def as_dict(self) -> dict[str, Json]:
        """Return a mapping value; raises ValueError for anything else."""
        if not isinstance(self.value, Mapping):
            raise ValueError(f"the score's value is a {type(self.value).__name__}, not a mapping")
        return dict(self.value)

    def _scalar(self) -> str | int | float | bool:
        if isinstance(self.value, (str, int, float)):
            return self.value
        raise ValueError(f"the score's value is a {type(self.value).__name__}, not a single value")


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleScore:
    """The score of one sample, as passed to metrics."""

    score: Score
    sample_id: str | int | None = None
    sample_metadata: Row | None = None
    """The dataset row."""
    scorer: str | None = None
    """Name of the scorer that gave the score."""
    response: str | None = None
    """The model's answer."""
    target: Json = None
    """The gold answer."""
    subset: str | None = None
    """The part of the dataset that the sample belongs to."""

    def model_dump(self) -> dict[str, Json]:
        """Return its parts by name, those of the score too."""
        parts = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        return {**parts, "score": self.score.model_dump()}

    def sample_metadata_as(self, metadata_class: type[M]) -> M | None:
        """Return the metadata as an instance of a pydantic model or dataclass; None where there is
        none.
        """
        return None if self.sample_metadata is None else metadata_class(**self.sample_metadata)


@value_class(kw_only=True)
class Scored:
    """The response was scored."""

    reward: float
    """The headline value of this sample; 1.0 is right and 0.0 wrong for binary scorers."""
    metrics: Mapping[str, float]
    """Every number that the scorer returned, by name, including the one that became `reward`."""
    answer: str | None = None
    details: JsonObject = field(default_factory=dict)
    """Everything else that the scorer returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailure:
    """The model failed to answer; counted 0 by declared policy."""

    kind: FailureKind
    detail: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The numbers that the scorer returned where it ran, e.g. the value of a random guess."""
    answer: str | None = None
    details: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """The sample has no score because a component other than the model failed."""

    cause: UnscoredCause
    kind: str
    """A short stable word that refines the cause: ``auth``, ``timeout``, ``raised`` …"""
    detail: str = ""
    details: JsonObject = field(default_factory=dict)
    """Evidence, e.g. a judge's unparsed reply."""


Outcome: TypeAlias = Scored | ModelFailure | Unscored

ScorerResult: TypeAlias = Score | JsonObject | bool | float
Scorer: TypeAlias = Callable[[ScorerInput], "ScorerResult | Awaitable[ScorerResult]"]
