"""Shapes of metrics.json, calibration.json and extraction_audit.json."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from nel.artifacts.run_warnings import RunWarning
from nel.artifacts.shapes.rules import NULL_HAS_REASON
from nel.artifacts.shapes.run_files import BenchmarkHead, ShardFields, StateCounts
from nel.core.strict_json import Amount, Count, Level, Positive, Rate, Text
from nel.judges.stats.position_bias import PositionBiasJson, ShareJson
from nel.metrics.accumulator import (
    AccountingJson,
    BoundsJson,
    CauseJson,
    CompletedJson,
    MetricJson,
    NewQuestionsJson,
    Unit,
)
from nel.types import FailureKind

Statistic: TypeAlias = Annotated[ShareJson, NULL_HAS_REASON]
Measure: TypeAlias = Annotated["LabelMeasure", NULL_HAS_REASON]


class DifferenceInterval(TypedDict):
    """An interval of a difference."""

    lower: float
    upper: float


class StopRuleFields(TypedDict):
    """A stop rule and what it did."""

    when: Annotated[list[Text], Field(min_length=1)]
    seed: Count
    reason: Literal["better", "worse", "futile", "narrow", "exhausted"] | None
    """Why the benchmark ended; exhausted where every question was asked, null while it is not
    finished.
    """
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


class HeadlineFields(TypedDict):
    """The number to quote."""

    metric: Text
    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_level: Level | None
    ci_method: str | None
    bounds: BoundsJson | None
    ci_covers: str | None
    unit: Unit
    new_questions: NotRequired[NewQuestionsJson]


class CategoryMetric(StateCounts):
    """The headline metric of one category."""

    n_not_asked: Count
    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_method: str | None


class PanelSettings(TypedDict):
    """How opinions become a grade."""

    aggregate: str | None
    quorum: Count | None
    repeats: Count | None
    swap: bool | None


class JudgeCounts(TypedDict):
    """What one judge did."""

    name: Text
    model: str | None
    cases: Count
    verdicts: Count
    reasked: Count
    faults: dict[str, Count]
    mean_score: float | None
    grades: dict[str, Count]


class KappaStatistic(ShareJson):
    """Agreement beyond chance."""

    method: Literal["cohen", "mean of pairs"]
    weights: Literal["quadratic"] | None


class JudgePair(TypedDict):
    """How far two judges agree."""

    judges: Annotated[list[Text], Field(min_length=2, max_length=2)]
    n: Count
    raw: Rate | None
    kappa: float | None
    reason: str | None


class JudgeAgreement(TypedDict):
    """How far the judges of a panel agree."""

    template: Text
    level: Literal["nominal", "ordinal", "interval"]
    n_units: Count
    n_unanimous: Count
    n_missing: Count
    grades_rounded_to: Count | None
    raw: Statistic
    kappa: Annotated[KappaStatistic, NULL_HAS_REASON]
    """A measure with its interval; a null value carries its reason."""
    fleiss_kappa: Statistic | None
    alpha: Statistic
    pairs: list[JudgePair]


class SelfConsistency(TypedDict):
    """How far repeated opinions of one judge agree."""

    template: Text
    judge: Text
    level: Literal["nominal", "ordinal", "interval"]
    n_units: Count
    n_unanimous: Count
    n_missing: Count
    grades_rounded_to: Count | None
    unanimous: Statistic
    raw: Statistic
    alpha: Statistic


class BaseRates(TypedDict):
    """Shares of good answers, by judge and by people."""

    judge: float | None
    judge_labelled: float | None
    labels: float | None
    labels_weighted: float | None


class LabelMeasure(TypedDict):
    """A measure against people's labels."""

    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_method: Text
    reason: str | None
    n: NotRequired[Count]
    n_effective: NotRequired[Amount | None]


class LabelAgreement(TypedDict):
    """Agreement of judge and labels."""

    raw: Measure
    kappa: Measure
    kappa_linear: NotRequired[Measure]
    kappa_quadratic: NotRequired[Measure]
    ac1: NotRequired[Measure]
    pabak: NotRequired[Measure]


class AnnotatorAgreement(TypedDict):
    """Agreement of people with each other."""

    names: list[str]
    n_labels: dict[str, Count]
    n_several: Count
    n_disputed: Count
    agreement: dict[str, object]


class GradeRecall(TypedDict):
    """Of one label, how often the judge gave that grade."""

    label: float
    grade: str | None
    n_found: Count
    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_method: NotRequired[Text]
    reason: str | None
    n: NotRequired[Count]
    n_effective: NotRequired[Amount | None]


class PanelMemberAgreement(TypedDict):
    """How far one judge of a panel agrees with the labels."""

    judge: str
    n: Count
    agreement: float | None
    weight: float | None


class CalibrationSummary(TypedDict):
    """What labels say of a judge."""

    n_judged: Count
    n_labelled: Count
    n_stale: Count
    is_binary: bool
    base_rates: BaseRates
    agreement: LabelAgreement
    sensitivity: Measure
    specificity: Measure
    annotators: NotRequired[AnnotatorAgreement]
    """Where several people labelled: their agreement, the ceiling of the judge's."""
    recall: NotRequired[list[GradeRecall]]
    """Of each label of several, how often the judge gave that grade."""
    panel: NotRequired[list[PanelMemberAgreement]]
    """How far each judge of a panel agrees with the labels, and the weight of its vote."""


class CorrectedValue(TypedDict):
    """One estimate of the headline."""

    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_level: Level | None
    ci_method: str | None
    reason: str | None


class CorrectedHeadline(TypedDict):
    """The headline as the judge gave it and as people would have."""

    n_judged: Count
    n_labelled: Count
    raw: CorrectedValue
    rogan_gladen: CorrectedValue
    ppi: CorrectedValue
    labels_of: NotRequired[str]
    """The run whose labels stand in, where this one has none."""
    labels: NotRequired[CorrectedValue]
    best: NotRequired[Literal["ppi", "labels", "rogan_gladen"] | None]
    """The estimate to quote."""


class PositionSwap(PositionBiasJson):
    """How one judge's verdicts depend on the order of two answers."""

    template: Text
    judge: Text


class JudgingSummary(TypedDict):
    """What judges did and how far they can be trusted."""

    n_judged: Count
    n_cases: Count
    n_cases_without_grade: Count
    n_without_grade: CauseJson
    """Samples that are unscored by judge, by kind; as in accounting."""
    templates: dict[str, Count]
    settings: PanelSettings
    """How opinions become a grade, as configured."""
    judges: list[JudgeCounts]
    agreement: list[JudgeAgreement]
    self_consistency: list[SelfConsistency]
    position_swap: list[PositionSwap]
    calibration: NotRequired[CalibrationSummary]
    """What people's labels say of the judge; the whole of it is in calibration.json."""
    corrected: NotRequired[CorrectedHeadline]


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
    """Answers that go on with an invented next question, which the strict and the lenient way do
    not read.
    """
    kinds: dict[str, Count]
    without_reading: dict[str, Count]
    """Answers that are read in no further way, by the reason."""
    readings: dict[str, ReadingScore]
    reader: ModelReaderFields | None
    """Which reader, and which model behind it, read the answers in which the run's scorer found
    none.
    """
    band: BoundsJson | None
    """The lowest and the highest score over the ways of reading."""
    reason: str | None
    """Why there is no band."""


class DifferingShare(TypedDict):
    """Problems whose two answers differ."""

    n: Count
    """Problems with two such answers."""
    n_differ: Count
    rate: Rate | None
    ci_lower: Rate | None
    ci_upper: Rate | None
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
    """What the differences do to the score, in its own units; null where no problem has two
    scores.
    """
    examples: Annotated[list[RepeatExample], Field(max_length=10)]


class MetricsFile(BenchmarkHead):
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
    failed_metrics: NotRequired[list[str]]
    """Names of the rows whose metric or reducer failed; runs of an older version have no such
    key.
    """
    shared_passes: NotRequired[Positive]
    """Programs that passed tests which share their process: not proof against a program that
    attacks its tests. No such key where there are none.
    """
    warnings: list[RunWarning]
    """What speaks against the numbers and the judges, in the order in which every output shows
    it.
    """
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


class CalibratedMember(TypedDict):
    """A judge of the panel."""

    name: str | None
    model: str | None


class CalibratedJudge(TypedDict):
    """The judge as it was configured."""

    panel: list[CalibratedMember]
    template: str | None
    criteria: str | None
    aggregate: str | None
    quorum: Count | None
    repeats: Count | None
    swap: bool | None
    weights: NotRequired[dict[str, float]]


class Stratum(TypedDict):
    """Answers of one range of scores; each label stands for `weight` of them."""

    score_low: float
    score_high: float
    n: Count
    n_labelled: Count
    share: Rate
    weight: Amount | None


class ConfusionTable(TypedDict):
    """Labels against the judge's grades."""

    rows: Literal["label"]
    columns: Literal["judge"]
    categories: list[float] | None
    counts: list[list[Count]] | None
    shares: list[list[Rate]] | None


class CalibrationFile(BenchmarkHead, CalibrationSummary):
    """calibration.json: what people's labels say of a run's judge, and the headline corrected by
    them.
    """

    judge: CalibratedJudge | None
    warnings: list[Text]
    strata: list[Stratum]
    confusion: ConfusionTable
    """Counts of labels, and the shares of all judged answers that they stand for; null for more
    than ten scores.
    """
    corrected: CorrectedHeadline
    templates: list[str]


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
    """extraction_audit.json: how the stored answers of a benchmark are read in several ways, and what
    its score owes to that.
    """

    differences: Annotated[list[ReadingDifference], Field(max_length=1000)]
    """The first answers that are read differently, in the order of the dataset."""
