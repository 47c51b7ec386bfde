"""What a run is made of: its benchmarks, how it is driven, where programs run, what it may cost,
where it is written.

A field that can change an answer must also be named in `nel.config.identity`; else a resume would
mix two settings.
"""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from nel.config.schema.addresses import service_url, variable_name
from nel.config.schema.endpoint import (
    EndpointConfig,
    GenerationConfig,
    JudgeConfig,
    ModelConfig,
    NamedEndpointConfig,
)
from nel.config.schema.limiter import LimiterConfig
from nel.config.schema.shard import read_shard
from nel.config.schema.stop import StopConfig
from nel.config.schema.strict import NAMED, Flag, Strict


class BenchmarkConfig(Strict):
    """One benchmark of a run."""

    name: str
    """A registered benchmark, or a path: ``./my_bench.py``, ``./my_bench.py:name`` or
    ``./mine.yaml``.
    """
    dataset: Annotated[
        str | None,
        NAMED,
        Flag("--dataset", "Path or URI that replaces the benchmark's source.", one_benchmark=True),
    ] = None
    """Replaces the benchmark's own source."""
    sample: Annotated[
        int | None,
        Field(ge=1),
        Flag("--sample", "Only N problems, drawn at random from all of them."),
    ] = None
    """Only so many rows, drawn at random: as many of each category as it has of the benchmark. The
    interval is that of the score on the whole benchmark."""
    sample_seed: Annotated[
        int, Field(ge=0), Flag("--sample-seed", "Another seed draws another sample.")
    ] = 0
    """Another seed draws another sample."""
    max_problems: Annotated[
        int | None,
        Field(ge=1),
        Flag("--max-problems", "Only the first N problems; not a sample of all."),
    ] = None
    """Only the first so many rows, as they come: they may all be of one category, and say nothing
    of the rest.
    """
    repeats: Annotated[
        int,
        Field(ge=1, le=10_000),
        Flag("--repeats", "Answers asked for each problem.", short="-n"),
    ] = 1
    """Answers asked for each problem."""
    repeat_check: Annotated[
        int | None,
        Field(ge=1),
        Flag(
            "--repeat-check",
            "Problems asked twice, to see how often the endpoint differs from itself.",
        ),
    ] = None
    """Problems, drawn at random, that are asked a second time: how often the endpoint differs from
    itself, beside the
    score and never in it. None: no check."""
    system_prompt: Annotated[
        str | None, Flag("--system-prompt", "Replaces the benchmark's own.")
    ] = None
    """Replaces the benchmark's own."""
    prompt: Annotated[
        str | None,
        NAMED,
        Flag(
            "--prompt",
            "File with a template that replaces the benchmark's prompt.",
            one_benchmark=True,
        ),
    ] = None
    """A template in the place of the benchmark's own: the path of a text, Markdown or Jinja file,
    or the text itself. It names fields of a row, such as ``{question}``, and is part of the run's
    identity.
    """
    num_fewshot: Annotated[
        int | None,
        Field(ge=0, le=1000),
        Flag("--num-fewshot", "Solved examples before each problem."),
    ] = None
    """Solved examples before each problem; None: as many as the benchmark says."""
    fewshot_dataset: Annotated[
        str | None,
        NAMED,
        Flag("--fewshot-dataset", "Path or URI of those examples.", one_benchmark=True),
    ] = None
    """Path or URI of the examples, instead of the benchmark's own source."""
    args: dict[str, Any] = {}
    """For an adapter class: changes of its `BenchmarkMeta`, and ``limit``, so many samples of each
    subset.
    """
    response_field: Annotated[
        str | None,
        NAMED,
        Flag(
            "--response-field",
            "Score the answers in this field; no endpoint is called.",
            one_benchmark=True,
        ),
    ] = None
    """Score the answers in this field of the dataset; no endpoint is called."""
    generation: GenerationConfig = GenerationConfig()
    """Replaces the run's generation settings, field by field."""
    scorer: Annotated[
        str | None,
        Flag("--scorer", "NAME or NAME:key=value,... instead of the benchmark's own scorer."),
    ] = None
    """An installed scorer instead of the benchmark's own: ``NAME`` or
    ``NAME:key=value,key=value``.
    """
    rule: Annotated[
        str | None,
        Flag("--rule", "How answers are read: official (the authors' rule) or general (nel's)."),
    ] = None
    """``official``, the rule that the benchmark's authors published, or ``general``, that of
    docs/reference/reading.md;
    None: the one that the benchmark's page names as its default."""
    answer_form: Annotated[
        str | None,
        Flag(
            "--answer-form",
            "The form that the prompt asks for: 'tag answer', 'json answer', box, ...",
        ),
    ] = None
    """The form of answer that the prompt asks for, which is read before any other; see
    docs/reference/reading.md.
    """
    strict_form: Annotated[
        bool, Flag("--strict-form", "Read no answer in another form than the prompt asks for.")
    ] = False
    """An answer in another form than the declared one does not count."""
    reducers: Annotated[
        tuple[str, ...],
        Flag("--reducer", "Over repeats, beside the mean: pass_at_3, max, vote_at_5; repeatable."),
    ] = ()
    """Statistics over a sample's repeats beside their mean: ``pass_at_3``, ``max``, ``vote_at_5``,
    ``pass_at_k`` …
    """
    metrics: Annotated[
        tuple[str, ...],
        Flag("--metric", "NAME or NAME:key=value,... over all samples; repeatable."),
    ] = ()
    """Further metrics over all samples: ``NAME`` or ``NAME:key=value,key=value``."""
    truncated: Annotated[
        Literal["failure", "score"],
        Flag("--truncated", "failure (counts 0, the default) or score (as it stands)."),
    ] = "failure"
    """A response cut off by its token limit: a model failure that counts 0, or scored as it
    stands.
    """
    solver: Annotated[
        str | None,
        Flag("--solver", "NAME or NAME:key=value,... that answers each problem, such as react."),
    ] = None
    """What answers each problem: ``NAME`` or ``NAME:key=value,…`` of an installed solver; None: the
    benchmark's own.
    """
    limits: dict[str, float] = {}
    """Of each episode of several steps: ``steps``, ``tokens``, ``cost``, ``work_seconds``,
    ``wall_seconds``, ``tool_seconds``, ``tool_bytes``, ``equal_calls``, ``restarts``; the least of
    benchmark, sample and run holds."""
    max_steps: Annotated[
        int | None, Field(ge=1), Flag("--max-steps", "Answers of the model in one episode.")
    ] = None
    """``limits.steps`` by a flag."""
    judge: JudgeConfig | None = None
    """Replaces the run's judge, field by field."""

    @model_validator(mode="after")
    def _one_way_of_selecting(self) -> BenchmarkConfig:
        if self.sample is not None and self.max_problems is not None:
            raise ValueError(
                "sample and max_problems are both given; leave one of --sample and --max-problems"
                " away"
            )
        return self


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
    scorer_timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    """Deadline for scoring one sample; past it the sample is unscored."""
    drain_seconds: Annotated[float, Field(ge=0)] = 30.0
    """Graceful shutdown: how long requests in flight may take to finish after Ctrl-C."""
    faults_in_a_row_max: Annotated[int, Field(ge=1)] | None = None
    """Consecutive samples lost to the endpoint after which the run checkpoints and exits 75; None:
    three times the concurrency, 32 at least."""
    truncation_probe: Annotated[int, Field(ge=0)] = 20
    """How many first answers of a benchmark are checked for truncation; 0 for none."""
    truncation_rate_max: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of truncated answers among them above which the run stops; with ``truncated: score``
    none stops it.
    """
    unscored_rate_max: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of unscored samples above which a finished run exits 3."""
    preflight: bool = True
    """Ask for the list of models, and send one request alone before the others, to fail fast."""
    first_request_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.3
    """How long the others wait for it at most; then they follow in growing steps, so that a slow
    refusal costs few.
    """


class SandboxLimits(Strict):
    """Limits of a program; a change scores stored answers again."""

    cpu_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """CPU time; on a busy machine a program waits and does not time out."""
    idle_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Time in which it neither computes nor waits for a CPU."""
    compile_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """CPU time of the compiler."""
    output_bytes: Annotated[int, Field(ge=1024, le=16 << 20)] = 1 << 20
    """Standard output and error together; at least twice what a case expects, which may be 32
    MiB.
    """
    file_bytes: Annotated[int, Field(ge=1024)] = 32 << 20
    """Largest file it may write."""
    processes: Annotated[int, Field(ge=1, le=4096)] = 64
    """Processes and threads that exist at the same time."""
    memory_mb: Annotated[int, Field(ge=64)] | None = None
    """Memory of its container; None: what the language needs."""


class SandboxConfig(Strict):
    """Where programs are run; only limits, images and strictness can change a verdict."""

    workers: Annotated[
        int | None,
        Field(ge=1, le=256),
        Flag("--sandbox-workers", "Size of the container pool, for benchmarks that run code."),
    ] = None
    """Size of the container pool; None: one for each CPU of the Docker engine."""
    docker_host: str | None = None
    """The Docker engine, as in ``DOCKER_HOST``, which is used when this is not set."""
    runtime: str | None = None
    """One of the engine's runtimes, such as ``runsc``."""
    images: dict[str, str] = {}
    """Other images than those of ``nel sandbox build``, by language; each needs a ``python3``."""
    allow_unlimited: Annotated[
        bool,
        Flag(
            "--allow-unlimited-sandbox", "Use an engine that cannot limit memory, processes or CPU."
        ),
    ] = False
    """Use a Docker engine that cannot limit memory, processes or CPU; without it such an engine is
    refused.
    """
    strict_verdicts: Annotated[
        bool,
        Flag(
            "--strict-verdicts", "Leave passes unscored whose tests shared the program's process."
        ),
    ] = False
    """Leave a pass unscored whose tests shared the program's process (mode ``shared``), which a
    program that attacks its tests can forge."""
    engine_wait_seconds: Annotated[float, Field(ge=0)] = 30.0
    """Maximum time without an answer of the Docker engine before the run checkpoints and exits
    75.
    """
    limits: SandboxLimits = SandboxLimits()
    """Limits of each program."""


class Price(Strict):
    """Prices of a model's tokens, in one currency for a million of them."""

    input: Annotated[float, Field(ge=0)]
    """Prompt tokens."""
    output: Annotated[float, Field(ge=0)]
    """Completion tokens, reasoning included."""
    cached_input: Annotated[float, Field(ge=0)] | None = None
    """Prompt tokens from the vendor's cache; None: as any other."""
    cached_tokens: Literal["subset", "addition"] = "subset"
    """Whether the usage counts cached tokens among the prompt's (OpenAI) or beside them
    (Anthropic).
    """


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
    """Level of ``run.log`` in the run's directory; ``debug`` writes a line for each request and
    each outcome.
    """
    metrics_port: Annotated[
        int | None,
        Field(ge=1, le=65535),
        Flag(
            "--metrics-port", "Serve Prometheus metrics on this port of 127.0.0.1 during the run."
        ),
    ] = None
    """Serve Prometheus metrics on this port of 127.0.0.1 during the run; needs
    ``prometheus-client``.
    """
    metrics_host: str = "127.0.0.1"
    """Serve them at this address; ``0.0.0.0`` lets everything read them that reaches this machine,
    as Prometheus in a container of its own has to."""
    otlp_endpoint: str | None = None
    """Send OpenTelemetry spans to this OTLP/HTTP collector, such as ``http://127.0.0.1:4318``;
    extra ``otel``.
    """
    otlp_headers_env: str | None = None
    """The name of the variable that holds headers for it, as ``name=value,name=value``; never the
    headers.
    """
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
                f'"{host}" is no address of this machine such as 127.0.0.1 or 0.0.0.0'
            ) from error

    @field_validator("otlp_endpoint")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        return service_url(
            url,
            what="a URL of a collector",
            example="http://127.0.0.1:4318",
            secret="name the variable with headers in otlp_headers_env",  # noqa: S106 - words
        )

    @field_validator("otlp_headers_env")
    @classmethod
    def _name_not_headers(cls, name: str | None) -> str | None:
        return variable_name(name, field="otlp_headers_env", secret="the headers")  # noqa: S106 - words


class RunConfig(Strict):
    """A whole run, as ``nel eval run config.yaml`` reads it."""

    benchmarks: Annotated[
        list[BenchmarkConfig],
        Field(min_length=1),
        Flag(
            "--bench",
            "Benchmark name, path.py or lm-eval://TASK; repeatable.",
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
    """``I/N``: ask only part I of N, counted from 1; ``nel eval merge`` puts them together. None:
    everything.
    """
    limiter: LimiterConfig = LimiterConfig()
    """The service that shares limits among runs."""
    judge: JudgeConfig | None = None
    """The judges, for benchmarks that ask one."""
    model_roles: dict[str, ModelConfig] = {}
    """Further models that scorers ask by name, such as ``grader``."""
    output: OutputConfig = OutputConfig()
    """Where it is written."""
    observability: ObservabilityConfig = ObservabilityConfig()
    """How it can be watched."""

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _a_name_is_a_benchmark(cls, value: object) -> object:
        if isinstance(value, list):
            return [{"name": item} if isinstance(item, str) else item for item in value]
        return value

    @field_validator("shard")
    @classmethod
    def _readable_shard(cls, shard: str | None) -> str | None:
        return None if shard is None else str(read_shard(shard))

    @model_validator(mode="before")
    @classmethod
    def _settings_without_an_endpoint_are_the_judges(cls, data: object) -> object:
        """Lay settings of an endpoint that has neither a URL nor a model under those of each
        judge.
        """
        if not isinstance(data, dict):
            return data
        endpoint, judge = data.get("endpoint"), data.get("judge")
        if (
            not isinstance(endpoint, dict)
            or not isinstance(judge, dict)
            or endpoint.keys() & {"url", "model"}
        ):
            return data
        panel = judge.get("panel")
        if isinstance(panel, list):
            judge = {
                **judge,
                "panel": [{**endpoint, **one} if isinstance(one, dict) else one for one in panel],
            }
        else:
            judge = {**endpoint, **judge}
        return {**data, "endpoint": None, "judge": judge}

    @model_validator(mode="before")
    @classmethod
    def _settings_beside_endpoints_are_theirs(cls, data: object) -> object:
        """Lay settings of an endpoint that has neither a URL nor a model under those of each of
        several endpoints.
        """
        if not isinstance(data, dict) or not data.get("endpoints"):
            return data
        endpoint, endpoints = data.get("endpoint"), data["endpoints"]
        if not isinstance(endpoint, dict) or not isinstance(endpoints, list):
            return data
        if named := [key for key in ("url", "model") if endpoint.get(key) is not None]:
            raise ValueError(
                f"endpoint.{named[0]} and endpoints are both given; name each endpoint in endpoints"
            )
        shared = {key: value for key, value in endpoint.items() if value is not None}
        laid = [{**shared, **one} if isinstance(one, dict) else one for one in endpoints]
        return {
            **data,
            "endpoints": laid,
            "endpoint": endpoint if isinstance(data.get("judge"), dict) else None,
        }

    @model_validator(mode="after")
    def _names_of_endpoints_differ(self) -> RunConfig:
        labels = [one.label for one in self.endpoints]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise ValueError(f'two of the endpoints are called "{twice[0]}"; give each a name')
        if self.endpoints and self.endpoint is not None:
            raise ValueError(
                "endpoint and endpoints are both given; name each endpoint in endpoints"
            )
        if self.endpoints and self.observability.metrics_port is not None:
            raise ValueError(
                "observability.metrics_port serves one run and there are several; leave it away"
            )
        if self.endpoints and self.shard is not None:
            raise ValueError(
                "a shard is of one run and there are several endpoints; start shards of each by"
                " itself"
            )
        return self

    def judge_of(self, benchmark: BenchmarkConfig) -> JudgeConfig | None:
        """Return the run's judge with the benchmark's own settings laid over it, None where there
        is neither.
        """
        if self.judge is None or benchmark.judge is None:
            return benchmark.judge or self.judge
        fields = JudgeConfig.model_fields
        own = {name: value for name, value in benchmark.judge if value != fields[name].default}
        return JudgeConfig.model_validate({**dict(self.judge), **own})

    def generation_of(self, benchmark: BenchmarkConfig) -> GenerationConfig:
        """Return the run's generation settings with the benchmark's own laid over them."""
        return GenerationConfig.model_validate(
            {
                **self.generation.model_dump(),
                **benchmark.generation.model_dump(exclude_defaults=True),
            }
        )
