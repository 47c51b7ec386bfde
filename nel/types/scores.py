"""What an answer is worth: scorer's input, score, outcome. Depends on the types of questions."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from nel.types.questions import (
    FailureKind,
    Json,
    JsonObject,
    M,
    Row,
    Sample,
    ToolCall,
    UnscoredCause,
    Value,
    value_class,
)


@dataclass(slots=True)
class ScorerInput:
    """The argument of every scorer: one response with its gold answer."""

    response: str
    """Model output."""
    target: Json
    """The gold answer, from the benchmark's target field."""
    metadata: dict[str, Json] = field(default_factory=dict)
    """The dataset row plus reserved keys that start with ``_``."""
    model_call_fn: Callable[..., Any] | None = None
    """Calls the evaluated model again: text or messages in, text out; in an async scorer an
    awaitable of it.
    """
    config: dict[str, Json] = field(default_factory=dict)
    """The benchmark's ``extra``."""
    conversation: list[dict[str, Json]] | None = None
    """All messages up to this response, which is included; set in a benchmark of several turns."""
    turn_index: int | None = None
    """The turn that this response answers, from 0."""
    sandbox: Any = None  # a `nel.sandbox` handle; its type lies in a room above this one
    judge_fn: Callable[..., Any] | None = None  # as `model_call_fn`
    """Sends a `nel.judges.types.Case` to the run's judges and returns the `Judgement`, in an async
    scorer an awaitable of it; `nel.scoring.judge` uses it. None outside a run.
    """
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

    def changes(self) -> dict[str, Json]:
        """Return the parts that it sets, by name, and its provenance."""
        parts = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        return {name: part for name, part in parts.items() if part is not UNCHANGED}


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
        parts = edit.changes()
        del parts["provenance"]  # of the edit; the score has it in its history
        return dataclasses.replace(self, **parts, history=(*self.history, edit))

    def model_copy(self, *, update: JsonObject | None = None) -> Score:
        """Return the score with other parts."""
        return dataclasses.replace(self, **(update or {}))

    def model_dump(self) -> dict[str, Json]:
        """Return its parts by name, and of each edit the parts that it set.

        >>> Score(value="C", answer="4").model_dump()
        {'value': 'C', 'answer': '4', 'explanation': None, 'metadata': None, 'history': []}
        """
        parts = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        return {**parts, "history": [edit.changes() for edit in self.history]}

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
        # NaN in the process only, as in Inspect: the engine makes `Unscored` of it, and null in
        # JSON.
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
