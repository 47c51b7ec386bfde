"""HTTP: one request out, one body in, under named deadlines and a size limit. Knows no protocol and retries nothing.

Trap: aiohttp would unpack a whole compressed chunk at once, so bodies are unpacked here, a bounded piece at a time.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from nel.config.redaction import redact_url
from nel.config.schema import EndpointConfig
from nel.errors import ConfigError
from nel.models.faults import Fault
from nel.models.streams import EventStream

_CHUNK_BYTES: Final = 64 * 1024
_HUNG_UP: Final = (errno.ECONNRESET, errno.EPIPE)
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_WINDOW_BITS: Final = {"gzip": 47, "x-gzip": 47, "deflate": 47}
"""For zlib: the header, gzip's or zlib's, is recognised."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    """Empty where the body was read as a stream."""
    seconds: float
    """From sending to the last byte."""
    streamed: bool = False
    started: float = 0.0
    """When it was sent, on the monotonic clock."""


class Transport(Protocol):
    """Sends one request."""

    async def fetch(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], stream: EventStream | None = None
    ) -> Fetched | Fault:
        """Return what came back, or the fault of the transport.

        Args:
            stream: Is fed the body where the endpoint sends events.
        """
        ...

    async def __aenter__(self) -> Transport:
        """Open the connection pool."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        ...


class HttpTransport:
    """Sends over aiohttp; use as an async context manager."""

    def __init__(self, endpoint: EndpointConfig, headers: Mapping[str, str], *, connections: int) -> None:
        """Prepare; nothing is opened yet.

        Args:
            endpoint: Deadlines, limits, proxy and certificates.
            headers: Sent with every request.
            connections: Upper bound of open connections; at least the number of requests in flight.

        Raises:
            ConfigError: A certificate file cannot be used.
        """
        self._endpoint = endpoint
        self._headers = {"Accept-Encoding": "gzip, deflate", **headers}
        self._connections = connections
        self._tls = tls_context(endpoint)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> HttpTransport:
        """Open the connection pool."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._tls),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._endpoint.connect_timeout_seconds),
            headers=self._headers,
            proxy=self._endpoint.proxy or proxy_for(self._endpoint.url),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trace_configs=[_noting_reuse()],
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection pool."""
        if self._session is not None:
            await self._session.close()

    async def fetch(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], stream: EventStream | None = None
    ) -> Fetched | Fault:
        """Return what came back, or the fault of the transport."""
        assert self._session is not None, "use the transport as a context manager"  # noqa: S101 - a bug of ours
        endpoint = self._endpoint
        started = time.monotonic()
        connection = {"reused": False}
        ends = asyncio.get_running_loop().time() + endpoint.total_timeout_seconds
        kind, allowed = "first_byte_timeout", endpoint.first_byte_timeout_seconds
        try:
            async with asyncio.timeout(min(allowed, endpoint.total_timeout_seconds)) as deadline:
                async with self._session.request(
                    method, url, data=body, headers=headers, allow_redirects=False, trace_request_ctx=connection
                ) as response:
                    kind, allowed = "idle_timeout", endpoint.idle_timeout_seconds
                    silence = _Silence(deadline, allowed, ends)
                    if not response.content.is_eof():  # small answers are all here with their head
                        silence.broken()
                    if response.status in _REDIRECTS:
                        return _redirected(response)
                    streamed = stream is not None and response.status == _OK and _is_event_stream(response)
                    read = await self._read(response, silence, stream if streamed else None)
                    return Fetched(
                        response.status, response.headers, read, time.monotonic() - started, streamed, started
                    )
        except aiohttp.ConnectionTimeoutError:
            message = f"no connection within {endpoint.connect_timeout_seconds:g} s"
            return Fault(kind="connect_timeout", message=message, retryable=True)
        except TimeoutError:
            return self._too_late(kind, allowed, ends)
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            fault = fault_of_exception(error)
            if fault.hung_up:
                no_answer = kind == "first_byte_timeout"
                return replace(fault, hung_up=no_answer, on_reused=no_answer and connection["reused"])
            return fault

    def _too_late(self, kind: str, allowed: float, ends: float) -> Fault:
        if asyncio.get_running_loop().time() >= ends - 0.001:
            message = f"not finished within the total timeout of {self._endpoint.total_timeout_seconds:g} s"
            return Fault(kind="timeout", message=message, retryable=True)
        what = "no answer began" if kind == "first_byte_timeout" else "silence in the middle of an answer"
        return Fault(kind=kind, message=f"{what} within {allowed:g} s", retryable=True)

    async def _read(self, response: aiohttp.ClientResponse, silence: _Silence, stream: EventStream | None) -> bytes:
        limit = self._endpoint.response_bytes_max
        unpack = _Unpacker(response.headers.get("Content-Encoding", ""), limit)
        chunks: list[bytes] = []
        size = 0
        async for packed in response.content.iter_chunked(_CHUNK_BYTES):
            chunk = unpack(packed)
            size += len(chunk)
            if size > limit:
                raise ResponseTooLarge(f"the response is larger than {limit} bytes")
            if stream is None:
                chunks.append(chunk)
                if not response.content.is_eof():
                    silence.broken()
            elif stream.feed(chunk, time.monotonic()):
                silence.broken()
            if stream is not None and stream.is_finished:
                break
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)


class _Silence:
    """Moves a deadline on whenever something is heard, up to the end of all time allowed."""

    def __init__(self, deadline: asyncio.Timeout, allowed: float, ends: float) -> None:
        self._deadline, self._allowed, self._ends = deadline, allowed, ends
        self._now = asyncio.get_running_loop().time

    def broken(self) -> None:
        self._deadline.reschedule(min(self._now() + self._allowed, self._ends))


class _Unpacker:
    """Undoes a content encoding, up to one byte more than is allowed in all."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._limit = limit
        name = encoding.strip().lower()
        if name in ("", "identity"):
            self._zlib: Any = None
        elif name in _WINDOW_BITS:
            self._zlib = zlib.decompressobj(_WINDOW_BITS[name])
        else:
            raise ValueError(f"the body has the content encoding {name[:40]!r}, which was not asked for")

    def __call__(self, packed: bytes) -> bytes:
        if self._zlib is None:
            return packed
        unpacked: bytes = self._zlib.decompress(packed, self._limit + 1)
        self._limit -= len(unpacked)
        if self._limit < 0:
            raise ResponseTooLarge("the response is larger than allowed once unpacked")
        return unpacked


def _noting_reuse() -> aiohttp.TraceConfig:
    """Return what marks a request whose connection had served another one before."""

    async def reused(_session: aiohttp.ClientSession, context: Any, _params: Any) -> None:
        context.trace_request_ctx["reused"] = True

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(reused)
    return tracing


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for a URL, or None.

    Looked up once a run: aiohttp's own ``trust_env`` reads the environment and the netrc file again for each request,
    which costs more than half of the throughput.
    """
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def tls_context(endpoint: EndpointConfig) -> ssl.SSLContext | bool:
    """Return how certificates are checked: as the system does, or with the bundle and the client certificate given.

    Raises:
        ConfigError: A file is missing or holds no certificate.
    """
    if endpoint.ca_bundle is None and endpoint.client_certificate is None:
        return True
    try:
        context = ssl.create_default_context(cafile=endpoint.ca_bundle)
        if endpoint.client_certificate is not None:
            context.load_cert_chain(endpoint.client_certificate, endpoint.client_key)
    except (OSError, ssl.SSLError) as error:
        named = [path for path in (endpoint.ca_bundle, endpoint.client_certificate, endpoint.client_key) if path]
        raise ConfigError(f"cannot use the certificates in {', '.join(named)}: {error}; give PEM files") from error
    return context


class ResponseTooLarge(ValueError):
    """A body went over the configured size."""


def fault_of_exception(error: Exception) -> Fault:
    """Return what an exception of the transport means; every one that `HttpTransport` catches is mapped."""
    text = str(error) or type(error).__name__
    if isinstance(error, ResponseTooLarge):
        return Fault(kind="too_large", message=text, retryable=False)
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError)):
        return Fault(kind="tls", message=f"TLS: {text}", retryable=False)
    if isinstance(error, aiohttp.InvalidURL):
        return Fault(kind="not_found", message=f"invalid URL: {text}", retryable=False)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return Fault(kind="connection", message="the endpoint hung up before it answered", retryable=True, hung_up=True)
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, ValueError, zlib.error)):
        return Fault(kind="malformed", message=f"unreadable response: {text}", retryable=True)
    never_connected = isinstance(error, aiohttp.ClientConnectorError)
    hung_up = not never_connected and isinstance(error, OSError) and error.errno in _HUNG_UP
    return Fault(kind="connection", message=text, retryable=True, never_connected=never_connected, hung_up=hung_up)


def _is_event_stream(response: aiohttp.ClientResponse) -> bool:
    return response.headers.get("Content-Type", "").lower().startswith("text/event-stream")


def _redirected(response: aiohttp.ClientResponse) -> Fault:
    where = redact_url(response.headers.get("Location", "?"))[:200]
    message = f"HTTP {response.status}: redirected to {where}; redirects are not followed, give the final URL"
    return Fault(kind="not_found", message=message, retryable=False, status=response.status)
