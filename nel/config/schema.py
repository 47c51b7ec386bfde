"""The run's configuration as pydantic models: every default is written here and nowhere else.

Unknown keys are errors with a suggestion. Trap: a field that can change a model's answer must also be named in
`nel.config.identity`, or a resume would mix two settings without a word.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from nel.config.keys import check_keys

_RESERVED = {
    "model": "that is endpoint.model",
    "messages": "the benchmark makes the prompt",
    "prompt": "the benchmark makes the prompt",
    "n": "use repeats",
    "stream": "that is endpoint.stream",
    **dict.fromkeys(("temperature", "top_p", "max_tokens", "stop", "seed"), "it has a key of its own in generation"),
}
_PATHS = {"/chat/completions": "chat", "/completions": "completions"}
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"})


class Strict(BaseModel):
    """A model that refuses unknown keys, says which one was meant, and takes no yes for a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            check_keys(data, cls.model_fields)
        return data


class GenerationConfig(Strict):
    """Sampling settings; what is not set is not sent."""

    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    """Sent when set, as are the following."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    """Nucleus sampling."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Limit of the answer, reasoning included at most endpoints."""
    stop: list[str] | None = None
    """Up to four strings at most endpoints."""
    seed: int | None = None
    """Base seed; repeat k sends ``seed + k``."""
    extra: dict[str, Any] = {}
    """Further body fields, sent as they are."""

    @field_validator("extra")
    @classmethod
    def _no_reserved_fields(cls, extra: dict[str, Any]) -> dict[str, Any]:
        for key in extra:
            if key in _RESERVED:
                raise ValueError(f'extra may not set "{key}"; {_RESERVED[key]}')
        return extra

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class EndpointConfig(Strict):
    """The endpoint of the model under evaluation."""

    url: str
    """Base URL or full path: ``…/v1``, ``…/v1/chat/completions`` or ``…/v1/completions``."""
    model: str
    """The model's name at the endpoint."""
    api_key_env: str | None = None
    """The name of the environment variable that holds the key; never the key."""
    protocol: Literal["chat", "completions"] = "chat"
    """Taken from the URL where that is a full path."""
    send_sample_id: bool = False
    """Send ``X-Nel-Sample-Id`` and ``X-Nel-Repeat``, for replay endpoints."""
    stream: bool = False
    """Take answers as they are made, and measure the time to the first token."""
    headers: dict[str, str] = {}
    """Sent with every request; no secrets."""
    headers_env: dict[str, str] = {}
    """Header to the name of the environment variable that holds its value."""
    proxy: str | None = None
    """Instead of the one that ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` name."""
    ca_bundle: str | None = None
    """PEM file of the certificates to trust instead of the system's."""
    client_certificate: str | None = None
    """PEM file of the certificate to show, its key included or in `client_key`."""
    client_key: str | None = None
    """PEM file of that certificate's key."""
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10.0
    """For one connection to be made."""
    first_byte_timeout_seconds: Annotated[float, Field(gt=0)] = 600.0
    """From sending to the head of the answer, which most endpoints send when all of it is made."""
    idle_timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    """Longest silence in the middle of an answer; comments in a stream are silence."""
    total_timeout_seconds: Annotated[float, Field(gt=0)] = 600.0
    """One attempt, from its first to its last byte."""
    attempts_max: Annotated[int, Field(ge=1, le=100)] = 6
    """HTTP attempts for one request, the first included; those made while the endpoint is down do not count."""
    retry_seconds_max: Annotated[float, Field(gt=0)] = 1800.0
    """All attempts for one request and the waits between them; what an outage takes does not count."""
    retry_budget: Annotated[float, Field(ge=0, le=10)] = 0.1
    """Retries for each request over all of the endpoint's traffic, beside a few a second; more of them wait."""
    backoff_seconds: Annotated[float, Field(gt=0)] = 0.5
    """Base of the exponential back-off with full jitter."""
    backoff_seconds_max: Annotated[float, Field(gt=0)] = 30.0
    """Longest wait between two attempts when the server asks for none."""
    retry_after_seconds_max: Annotated[float, Field(gt=0)] = 120.0
    """Longest wait that a server's Retry-After can ask for."""
    response_bytes_max: Annotated[int, Field(ge=1024)] = 32 * 1024 * 1024
    """Largest body that is read, after decompression."""
    adaptive: bool = True
    """Ask less when the endpoint refuses, and more again when it does not."""
    concurrency_min: Annotated[int, Field(ge=1, le=4096)] = 1
    """Requests in flight that refusals never go below."""
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    """Never more, whatever the endpoint says."""
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = None
    """Never more, prompts and answers together; estimated before sending and corrected after."""
    outage_seconds_max: Annotated[float, Field(ge=0)] = 1800.0
    """How long an endpoint that answers nobody is waited for before the run stops resumably."""
    outage_probe_seconds: Annotated[float, Field(gt=0)] = 5.0
    """Longest time between two probes of an endpoint that is down."""

    @model_validator(mode="before")
    @classmethod
    def _protocol_from_url(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("url"), str):
            return data
        url = data["url"].strip().rstrip("/")
        for suffix, protocol in _PATHS.items():
            if url.endswith(suffix):
                given = data.get("protocol")
                if given not in (None, protocol):
                    raise ValueError(f'protocol "{given}" contradicts the URL, which ends in {suffix}')
                return {**data, "url": url.removesuffix(suffix), "protocol": protocol}
        return {**data, "url": url}

    @field_validator("url")
    @classmethod
    def _well_formed_url(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            port_ok = parts.port is None or parts.port > 0
        except ValueError as error:
            raise ValueError(f"{url!r} is not a URL: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname or not port_ok:
            raise ValueError(f"{url!r} is not a URL of an endpoint; give one like http://127.0.0.1:8000/v1")
        if parts.query or parts.fragment:
            raise ValueError("the URL has a query; give the base URL, and name the variable that holds the key")
        if parts.username or parts.password:
            raise ValueError(
                "the URL holds a user name or password; name the variable that holds the key with api_key_env"
            )
        return url

    @field_validator("headers")
    @classmethod
    def _no_secret_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if name.lower() in _SECRET_HEADERS:
                raise ValueError(f"headers may not hold {name}; name the variable that holds it with headers_env")
            if not _HEADER_NAME.fullmatch(name) or not value.isprintable():
                raise ValueError(f"headers: {name!r} is not a header of one line")
        return headers

    @field_validator("headers_env")
    @classmethod
    def _names_not_values(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, variable in headers.items():
            if not _ENV_NAME.fullmatch(variable) or not _HEADER_NAME.fullmatch(name):
                raise ValueError(f"headers_env: {name!r} needs the name of an environment variable, not the value")
        return headers

    @field_validator("proxy")
    @classmethod
    def _proxy_without_secret(cls, proxy: str | None) -> str | None:
        if proxy is not None and (urlsplit(proxy).username or urlsplit(proxy).scheme not in ("http", "https")):
            raise ValueError("proxy is not a plain http URL; one with a password goes into HTTPS_PROXY")
        return proxy

    @field_validator("api_key_env")
    @classmethod
    def _name_not_key(cls, name: str | None) -> str | None:
        if name is not None and not _ENV_NAME.fullmatch(name):
            raise ValueError(
                "api_key_env is not the name of an environment variable; give the name, not the key itself"
            )
        return name


class ModelConfig(EndpointConfig):
    """A model beside the one that is evaluated: a judge, or one that a scorer asks by its role.

    It takes every key of `endpoint` too.
    """

    name: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """What reports and scorers call it; the model's name when not set."""
    generation: GenerationConfig = GenerationConfig(temperature=0.0, max_tokens=4096)
    """What is given here is laid over this; ``null`` takes a setting away."""
    concurrency: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Requests in flight at once; None: as many as the run's own."""

    @property
    def label(self) -> str:
        """Return what reports and scorers call it."""
        return self.name or self.model

    @field_validator("generation", mode="before")
    @classmethod
    def _over_the_default(cls, given: Any) -> Any:
        default = cls.model_fields["generation"].default.model_dump()
        return {**default, **given} if isinstance(given, dict) else given


class JudgeConfig(Strict):
    """Who judges, and how; one judge may stand here without ``panel``, as ``url`` and ``model``."""

    panel: list[ModelConfig] = []
    """The judges; each gives its opinion of every case."""
    template: str | None = None
    """For benchmarks that leave it open: an installed judge (nel list judges), or the text of a template."""
    criteria: str | None = None
    """What is to be looked at, where the scorer says nothing."""
    aggregate: Literal["majority", "mean", "median", "min", "max"] = "majority"
    """How opinions become one grade; a tie for the majority is settled by the mean score."""
    quorum: Annotated[int, Field(ge=1)] | None = None
    """Opinions needed for a grade; None: more than half of the panel."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """How often each judge is asked the same, which measures its self-consistency."""
    swap: bool = True
    """Show a pair in both orders; a judge that changes its mind with the order calls it a tie."""
    reasks: Annotated[int, Field(ge=0, le=5)] = 1
    """How often a reply that cannot be read is asked for once more."""

    @model_validator(mode="before")
    @classmethod
    def _one_judge_is_a_panel(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            if isinstance(data, JudgeConfig):
                return data
            what = f"a {type(data).__name__} is no judge"
            raise ValueError(what + "; give {url: …, model: …}, or several as {panel: [{…}, …]}")
        if "api_key" in data:
            raise ValueError("api_key would be stored; give api_key_env, the name of the variable that holds the key")
        if isinstance(data.get("panel"), dict):
            raise ValueError("panel is one judge; make it a list, or give url and model without panel")
        member = {key: data[key] for key in data if key in ModelConfig.model_fields}
        if not member:
            return data
        if "panel" in data:
            raise ValueError(f"{', '.join(member)} and panel are both given; name each judge in panel")
        return {**{key: value for key, value in data.items() if key not in member}, "panel": [member]}

    @model_validator(mode="after")
    def _names_differ(self) -> JudgeConfig:
        labels = [member.label for member in self.panel]
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise ValueError(f'two judges are called "{min(twice)}"; give each a name')
        if self.quorum is not None and self.panel and self.quorum > len(self.panel):
            raise ValueError(f"quorum is {self.quorum} and the panel has {len(self.panel)}; give no more than that")
        return self


class BenchmarkConfig(Strict):
    """One benchmark of a run."""

    name: str
    """A registered benchmark, or a path: ``./my_bench.py`` or ``./my_bench.py:name``."""
    dataset: str | None = None
    """Replaces the benchmark's own source."""
    max_problems: Annotated[int, Field(ge=1)] | None = None
    """Only the first so many rows."""
    repeats: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Answers asked for each problem."""
    system_prompt: str | None = None
    """Replaces the benchmark's own."""
    num_fewshot: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Solved examples before each problem; None: as many as the benchmark says."""
    fewshot_dataset: str | None = None
    """Path or URI of the examples, instead of the benchmark's own source."""
    args: dict[str, Any] = {}
    """For an adapter class: changes of its `BenchmarkMeta`, and ``limit``, so many samples of each subset."""
    response_field: str | None = None
    """Score the answers in this field of the dataset; no endpoint is called."""
    generation: GenerationConfig = GenerationConfig()
    """Wins over the run's generation, field by field."""
    scorer: str | None = None
    """An installed scorer instead of the benchmark's own: ``NAME`` or ``NAME:key=value,key=value``."""
    reducers: tuple[str, ...] = ()
    """What to make of a sample's repeats beside their mean: ``pass_at_3``, ``max``, ``vote_at_5``, ``pass_at_k`` …"""
    metrics: tuple[str, ...] = ()
    """Further metrics over all samples: ``NAME`` or ``NAME:key=value,key=value``."""
    truncated: Literal["failure", "score"] = "failure"
    """A response cut off by its token limit: a model failure that counts 0, or scored as it stands."""
    judge: JudgeConfig | None = None
    """Wins over the run's judge, field by field."""


class EngineConfig(Strict):
    """How the run is driven; nothing here can change an answer."""

    concurrency: Annotated[int, Field(ge=1, le=4096)] = 32
    """Requests in flight at once."""
    scorer_timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    """For one sample; a scorer that takes longer leaves it unscored."""
    drain_seconds: Annotated[float, Field(ge=0)] = 30.0
    """After Ctrl-C: how long requests in flight may take to finish."""
    faults_in_a_row_max: Annotated[int, Field(ge=1)] | None = None
    """So many samples in a row lost to the endpoint, none answered between them, stop the run resumably; None: three
    times the concurrency, 32 at least."""
    truncation_probe: Annotated[int, Field(ge=0)] = 20
    """So many first answers of a benchmark are looked at for truncation; 0 for none."""
    truncation_rate_max: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of truncated answers among them above which the run stops."""
    unscored_rate_max: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of unscored samples above which a finished run exits 3."""
    preflight: bool = True
    """Ask for the list of models, and send the first request alone, before the others."""


class SandboxLimits(Strict):
    """What a program may take; a change scores stored answers anew."""

    cpu_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """CPU time; a busy machine makes a program wait, never time out."""
    idle_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Time in which it neither computes nor waits for a CPU."""
    compile_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """CPU time of the compiler."""
    output_bytes: Annotated[int, Field(ge=1024, le=16 << 20)] = 1 << 20
    """Standard output and error together."""
    file_bytes: Annotated[int, Field(ge=1024)] = 32 << 20
    """Largest file it may write."""
    processes: Annotated[int, Field(ge=1, le=4096)] = 64
    """Processes and threads at once."""
    memory_mb: Annotated[int, Field(ge=64)] | None = None
    """Memory of its container; None: what the language needs."""


class SandboxConfig(Strict):
    """Where programs are run; only the limits and the images can change a verdict."""

    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    """Containers at once; None: one for each CPU of the engine."""
    docker_host: str | None = None
    """The engine, as in ``DOCKER_HOST``, which holds when this is not set."""
    runtime: str | None = None
    """One of the engine's runtimes, such as ``runsc``."""
    images: dict[str, str] = {}
    """Other images than those of ``nel sandbox build``, by language; each needs a ``python3``."""
    engine_wait_seconds: Annotated[float, Field(ge=0)] = 30.0
    """How long an engine that does not answer is waited for before the run stops resumably."""
    limits: SandboxLimits = SandboxLimits()
    """Of each program."""


class Price(Strict):
    """What a model's tokens cost, in one currency for a million of them."""

    input: Annotated[float, Field(ge=0)]
    """Of the prompt."""
    output: Annotated[float, Field(ge=0)]
    """Of the answer, reasoning included."""
    cached_input: Annotated[float, Field(ge=0)] | None = None
    """Of prompt tokens from the vendor's cache; None: as any other."""
    cached_tokens: Literal["subset", "addition"] = "subset"
    """Whether the usage counts cached tokens among the prompt's (OpenAI) or beside them (Anthropic)."""


class BudgetConfig(Strict):
    """Hard caps over the whole run, its resumes included; reserved before a request is sent."""

    max_cost: Annotated[float, Field(gt=0)] | None = None
    """In the currency of the prices; needs a price for the model and max_tokens."""
    max_tokens_total: Annotated[int, Field(gt=0)] | None = None
    """Prompts and answers together; needs max_tokens."""
    max_requests: Annotated[int, Field(gt=0)] | None = None
    """HTTP requests, retries included."""
    prices: dict[str, Price] = {}
    """By the model's name."""


class CacheConfig(Strict):
    """Answers kept from run to run."""

    dir: str | None = None
    """Where they are kept; None: nowhere. Errors and truncated answers never are."""


class OutputConfig(Strict):
    """Where a run is written."""

    dir: str = "eval_results"
    """Each run gets a directory of its own in it."""
    run_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$")] | None = None
    """Name of that directory; made of time, benchmark and chance when not set."""
    reports: tuple[str, ...] = ()
    """Further reports beside report.html, by the names of their writers (``nel list reports``)."""


class ObservabilityConfig(Strict):
    """How a run in progress can be watched; nothing here can change an answer or a score."""

    log_level: Literal["debug", "info", "warning"] = "info"
    """Of ``run.log`` in the run's directory; ``debug`` writes a line for each request and each outcome."""
    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Serve Prometheus metrics on this port of 127.0.0.1 while the run lasts; needs ``nel[metrics]``."""
    otlp_endpoint: str | None = None
    """Send OpenTelemetry spans to this OTLP/HTTP collector, such as ``http://127.0.0.1:4318``; needs ``nel[otel]``."""
    otlp_headers_env: str | None = None
    """The name of the variable that holds headers for it, as ``name=value,name=value``; never the headers."""

    @field_validator("otlp_endpoint")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            parts = urlsplit(url.strip())
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise ValueError(f"{url!r} is not a URL of a collector; give one like http://127.0.0.1:4318")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the URL holds a user name or a query; name the variable with headers in otlp_headers_env")
        return url.strip()

    @field_validator("otlp_headers_env")
    @classmethod
    def _name_not_headers(cls, name: str | None) -> str | None:
        if name is not None and not _ENV_NAME.fullmatch(name):
            raise ValueError("otlp_headers_env is not the name of an environment variable; never the headers")
        return name


class RunConfig(Strict):
    """A whole run, as ``nel eval run config.yaml`` reads it."""

    endpoint: EndpointConfig | None = None
    """May be left out when every benchmark scores recorded responses."""
    benchmarks: Annotated[list[BenchmarkConfig], Field(min_length=1)]
    """Names, or entries as below."""
    generation: GenerationConfig = GenerationConfig()
    """Sampling settings of every benchmark."""
    engine: EngineConfig = EngineConfig()
    """How the run is driven."""
    sandbox: SandboxConfig = SandboxConfig()
    """Where programs are run, for benchmarks that ask for code."""
    budget: BudgetConfig = BudgetConfig()
    """What it may cost."""
    cache: CacheConfig = CacheConfig()
    """Answers from earlier runs."""
    judge: JudgeConfig | None = None
    """Who judges answers, for benchmarks that ask a judge."""
    model_roles: dict[str, ModelConfig] = {}
    """Further models that scorers ask by name, such as ``grader``."""
    output: OutputConfig = OutputConfig()
    """Where it is written."""
    observability: ObservabilityConfig = ObservabilityConfig()
    """How it can be watched."""

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _a_name_is_a_benchmark(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [{"name": item} if isinstance(item, str) else item for item in value]
        return value

    def judge_of(self, benchmark: BenchmarkConfig) -> JudgeConfig | None:
        """Return the run's judge with the benchmark's own settings laid over it, None where there is neither."""
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
