"""HTTP transport: sends one request and reads one body, with named deadlines and a size limit. Does
not retry.
"""

from collections.abc import Mapping

from nel.config.schema import EndpointConfig
from nel.models.transport.base import Fetched, Transport
from nel.models.transport.direct import DirectTransport
from nel.models.transport.faults import ResponseTooLarge, fault_of_exception
from nel.models.transport.settings import checked_proxy, proxy_for

__all__ = [
    "DirectTransport",
    "Fetched",
    "ResponseTooLarge",
    "Transport",
    "fault_of_exception",
    "proxy_for",
    "transport_for",
]


def transport_for(
    endpoint: EndpointConfig,
    headers: Mapping[str, str],
    *,
    connections: int,
) -> Transport:
    """Return the transport of an endpoint: direct, or through the proxy named by its settings or
    the environment.

    Args:
        endpoint: Deadlines, limits, proxy and certificates.
        headers: Sent with every request.
        connections: Largest number of open connections; at least the number of requests in flight.

    Raises:
        ConfigError: A certificate file, a header or the proxy cannot be used.
    """
    proxy = (
        checked_proxy(endpoint.proxy, "endpoint.proxy")
        if endpoint.proxy
        else proxy_for(endpoint.url)
    )
    if proxy is None:
        return DirectTransport(endpoint, headers)
    from nel.models.transport.proxied import (  # noqa: PLC0415 - aiohttp is slow to import
        ProxiedTransport,
    )

    return ProxiedTransport(endpoint, headers, proxy=proxy, connections=connections)
