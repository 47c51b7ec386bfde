"""The protocols by name, and what the rest of nel asks of them. Sends nothing."""

from __future__ import annotations

from typing import Any, Final

from nel.config.schema import EndpointConfig, GenerationConfig
from nel.core.strict_json import dumps_bytes, loads
from nel.errors import ConfigError
from nel.models.faults import Fault
from nel.models.wire.anthropic import Anthropic
from nel.models.wire.base import Wire
from nel.models.wire.gemini import Gemini
from nel.models.wire.openai import Chat, Completions
from nel.models.wire.responses import Responses
from nel.types import Generation, Protocol, Request, Response

_WIRES: Final[dict[str, Wire]] = {
    wire.name: wire for wire in (Chat(), Completions(), Responses(), Anthropic(), Gemini())
}


def wire_of(protocol: Protocol) -> Wire:
    """Return a protocol."""
    return _WIRES[protocol]


def build_body(request: Request, *, stream: bool = False) -> dict[str, Any]:
    """Return the JSON body of a request.

    Args:
        stream: Ask for the answer as it is made, and for its usage at the end.

    Raises:
        NotInProtocol: A message, or a part of one, has no place in its protocol.
    """
    return wire_of(request.protocol).body(request, stream=stream)


def parse_answer(protocol: Protocol, payload: object) -> Response | Fault:
    """Return the answer in a decoded HTTP 200 body, or the fault it is instead."""
    return wire_of(protocol).answer(payload)


def neutral_body(body: bytes, protocol: Protocol, prompt: str) -> bytes:
    """Return a request with the settings of another one and another prompt."""
    return dumps_bytes(wire_of(protocol).neutral(loads(body), prompt))


def check_settings(name: str, protocol: Protocol, generation: Generation | GenerationConfig) -> None:
    """Refuse settings that a protocol has no field for.

    Raises:
        ConfigError: It names each, and what to do.
    """
    problems = wire_of(protocol).problems(generation)
    if problems:
        raise ConfigError(f"{name} cannot be asked over the {protocol} protocol: {'; '.join(problems)}")


def plain_headers(endpoint: EndpointConfig, api_key: str | None) -> dict[str, str]:
    """Return the headers that an endpoint's protocol wants, leaving out what its settings give."""
    wire = wire_of(endpoint.spoken)
    given = {name.lower() for name in (*endpoint.headers, *endpoint.headers_env)}
    found = {**wire.headers(), **(wire.key_headers(api_key) if api_key else {})}
    return {name: value for name, value in found.items() if name.lower() not in given}
