"""Shapes of what `nel compare --json`, `nel gate` and `nel leaderboard --json` write."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from nel.artifacts.shapes.rules import NULL_IS_INCONCLUSIVE
from nel.core.strict_json import Count, Positive, Rate, Text
from nel.metrics.accumulator import Unit

PairedMeasure: TypeAlias = Annotated["PairedMeasureFields", NULL_IS_INCONCLUSIVE]


class StandingRun(TypedDict):
    """A run that is ranked."""

    label: str
    run_id: str | None
    models: list[str]


class SideFields(StandingRun):
    """One side of a comparison."""

    kind: Literal["nel", "nemo-evaluator", "lm-eval", "imported"]


class TestFamily(TypedDict):
    """Tests that are adjusted together."""

    n: Count
    adjustment: Literal["holm"]


class ComparisonSettings(TypedDict):
    """How the comparison was made."""

    level: Rate
    margin: float
    seed: Count
    despite: list[str]
    family: TestFamily


class FieldPair(TypedDict):
    """A field that differs between two runs."""

    field: str
    baseline: object
    candidate: object


class PairCounts(TypedDict):
    """How results were paired."""

    by: Literal["sample", "row", "question", "position"]
    n: Count
    n_only_baseline: Count
    n_only_candidate: Count
    n_changed: Count
    n_not_asked: Count
    n_not_scored: Count


class RunDifference(FieldPair):
    """A difference that the user allowed with --despite."""

    part: Literal["pairing", "dataset", "prompt", "scorer", "judge", "decoding", "repeats"]


class MeanPair(TypedDict):
    """The means of both sides."""

    baseline: float | None
    candidate: float | None


class MovedMeans(TypedDict):
    """What changed beside the score."""

    tokens: MeanPair
    characters: MeanPair
    latency: MeanPair
    cost: MeanPair


class DifferenceFields(TypedDict):
    """A difference with its interval and test."""

    value: float
    ci_lower: float
    ci_upper: float
    ci_level: Rate
    ci_method: str
    p_value: Rate
    test: str
    n: Annotated[int, Field(ge=2)]
    n_clusters: Count | None
    wins: Count
    losses: Count
    ties: Count
    standard_error: float
    smallest_detectable: float
    naive_ci_lower: float | None
    naive_ci_upper: float | None


class DifferenceBounds(TypedDict):
    """The difference at the extremes of what was not scored."""

    lower: float
    upper: float
    ci_lower: float
    ci_upper: float


class PairedMeasureFields(TypedDict):
    """One metric on both sides."""

    metric: str
    unit: Literal["rate", "number"]
    """rate where every score of both sides lies between 0 and 1."""
    n_pairs: Count
    n_scored: Count
    baseline: float | None
    candidate: float | None
    difference: DifferenceFields | None
    bounds: DifferenceBounds | None
    p_adjusted: Rate | None
    verdict: Literal["better", "worse", "equivalent", "inconclusive"]
    reason: str | None
    notes: list[str]


class RepeatVariance(TypedDict):
    """How the variance divides between and within questions."""

    between: float
    within: float
    repeats: float


class FlipAnswer(TypedDict):
    """One side's answer to a flipped question."""

    score: float
    response: str | None
    extracted: str | None
    outcome: str


class FlipExample(TypedDict):
    """A question whose answer changed between right and wrong."""

    sample_id: str
    category: str | None
    prompt: object
    expected: object
    baseline: FlipAnswer
    candidate: FlipAnswer


class FlipCounts(TypedDict):
    """Questions lost and won."""

    n_lost: Count
    n_won: Count


class FlipExamples(FlipCounts):
    """Flipped questions, the first of them in full."""

    shown_max: Count
    shown: list[FlipExample]


class EvidenceFields(TypedDict):
    """What a comparison rests on."""

    pairs: PairCounts
    differs: list[RunDifference]
    unchecked: list[str]
    fields_differ: list[FieldPair]
    n_prompts_differ: Count
    models: Annotated[list[dict[str, Count]], Field(min_length=2, max_length=2)]
    causes: Annotated[list[dict[str, Count]], Field(min_length=2, max_length=2)]
    moved: MovedMeans
    slices: list[PairedMeasure]
    cautions: list[str]


class ComparedBenchmark(EvidenceFields):
    """One benchmark on both sides."""

    benchmark: str
    candidate_benchmark: str
    headline: PairedMeasure
    metrics: list[PairedMeasure]
    repeats: Annotated[list[RepeatVariance | None], Field(min_length=2, max_length=2)]
    flips: FlipExamples


class ComparedAggregate(TypedDict):
    """A mean over several benchmarks on both sides."""

    aggregate: str
    is_part: bool
    """Whether another mean has all its benchmarks and more."""
    weights: dict[str, float]
    missing: dict[str, str]
    """Members without a value on a side, and why: each is open from 0 to 1 in the bounds."""
    headline: PairedMeasure


class ComparedCandidate(SideFields):
    """One candidate against the baseline."""

    only_baseline: list[str]
    """Benchmarks and means."""
    only_candidate: list[str]
    settings_differ: list[FieldPair]
    benchmarks: Annotated[list[ComparedBenchmark], Field(min_length=1)]
    aggregates: list[ComparedAggregate]


class ComparisonFile(TypedDict):
    """A comparison: what nel compare --json prints."""

    format: Literal[1]
    sdk: str
    baseline: SideFields
    settings: ComparisonSettings
    candidates: Annotated[list[ComparedCandidate], Field(min_length=1)]


class CheckFields(TypedDict):
    """One limit of a policy and whether it holds."""

    kind: Literal["drop", "relative_drop", "floor"]
    limit: float
    status: Literal["pass", "breach", "inconclusive"]
    reason: str | None
    lower: float | None
    upper: float | None
    level: Rate | None
    method: str | None
    breach_level: Rate | None


class DecidedBenchmark(TypedDict):
    """One benchmark of a decision, or one mean over several."""

    benchmark: str
    metric: str
    tier: Literal["critical", "supporting", "advisory"]
    direction: Literal["higher_is_better", "lower_is_better"]
    why_this_tier: str | None
    status: Literal["pass", "breach", "inconclusive", "missing"]
    reasons: list[str]
    unit: Unit
    """Of the value, and of the scores of the measure."""
    value: float | None
    checks: list[CheckFields]
    evidence: EvidenceWithFlips | None
    measure: PairedMeasure | None


class DecisionFile(TypedDict):
    """decision.json: what nel gate decided."""

    format: Literal[1]
    sdk: str
    decision: Literal["GO", "NO-GO", "INCONCLUSIVE"]
    exit_code: Literal[0, 4, 5]
    reasons: Annotated[list[str], Field(min_length=1)]
    level: Rate
    despite: list[str]
    baseline: SideFields | None
    candidate: SideFields
    policy: dict[str, object] | None
    benchmarks: list[DecidedBenchmark]


class RankFields(TypedDict):
    """The rank of a run and its interval."""

    run: Count
    """Its place in runs."""
    score: float | None
    rank: Positive | None
    """By the score; null without one."""
    rank_lower: Positive
    rank_upper: Positive


class StandingPair(TypedDict):
    """Two runs in one benchmark."""

    left: Count
    right: Count
    difference: float | None
    """Left minus right, over pairs that both have scored."""
    n: Count
    p_left_better: Rate
    """One-sided, adjusted over the whole table."""
    p_right_better: Rate
    reason: str
    """Why the order cannot be told, or what it has to hold against."""


class StandingBenchmark(TypedDict):
    """The ranks in one benchmark."""

    name: str
    unit: Literal["rate", "number"]
    """Of the scores."""
    ranks: list[RankFields]
    pairs: list[StandingPair]


class StandingsFile(TypedDict):
    """nel leaderboard --json: runs ranked by the scores of their rules, with intervals of ranks."""

    sdk: str
    level: Rate
    method: str
    n_tests: Count
    """One-sided tests that Holm's adjustment covers."""
    despite: list[str]
    runs: Annotated[list[StandingRun], Field(min_length=2)]
    benchmarks: Annotated[list[StandingBenchmark], Field(min_length=1)]
    warnings: list[Text]
    """Those of the runs, each with its run and benchmark."""


class EvidenceWithFlips(EvidenceFields):
    """What a decision rests on."""

    flips: FlipCounts
