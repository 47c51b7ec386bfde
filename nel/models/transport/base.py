"""The interface of a transport, and its result."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Final, Protocol

from yarl import URL

from nel.models.faults import Fault
from nel.models.streams import AnswerStream
from nel.types import value_class

_WRITTEN_OUT: Final = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
"""A URL of which nothing has to be quoted."""


def as_sent(url: str) -> URL:
    """Return a URL; one that is written out stays as it is, since a signature may cover it."""
    return URL(url, encoded=_WRITTEN_OUT.fullmatch(url) is not None)


@value_class()
class Carried:
    """Where a response came from, should its connection turn out to be out of step."""

    connection: int
    """Number of the connection within its transport."""
    is_first: bool
    """Whether it was the first on its connection; no earlier request can have caused it."""


@value_class()
class Fetched:
    """A response, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Lookup ignores case."""
    body: bytes
    """Empty if the body was fed to a stream."""
    seconds: float
    """From sending the request to the last byte, or to the last event of a stream."""
    streamed: bool = False
    started: float = 0.0
    """When the request was sent, on the monotonic clock."""
    carried: Carried | None = None
    """None where the transport does not watch its connections."""


class Transport(Protocol):
    """Sends one request."""

    @property
    def unasked(self) -> Collection[int]:
        """Return the numbers of the connections that may be out of step."""
        return ()

    async def fetch(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        stream: AnswerStream | None = None,
    ) -> Fetched | Fault:
        """Return the response or its fault; network and protocol errors do not raise.

        Args:
            stream: Is fed the body if the endpoint answers with a stream of events.
        """
        ...

    async def __aenter__(self) -> Transport:
        """Open the connection pool."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        ...
