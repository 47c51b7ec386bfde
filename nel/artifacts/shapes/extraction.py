"""Shapes of what metrics.json says of the reading of answers, and of extraction_audit.json."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from nel.artifacts.shapes.run_files import BenchmarkHead
from nel.core.strict_json import Count, Rate
from nel.metrics.accumulator import BoundsJson


class ReadingScore(TypedDict):
    """One way of reading the answers, and the score by it."""

    n: Count
    """Answers that this way of reading applies to."""
    n_found: Count
    """Those in which it finds an answer."""
    score: Rate | None
    """The run's score had it been read so; null where rewards are not 0 and 1."""


class ModelReaderFields(TypedDict):
    """The model that read the rest."""

    reader: str
    model: str


class ExtractionSummary(TypedDict):
    """What the score owes to the way of reading."""

    n_answers: Count
    n_differ: Count
    """Answers of which two ways read two values, or one a value and another none."""
    n_ran_on: Count
    """Answers with an invented next question, where the strict and the lenient way stop reading."""
    kinds: dict[str, Count]
    without_reading: dict[str, Count]
    """Answers that are read in no further way, by the reason."""
    readings: dict[str, ReadingScore]
    reader: ModelReaderFields | None
    """The reader, and its model, of the answers in which the run's scorer found none."""
    band: BoundsJson | None
    """The lowest and the highest score over the ways of reading."""
    reason: str | None
    """Why there is no band."""


class ScoredReading(TypedDict):
    """The answer as the run's scorer read it."""

    value: str | None
    reward: float


class RejectedReading(TypedDict):
    """A candidate that a rule rejected."""

    why: str
    start: Count
    end: Count
    excerpt: str


class ReadingOfAnswer(TypedDict):
    """One way of reading one answer."""

    value: str | None
    form: str
    start: Count | None
    """In characters of the response; null where nothing was found."""
    end: Count | None
    excerpt: str | None
    """The place between ⟦ and ⟧, with what stands around it, on one line."""
    rejected: list[RejectedReading]
    reward: float


class AnswerReadings(TypedDict):
    """One answer, read in every way."""

    scored: ScoredReading
    strict: ReadingOfAnswer
    lenient: ReadingOfAnswer
    official: NotRequired[ReadingOfAnswer]
    model: NotRequired[ReadingOfAnswer]


class ReadingDifference(TypedDict):
    """An answer that two ways read differently."""

    problem_idx: Count
    sample_id: str
    repeat: Count
    kind: Literal["letter", "number", "yes_no", "text", "mathematics"]
    expected: list[str]
    readings: AnswerReadings


class ExtractionAuditFile(BenchmarkHead, ExtractionSummary):
    """extraction_audit.json: how the stored answers of a benchmark are read in several ways, and
    what its score owes to that.
    """

    differences: Annotated[list[ReadingDifference], Field(max_length=1000)]
    """The first answers that are read differently, in the order of the dataset."""
