"""Metrics as classes, as files of NeMo Evaluator write them::

    class Shorter:
        type = "shorter"

        def output_spec(self):
            return [MetricOutputSpec.continuous_score("correct")]

        async def compute_scores(self, input: MetricInput) -> MetricResult:
            short = len(input.candidate.output_text) < len(input.row.data["answer"])
            return MetricResult(outputs=[MetricOutput(name="correct", value=float(short))])

Metrics of trajectories are missing: they score NeMo Evaluator's own agents, which nel does not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from nel.errors import ScorerError
from nel.prompts.jinja import compile_jinja
from nel.scoring.text import exact_match
from nel.types import ScorerInput

__all__ = [
    "CandidateOutput",
    "DatasetRow",
    "ExactMatchMetric",
    "Metric",
    "MetricInput",
    "MetricOutput",
    "MetricOutputSpec",
    "MetricResult",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """The row that was asked."""

    data: dict[str, Any]
    row_index: int | None = None
    """Not known: nel's rows have no position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOutput:
    """What the model answered."""

    output_text: str | None = None
    response: Any = None
    trajectory: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInput:
    """All that a metric is given."""

    row: DatasetRow
    candidate: CandidateOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutput:
    """One value of a metric, by name."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """The values of a metric for one answer."""

    outputs: Sequence[MetricOutput]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutputSpec:
    """The name of a value that a metric promises, and of what kind it is."""

    name: str
    description: str | None = None
    value_schema: Any = float

    @classmethod
    def continuous_score(cls, name: str, description: str | None = None) -> MetricOutputSpec:
        """Promise a number."""
        return cls(name=name, description=description)

    @classmethod
    def discrete_score(cls, name: str, description: str | None = None) -> MetricOutputSpec:
        """Promise a whole number."""
        return cls(name=name, description=description, value_schema=int)

    @classmethod
    def label(cls, name: str, description: str | None = None) -> MetricOutputSpec:
        """Promise a text."""
        return cls(name=name, description=description, value_schema=str)

    @classmethod
    def boolean(cls, name: str, description: str | None = None) -> MetricOutputSpec:
        """Promise true or false."""
        return cls(name=name, description=description, value_schema=bool)

    @classmethod
    def model(
        cls, name: str, value_schema: Any, description: str | None = None
    ) -> MetricOutputSpec:
        """Promise what a schema describes."""
        return cls(name=name, description=description, value_schema=value_schema)


@runtime_checkable
class Metric(Protocol):
    """A metric as a class."""

    type: str

    def output_spec(self) -> list[MetricOutputSpec]:
        """Return what it promises."""

    async def compute_scores(self, input: MetricInput) -> MetricResult:  # noqa: A002 - the published name
        """Return the values for one answer."""


class ExactMatchMetric:
    """Compares what one template makes of the answer with what another makes of the row."""

    type = "exact-match"

    def __init__(self, *, reference: str, candidate: str | None = None) -> None:
        """Take the templates, in Jinja: ``item`` is the row, ``sample.output_text`` the answer."""
        self.reference = reference
        self.candidate = candidate

    def output_spec(self) -> list[MetricOutputSpec]:
        """Return that it gives ``correct``."""
        return [MetricOutputSpec.continuous_score("correct")]

    async def compute_scores(self, input: MetricInput) -> MetricResult:  # noqa: A002 - the published name
        """Return 1 where both are equal as `nel.exact_match` compares them."""
        item, answer = input.row.data, input.candidate.output_text or ""
        sample = {**input.candidate.metadata, "output_text": answer}
        values = {**item, **sample, "item": item, "sample": sample}
        target = _fill(self.reference, values)
        candidate = answer if self.candidate is None else _fill(self.candidate, values)
        correct = exact_match(ScorerInput(response=candidate, target=target))["correct"]
        return MetricResult(outputs=[MetricOutput(name="correct", value=float(correct))])


def values_of(result: object, promised: Sequence[MetricOutputSpec]) -> dict[str, object]:
    """Return the values of a result by name, the promised ones and no others.

    Raises:
        ScorerError: It is not a `MetricResult`, or its values are not exactly the promised ones.
    """
    if not isinstance(result, MetricResult):
        raise ScorerError(
            f"compute_scores returned a {type(result).__name__}; return a MetricResult"
        )
    names = [output.name for output in result.outputs]
    promised_names = [spec.name for spec in promised]
    if sorted(names) != sorted(promised_names):
        raise ScorerError(
            f"compute_scores returned {_name_list(names)}, and output_spec promises"
            f" {_name_list(promised_names)}"
        )
    return {output.name: output.value for output in result.outputs}


def _fill(template: str, values: Mapping[str, object]) -> str:
    return compile_jinja(template, "template")[1](values)


def _name_list(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
