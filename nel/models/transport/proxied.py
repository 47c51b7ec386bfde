"""Transport through a proxy, over aiohttp.

Note: aiohttp decompresses a whole chunk at once, without a limit, so bodies are decompressed here
in bounded pieces.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace, TracebackType
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from nel.config.schema import EndpointConfig
from nel.models.faults import ANSWERED, Fault
from nel.models.streams import AnswerStream
from nel.models.transport.base import Fetched, Transport, as_sent
from nel.models.transport.faults import (
    REDIRECTS,
    ResponseTooLarge,
    deadline_exceeded,
    fault_of_exception,
    hung_up,
    redirected,
    tls_fault,
    unreadable_response,
)
from nel.models.transport.settings import tls_context
from nel.models.transport.unpacking import ACCEPTED, unpacker

_CHUNK_BYTES: Final = 64 * 1024


class ProxiedTransport(Transport):
    """Sends through a proxy; use as an async context manager."""

    def __init__(
        self, endpoint: EndpointConfig, headers: Mapping[str, str], *, proxy: str, connections: int
    ) -> None:
        """Prepare; no connection is opened yet.

        Args:
            endpoint: Deadlines, limits and certificates.
            headers: Sent with every request.
            proxy: URL of the proxy.
            connections: Largest number of open connections; at least the number of requests in
                flight.

        Raises:
            ConfigError: A certificate file cannot be used.
        """
        self._endpoint = endpoint
        self._headers = {"Accept-Encoding": ACCEPTED, **headers}
        self._proxy = proxy
        self._connections = connections
        self._tls = tls_context(endpoint)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> ProxiedTransport:
        """Open the connection pool."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._tls),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._endpoint.connect_seconds),
            headers=self._headers,
            proxy=self._proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trace_configs=[_trace_reuse()],
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection pool."""
        if self._session is not None:
            await self._session.close()

    async def fetch(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        stream: AnswerStream | None = None,
    ) -> Fetched | Fault:
        """Return the response, or the fault that prevented one."""
        assert self._session is not None, "use the transport as a context manager"  # noqa: S101 - a bug of ours
        endpoint = self._endpoint
        started = time.monotonic()
        connection = {"reused": False}
        ends = asyncio.get_running_loop().time() + endpoint.total_timeout_seconds
        kind, allowed = "first_byte_timeout", endpoint.first_byte_seconds
        try:
            async with asyncio.timeout(allowed) as deadline:
                async with self._session.request(
                    method,
                    as_sent(url),
                    data=body,
                    headers=headers,
                    allow_redirects=False,
                    trace_request_ctx=connection,
                ) as response:
                    kind, allowed = "idle_timeout", endpoint.idle_timeout_seconds
                    idle = _IdleTimeout(deadline, allowed, ends)
                    if not response.content.is_eof():  # a small body has arrived with the head
                        idle.restart()
                    if response.status in REDIRECTS:
                        return redirected(response.status, response.headers.get("Location"))
                    streamed = _is_stream(response, stream)
                    read = await self._read(response, idle, stream if streamed else None)
                    return Fetched(
                        response.status,
                        response.headers,
                        read,
                        time.monotonic() - started,
                        streamed,
                        started,
                    )
        except aiohttp.ConnectionTimeoutError:
            return self._unreachable()
        except TimeoutError:
            if asyncio.get_running_loop().time() >= ends - 0.001:
                kind, allowed = "timeout", endpoint.total_timeout_seconds
            return fault_of_exception(deadline_exceeded(kind, allowed))
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            fault = fault_through_proxy(error)
            no_answer = fault.hung_up and kind == "first_byte_timeout"
            return replace(fault, hung_up=no_answer, on_reused=no_answer and connection["reused"])

    def _unreachable(self) -> Fault:
        """Return the fault of a proxy that does not take a connection in time."""
        seconds = self._endpoint.connect_seconds
        fault = fault_of_exception(deadline_exceeded("connect_timeout", seconds))
        return replace(
            fault, message=f"the proxy {urlsplit(self._proxy).hostname}: {fault.message}"
        )

    async def _read(
        self, response: aiohttp.ClientResponse, idle: _IdleTimeout, stream: AnswerStream | None
    ) -> bytes:
        limit = self._endpoint.response_bytes_max
        unpack = unpacker(response.headers.get("Content-Encoding", ""), limit)
        chunks: list[bytes] = []
        size = 0
        async for packed in response.content.iter_chunked(_CHUNK_BYTES):
            chunk = packed if unpack is None else unpack(packed)
            size += len(chunk)
            if size > limit:
                raise ResponseTooLarge(f"the response is larger than {limit} bytes")
            if stream is None:
                chunks.append(chunk)
                if not response.content.is_eof():
                    idle.restart()
            elif stream.feed(chunk, time.monotonic()):
                idle.restart()
            if stream is not None and stream.is_finished:
                break
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)


class _IdleTimeout:
    """Moves a deadline whenever data arrives, at most to the end of the total timeout."""

    def __init__(self, deadline: asyncio.Timeout, allowed: float, ends: float) -> None:
        self._deadline, self._allowed, self._ends = deadline, allowed, ends
        self._now = asyncio.get_running_loop().time

    def restart(self) -> None:
        self._deadline.reschedule(min(self._now() + self._allowed, self._ends))


def _trace_reuse() -> aiohttp.TraceConfig:
    """Return a trace that marks a request whose connection has carried another one before."""

    async def mark_reused(
        _session: aiohttp.ClientSession,
        context: SimpleNamespace,
        _params: aiohttp.TraceConnectionReuseconnParams,
    ) -> None:
        context.trace_request_ctx["reused"] = True

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(mark_reused)
    return tracing


def _is_stream(response: aiohttp.ClientResponse, stream: AnswerStream | None) -> bool:
    """Return whether an answer arrives as the stream that is expected."""
    if stream is None or response.status not in ANSWERED:
        return False
    return response.headers.get("Content-Type", "").lower().startswith(stream.content_type)


def fault_through_proxy(error: Exception) -> Fault:
    """Return the fault of an exception of aiohttp, or of any other that a transport may catch."""
    if isinstance(
        error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError)
    ):
        return tls_fault(str(error))
    if isinstance(error, aiohttp.ClientHttpProxyError):
        message = f"the proxy refused the connection: HTTP {error.status} {error.message}"
        return Fault(kind="connection", message=message, retryable=True, never_connected=True)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        message = f"the proxy {error.host}:{error.port} takes no connection"
        return Fault(kind="connection", message=message, retryable=True, never_connected=True)
    if isinstance(error, aiohttp.ClientConnectorDNSError):  # the proxy resolves the endpoint's name
        message = (
            f"the proxy {error.host}:{error.port} cannot be found:"
            f" {error.strerror or error.os_error}"
        )
        return Fault(kind="connection", message=message, retryable=True, never_connected=True)
    if isinstance(error, aiohttp.InvalidURL):
        return Fault(kind="not_found", message=f"invalid URL: {error}", retryable=False)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return hung_up()
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError)):
        return unreadable_response(str(error) or type(error).__name__)
    fault = fault_of_exception(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return replace(fault, never_connected=True, hung_up=False)
    return fault
