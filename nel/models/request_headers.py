"""The headers of a request: key, configured ones, and the sample's id where it is asked for. Sends
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from nel.config.redaction import read_secret
from nel.config.schema import EndpointConfig
from nel.models.wire.registry import plain_headers
from nel.types import Request
from nel.version import __version__


def request_headers(endpoint: EndpointConfig, api_key: str | None) -> dict[str, str]:
    """Return the headers that every request to an endpoint has."""
    headers = {"Content-Type": "application/json", "User-Agent": f"nel/{__version__}"}
    headers |= plain_headers(endpoint, api_key)
    return {**headers, **endpoint.headers, **secret_headers(endpoint)}


def secret_headers(endpoint: EndpointConfig) -> Mapping[str, str]:
    """Return the headers whose values are in environment variables.

    Raises:
        ConfigError: A variable is not set.
    """
    return {name: read_secret(variable) or "" for name, variable in endpoint.headers_env.items()}


def sample_headers(endpoint: EndpointConfig, request: Request) -> dict[str, str]:
    """Return the headers that name the sample, where the endpoint is to be told."""
    if not endpoint.send_sample_id:
        return {}
    identifier = request.sample_id.encode("ascii", "backslashreplace").decode()
    identifier = "".join(
        char if char.isprintable() else f"\\x{ord(char):02x}" for char in identifier
    )
    return {"X-Nel-Sample-Id": identifier, "X-Nel-Repeat": str(request.repeat)}
