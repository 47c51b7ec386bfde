"""The protocols by name, nel's own and those of packages, and what the rest of nel asks of them.

Sends nothing. A package brings a protocol as an entry point of the group ``nel.clients``. A run
imports the one that it speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, Final

from nel import plugins
from nel.config.redaction import read_secret
from nel.config.schema import EndpointConfig, GenerationConfig
from nel.core.finish_reasons import ending_of
from nel.core.strict_json import dumps_bytes, loads
from nel.errors import ConfigError, NelError, PluginError
from nel.models.faults import Fault, malformed_fault, unreadable
from nel.models.wire.base import NotInProtocol, Wire
from nel.types import Generation, Native, Protocol, Request, Response
from nel.version import __version__

_BUILT_IN: Final = {
    "chat": "openai",
    "completions": "openai",
    "responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
"""By name: the module here that has a class of that name."""


def __getattr__(name: str) -> Wire:
    """Return one of nel's own protocols under the name of its entry point, such as ``CHAT``."""
    if name.lower() not in _BUILT_IN:
        raise AttributeError(name)
    return wire_of(name.lower())


@cache
def wire_of(protocol: Protocol) -> Wire:
    """Return a protocol.

    Raises:
        PluginError: No package that is installed has it, or what it has is none.
    """
    if protocol in _BUILT_IN:
        module = import_module(f"nel.models.wire.{_BUILT_IN[protocol]}")
        wire: Wire = getattr(module, protocol.capitalize())()
        return wire
    loaded = plugins.load("clients", protocol)
    if not isinstance(loaded, Wire):
        raise PluginError(
            f'the client "{protocol}" is a {type(loaded).__name__}, not a nel.clients.Wire'
        )
    return loaded


def build_body(request: Request, *, stream: bool = False) -> dict[str, Any]:
    """Return the JSON body of a request.

    Args:
        stream: Ask for the answer as it is made, and for its usage at the end.

    Raises:
        NotInProtocol: A message, or a part of one, has no place in its protocol.
    """
    wire = wire_of(request.protocol)
    if not wire.takes_tools:
        _refuse_tools(request)
    # A bug of nel's own protocol should crash; one of a package refuses this request alone.
    if wire.name in _BUILT_IN:
        return wire.body(request, stream=stream)
    try:
        return wire.body(request, stream=stream)
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        raise NotInProtocol(
            f'the client "{request.protocol}" failed: {type(error).__name__}: {error}'
        ) from error


def _refuse_tools(request: Request) -> None:
    has_calls = any(message.tool_calls or message.tool_call_id for message in request.messages)
    if request.tools or has_calls:
        tool_protocols = ", ".join(name for name in _BUILT_IN if wire_of(name).takes_tools)
        raise NotInProtocol(
            f"the {request.protocol} protocol has no place for tools here; use {tool_protocols}"
        )


def parse_answer(
    protocol: Protocol, payload: object, *, offers_tools: bool = False
) -> Response | Fault:
    """Return the answer in a decoded HTTP 200 body, or the fault it is instead.

    Args:
        protocol: Of the request.
        payload: The body.
        offers_tools: Whether the model was free to call tools; a call in any other answer is
            dropped.
    """
    answer = wire_of(protocol).answer(payload)
    if isinstance(answer, Fault):
        return answer
    if not offers_tools:
        return replace(answer, tool_calls=()) if answer.tool_calls else answer
    if (
        not answer.text
        and not any(call.name for call in answer.tool_calls)
        and ending_of(answer.finish_reason) == "tool_calls"
    ):
        return malformed_fault("the answer is a call of a tool that cannot be read: it has no name")
    items = wire_of(protocol).native(payload, answer.message) if isinstance(payload, dict) else ()
    try:
        items = loads(dumps_bytes(items))  # as it will be read from the store
    except (ValueError, RecursionError) as error:
        return unreadable(error)
    if not items:
        return answer
    return replace(answer, native=Native(protocol=protocol, items=tuple(items)))


def native_note(request: Request) -> str | None:
    """Return a note on reasoning that a request leaves out, since it came over another protocol;
    None where there is none.
    """
    left_out = {
        message.native.protocol
        for message in request.messages
        if message.native is not None and message.native.protocol != request.protocol
    }
    if not left_out:
        return None
    return (
        f"reasoning that came over {', '.join(sorted(left_out))} is not sent over"
        f" {request.protocol}, which has no form for it"
    )


def neutral_body(body: bytes, protocol: Protocol, prompt: str) -> bytes:
    """Return a request with the settings of another one and another prompt."""
    return dumps_bytes(wire_of(protocol).neutral(loads(body), prompt))


def check_settings(
    name: str, protocol: Protocol, generation: Generation | GenerationConfig
) -> None:
    """Refuse settings that a protocol has no field for.

    Raises:
        ConfigError: It names each, and what to do.
    """
    problems = wire_of(protocol).problems(generation)
    if problems:
        raise ConfigError(
            f"{name} cannot be asked over the {protocol} protocol: {'; '.join(problems)}"
        )


def request_headers(endpoint: EndpointConfig, api_key: str | None) -> dict[str, str]:
    """Return every request's headers; those of an endpoint's settings replace its protocol's.

    Raises:
        ConfigError: The variable of a header is not set.
    """
    wire = wire_of(endpoint.spoken)
    wire.check(endpoint)
    headers = {"Content-Type": "application/json", "User-Agent": f"nel/{__version__}"}
    own_headers = {**endpoint.headers, **secret_headers(endpoint)}
    names = {name.lower() for name in own_headers}
    defaults = {**wire.headers(), **(wire.key_headers(api_key) if api_key else {})}
    headers |= {name: value for name, value in defaults.items() if name.lower() not in names}
    return {**headers, **own_headers}


def secret_headers(endpoint: EndpointConfig) -> Mapping[str, str]:
    """Return the headers whose values are in environment variables.

    Raises:
        ConfigError: A variable is not set.
    """
    return {name: read_secret(variable) or "" for name, variable in endpoint.headers_env.items()}


def sample_headers(request: Request) -> dict[str, str]:
    """Return the headers that name the sample, where the endpoint's settings ask for them."""
    identifier = request.sample_id.encode("ascii", "backslashreplace").decode()
    identifier = "".join(
        char if char.isprintable() else f"\\x{ord(char):02x}" for char in identifier
    )
    return {"X-Nel-Sample-Id": identifier, "X-Nel-Repeat": str(request.repeat)}
