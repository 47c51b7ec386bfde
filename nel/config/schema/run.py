"""What a run is made of: its benchmarks, how it is driven, what it may cost, where it is written.

A field that can change an answer must also be named in `nel.config.identity`; else a resume would
mix two settings.
"""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Final, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    ValidationError,
    field_validator,
    model_validator,
)

from nel.config.schema.benchmark import BenchmarkConfig
from nel.config.schema.endpoint import EndpointConfig, ModelConfig, NamedEndpointConfig
from nel.config.schema.generation import GenerationConfig
from nel.config.schema.judge import JudgeConfig
from nel.config.schema.limiter import LimiterConfig
from nel.config.schema.sandbox import SandboxConfig
from nel.config.schema.shard import read_shard
from nel.config.schema.stop import StopConfig
from nel.config.schema.strict import NAMED, Flag, Strict, entries_by_name
from nel.core.json_values import present
from nel.core.texts import one_spelling

CATEGORY: Final = "#"
"""Stands between the name of a benchmark and of a category of it."""


def split_category(name: str) -> tuple[str, str]:
    """Return the benchmark that a member of a mean is of, and the category; empty for the whole.

    >>> split_category("mmlu#astronomy"), split_category("gsm8k")
    (('mmlu', 'astronomy'), ('gsm8k', ''))
    """
    benchmark, _, category = name.partition(CATEGORY)
    return benchmark, one_spelling(category)


class EngineConfig(Strict):
    """How the run is driven; nothing here can change an answer."""

    concurrency: Annotated[
        int,
        Field(ge=1, le=4096),
        Flag("--concurrency", "Maximum requests in flight.", has_variable=True),
    ] = 32
    """Maximum requests in flight."""
    episodes: Annotated[
        int,
        Field(ge=1, le=4096),
        Flag("--episodes", "Maximum episodes of several steps at once."),
    ] = 8
    """Maximum episodes of several steps at once; their requests count for the concurrency."""
    executor: Annotated[
        str,
        Field(min_length=1),
        Flag("--executor", "Where scores are computed: local, or NAME:key=value,..."),
    ] = "local"
    """Where answers are scored and programs are run: ``NAME``, ``NAME:key=value,…`` or ``NAME://…``
    of an installed executor (``nel list executors``). A run may be resumed with another one."""
    scorer_timeout_seconds: PositiveFloat = 60.0
    """Deadline for scoring one sample; past it the sample is unscored."""
    drain_seconds: NonNegativeFloat = 30.0
    """Graceful shutdown: how long requests in flight may take to finish after Ctrl-C."""
    faults_in_a_row_max: Annotated[int, Field(ge=1)] | None = None
    """Consecutive samples lost to the endpoint after which the run checkpoints and exits 75. None:
    three times the concurrency, at least 32."""
    truncation_probe: NonNegativeInt = 20
    """How many first answers of a benchmark are checked for truncation; 0 for none."""
    truncation_rate_max: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of truncated answers among them that stops the run, unless ``truncated`` is score."""
    unscored_rate_max: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of unscored samples above which a finished run exits 3."""
    preflight: bool = True
    """Ask for the list of models, and send one request alone before the others, to fail fast."""
    first_request_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.3
    """How long the others wait for it; then they follow in growing steps, so few are refused."""


class Price(Strict):
    """Prices of a model's tokens, in one currency for a million of them."""

    input: NonNegativeFloat
    """Prompt tokens."""
    output: NonNegativeFloat
    """Completion tokens, reasoning included."""
    cached_input: NonNegativeFloat | None = None
    """Prompt tokens from the vendor's cache; None: as any other."""


class BudgetConfig(Strict):
    """Hard caps over the whole run, its resumes included; reserved before a request is sent."""

    max_cost: Annotated[
        float | None,
        Field(gt=0),
        Flag("--max-cost", "Hard cap; needs budget.prices and --max-tokens."),
    ] = None
    """In the currency of the prices; needs a price for the model and max_tokens."""
    max_tokens_total: Annotated[
        int | None,
        Field(gt=0),
        Flag("--max-tokens-total", "Hard cap over the run; needs --max-tokens."),
    ] = None
    """Prompts and answers together; needs max_tokens."""
    max_requests: Annotated[
        int | None, Field(gt=0), Flag("--max-requests", "Hard cap over the run, retries included.")
    ] = None
    """HTTP requests, retries included."""
    prices: dict[str, Price] = {}
    """By the model's name."""


class CacheConfig(Strict):
    """A response cache shared by runs."""

    dir: Annotated[
        str | None, NAMED, Flag("--cache", "Directory of the response cache, shared by runs.")
    ] = None
    """Directory of the cache; None: no cache. Errors and truncated answers are not cached."""


class OutputConfig(Strict):
    """Where a run is written."""

    dir: Annotated[
        str,
        NAMED,
        Flag("--output-dir", "Where runs are written.", short="-o", has_variable=True),
    ] = "eval_results"
    """Each run gets a directory of its own in it. A URL such as ``s3://bucket/runs`` (extra
    ``remote``): the run works in the user's cache, and snapshots of it are uploaded."""
    upload_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Between two uploads of a run to a URL, at least; its end is always uploaded."""
    run_id: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$"),
        Flag("--run-id", "Name of the run's directory."),
    ] = None
    """Name of that directory; when not set: time, benchmark and a random suffix."""
    reports: tuple[str, ...] = ()
    """Further reports beside report.html, by the names of their writers (``nel list reports``)."""
    share_permissions: Annotated[
        bool,
        Flag("--share-permissions", "Let everyone on this machine read the run (0644 and 0755)."),
    ] = False
    """Let everyone on this machine read the run: files 0644 and directories 0755 instead of 0600
    and 0700. Applied at the end of each session and by ``nel report``; until then the files of a
    run are the user's own."""


class ObservabilityConfig(Strict):
    """How a run in progress can be watched; nothing here can change an answer or a score."""

    log_level: Literal["debug", "info", "warning"] = "info"
    """Level of the run's ``run.log``; ``debug`` writes a line for each request and outcome."""
    metrics_port: Annotated[
        int | None,
        Field(ge=1, le=65535),
        Flag(
            "--metrics-port", "Serve Prometheus metrics on this port of 127.0.0.1 during the run."
        ),
    ] = None
    """Serve Prometheus metrics on this port during the run; needs ``prometheus-client``."""
    metrics_host: str = "127.0.0.1"
    """Serve them at this address; ``0.0.0.0`` lets everything read them that reaches this machine,
    as Prometheus in a container of its own has to."""
    observers: Annotated[
        tuple[str, ...],
        Flag(
            "--observer",
            "NAME or NAME:key=value,... of a plugin that sees the run's events; repeatable.",
        ),
    ] = ()
    """Installed observers that see the run's events: ``NAME`` or ``NAME:key=value,key=value``."""

    @field_validator("metrics_host")
    @classmethod
    def _an_address(cls, host: str) -> str:
        try:
            return str(IPv4Address(host))
        except ValueError as error:
            raise ValueError(
                f'"{host}" is not an address of this machine such as 127.0.0.1 or 0.0.0.0'
            ) from error


class AggregateConfig(Strict):
    """A mean of one metric over several benchmarks of the run, such as a suite or a group of
    lm-evaluation-harness.
    """

    name: str
    """What its row is called."""
    metric: str = ""
    """As metrics.json of the benchmarks names it; empty: the headline of each."""
    benchmarks: Annotated[list[str], Field(min_length=1)]
    """Their names in `benchmarks`, ``NAME#CATEGORY`` for one category, or names of other means."""
    weights: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] = []
    """Of each of them, in their order; empty: as `weight_by_size` says."""
    weight_by_size: bool = True
    """Each weighs as many questions as it has; otherwise all weigh the same."""
    missing: dict[str, str] = {}
    """Those of them that are not run, and why: each counts from 0 to 1 in the bounds."""

    @model_validator(mode="after")
    def _weights_are_of_benchmarks(self) -> AggregateConfig:
        if self.weights and len(self.weights) != len(self.benchmarks):
            raise ValueError(
                f'aggregate "{self.name}" has {len(self.weights)} weights for'
                f" {len(self.benchmarks)} benchmarks"
            )
        return self


def _with_defaults(settings: dict[str, object], entries: list[object]) -> list[object]:
    return [{**settings, **entry} if isinstance(entry, dict) else entry for entry in entries]


class RunConfig(Strict):
    """A whole run, as ``nel eval run config.yaml`` reads it."""

    benchmarks: Annotated[
        list[BenchmarkConfig],
        Field(min_length=1),
        Flag(
            "--bench",
            "Benchmark name, path.py, suite:NAME or lm-eval://TASK; repeatable.",
            short="-b",
            item_key="name",
        ),
    ]
    """Names, or entries as below."""
    endpoint: EndpointConfig | None = None
    """May be left out when every benchmark scores recorded responses."""
    endpoints: list[NamedEndpointConfig] = []
    """Several in the place of `endpoint`, whose keys other than ``url`` and ``model`` hold for
    each: a run for each, all at once, under one budget."""
    generation: GenerationConfig = GenerationConfig()
    """Sampling settings of every benchmark."""
    engine: EngineConfig = EngineConfig()
    """How the run is driven."""
    sandbox: SandboxConfig = SandboxConfig()
    """Where programs are run, for benchmarks that ask for code."""
    budget: BudgetConfig = BudgetConfig()
    """What it may cost."""
    cache: CacheConfig = CacheConfig()
    """The response cache."""
    stop: StopConfig = StopConfig()
    """When a benchmark may end before its last question."""
    shard: Annotated[
        str | None,
        Flag(
            "--shard",
            "Ask only part I of N, as I/N from 1/N to N/N; nel eval merge puts them together.",
        ),
    ] = None
    """``I/N``: ask only part I of N, counted from 1; ``nel eval merge`` puts them together."""
    limiter: LimiterConfig = LimiterConfig()
    """The service that shares limits among runs."""
    judge: JudgeConfig | None = None
    """The judges, for benchmarks that ask one."""
    model_roles: dict[str, ModelConfig] = {}
    """Further models that scorers ask by name, such as ``grader``."""
    aggregates: list[AggregateConfig] = []
    """Means over several of the benchmarks; an address of a group brings its own."""
    output: OutputConfig = OutputConfig()
    """Where it is written."""
    observability: ObservabilityConfig = ObservabilityConfig()
    """How it can be watched."""

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _a_name_is_a_benchmark(cls, value: object) -> object:
        return entries_by_name(value) if isinstance(value, list) else value

    @field_validator("benchmarks")
    @classmethod
    def _a_prompt_is_an_entry(cls, value: list[BenchmarkConfig]) -> list[BenchmarkConfig]:
        return [prompt_entry for entry in value for prompt_entry in entry.for_each_prompt()]

    @model_validator(mode="after")
    def _aggregates_name_benchmarks(self) -> RunConfig:
        names = [entry.name for entry in self.benchmarks]
        # Means by name, and whether a member of theirs is missing. From the last one up: a mean may
        # be over others that stand after it and never over one before it: there cannot be a circle.
        means: dict[str, bool] = {}
        for aggregate in reversed(self.aggregates):
            title = f'aggregate "{aggregate.name}"'
            for name in aggregate.benchmarks:
                benchmark_name = name if name in names else split_category(name)[0]
                if name not in {**means, **aggregate.missing} and names.count(benchmark_name) != 1:
                    fault = "several of the benchmarks are" if name in names else "none of them is"
                    raise ValueError(
                        f'{title}: {fault} called "{name}"; there are {", ".join(names)}'
                    )
            is_open = bool(aggregate.missing) or any(map(means.get, aggregate.benchmarks))
            if is_open and aggregate.weight_by_size and not aggregate.weights:
                raise ValueError(f"{title}: what is missing has no size; give weights")
            means[aggregate.name] = is_open
        return self

    @model_validator(mode="after")
    def _settings_of_entries_fit_the_runs(self) -> RunConfig:
        for number, entry in enumerate(self.benchmarks):
            try:
                self.judge_of(entry)
                self.generation_of(entry)
            except ValidationError as error:
                message = error.errors()[0]["msg"].removeprefix("Value error, ")
                raise ValueError(
                    f"benchmarks.{number}, with what the run sets for all: {message}"
                ) from error
        return self

    @field_validator("shard")
    @classmethod
    def _readable_shard(cls, shard: str | None) -> str | None:
        return None if shard is None else str(read_shard(shard))

    @model_validator(mode="before")
    @classmethod
    def _settings_without_an_endpoint_are_the_judges(cls, data: object) -> object:
        """Lay settings of an endpoint without URL and model under those of each judge."""
        if not isinstance(data, dict):
            return data
        endpoint, judge = data.get("endpoint"), data.get("judge")
        if (
            not isinstance(endpoint, dict)
            or not isinstance(judge, dict)
            or endpoint.keys() & {"url", "model"}
        ):
            return data
        if isinstance(panel := judge.get("panel"), list):
            judge = {**judge, "panel": _with_defaults(endpoint, panel)}
        else:
            judge = {**endpoint, **judge}
        return {**data, "endpoint": None, "judge": judge}

    @model_validator(mode="before")
    @classmethod
    def _settings_beside_endpoints_are_theirs(cls, data: object) -> object:
        """Lay settings of an endpoint without URL and model under those of each endpoint."""
        if not isinstance(data, dict) or not data.get("endpoints"):
            return data
        endpoint, endpoints = data.get("endpoint"), data["endpoints"]
        if not isinstance(endpoint, dict) or not isinstance(endpoints, list):
            return data
        for key in ("url", "model"):
            if endpoint.get(key) is not None:
                raise ValueError(
                    f"endpoint.{key} and endpoints are both given; name each endpoint in endpoints"
                )
        shared = present(endpoint)
        return {
            **data,
            "endpoints": _with_defaults(shared, endpoints),
            "endpoint": endpoint if isinstance(data.get("judge"), dict) else None,
        }

    @model_validator(mode="after")
    def _names_of_endpoints_differ(self) -> RunConfig:
        labels = [member.label for member in self.endpoints]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise ValueError(f'two of the endpoints are called "{twice[0]}"; give each a name')
        if self.endpoints and self.endpoint is not None:
            raise ValueError(
                "endpoint and endpoints are both given; name each endpoint in endpoints"
            )
        if self.endpoints and self.observability.metrics_port is not None:
            raise ValueError(
                "observability.metrics_port serves one run and there are several; leave it out"
            )
        if self.endpoints and self.shard is not None:
            raise ValueError(
                "a shard is of one run and there are several endpoints; start shards of each by"
                " itself"
            )
        return self

    def judge_of(self, benchmark: BenchmarkConfig) -> JudgeConfig | None:
        """Return the run's judge with the benchmark's settings laid over it, or None."""
        if self.judge is None or benchmark.judge is None:
            return benchmark.judge or self.judge
        names = benchmark.judge.model_fields_set
        changes = {name: value for name, value in benchmark.judge if name in names}
        return JudgeConfig.model_validate({**dict(self.judge), **changes})

    def generation_of(self, benchmark: BenchmarkConfig) -> GenerationConfig:
        """Return the run's generation settings with the benchmark's own laid over them."""
        return GenerationConfig.model_validate(
            {
                **self.generation.model_dump(),
                **benchmark.generation.model_dump(exclude_defaults=True),
                "extra": {**self.generation.extra, **benchmark.generation.extra},
            }
        )
