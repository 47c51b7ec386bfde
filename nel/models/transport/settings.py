"""Proxy and TLS settings, from the endpoint's configuration and the environment."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from nel.config.schema import EndpointConfig
from nel.errors import ConfigError


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment variables (``HTTPS_PROXY``, ``NO_PROXY``, ...) name for a URL, or None."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def tls_context(endpoint: EndpointConfig) -> ssl.SSLContext:
    """Return a TLS context with the system's authorities or the configured bundle, and the client certificate if any.

    Raises:
        ConfigError: A file is missing or contains no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=endpoint.ca_bundle)
        if endpoint.client_certificate is not None:
            context.load_cert_chain(endpoint.client_certificate, endpoint.client_key)
    except (OSError, ssl.SSLError) as error:
        named = [path for path in (endpoint.ca_bundle, endpoint.client_certificate, endpoint.client_key) if path]
        raise ConfigError(f"cannot use the certificates in {', '.join(named)}: {error}; give PEM files") from error
    context.set_alpn_protocols(["http/1.1"])
    return context
