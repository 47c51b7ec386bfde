"""Endpoints and what is sent to them: sampling settings, deadlines, retries, rate limits, judges
and other models.

A field that can change an answer must also be named in `nel.config.identity`; else a resume would
mix two settings.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import Field, field_validator, model_validator

from nel.config.schema.addresses import ENV_NAME, variable_name
from nel.config.schema.strict import NAMED, Flag, Strict

_RESERVED = {
    "model": "that is endpoint.model",
    "messages": "the benchmark makes the prompt",
    "prompt": "the benchmark makes the prompt",
    "n": "use repeats",
    "stream": "that is endpoint.stream",
    **dict.fromkeys(
        ("temperature", "top_p", "max_tokens", "stop", "seed"),
        "it has a key of its own in generation",
    ),
}
_PATHS = {
    "/chat/completions": "chat",
    "/completions": "completions",
    "/responses": "responses",
    "/messages": "anthropic",
}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
FRAMING_HEADERS = frozenset({"connection", "content-length", "transfer-encoding"})
"""Headers that determine where a message ends; the transport sets them."""
SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key", "x-goog-api-key"}
)
"""Headers whose values are secrets, in lower case."""
OF_THE_HOST = frozenset(
    {"api_key_env", "headers", "headers_env", "query", "client_certificate", "client_key"}
)
"""Fields of an endpoint that are meant for the host of its URL, and go to no other."""
_SECRET_PARAMETER = re.compile(
    r"(?:^|[-_])(?:key|apikey|token|sig|signature|secret|password|auth|code)$", re.IGNORECASE
)
_PROTOCOL_NAME = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*:)?[a-z0-9][a-z0-9_-]*")
"""``name`` or ``package:name``, as `nel.plugins` takes them."""


def _with_query_apart(data: dict[str, Any]) -> dict[str, Any]:
    """Return an endpoint's data with the parameters of its URL in ``query``; a URL that is none is
    left as it is.
    """
    url, _, text = str(data["url"]).strip().partition("?")
    given = data.get("query")
    if not text or "#" in text or not (given is None or isinstance(given, dict)):
        return data
    pairs = parse_qsl(text, keep_blank_values=True)
    found = dict(pairs)
    if len(found) != len(pairs):  # one of two values would be lost
        return data
    return {**data, "url": url, "query": {**found, **(given or {})}} if found else data


class GenerationConfig(Strict):
    """Sampling settings; what is not set is not sent."""

    temperature: Annotated[
        float | None, Field(ge=0, le=10), Flag("--temperature", "Sent when given.")
    ] = None
    """Sent when set, as are the following."""
    top_p: Annotated[float | None, Field(gt=0, le=1), Flag("--top-p", "Sent when given.")] = None
    """Nucleus sampling."""
    max_tokens: Annotated[int | None, Field(ge=1), Flag("--max-tokens", "Sent when given.")] = None
    """Limit of the answer, reasoning included at most endpoints."""
    stop: Annotated[list[str] | None, Flag("--stop", "Stop string; repeatable.")] = None
    """Up to four strings at most endpoints."""
    seed: Annotated[int | None, Flag("--seed", "Sent when given; repeat k sends seed + k.")] = None
    """Base seed; repeat k sends ``seed + k``."""
    reasoning_effort: Annotated[
        str | None,
        Field(pattern="^[a-z]{1,20}$"),
        Flag("--reasoning-effort", "How long a reasoning model may think: low, medium, high …"),
    ] = None
    """How long a reasoning model may think, in its vendor's words: ``minimal``, ``low``,
    ``medium``, ``high`` …
    """
    extra: dict[str, Any] = {}
    """Further body fields, sent as they are."""

    @field_validator("extra")
    @classmethod
    def _no_reserved_fields(cls, extra: dict[str, object]) -> dict[str, object]:
        for key in extra:
            if key in _RESERVED:
                raise ValueError(f'extra may not set "{key}"; {_RESERVED[key]}')
        return extra

    @model_validator(mode="after")
    def _effort_once(self) -> GenerationConfig:
        if self.reasoning_effort is not None and "reasoning_effort" in self.extra:
            raise ValueError("reasoning_effort stands in generation and in its extra; give it once")
        return self

    def as_sent(self) -> dict[str, Any]:
        """Return the settings by name for an identity; one that was added later is left out where
        it is not set.
        """
        return self.model_dump(
            exclude={"reasoning_effort"} if self.reasoning_effort is None else None
        )

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop_is_a_list(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class EndpointConfig(Strict):
    """The endpoint of the model under evaluation."""

    url: Annotated[
        str, Flag("--model-url", "Base URL or full path of the endpoint.", has_variable=True)
    ]
    """Base URL or full path: ``…/v1``, ``…/v1/chat/completions`` or ``…/v1/completions``. Of the
    evaluated model it may come from ``OPENAI_BASE_URL``."""
    model: Annotated[
        str, Flag("--model-id", "The model's name at the endpoint.", has_variable=True)
    ]
    """The model's name at the endpoint."""
    api_key_env: Annotated[
        str | None,
        Flag("--api-key-env", "Name of the variable that holds the key.", has_variable=True),
    ] = None
    """The name of the environment variable that holds the key; never the key. Not set:
    ``OPENAI_API_KEY`` for the host of ``OPENAI_BASE_URL`` and OpenAI's own, and none for any
    other."""
    protocol: Annotated[
        str | None,
        Flag(
            "--protocol",
            "chat, completions, responses, anthropic, gemini or an installed one (nel list"
            " clients).",
        ),
    ] = None
    """How the endpoint is asked; taken from the URL where that is a full path, else what the
    benchmark names, else ``chat``. ``responses`` is OpenAI's Responses API, ``anthropic`` the
    Messages API, ``gemini`` generateContent; any other is of an installed package (``nel list
    clients``)."""
    send_sample_id: Annotated[
        bool, Flag("--send-sample-id", "Send X-Nel-Sample-Id, for replay.")
    ] = False
    """Send ``X-Nel-Sample-Id`` and ``X-Nel-Repeat``, for replay endpoints."""
    stream: Annotated[
        bool, Flag("--stream", "Stream answers; measures the time to first token.")
    ] = False
    """Stream answers, and measure the time to the first token."""
    query: dict[str, str] = {}
    """Parameters after every address, such as ``api-version`` of Azure; no secrets. Those of `url`
    are moved here.
    """
    headers: dict[str, str] = {}
    """Sent with every request; no secrets."""
    headers_env: dict[str, str] = {}
    """Header to the name of the environment variable that holds its value."""
    proxy: str | None = None
    """Instead of the one that ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` name."""
    ca_bundle: str | None = None
    """PEM file of the certificates to trust instead of the system's."""
    client_certificate: str | None = None
    """PEM file of the client certificate, its key included or in `client_key`."""
    client_key: str | None = None
    """PEM file of that certificate's key."""
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10.0
    """Deadline for making one connection; never later than the total timeout."""
    first_byte_timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    """From sending to the head of the answer, which most endpoints send when all of it is made;
    None: bounded by the total timeout alone."""
    idle_timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    """Longest silence in the middle of an answer; comments in a stream are silence. Never later
    than the total timeout."""
    total_timeout_seconds: Annotated[
        float,
        Field(gt=0),
        Flag("--timeout", "Seconds that one request may take; a retry gets as many again."),
    ] = 600.0
    """Deadline of one attempt, from sending to its last byte. It bounds the three above."""
    attempts_max: Annotated[int, Field(ge=1, le=100)] = 6
    """HTTP attempts for one request, the first included; none that finds no connection or the
    endpoint down.
    """
    retry_seconds_max: Annotated[float, Field(gt=0)] = 1800.0
    """All attempts for one request and the waits between them; the time of an outage does not
    count.
    """
    retry_budget: Annotated[float, Field(ge=0, le=10)] = 0.1
    """Retries for each request over all of the endpoint's traffic, beside a few a second; further
    ones wait.
    """
    backoff_seconds: Annotated[float, Field(gt=0)] = 0.5
    """Base of the exponential backoff with full jitter."""
    backoff_seconds_max: Annotated[float, Field(gt=0)] = 30.0
    """Longest backoff between two attempts when the server asks for none."""
    retry_after_seconds_max: Annotated[float, Field(gt=0)] = 120.0
    """Longest wait that a server's Retry-After can ask for."""
    response_bytes_max: Annotated[int, Field(ge=1024)] = 32 * 1024 * 1024
    """Largest body that is read, after decompression."""
    adaptive: bool = True
    """Lower the concurrency when the endpoint answers with rate limits, and raise it again when it
    does not.
    """
    concurrency_min: Annotated[int, Field(ge=1, le=4096)] = 1
    """Requests in flight that rate limits never go below."""
    requests_per_minute: Annotated[
        float | None,
        Field(gt=0),
        Flag("--requests-per-minute", "Rate limit that nel keeps on its own."),
    ] = None
    """Rate limit that nel keeps on its own, whatever the endpoint allows."""
    tokens_per_minute: Annotated[
        float | None,
        Field(gt=0),
        Flag(
            "--tokens-per-minute",
            "Rate limit that nel keeps on its own, prompts and answers together.",
        ),
    ] = None
    """The same for tokens, prompts and answers together; estimated before sending and corrected
    after.
    """
    outage_seconds_max: Annotated[float, Field(ge=0)] = 1800.0
    """Maximum outage before the run checkpoints and exits 75."""
    outage_probe_seconds: Annotated[float, Field(gt=0)] = 5.0
    """Longest time between two probes of an endpoint that is down."""

    @property
    def connect_seconds(self) -> float:
        """Return the deadline for making a connection."""
        return min(self.connect_timeout_seconds, self.total_timeout_seconds)

    @property
    def first_byte_seconds(self) -> float:
        """Return the deadline for the head of an answer."""
        return min(
            self.first_byte_timeout_seconds or self.total_timeout_seconds,
            self.total_timeout_seconds,
        )

    @property
    def spoken(self) -> str:
        """Return the protocol that its key, headers and list of models are those of."""
        return self.protocol or "chat"

    def address(self, path: str, *, base: str | None = None) -> str:
        """Return the URL of a path below the base URL, or below another one, with the query after
        it.
        """
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{base or self.url}{path}{query}"

    @model_validator(mode="before")
    @classmethod
    def _protocol_from_url(cls, data: object) -> object:
        if not isinstance(data, dict) or not isinstance(data.get("url"), str):
            return data
        data = _with_query_apart(data)
        scheme, separator, rest = data["url"].strip().partition("://")
        url = f"{scheme.lower() if separator else scheme}{separator}{rest}".rstrip("?").rstrip("/")
        for suffix, protocol in _PATHS.items():
            if url.endswith(suffix):
                given = data.get("protocol")
                if given not in (None, protocol):
                    raise ValueError(
                        f'protocol "{given}" contradicts the URL, which ends in {suffix}'
                    )
                return {**data, "url": url.removesuffix(suffix), "protocol": protocol}
        return {**data, "url": url}

    @field_validator("protocol")
    @classmethod
    def _named_protocol(cls, protocol: str | None) -> str | None:
        if protocol is not None and not _PROTOCOL_NAME.fullmatch(protocol):
            raise ValueError(
                f"{protocol!r} is not the name of a protocol; nel list clients shows them"
            )
        return protocol

    @field_validator("url")
    @classmethod
    def _well_formed_url(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            port_ok = parts.port is None or parts.port > 0
        except ValueError as error:
            raise ValueError(f"{url!r} is not a URL: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname or not port_ok:
            raise ValueError(
                f"{url!r} is not a URL of an endpoint; give one like http://127.0.0.1:8000/v1"
            )
        if parts.query or parts.fragment:
            raise ValueError(
                "the URL has a query; give the base URL, and name the variable that holds the key"
            )
        if parts.username or parts.password:
            raise ValueError(
                "the URL holds a user name or password; name the variable that holds the key with"
                " api_key_env"
            )
        return url

    @field_validator("query")
    @classmethod
    def _no_secret_parameters(cls, query: dict[str, str]) -> dict[str, str]:
        for name in query:
            if _SECRET_PARAMETER.search(name):
                raise ValueError(
                    f"the query may not hold {name}, since it is stored with the run; name the"
                    " variable that holds the key with api_key_env, or with headers_env for a"
                    " header of its own"
                )
        return query

    @field_validator("headers", "headers_env")
    @classmethod
    def _no_framing(cls, headers: dict[str, str]) -> dict[str, str]:
        framing = next((name for name in headers if name.lower() in FRAMING_HEADERS), None)
        if framing is not None:
            raise ValueError(
                f"{framing!r} cannot be set as a header, since it says where a request ends;"
                " remove it"
            )
        return headers

    @field_validator("headers")
    @classmethod
    def _no_secret_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if name.lower() in SECRET_HEADERS:
                raise ValueError(
                    f"headers may not hold {name}; name the variable that holds it with headers_env"
                )
            if not _HEADER_NAME.fullmatch(name) or not value.isprintable():
                raise ValueError(f"headers: {name!r} is not a header of one line")
        return headers

    @field_validator("headers_env")
    @classmethod
    def _names_not_values(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, variable in headers.items():
            if not ENV_NAME.fullmatch(variable) or not _HEADER_NAME.fullmatch(name):
                raise ValueError(
                    f"headers_env: {name!r} needs the name of an environment variable, not the"
                    " value"
                )
        return headers

    @field_validator("proxy")
    @classmethod
    def _proxy_without_secret(cls, proxy: str | None) -> str | None:
        if proxy is not None and (
            urlsplit(proxy).username or urlsplit(proxy).scheme not in ("http", "https")
        ):
            raise ValueError(
                "proxy is not a plain http URL; one with a password goes into HTTPS_PROXY"
            )
        return proxy

    @field_validator("api_key_env")
    @classmethod
    def _name_not_key(cls, name: str | None) -> str | None:
        return variable_name(name, field="api_key_env", secret="the key itself")  # noqa: S106 - words


class NamedEndpointConfig(EndpointConfig):
    """One of several endpoints under evaluation; it takes every key of `endpoint` too."""

    name: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """Its name in tables, and of its run's directory; the model's name when not set."""
    concurrency: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Requests in flight at it; None: `engine.concurrency`."""

    @property
    def label(self) -> str:
        """Return its name in tables."""
        return self.name or self.model


class ModelConfig(EndpointConfig):
    """A model beside the one under evaluation: a judge, or one that a scorer asks by its role.

    It takes every key of `endpoint` too.
    """

    name: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """Its name in reports and for scorers; the model's name when not set."""
    generation: GenerationConfig = GenerationConfig(temperature=0.0, max_tokens=4096)
    """Settings that are given replace these one by one; ``null`` removes one."""
    concurrency: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Requests in flight at the same time; None: as many as the run's own."""

    @property
    def label(self) -> str:
        """Return its name in reports and for scorers."""
        return self.name or self.model

    @field_validator("generation", mode="before")
    @classmethod
    def _over_the_default(cls, given: object) -> object:
        default = cls.model_fields["generation"].default.model_dump()
        return {**default, **given} if isinstance(given, dict) else given


class JudgeConfig(Strict):
    """The judges and how they judge; one judge may stand here without ``panel``, as ``url`` and
    ``model``.
    """

    panel: Annotated[
        list[ModelConfig],
        Flag(
            "--judge-url",
            "Base URL of the judge; repeatable, or one for all judges.",
            item_key="url",
        ),
        Flag("--judge-id", "Name of the judging model; several make a panel.", item_key="model"),
        Flag(
            "--judge-api-key-env",
            "Name of the variable that holds the judge's key.",
            item_key="api_key_env",
        ),
    ] = []
    """The judges; each gives its opinion of every case."""
    template: Annotated[
        str | None,
        NAMED,
        Flag(
            "--judge-template",
            "Where the benchmark leaves it open: an installed judge, or a template's text.",
        ),
    ] = None
    """For benchmarks that leave it open: an installed judge (nel list judges), or the text of a
    template.
    """
    grade_pattern: str | None = None
    """Regular expression whose first group is the grade, for a `template` of one's own; None: a
    line ``GRADE: X``.
    """
    score_mapping: dict[str, float] | None = None
    """Grade to score, for a `template` of one's own; of a pair the score of answer A."""
    grade_logprobs: Annotated[
        bool,
        Flag(
            "--judge-logprobs",
            "Grade by the probabilities of the grades as the reply's first token.",
        ),
    ] = False
    """For a `template` of one's own with `score_mapping`, whose grades are single tokens: the score
    is their mean, weighted by the probabilities that the judge gives them as its first token, as in
    AlpacaEval 2 and G-Eval."""
    criteria: Annotated[str | None, Flag("--judge-criteria", "What the judge is to look at.")] = (
        None
    )
    """What the judge is to look at, where the scorer says nothing."""
    aggregate: Literal["majority", "mean", "median", "min", "max"] = "majority"
    """How opinions become one grade; a tie for the majority is settled by the mean score."""
    weights: dict[str, Annotated[float, Field(gt=0)]] | None = None
    """Votes of each judge by name, for a majority or a mean; ``nel judge calibrate`` prints some.
    None: one each.
    """
    quorum: Annotated[int, Field(ge=1)] | None = None
    """Opinions needed for a grade; None: more than half of the panel."""
    repeats: Annotated[
        int, Field(ge=1, le=100), Flag("--judge-repeats", "How often each judge is asked the same.")
    ] = 1
    """How often each judge is asked the same, which measures its self-consistency."""
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    """For the template ``llm_rubric``: the score that a response must reach to pass; None: as the
    judge says.
    """
    swap: bool = True
    """Show a pair in both orders; a judge that changes its mind with the order calls it a tie."""
    reasks: Annotated[int, Field(ge=0, le=5)] = 1
    """How often a judge whose reply cannot be read is asked again."""

    @property
    def unset(self) -> frozenset[str]:
        """Return the optional settings that are not set; identities and records leave them out."""
        optional = ("grade_pattern", "score_mapping", "grade_logprobs", "threshold", "weights")
        return frozenset(
            name for name in optional if getattr(self, name) is None or getattr(self, name) is False
        )

    @model_validator(mode="before")
    @classmethod
    def _one_judge_is_a_panel(cls, data: object) -> object:
        if not isinstance(data, dict):
            if isinstance(data, JudgeConfig):
                return data
            what = f"a {type(data).__name__} is no judge"
            raise ValueError(what + "; give {url: …, model: …}, or several as {panel: [{…}, …]}")
        if "api_key" in data:
            raise ValueError(
                "api_key would be stored; give api_key_env, the name of the variable that holds"
                " the key"
            )
        if isinstance(data.get("panel"), dict):
            raise ValueError(
                "panel is one judge; make it a list, or give url and model without panel"
            )
        member = {key: data[key] for key in data if key in ModelConfig.model_fields}
        if not member:
            return data
        if "panel" in data:
            raise ValueError(
                f"{', '.join(member)} and panel are both given; name each judge in panel"
            )
        return {
            **{key: value for key, value in data.items() if key not in member},
            "panel": [member],
        }

    @model_validator(mode="after")
    def _names_differ(self) -> JudgeConfig:
        labels = [member.label for member in self.panel]
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise ValueError(f'two judges are called "{min(twice)}"; give each a name')
        if self.weights is not None and self.panel and set(self.weights) != set(labels):
            raise ValueError(
                f"weights name {', '.join(sorted(self.weights))}; give one for each of"
                f" {', '.join(labels)}"
            )
        if self.weights is not None and self.aggregate not in ("majority", "mean"):
            raise ValueError(f"weights hold for majority and mean, not for {self.aggregate}")
        if self.quorum is not None and self.panel and self.quorum > len(self.panel):
            raise ValueError(
                f"quorum is {self.quorum} and the panel has {len(self.panel)}; give no more than"
                " that"
            )
        return self
