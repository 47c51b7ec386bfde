"""What joins a run to the limiter, as the gate sees it. No I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from nel.models.limiter.messages import Hello, Message


class LimiterUnreachable(Exception):
    """There is no connection; another attempt may succeed."""


class LimiterRefused(Exception):
    """The limiter does not take this run; the message says why."""


class Connection(Protocol):
    """An open connection; `send` never waits."""

    def send(self, message: Message) -> None:
        """Send a message, together with what else is sent in this turn of the event loop."""

    async def receive(self) -> list[list[object]] | None:
        """Return the next messages, None once the connection is lost."""
        ...

    async def close(self) -> None:
        """Send what is left, and close."""


Connect: TypeAlias = Callable[[Hello], Awaitable[Connection]]
"""Joins the limiter; raises LimiterUnreachable or LimiterRefused."""
