"""Finds a wrong URL, key or model before anything is spent, and says which it is.

Asks for the list of models, which costs nothing. Many servers have no such list, or show it without
a key; then only the run's own first request can tell, which the engine sends alone for that reason.
A base URL that lists no models is asked for again with ``/v1``, which is then offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from nel.config.openai_environment import key_variable
from nel.config.schema.endpoint import split_url
from nel.core.strict_json import dumps_bytes
from nel.errors import LogprobFault, PreflightError, StoppedEarly
from nel.models.client import Client
from nel.models.faults import NO_FILES, Fault
from nel.models.refusals import advice
from nel.models.transport.faults import NO_TLS
from nel.models.wire.registry import wire_of
from nel.types import Protocol, ResponseError

if TYPE_CHECKING:
    from nel.models.echo_probe import EchoSupport

_FORBIDDEN = 403
_CLIENT_ERRORS = range(400, 500)
"""Statuses that a setting cures; at any other the endpoint cannot answer, now or at this URL."""
_LISTED_MAX = 5
_PROBE_SECONDS = 120.0
_LIKE = 0.6
"""Share of two names' characters from which one is offered for the other."""
_CONTAINED = 0.8
"""The likeness of a name that has the whole of the other in it."""
_PART_MIN = 3
_VERSIONED = re.compile(r"/v\d\w*(?:/|$)")
_OF_MODEL = re.compile(r"\bmodel\b", re.IGNORECASE)
"""In the words of an endpoint that is at this address, and has no such model."""
_NOT_BASE = ("/models", "/responses", "/messages", "/chat")
"""What is pasted along with a base URL."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What a user sets an endpoint with, for messages that say what to do."""

    url: str = "--model-url"
    model: str = "--model-id"
    key: str = "--api-key-env"


MODEL_FLAGS: Final = Flags()
JUDGE_FLAGS: Final = Flags("--judge-url", "--judge-id", "--judge-api-key-env")


async def check_endpoint(client: Client, *, flags: Flags = MODEL_FLAGS) -> None:
    """Ask the endpoint for its models.

    Raises:
        PreflightError: The key is refused, the certificate is not trusted, or the model is not in
            the list.
        StoppedEarly: Nothing answers at the URL; the run can be resumed once it does.
    """
    endpoint = client.endpoint
    if wire_of(endpoint.spoken).listing is None:
        return
    models = await client.list_models()
    if isinstance(models, Fault):
        if models.status == _FORBIDDEN:  # a key may be good for answers and not for the list
            return
        raise_if_hopeless(client, models, listing=True, flags=flags)
    if not isinstance(models, list):
        client.better_url = await _find_base_url(client)
        # A page of a web app, where an API has its list.
        if models is None and client.better_url is not None:
            raise _wrong_url(client, client.better_url, "no list of models there", flags)
    elif wire_of(endpoint.spoken).lists_all and not _is_served(endpoint.model, models):
        near = nearest_model(endpoint.model, models)
        listed = ", ".join(models[:_LISTED_MAX]) + (" …" if len(models) > _LISTED_MAX else "")
        meant = "" if near is None else f'; did you mean "{near}"?'
        raise PreflightError(
            f'{endpoint.url} does not serve the model "{endpoint.model}"{meant}; it serves:'
            f" {listed}; set {flags.model}, or skip this check with -O engine.preflight=false",
            endpoint_kind="model_not_served",
            fix=() if near is None else (flags.model, near),
        )


async def _find_base_url(client: Client) -> str | None:
    """Return the first of the likely base URLs at the endpoint's host that lists models; asking for
    a list is free.
    """
    url = client.endpoint.url
    for suffix in _NOT_BASE:
        url = url.removesuffix(suffix)
    root = urlsplit(url)._replace(path="").geturl()
    likely = [url, *(f"{base}/v1" for base in (url, root) if not base.endswith("/v1"))]
    for candidate in dict.fromkeys(likely):
        if candidate == client.endpoint.url:
            continue
        models = await client.list_models(candidate)
        if isinstance(models, list):
            return candidate
    return None


def _wrong_url(client: Client, better: str, detail: str, flags: Flags) -> PreflightError:
    return PreflightError(
        f"{client.endpoint.url} is not the base URL of the endpoint ({detail}): {better} lists"
        f" models; set {flags.url}, or skip this check with -O engine.preflight=false",
        endpoint_kind="not_found",
        fix=(flags.url, better),
    )


def _not_found(
    client: Client, detail: str, flags: Flags, needed: Protocol | None
) -> PreflightError:
    """Return the error of an address with nothing there: base URL, protocol or model is wrong."""
    endpoint = client.endpoint
    protocol = needed if needed == "completions" else endpoint.spoken
    base, path, path_protocol = split_url(wire_of(protocol).address(endpoint).partition("?")[0])
    better = None
    if not _VERSIONED.search(base):
        hint = "the URL is wrong (a base URL ends in /v1)"
        better = None if urlsplit(base).path else f"{base}/v1"
    elif protocol == "chat":
        hint = (
            f"the base URL or the protocol is wrong ({flags.url} {base}/completions asks by texts)"
        )
    # The URL's own path sets a protocol, and the benchmark needs none.
    elif path_protocol == protocol != needed:
        better = base + wire_of("chat").path(endpoint.model, stream=False)
        hint = f"the endpoint answers chat alone ({flags.url} {better})"
    else:
        hint = f"{flags.url} is wrong"
    return PreflightError(
        f"{base}{path}: {detail}; asked over the protocol {protocol}: either {hint}, or the"
        f' model "{endpoint.model}" is not served',
        endpoint_kind="not_found",
        fix=() if better is None or _OF_MODEL.search(detail) else (flags.url, better),
    )


def nearest_model(model: str, listed: Sequence[str]) -> str | None:
    """Return the listed model that a name means: the only one, or one like it or its last part."""
    if len(listed) == 1:
        return listed[0]

    def likeness(name: str) -> float:
        # With and without its owner: "llama-3" is meant for "meta/llama-3".
        parts = {name.lower(), name.lower().rpartition("/")[2]}
        within = any(len(short) >= _PART_MIN and short in name.lower() for short in spellings)
        return max(
            within * _CONTAINED,
            *(SequenceMatcher(None, a, b).ratio() for a in spellings for b in parts),
        )

    spellings = {model.lower(), model.lower().rpartition("/")[2]}
    nearest = max(listed, key=likeness)
    return nearest if likeness(nearest) >= _LIKE else None


def _is_served(model: str, listed: Sequence[str]) -> bool:
    """Return whether a list has a model, as itself, ``models/x``, ``x:latest`` or by a pattern.

    Gemini, Ollama and LiteLLM (``openai/*``) spell it so.
    """
    return any(
        name in (model, f"models/{model}", f"{model}:latest") or fnmatchcase(model, name)
        for name in listed
    )


async def check_echo(client: Client) -> EchoSupport:
    """Return what the endpoint can do for log-likelihoods, by prompts with known answers.

    Raises:
        PreflightError: It does not return right prompt log-probabilities; scores would be chance.
        StoppedEarly: It did not answer.
    """

    async def send(body: dict[str, object]) -> Any:
        return await client.ask_once("completions", dumps_bytes(body), seconds=_PROBE_SECONDS)

    try:
        from nel.models.echo_probe import probe_echo  # noqa: PLC0415 - few runs rank choices

        echo = await probe_echo(send, client.endpoint.model)
    except LogprobFault as error:
        raise PreflightError(
            f"{client.endpoint.url} cannot be used for log-likelihoods: {error}",
            endpoint_kind=f"logprob_{error.kind}",
        ) from error
    if isinstance(echo, Fault):
        raise_if_hopeless(client, echo, needed="completions")
        raise StoppedEarly(
            f"{client.endpoint.url} did not answer the probe of its log-probabilities"
            f" ({client.describe(echo)})",
            endpoint_kind=echo.kind,
        )
    return echo


def _refused_key(fault: Fault, detail: str, variable: str) -> str:
    """Return what a refusal of the key, or of access whatever the key, asks for."""
    if fault.status != _FORBIDDEN:
        return f"the key in {variable} was refused ({detail}); check the key in {variable}"
    return (
        f"access was refused ({detail}); check the key in {variable}, whether it may use the model,"
        " and whether a firewall or the region stands in between"
    )


def _remedy(detail: str, flags: Flags) -> str:
    """Return what to do where nothing answers, be it the endpoint or the proxy before it."""
    if detail.startswith("the proxy "):
        return (
            "correct endpoint.proxy or HTTP_PROXY and HTTPS_PROXY, or name the endpoint's host in"
            " NO_PROXY"
        )
    return f"start the endpoint or correct {flags.url}"


def refused_by_all(
    client: Client, error: ResponseError, needed: Protocol | None = None
) -> PreflightError | StoppedEarly:
    """Return the error of an endpoint that refuses all requests alike: its words and the remedy.

    Args:
        client: Of the endpoint.
        error: The refusal.
        needed: The protocol that a benchmark needs; None: the endpoint's own.
    """
    fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
    if client.better_url is not None and error.kind != "auth":
        return _wrong_url(client, client.better_url, client.describe(fault), MODEL_FLAGS)
    try:
        raise_if_hopeless(client, fault, needed=needed)
    except (PreflightError, StoppedEarly) as known:
        return known
    words = (
        f"{client.endpoint.url} refuses every request ({error.message});"
        f" {advice(error, client.endpoint)} (samples from all over the set and a neutral prompt"
        " were refused alike)"
    )
    is_of_server = error.status is not None and error.status not in _CLIENT_ERRORS
    return (StoppedEarly if is_of_server else PreflightError)(words, endpoint_kind=error.kind)


def raise_if_hopeless(
    client: Client,
    fault: Fault,
    *,
    listing: bool = False,
    flags: Flags = MODEL_FLAGS,
    needed: Protocol | None = None,
) -> None:
    """Raise when a fault means that no request can succeed; return when it may be this one's alone.

    Args:
        listing: The fault came from the list of models, which an endpoint need not have.
        needed: The protocol that a benchmark needs; None: the endpoint's own.

    Raises:
        PreflightError: The key, the URL, the model or the certificate is wrong.
        StoppedEarly: Nothing answers at the URL.
    """
    endpoint, detail = client.endpoint, client.describe(fault)
    if fault.kind == "auth":
        variable = key_variable(endpoint)
        if not variable:
            key = f"it wants a key; name the variable that holds it with {flags.key}"
            raise PreflightError(
                f"{endpoint.url}: {key} ({detail})",
                endpoint_kind="auth",
                fix=(flags.key, "VARIABLE"),
            )
        raise PreflightError(
            f"{endpoint.url}: {_refused_key(fault, detail, variable)}", endpoint_kind="auth"
        )
    if fault.kind == "quota":
        raise StoppedEarly(
            f"{endpoint.url}: the account has no quota left ({detail})", endpoint_kind=fault.kind
        )
    if fault.kind == "tls":
        is_plain = NO_TLS in detail
        step = "check the certificate and the host name; ca_bundle names an authority of your own"
        raise PreflightError(
            f"{endpoint.url}: {detail}" if is_plain else f"{endpoint.url}: {detail}; {step}",
            endpoint_kind=fault.kind,
            fix=(flags.url, endpoint.url.replace("https://", "http://", 1)) if is_plain else (),
        )
    if fault.kind == NO_FILES:
        raise StoppedEarly(detail, endpoint_kind=fault.kind)
    if fault.kind in ("connection", "connect_timeout"):
        raise StoppedEarly(
            f"nothing answers at {endpoint.url} ({detail}); {_remedy(detail, flags)}",
            endpoint_kind=fault.kind,
        )
    if fault.kind == "not_found" and not listing:
        raise _not_found(client, detail, flags, needed)
