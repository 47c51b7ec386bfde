"""Finds a wrong URL, key or model before anything is spent, and says which it is.

Asks for the list of models, which costs nothing. Many servers have no such list, or show it without a key; then only
the run's own first request can tell, which the engine sends alone for that reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from nel.core.strict_json import dumps_bytes
from nel.errors import LogprobFault, PreflightError, StoppedEarly, did_you_mean
from nel.models.client import Client
from nel.models.echo_probe import EchoSupport, probe_echo
from nel.models.faults import NO_FILES, Fault
from nel.models.refusals import advice
from nel.types import ResponseError

_FORBIDDEN = 403
_LISTED_MAX = 5
_PROBE_SECONDS = 120.0


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
        PreflightError: The key is refused, the certificate is not trusted, or the model is not in the list.
        StoppedEarly: Nothing answers at the URL; the run can be resumed once it does.
    """
    endpoint = client.endpoint
    found = await client.list_models()
    if isinstance(found, Fault):
        if found.status != _FORBIDDEN:  # a key may be good for answers and not for the list
            raise_if_hopeless(client, found, listing=True, flags=flags)
    elif found and not _is_served(endpoint.model, found):
        listed = ", ".join(found[:_LISTED_MAX]) + (" …" if len(found) > _LISTED_MAX else "")
        raise PreflightError(
            f'{endpoint.url} does not serve the model "{endpoint.model}"{did_you_mean(endpoint.model, found)}; '
            f"it serves: {listed}; set {flags.model}, or skip this check with -O engine.preflight=false",
            endpoint_kind="model_not_served",
        )


def _is_served(model: str, listed: Sequence[str]) -> bool:
    """Return whether a list has a model, as Gemini (``models/x``), Ollama and LiteLLM (``openai/*``) spell it."""
    return any(name in (model, f"models/{model}", f"{model}:latest") or fnmatchcase(model, name) for name in listed)


async def check_echo(client: Client) -> EchoSupport:
    """Return what the endpoint can do for log-likelihoods, from a handful of prompts whose answers are known.

    Raises:
        PreflightError: It does not return right prompt log-probabilities; scores would be chance.
        StoppedEarly: It did not answer.
    """

    async def send(body: dict[str, object]) -> Any:
        return await client.ask_once("completions", dumps_bytes(body), seconds=_PROBE_SECONDS)

    try:
        found = await probe_echo(send, client.endpoint.model)
    except LogprobFault as error:
        raise PreflightError(
            f"{client.endpoint.url} cannot be used for log-likelihoods: {error}", endpoint_kind=f"logprob_{error.kind}"
        ) from error
    if isinstance(found, Fault):
        raise_if_hopeless(client, found)
        raise StoppedEarly(
            f"{client.endpoint.url} did not answer the probe of its log-probabilities ({client.describe(found)})",
            endpoint_kind=found.kind,
        )
    return found


def _remedy(detail: str, flags: Flags) -> str:
    """Return what to do where nothing answers: the proxy in front of the endpoint is not the endpoint."""
    if detail.startswith("the proxy "):
        return "correct endpoint.proxy or HTTP_PROXY and HTTPS_PROXY, or name the endpoint's host in NO_PROXY"
    return f"start the endpoint or correct {flags.url}"


def refused_by_all(client: Client, error: ResponseError) -> PreflightError | StoppedEarly:
    """Return the error of an endpoint that refuses each request alike: its words, and what a user can change."""
    fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
    try:
        raise_if_hopeless(client, fault)
    except (PreflightError, StoppedEarly) as known:
        return known
    return PreflightError(
        f"{client.endpoint.url} refuses every request ({error.message}); {advice(error, client.endpoint)} "
        "(samples from all over the set and a neutral prompt were refused alike)",
        endpoint_kind=error.kind,
    )


def raise_if_hopeless(client: Client, fault: Fault, *, listing: bool = False, flags: Flags = MODEL_FLAGS) -> None:
    """Raise when a fault means that no request can succeed; return when it may be this one's alone.

    Args:
        listing: The fault came from the list of models, which an endpoint need not have.

    Raises:
        PreflightError: The key, the URL, the model or the certificate is wrong.
        StoppedEarly: Nothing answers at the URL.
    """
    endpoint, detail = client.endpoint, client.describe(fault)
    if fault.kind == "auth":
        key = (
            f"the key in {endpoint.api_key_env} was refused"
            if endpoint.api_key_env
            else f"it wants a key; name the variable that holds it with {flags.key}"
        )
        raise PreflightError(f"{endpoint.url}: {key} ({detail})", endpoint_kind=fault.kind)
    if fault.kind == "quota":
        raise StoppedEarly(f"{endpoint.url}: the account has no quota left ({detail})", endpoint_kind=fault.kind)
    if fault.kind == "tls":
        raise PreflightError(
            f"{endpoint.url}: {detail}; check the certificate and the host name", endpoint_kind=fault.kind
        )
    if fault.kind == NO_FILES:
        raise StoppedEarly(detail, endpoint_kind=fault.kind)
    if fault.kind in ("connection", "connect_timeout"):
        raise StoppedEarly(
            f"nothing answers at {endpoint.url} ({detail}); {_remedy(detail, flags)}",
            endpoint_kind=fault.kind,
        )
    if fault.kind == "not_found" and not listing:
        raise PreflightError(
            f"{endpoint.url}: {detail}; either the URL is wrong (a base URL ends in /v1) "
            f'or the model "{endpoint.model}" is not served',
            endpoint_kind=fault.kind,
        )
