"""One HTTP client for one endpoint: sends requests, retries what is worth it, returns a `Response` for each.

It never raises for a fault of the endpoint; the fault is in the response. It knows no benchmark, no score and no file.
Trap: aiohttp's total timeout covers the wait for a free connection too, so the pool is as large as the concurrency.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from nel.config.redaction import redact, redact_url
from nel.config.schema import EndpointConfig
from nel.models.faults import Fault, fault_of_status, malformed
from nel.models.protocols import PATHS, parse_answer
from nel.strictjson import loads
from nel.types import Request, Response, ResponseError
from nel.version import __version__

_CHUNK_BYTES = 64 * 1024
_LISTING_SECONDS = 15.0
"""For the list of models; an endpoint that is slower than that is asked without it."""


@dataclass(slots=True)
class ClientCounters:
    """What the progress line shows; counts attempts, not samples."""

    attempts: int = 0
    retries: int = 0


class Client:
    """The evaluated model behind its endpoint; use as an async context manager."""

    def __init__(
        self,
        endpoint: EndpointConfig,
        *,
        api_key: str | None,
        connections: int,
        counters: ClientCounters | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Prepare a client; nothing is sent before the first call.

        Args:
            endpoint: Where and how to send.
            api_key: Sent as a bearer token; never logged, never part of an error.
            counters: Where attempts and retries are counted.
            connections: Upper bound of open connections; at least the number of concurrent callers.
            jitter: Returns numbers in [0, 1), for the back-off.
        """
        self.endpoint = endpoint
        self.counters = counters or ClientCounters()
        self._api_key = api_key
        self._connections = connections
        self._jitter = jitter
        self._url = f"{endpoint.url}{PATHS[endpoint.protocol]}"
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Client:
        """Open the connection pool."""
        headers = {"Content-Type": "application/json", "User-Agent": f"nel/{__version__}"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        endpoint = self.endpoint
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections),
            timeout=aiohttp.ClientTimeout(
                total=endpoint.total_timeout_seconds,
                sock_connect=endpoint.connect_timeout_seconds,
                sock_read=endpoint.idle_timeout_seconds,
            ),
            headers=headers,
            proxy=proxy_for(endpoint.url),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection pool."""
        if self._session is not None:
            await self._session.close()

    async def complete(self, request: Request, body: bytes, *, stop: asyncio.Event | None = None) -> Response:
        """Return the endpoint's answer, or a response that carries the last fault after all attempts.

        Args:
            request: What the body was made from; names the sample for the opt-in headers.
            body: What is sent, as `build_body` made it.
            stop: Once set, nothing is tried again; waits between attempts end at once.
        """
        headers = self._sample_headers(request)
        attempt = 0
        while True:
            attempt += 1
            self.counters.attempts += 1
            outcome = await self._attempt(body, headers)
            if isinstance(outcome, Response):
                return replace(outcome, attempts=attempt) if attempt > 1 else outcome
            wait = self._wait_before_retry(outcome, attempt)
            if wait is None or await _stopped_within(wait, stop):
                return self._failed(outcome, attempt)
            self.counters.retries += 1

    async def list_models(self) -> list[str] | Fault | None:
        """Return the names that ``GET /models`` lists, None where the endpoint has no usable list, or a fault."""
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                found = await self._fetch("GET", f"{self.endpoint.url}/models", None, {})
        except TimeoutError:
            return None
        if isinstance(found, Fault):
            return found
        try:
            payload = loads(found[0])
            return [str(model["id"]) for model in payload["data"]]
        except (ValueError, KeyError, TypeError):
            return None

    def describe(self, fault: Fault) -> str:
        """Return a fault's message with every trace of the key removed."""
        return redact(fault.message, self._api_key)

    async def _attempt(self, body: bytes, headers: dict[str, str]) -> Response | Fault:
        fetched = await self._fetch("POST", self._url, body, headers)
        if isinstance(fetched, Fault):
            return fetched
        raw, seconds = fetched
        try:
            payload = loads(raw)
        except ValueError as error:
            return malformed(f"the body is not JSON ({error}): {raw[:80]!r}")
        answer = parse_answer(self.endpoint.protocol, payload)
        return replace(answer, latency_seconds=seconds, attempts=1) if isinstance(answer, Response) else answer

    async def _fetch(
        self, method: str, url: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[bytes, float] | Fault:
        assert self._session is not None, "use the client as a context manager"  # noqa: S101 - a bug of ours
        started = time.monotonic()
        try:
            async with self._session.request(
                method, url, data=body, headers=headers, allow_redirects=False
            ) as response:
                raw = self._without_key(await self._read(response))
                if response.status == 200:  # noqa: PLR2004 - HTTP OK
                    return raw, time.monotonic() - started
                if 300 <= response.status < 400:  # noqa: PLR2004 - HTTP redirects
                    return _redirected(response)
                return fault_of_status(response.status, response.headers, raw)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            return fault_of_exception(error)

    def _without_key(self, raw: bytes) -> bytes:
        """Return a body in which the key, should the endpoint echo it, is replaced before anything reads it."""
        if not self._api_key or self._api_key.encode() not in raw:
            return raw
        return redact(raw.decode("utf-8", "surrogateescape"), self._api_key).encode("utf-8", "surrogateescape")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self.endpoint.response_bytes_max
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            size += len(chunk)
            if size > limit:
                raise ResponseTooLarge(f"the response is larger than {limit} bytes")
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _wait_before_retry(self, fault: Fault, attempt: int) -> float | None:
        endpoint = self.endpoint
        if not fault.retryable or attempt >= endpoint.attempts_max:
            return None
        ceiling: float = min(endpoint.backoff_seconds_max, endpoint.backoff_seconds * 2 ** (attempt - 1))
        if fault.wait_seconds is None:
            return self._jitter() * ceiling
        if fault.wait_seconds > endpoint.retry_after_seconds_max:
            return None
        return max(fault.wait_seconds * (1 + 0.25 * self._jitter()), self._jitter() * ceiling)

    def _failed(self, fault: Fault, attempts: int) -> Response:
        error = ResponseError(
            kind=fault.kind,
            message=self.describe(fault),
            status=fault.status,
            model_failure=fault.model_failure,
        )
        return Response(attempts=attempts, error=error)

    def _sample_headers(self, request: Request) -> dict[str, str]:
        if not self.endpoint.send_sample_id:
            return {}
        identifier = request.sample_id.encode("ascii", "backslashreplace").decode()
        identifier = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in identifier)
        return {"X-Nel-Sample-Id": identifier, "X-Nel-Repeat": str(request.repeat)}


async def _stopped_within(seconds: float, stop: asyncio.Event | None) -> bool:
    """Wait, and return whether the stop came first."""
    if stop is None:
        await asyncio.sleep(seconds)
        return False
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _redirected(response: aiohttp.ClientResponse) -> Fault:
    where = redact_url(response.headers.get("Location", "?"))[:200]
    message = f"HTTP {response.status}: redirected to {where}; redirects are not followed, give the final URL"
    return Fault(kind="not_found", message=message, retryable=False, status=response.status)


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


class ResponseTooLarge(ValueError):
    """A body went over the configured size."""


def fault_of_exception(error: Exception) -> Fault:
    """Return what an exception of the transport means; every one that `Client` catches is mapped."""
    text = str(error) or type(error).__name__
    if isinstance(error, ResponseTooLarge):
        return Fault(kind="too_large", message=text, retryable=False)
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError)):
        return Fault(kind="tls", message=f"TLS: {text}", retryable=False)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Fault(kind="connect_timeout", message="no connection within the connect timeout", retryable=True)
    if isinstance(error, aiohttp.SocketTimeoutError):
        return Fault(kind="idle_timeout", message="silence for longer than the idle timeout", retryable=True)
    if isinstance(error, asyncio.TimeoutError):
        return Fault(kind="timeout", message="not finished within the total timeout", retryable=True)
    if isinstance(error, aiohttp.InvalidURL):
        return Fault(kind="not_found", message=f"invalid URL: {text}", retryable=False)
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, ValueError)):
        return Fault(kind="malformed", message=f"unreadable response: {text}", retryable=True)
    return Fault(kind="connection", message=text, retryable=True)
