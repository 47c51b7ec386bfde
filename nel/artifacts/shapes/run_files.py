"""Shapes of eval-<benchmark>.json, failure_analysis.json and runtime_stats.json."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from nel.artifacts.results import LineTokens, RunTiming
from nel.artifacts.shapes.rules import HAS_HEADLINE
from nel.core.strict_json import Amount, Count, Positive, Rate, Text
from nel.metrics.accumulator import AccountingJson, EndsJson


class BenchmarkHead(TypedDict):
    """The run and benchmark that a file is of."""

    run_id: Text
    benchmark: Text


class RunHead(BenchmarkHead):
    """The model and the dates of a run too."""

    model: str | None
    """As the run asked for it; None for recorded answers that do not say it."""
    timing: RunTiming
    """When the run's first session began and its last one ended; null where that is not known."""


class StateCounts(TypedDict):
    """Planned (sample, repeat) pairs by the state of their outcome."""

    n_total: Count
    n_scored: Count
    n_model_failure: Count
    n_unscored: Count


class AnsweredRequests(TypedDict):
    """Requests that were answered, and what that took."""

    completed: Count
    attempts: Count
    retries: Count
    cached: Count


class RequestCounts(AnsweredRequests):
    """Requests by how they ended."""

    failed: Count


class Percentiles(TypedDict):
    """A distribution in seconds."""

    p50: Amount | None
    p90: Amount | None
    p99: Amount | None
    max: Amount | None
    mean: Amount | None


class TokenCounts(LineTokens):
    """Tokens, and how many responses reported them."""

    reported: Count


class Throughput(TypedDict):
    """Samples and tokens per second."""

    samples_per_second: Amount | None
    completion_tokens_per_second: Amount | None


class JudgeCost(TypedDict):
    """Cost of a judge's requests."""

    total: Amount | None
    unknown: Count | None


class RunCost(JudgeCost):
    """Cost of the evaluated model's requests."""

    per_correct: Amount | None


class Spent(TypedDict):
    """What the whole run has spent."""

    requests: Count
    tokens: Count
    cost: Amount | None


@with_config(ConfigDict(extra="allow"))
class ExecutorUse(TypedDict):
    """Where scores were computed; an executor adds fields of its own."""

    name: str


class LimiterUse(TypedDict):
    """A service that shared the limits of an endpoint."""

    url: str
    endpoint: str
    times_lost: Count
    seconds_alone: Amount
    """For so long the run went on with its part of each limit."""
    parts: Positive
    """Into so many parts each limit was divided then."""


class SandboxEngine(TypedDict):
    """A Docker engine and what it can enforce."""

    version: str
    cgroup: str
    runtimes: list[str]
    cpus: Count
    memory_bytes: Count
    operating_system: str
    lacks: list[str]
    """Limits that the engine cannot enforce, accepted by sandbox.allow_unlimited."""
    images: dict[str, str]
    """By language, tag and digest."""


class SandboxUse(TypedDict):
    """Where programs ran, and their limits."""

    engine: SandboxEngine
    limits: dict[str, float | None]


class JudgeRequests(TypedDict):
    """What the requests of one judge took."""

    model: str | None
    requests: AnsweredRequests
    """Of those that failed nothing is stored; `judging.judges` counts them as faults of cases."""
    tokens: TokenCounts
    latency_seconds: Percentiles
    cost: JudgeCost
    finish_reasons: dict[str, Count]
    models: dict[str, Count]


class ServedBuild(TypedDict):
    """One model build that the endpoint reported."""

    model: str | None
    system_fingerprint: str | None
    n: Count
    first_problem_idx: Count
    last_problem_idx: Count


class EpisodeCounts(TypedDict):
    """What the episodes of a benchmark came to, together."""

    n: Count
    steps: Count
    tool_calls: Count
    tool_errors: dict[str, Count]
    """Calls that failed, by why."""
    ended_by: dict[str, Count]
    """Episodes, by what ended them."""


class RuntimeStatsFile(RunHead):
    """runtime_stats.json: latency, tokens, retries and throughput; all of it is volatile."""

    sessions: Count
    elapsed_seconds: Amount | None
    n_answered: Count
    """Samples and repeats that were answered, each by one request or several."""
    requests: RequestCounts
    latency_seconds: Percentiles
    first_token_seconds: Percentiles
    tokens: TokenCounts
    throughput: Throughput
    finish_reasons: dict[str, Count]
    models: dict[str, Count]
    episodes: EpisodeCounts | None
    """None where one request answers a sample."""
    inter_token_seconds: Percentiles
    cost: RunCost
    run: Spent
    executors: list[ExecutorUse]
    """Where scores were computed and programs ran, each place once; empty before any session."""
    limiters: list[LimiterUse]
    """Services that shared the limits of an endpoint among runs, an entry for each session and
    endpoint that differs; empty where the limits were of this run alone.
    """
    sandboxes: list[SandboxUse]
    """Docker engines and images that programs ran in, with their limits; empty where none ran."""
    judges: dict[str, JudgeRequests]
    """By judge, what its requests took; nothing of it is in the numbers beside."""
    served: Annotated[list[ServedBuild], Field(max_length=16)]
    n_beyond_stop: Count
    """Answers in flight when a stop rule ended the benchmark; in run.db, but counted nowhere."""


class FailureShare(TypedDict):
    """Failures of one category."""

    count: Count
    rate: Rate


class FailureKindShare(FailureShare):
    """Failures of one finer kind."""

    category: Text
    hint: Text


class FailedResult(TypedDict):
    """Which result failed."""

    problem_idx: Count
    repeat: Count
    sample_id: str


class FailureExemplar(FailedResult):
    """One failure to look at."""

    category: Text
    kind: NotRequired[Text]
    response_preview: Annotated[str, Field(max_length=500)] | None
    expected_answer: object
    extracted_answer: str | None
    detail: str


class ClusterExemplar(FailedResult):
    """One failure of a cluster."""

    response_preview: Annotated[str, Field(max_length=200)]
    detail: Annotated[str, Field(max_length=200)]


class FailureCluster(TypedDict):
    """Failures that look alike."""

    kind: Text
    signature: Annotated[str, Field(max_length=160)]
    count: Annotated[int, Field(ge=2)]
    rate: Rate
    exemplars: Annotated[list[ClusterExemplar], Field(min_length=1, max_length=3)]


class FailureAnalysisFile(RunHead):
    """failure_analysis.json: what went wrong, by category."""

    total: Count
    total_failures: Count
    failure_rate: Rate
    accounting: AccountingJson
    categories: dict[str, FailureShare]
    kinds: dict[str, FailureKindShare]
    """The same failures by their finer kind."""
    exemplars: list[FailureExemplar]
    clusters: Annotated[list[FailureCluster], Field(max_length=20)]
    """Failures of one kind and one signature, the largest first."""
    n_unclustered: Count
    """Failures in none of these clusters."""


class ShardFields(TypedDict):
    """Which part of a run a shard is."""

    number: Positive
    """From 1."""
    of: Positive
    n_questions: Count
    """Of the whole benchmark."""
    n_questions_asked: Count
    """By this shard."""
    complete: bool
    """Whether all of this part was run, and judged."""


class FewshotFields(TypedDict):
    """Examples before each question."""

    n: Positive
    sampler: Literal["first", "fixed", "seeded"] | None
    """None for an imported run, as the source."""
    seed: int | None
    source: str | None


class DatasetFields(TypedDict):
    """The dataset as it was read."""

    uri: str | None
    revision: str | None
    sha256: str | None
    rows: Count | None


class ScorerFields(TypedDict):
    """The scorer and the rule by which it reads answers."""

    name: str | None
    sha256: str | None
    rule: Literal["general", "official"] | None
    reading: dict[str, Positive]


class BundleConfig(TypedDict):
    """What was run."""

    benchmark: Text
    model: str | None
    base_url: str | None
    protocol: Literal["chat", "completions"] | None
    repeats: Positive
    max_problems: Positive | None
    generation: dict[str, object]
    system_prompt: str | None
    prompt: NotRequired[str | None]
    """The template that the run put in the place of the benchmark's own."""
    fewshot: NotRequired[FewshotFields | None]
    dataset: DatasetFields
    scorer: ScorerFields


class BundleScore(EndsJson):
    """A score with its interval."""

    value: float | None
    n: Count


class BundleCategory(EndsJson):
    """The score of one category."""

    mean_reward: float | None
    n: Count


class BundleBenchmark(TypedDict):
    """The scores of a benchmark."""

    name: Text
    samples: Count
    repeats: Positive
    scores: Annotated[dict[str, BundleScore], HAS_HEADLINE]
    categories: dict[str, BundleCategory]
    accounting: AccountingJson


class BundleFile(TypedDict):
    """eval-<benchmark>.json: the bundle."""

    run_id: Text
    sdk: Text
    complete: bool
    shard: NotRequired[ShardFields]
    """Which part of a run this is; only in a shard, which decides nothing by itself."""
    config: BundleConfig
    identity: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
    identity_fields: NotRequired[dict[str, object]]
    benchmark: BundleBenchmark
    n_results: Count
