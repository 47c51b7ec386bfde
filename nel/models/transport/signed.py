"""Sends requests of which each attempt has headers of its own, such as a signature that holds the
time.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from types import TracebackType

from nel.config.schema import EndpointConfig
from nel.errors import NelError
from nel.models.faults import UNSIGNED, Fault
from nel.models.streams import AnswerStream
from nel.models.transport.base import Fetched, Transport
from nel.models.transport.direct import DirectTransport
from nel.models.wire.base import Wire

_LOG = logging.getLogger(__name__)


class SignedTransport:
    """Asks a protocol for the headers of each attempt, and sends through another transport."""

    def __init__(
        self, inner: Transport, wire: Wire, endpoint: EndpointConfig, headers: Mapping[str, str]
    ) -> None:
        """Prepare; nothing is signed before it is sent.

        Args:
            inner: Sends.
            wire: Signs.
            endpoint: Where to.
            headers: That every request has.
        """
        self._inner = inner
        self._wire = wire
        self._endpoint = endpoint
        self._headers = headers

    async def __aenter__(self) -> SignedTransport:
        """Open the connection pool."""
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self._inner.__aexit__(kind, error, trace)

    @property
    def unasked(self) -> Collection[int]:
        """Return the numbers of the connections that may be out of step."""
        return self._inner.unasked if isinstance(self._inner, DirectTransport) else ()

    async def fetch(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        stream: AnswerStream | None = None,
    ) -> Fetched | Fault:
        """Return the response, or the fault that prevented one."""
        try:
            signed = await self._wire.sign(
                self._endpoint, method, url, {**self._headers, **headers}, body or b""
            )
        except NelError as error:
            return Fault(kind=UNSIGNED, message=str(error), retryable=False)
        except Exception as error:  # noqa: BLE001 - a package's own code
            _LOG.exception("a request could not be signed")
            message = (
                f"the client {self._wire.name} could not sign a request ({type(error).__name__}:"
                f" {error})"
            )
            return Fault(kind=UNSIGNED, message=message, retryable=False)
        return await self._inner.fetch(method, url, body, {**headers, **signed}, stream)
