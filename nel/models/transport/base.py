"""What a transport takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from nel.models.faults import Fault
from nel.models.streams import EventStream


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
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
