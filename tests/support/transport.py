"""What transports without a socket have in common: nothing to open, nothing to close, nothing unasked."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class OpenTransport:
    """The part of a `Transport` around its requests."""

    unasked: tuple[int, ...] = ()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
