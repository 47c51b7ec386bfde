"""OPENAI_BASE_URL and OPENAI_API_KEY, as the SDKs of OpenAI read them.

The key is looked up where a request is about to be sent, for the host that it goes to: a run that
moves to another host does not take it along. It goes to the origin of OPENAI_BASE_URL and to
OpenAI's own hosts, and to no other.
"""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import urlsplit

from nel.config.schema import EndpointConfig
from nel.config.schema.endpoint import SECRET_HEADERS

BASE_URL: Final = "OPENAI_BASE_URL"
KEY: Final = "OPENAI_API_KEY"
_OWN_HOST: Final = "api.openai.com"
_PORTS: Final = {"http": 80, "https": 443}


def base_url() -> str | None:
    """Return the URL in OPENAI_BASE_URL; None where it is not set."""
    return os.environ.get(BASE_URL, "").strip() or None


def key_variable(endpoint: EndpointConfig) -> str | None:
    """Return the variable that holds an endpoint's key: its own, else OPENAI_API_KEY for its hosts.

    An endpoint with a header that carries a key needs no variable.
    """
    if endpoint.api_key_env is not None:
        return endpoint.api_key_env
    has_header = any(name.lower() in SECRET_HEADERS for name in endpoint.headers_env)
    if has_header or not os.environ.get(KEY, "").strip():
        return None
    return KEY if _is_for(endpoint.url) else None


def taken_from_environment(endpoint: EndpointConfig) -> list[str]:
    """Return in words what the environment, and not the settings, decides of an endpoint."""
    url = base_url()
    sources = []
    if url is not None and url.partition("?")[0].rstrip("/") == endpoint.url:
        sources.append(f"its URL is that of {BASE_URL}")
    if endpoint.api_key_env is None and key_variable(endpoint) is not None:
        sources.append(
            f"the key in {KEY} is sent to {urlsplit(endpoint.url).hostname} and to no other host"
        )
    return sources


def _is_for(url: str) -> bool:
    """Return whether OPENAI_API_KEY may go to a URL."""
    scheme, host, port = _origin(url)
    # OpenAI's own: api.openai.com, and hosts below it such as eu.api.openai.com.
    if (
        scheme == "https"
        and port == _PORTS["https"]
        and (host == _OWN_HOST or host.endswith(f".{_OWN_HOST}"))
    ):
        return True
    configured = base_url()
    return configured is not None and _origin(configured) == (scheme, host, port)


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", "", None
