"""Endpoints of the model under evaluation and of others: addresses, deadlines, retries, limits.

A field that can change an answer must also be named in `nel.config.identity`; else a resume would
mix two settings.
"""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import Field, NonNegativeFloat, PositiveFloat, field_validator, model_validator

from nel.config.schema.generation import GenerationConfig
from nel.config.schema.strict import Flag, Strict
from nel.config.schema.variables import ENV_NAME, variable_name

_FULL_PATH = re.compile(
    r"""(?P<base>.*?)
    (?: (?P<chat>/chat/completions) | (?P<completions>/completions) | (?P<responses>/responses)
      | (?P<anthropic>/messages) | (?P<gemini>/models/[^/]+:(?:g|streamG)enerateContent) )
    """,
    re.VERBOSE,
)
"""Where requests go, below the base URL; the group that matches is the protocol."""
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
# `key`, `api-key`, `access_token`, but neither `monkey` nor `max_tokens`
_SECRET_PARAMETER = re.compile(
    r"(?:^|[-_])(?:key|apikey|token|sig|signature|secret|password|auth|code)$", re.IGNORECASE
)
# chat, nel-foo:chat: the form of `nel.plugins`, which scoring, that imports this, may not import.
_PROTOCOL_NAME = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*:)?[a-z0-9][a-z0-9_-]*")


def split_url(url: str) -> tuple[str, str, str | None]:
    """Return an address as its base URL, the path below it, and the protocol of that path.

    Of a base URL the path is empty and the protocol None.
    """
    scheme, separator, location = url.strip().partition("://")
    if separator:
        scheme = scheme.lower()
    base = f"{scheme}{separator}{location}".rstrip("?").rstrip("/")
    match = _FULL_PATH.fullmatch(base)
    if match is None:
        return base, "", None
    return match["base"], base.removeprefix(match["base"]), match.lastgroup


def _with_query_apart(data: dict[str, Any]) -> dict[str, Any]:
    """Return an endpoint's data with the parameters of its URL in ``query``."""
    url, _, text = str(data["url"]).strip().partition("?")
    query = data.get("query")
    # What is left as it is, a check below refuses in words of its own.
    if not text or "#" in text or not (query is None or isinstance(query, dict)):
        return data
    pairs = parse_qsl(text, keep_blank_values=True)
    parameters = dict(pairs)
    if len(parameters) != len(pairs):  # one of two values would be lost
        return data
    return {**data, "url": url, "query": {**parameters, **(query or {})}} if parameters else data


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
    """Parameters of every address (of `url` too), such as Azure's ``api-version``; no secrets."""
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
    connect_timeout_seconds: PositiveFloat = 10.0
    """Deadline for making one connection; never later than the total timeout."""
    first_byte_timeout_seconds: PositiveFloat | None = None
    """From sending to the head of the answer, which most endpoints send when all of it is made;
    None: bounded by the total timeout alone."""
    idle_timeout_seconds: PositiveFloat = 120.0
    """Longest silence in the middle of an answer; comments in a stream are silence. Never later
    than the total timeout."""
    total_timeout_seconds: Annotated[
        float,
        Field(gt=0),
        Flag("--timeout", "Seconds that one request may take; a retry gets as many again."),
    ] = 600.0
    """Deadline of one attempt, from sending to its last byte. It bounds the three above."""
    attempts_max: Annotated[int, Field(ge=1, le=100)] = 6
    """HTTP attempts for one request, the first included; those in an outage do not count."""
    retry_seconds_max: PositiveFloat = 1800.0
    """All attempts for one request and the waits between them, without the time of an outage."""
    retry_budget: Annotated[float, Field(ge=0, le=10)] = 0.1
    """Retries for each request of the endpoint, beside a few a second; further ones wait."""
    backoff_seconds: PositiveFloat = 0.5
    """Base of the exponential backoff with full jitter."""
    backoff_seconds_max: PositiveFloat = 30.0
    """Longest backoff between two attempts when the server asks for none."""
    retry_after_seconds_max: PositiveFloat = 120.0
    """Longest wait that a server's Retry-After can ask for."""
    response_bytes_max: Annotated[int, Field(ge=1024)] = 32 * 1024 * 1024
    """Largest body that is read, after decompression."""
    adaptive: bool = True
    """Lower the concurrency while the endpoint answers with rate limits; raise it again after."""
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
    """The same for tokens of prompts and answers, estimated before sending and corrected after."""
    outage_seconds_max: NonNegativeFloat = 1800.0
    """Maximum outage before the run checkpoints and exits 75."""
    outage_probe_seconds: PositiveFloat = 5.0
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
        """Return the protocol, whose key, headers and list of models the endpoint has."""
        return self.protocol or "chat"

    def address(self, path: str, *, base: str | None = None) -> str:
        """Return the URL of a path below the base URL, or below another one, with the query."""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{base or self.url}{path}{query}"

    @model_validator(mode="before")
    @classmethod
    def _protocol_from_url(cls, data: object) -> object:
        if not isinstance(data, dict) or not isinstance(data.get("url"), str):
            return data
        data = _with_query_apart(data)
        base, path, protocol = split_url(data["url"])
        if protocol is None:
            return {**data, "url": base}
        setting = data.get("protocol")
        if setting not in (None, protocol):
            raise ValueError(
                f'protocol "{setting}" contradicts the URL, which ends in {path} and so means'
                f" {protocol}; leave one of --protocol and the end of the URL out"
            )
        return {**data, "url": base, "protocol": protocol}

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
    def _over_the_default(cls, value: object) -> object:
        default = cls.model_fields["generation"].default.model_dump()
        return {**default, **value} if isinstance(value, dict) else value
