"""HTTP transport: one request, one body, with named deadlines and a size limit. Does not retry."""

from collections.abc import Mapping

from nel.config.schema import EndpointConfig
from nel.models.transport.base import Fetched, Transport
from nel.models.transport.faults import ResponseTooLarge, fault_of_exception
from nel.models.transport.http import HttpTransport
from nel.models.transport.settings import checked_proxy, proxy_for

__all__ = [
    "Fetched",
    "HttpTransport",
    "ResponseTooLarge",
    "Transport",
    "fault_of_exception",
    "proxy_for",
    "transport_for",
]


def transport_for(endpoint: EndpointConfig, headers: Mapping[str, str]) -> Transport:
    """Return an endpoint's transport: direct, or through its own or the environment's proxy.

    Args:
        endpoint: Deadlines, limits, proxy and certificates.
        headers: Sent with every request.

    Raises:
        ConfigError: A certificate file, a header or the proxy cannot be used.
    """
    proxy = (
        checked_proxy(endpoint.proxy, "endpoint.proxy")
        if endpoint.proxy
        else proxy_for(endpoint.url)
    )
    return HttpTransport(endpoint, headers, proxy=proxy)
