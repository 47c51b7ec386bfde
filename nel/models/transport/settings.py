"""Proxy and TLS settings, from the endpoint's configuration and the environment."""

from __future__ import annotations

import re
import ssl
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from nel.config.schema import EndpointConfig
from nel.errors import ConfigError

_HOST: Final = re.compile(
    r"[0-9A-Za-z_](?:[0-9A-Za-z._-]*[0-9A-Za-z_.])?|[0-9A-Fa-f:.]*[0-9A-Fa-f][0-9A-Fa-f:.]*"
)
"""A name, or an address of either version."""


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment variables (``HTTPS_PROXY``, ``NO_PROXY``, ...) name for
    a URL, or None.

    Raises:
        ConfigError: What the variable holds is not a URL of an HTTP proxy.
    """
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    name = next((name for name in (parts.scheme, "all") if proxies.get(name)), None)
    return None if name is None else checked_proxy(proxies[name], f"{name.upper()}_PROXY")


def checked_proxy(proxy: str, source: str) -> str:
    """Return the URL of a proxy; one without a scheme, ``host:3128``, is one of plain HTTP.

    Args:
        proxy: As it is given; it may hold a password, so it is not repeated.
        source: The variable or the setting that gives it.

    Raises:
        ConfigError: It is not a URL, or one of another kind of proxy.
    """
    url = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(url)
        is_port = parts.port is None or parts.port > 0  # a ValueError above 65,535
        is_url = is_port and bool(_HOST.fullmatch(parts.hostname or ""))
    except ValueError:
        is_url = False
    if not is_url:
        raise ConfigError(
            f"the proxy in {source} is not a URL such as http://host:3128; correct it, or name the"
            " endpoint's host in NO_PROXY"
        )
    if parts.scheme not in ("http", "https"):
        raise ConfigError(f"{source} names a {parts.scheme} proxy; only HTTP proxies can be used")
    return url


def tls_context(endpoint: EndpointConfig) -> ssl.SSLContext:
    """Return a TLS context: the system's authorities or the bundle, and any client certificate.

    Raises:
        ConfigError: A file is missing or contains no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=endpoint.ca_bundle)
        if endpoint.client_certificate is not None:
            context.load_cert_chain(endpoint.client_certificate, endpoint.client_key)
    except (OSError, ssl.SSLError) as error:
        file_names = [
            path
            for path in (endpoint.ca_bundle, endpoint.client_certificate, endpoint.client_key)
            if path
        ]
        raise ConfigError(
            f"cannot use the certificates in {', '.join(file_names)}: {error}; give PEM files"
        ) from error
    context.set_alpn_protocols(["http/1.1"])  # all that the transport speaks
    return context
