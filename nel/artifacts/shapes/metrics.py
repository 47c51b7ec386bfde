"""Shape of metrics.json."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from nel.artifacts.run_warnings import RunWarning
from nel.artifacts.shapes.boards import RateEnds
from nel.artifacts.shapes.extraction import ExtractionSummary
from nel.artifacts.shapes.judging import JudgingSummary
from nel.artifacts.shapes.rules import NULL_HAS_REASON
from nel.artifacts.shapes.run_files import RunHead, ShardFields, StateCounts
from nel.core.strict_json import Amount, Count, Level, Positive, Rate, Text
from nel.metrics.accumulator import (
    AccountingJson,
    BoundsJson,
    CompletedJson,
    EndsJson,
    MetricJson,
    NewQuestionsJson,
    Unit,
)
from nel.types import FailureKind


class DifferenceInterval(TypedDict):
    """An interval of a difference."""

    lower: float
    upper: float


class StopRuleFields(TypedDict):
    """A stop rule and what it did."""

    when: Annotated[list[Text], Field(min_length=1)]
    seed: Count
    reason: Literal["better", "worse", "futile", "narrow", "exhausted"] | None
    """Why the benchmark ended; exhausted if every question was asked, null until it has ended."""
    condition: str | None
    """The condition that held."""
    n_questions: Positive
    n_questions_asked: Positive | None
    """Questions that count; null where no condition held."""
    baseline: str | None
    """The run_id of the run that it compares with."""
    difference: DifferenceInterval | None
    """Interval of the difference to the baseline over all questions, candidate minus baseline,
    valid at any time.
    """


class SelectionFields(TypedDict):
    """Which questions of a benchmark were asked."""

    kind: Literal["all", "first", "sample"]
    n: Count
    of: Count
    is_exact: bool
    """Whether the benchmark has no more questions than that."""
    seed: int | None
    by: Literal["subset", "category", "subject", "group"] | None
    """What divides the questions: subset is the benchmark's own category."""
    n_strata: int | None
    text: str
    """What the score is of, in one line; empty where it is of all."""


class ReadingFields(TypedDict):
    """The rule by which answers are read."""

    rule: Literal["general", "official"] | None
    """The rule by which answers are read; null where the scorer reads none by a rule of nel."""
    versions: dict[str, Positive]
    """Versions of the reading rules that the scorer uses, by kind of answer."""


class HeadlineFields(EndsJson):
    """The number to quote."""

    metric: Text
    value: float | None
    ci_level: Level | None
    ci_method: str | None
    bounds: BoundsJson | None
    ci_covers: str | None
    unit: Unit
    new_questions: NotRequired[NewQuestionsJson]


class CategoryMetric(StateCounts, EndsJson):
    """The headline metric of one category."""

    n_not_asked: Count
    value: float | None
    ci_method: str | None


class RepeatSpread(TypedDict):
    """The variance of an answer's score, and what more answers would buy."""

    between: Amount
    """Variance of the questions' true means."""
    within: Amount
    """Mean over questions of the variance of their answers."""
    repeats: Annotated[float, Field(ge=1)]
    """Answers to a question; the harmonic mean where they differ."""
    standard_error: Amount | None
    """Of the score; null, as the two below, for questions in groups and samples of a benchmark."""
    with_one_more_repeat: Amount | None
    """After one more answer to each question."""
    with_more_questions: Amount | None
    """After as many answers more, each to a new question with as many repeats."""


class SpreadFields(TypedDict):
    """Where the doubt of the headline comes from."""

    n_questions: Positive
    n_informative: Count
    """Questions whose value is not the commonest; below ten the interval rests on the added one."""
    repeats: RepeatSpread | None
    """Null where no question has two scored answers."""


class DifferingShare(RateEnds):
    """Problems whose two answers differ."""

    n: Count
    """Problems with two such answers."""
    n_differ: Count
    rate: Rate | None
    ci_method: Literal["wilson", "none"]


class RerunSpread(TypedDict):
    """What the differences do to the score, in its own units."""

    within_variance: float
    """Variance of the scores of one question's answers."""
    rerun_half_width: float
    """Half-width of the 95 % interval of the score of another run over the same questions."""
    rerun_half_width_lower: float | None
    rerun_half_width_upper: float | None
    interval_half_width: float | None
    """Of the headline's interval."""
    added_half_width: float | None
    """By how much that is wider than with an endpoint that always repeats itself."""


class RepeatedAnswer(TypedDict):
    """One of two answers."""

    reward: float | None
    state: Literal["scored", "model_failure", "unscored"]
    response_preview: Annotated[str, Field(max_length=500)]


class RepeatExample(TypedDict):
    """A problem whose two answers differ."""

    problem_idx: Count
    sample_id: str
    first: RepeatedAnswer
    second: RepeatedAnswer


class RepeatCheckFields(TypedDict):
    """How often the endpoint differs from itself."""

    n_drawn: Count
    """Problems that were drawn to be asked twice."""
    n_asked: Count
    """Those with a second answer, or a fault in its place."""
    temperature: float | None
    """As it is sent; null where the endpoint decides."""
    seed: int | None
    text: DifferingShare
    """Problems whose two raw answers differ; of ranked choices, their log-probabilities."""
    verdict: DifferingShare
    """Problems whose two answers count differently in the score."""
    score: RerunSpread | None
    """What the differences do to the score, in its units; null if no problem has two scores."""
    examples: Annotated[list[RepeatExample], Field(max_length=10)]


class MetricsFile(RunHead):
    """metrics.json: every metric with n, interval, method and bounds."""

    complete: bool
    stop_rule: StopRuleFields | None
    """What --stop-when did; null without it."""
    shard: NotRequired[ShardFields]
    """Which part of a run this is; only in a shard, which decides nothing by itself."""
    selection: SelectionFields | None
    """Which questions of the benchmark were asked; null for results of another tool."""
    reading: ReadingFields
    accounting: AccountingJson
    headline: HeadlineFields
    metrics: list[Annotated[MetricJson, NULL_HAS_REASON]]
    categories: dict[str, CategoryMetric]
    rates: dict[FailureKind, Rate]
    completed: CompletedJson
    spread: NotRequired[SpreadFields]
    """Only if the headline's interval is by spread of questions: with repeats or partial credit."""
    lower_is_better: list[str]
    """Names of the metrics of which less is better."""
    failed_metrics: list[str]
    """Names of the rows whose metric or reducer failed."""
    shared_passes: NotRequired[Positive]
    """Programs that passed tests which share their process: not proof against a program that
    attacks its tests. No such key where there are none.
    """
    warnings: list[RunWarning]
    """What speaks against the numbers and the judges, in the order of every output."""
    judging: JudgingSummary | None
    """What judges did and how far they can be trusted; null where nothing was judged."""
    extraction: NotRequired[ExtractionSummary]
    """How far the score depends on the way of reading answers, in a run that nel scorer audit
    has seen; extraction_audit.json lists the answers.
    """
    repeat_check: NotRequired[RepeatCheckFields]
    """With --repeat-check: how often the endpoint differs from itself. The second answers are in
    no other part of this file.
    """
