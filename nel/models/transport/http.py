"""The transport: HTTP/1.1 over pooled connections, straight or through a proxy.

It takes a quarter of the CPU time of a general HTTP client, which is what limits the throughput of
a run; the figures are in docs/explanation/libraries.md. Redirects, cookies and automatic retries
are left out on purpose.
"""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade
from yarl import URL

from nel.config.schema import EndpointConfig
from nel.config.schema.endpoint import FRAMING_HEADERS
from nel.errors import ConfigError
from nel.models.faults import Fault
from nel.models.streams import AnswerStream
from nel.models.transport.base import Carried, Fetched, Transport, as_sent
from nel.models.transport.faults import (
    REDIRECTS,
    ConnectionDropped,
    fault_of_exception,
    redirect_fault,
)
from nel.models.transport.pool import ConnectionPool
from nel.models.transport.settings import tls_context
from nel.models.transport.unpacking import ACCEPTED

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110, 5.6.2."""
_VALUE_FORBIDS: Final = re.compile(r"[\x00\r\n]")


class HttpTransport(Transport):
    """Sends over its own connections; use as an async context manager."""

    def __init__(
        self, endpoint: EndpointConfig, headers: Mapping[str, str], *, proxy: str | None = None
    ) -> None:
        """Prepare; no connection is opened yet.

        Args:
            endpoint: Deadlines, limits and certificates.
            headers: Sent with every request.
            proxy: URL of the proxy.

        Raises:
            ConfigError: A certificate file or a header cannot be used.
        """
        self._origin = URL(endpoint.url)
        self._proxy = None if proxy is None else URL(proxy)
        self._headers = _check_headers({"Accept": "*/*", "Accept-Encoding": ACCEPTED, **headers})
        names_certificates = (
            endpoint.ca_bundle is not None or endpoint.client_certificate is not None
        )
        schemes = (self._origin.scheme, self._proxy.scheme if self._proxy else "")
        tls = tls_context(endpoint) if "https" in schemes or names_certificates else None
        self._tls, self._proxy_tls = (tls if scheme == "https" else None for scheme in schemes)
        if self._proxy is not None and self._tls is None:  # else the tunnel says it
            from nel.models.transport.proxy import authorization  # noqa: PLC0415 - few are behind a proxy

            self._headers |= authorization(self._proxy)
        self._endpoint = endpoint
        self._heads: dict[tuple[str, ...], bytes] = {}
        """By method, URL and the names of a request's own headers, which replace common ones."""
        self._pool: ConnectionPool | None = None

    async def __aenter__(self) -> HttpTransport:
        """Create the connection pool."""
        self._pool = ConnectionPool(
            self._origin,
            self._tls,
            self._endpoint,
            proxy=self._proxy,
            proxy_tls=self._proxy_tls,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections, and run the event loop once so that they end."""
        if self._pool is not None:
            self._pool.close()
            await asyncio.sleep(0)

    @property
    def unasked(self) -> Collection[int]:
        """Return the numbers of the connections that may be out of step."""
        return () if self._pool is None else self._pool.unasked

    async def fetch(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        stream: AnswerStream | None = None,
    ) -> Fetched | Fault:
        """Return the response, or the fault that prevented one."""
        pool = self._pool
        assert pool is not None, "use the transport as a context manager"  # noqa: S101 - a bug of ours
        # Deadlines are on the loop's clock, measured times on the monotonic one.
        started = time.monotonic()
        ends = pool.loop.time() + self._endpoint.total_timeout_seconds
        reused = False
        try:
            request = self._request(method, url, body, headers)
            connection = await pool.acquire()
            reused = connection.has_served
            try:
                content = await connection.exchange(request, ends, stream)
                carried = Carried(connection.number, is_first=connection.n_carried == 0)
                connection.n_carried += 1
            finally:
                pool.release(connection)
        except (OSError, ValueError, zlib.error, HttpParserError, HttpParserUpgrade) as error:
            fault = fault_of_exception(error)
            # A reused connection that is dropped before a response is the race with a server that
            # closes idle connections.
            if reused and isinstance(error, ConnectionDropped):
                return replace(fault, on_reused=True)
            return fault
        if connection.status in REDIRECTS:
            return redirect_fault(connection.status, connection.headers.get("Location"))
        return Fetched(
            connection.status,
            connection.headers,
            content,
            time.monotonic() - started,
            connection.streamed,
            started,
            carried,
        )

    def _request(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> bytes:
        head = self._heads.get((method, url, *headers))
        if head is None:
            head = self._heads[method, url, *headers] = self._head(method, url, headers)
        for name, value in headers.items():
            if _VALUE_FORBIDS.search(value):
                raise ValueError(f"the header {name} contains a line break")
        header_block = "".join([f"{name}: {value}\r\n" for name, value in headers.items()]).encode(
            "utf-8", "surrogateescape"
        )
        if body is None:
            return b"%b%b\r\n" % (head, header_block)
        return b"%b%bContent-Length: %d\r\n\r\n%b" % (head, header_block, len(body), body)

    def _head(self, method: str, url: str, own_headers: Mapping[str, str]) -> bytes:
        """Return the request line and a URL's common headers, without those in ``own_headers``."""
        target = as_sent(url)
        host = target.raw_host or ""
        host = f"[{host}]" if ":" in host else host  # an address of IPv6
        port = "" if target.is_default_port() else f":{target.port}"
        replaced = {name.lower() for name in own_headers}
        # A proxy reads the whole URL (RFC 9112, 3.2.2), unless it only carries a tunnel.
        is_absolute = self._proxy is not None and self._tls is None
        lines = [f"{method} {target if is_absolute else target.raw_path_qs} HTTP/1.1"]
        if not any(name.lower() == "host" for name in self._headers):
            lines.append(f"Host: {host}{port}")
        lines += [
            f"{name}: {value}"
            for name, value in self._headers.items()
            if name.lower() not in replaced
        ]
        return "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape")


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or name.lower() in FRAMING_HEADERS:
            raise ConfigError(f"endpoint.headers: {name!r} cannot be set as a header; remove it")
        if _VALUE_FORBIDS.search(value):
            raise ConfigError(
                f"endpoint.headers: the value of {name} contains a line break; remove it"
            )
    return dict(headers)
