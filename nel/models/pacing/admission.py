"""What a client needs of the gate in front of its endpoint. `Gate` is one of a process,
`SharedGate` one of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from nel.models.pacing.gate import Permit
from nel.models.pacing.retry_budget import RetryBudget
from nel.models.rate_limit_headers import Quota


class Admission(Protocol):
    """Admits requests to one endpoint; the members are those of `Gate`."""

    slowed_by: str | None
    n_answered: int
    n_backing_off: int
    on_back_off: Callable[[], None] | None
    retries: RetryBudget
    in_flight: int

    @property
    def limit(self) -> int:
        """As `Gate.limit`."""
        ...

    @property
    def down_seconds(self) -> float | None:
        """As `Gate.down_seconds`."""
        ...

    @property
    def is_endpoint_up(self) -> bool:
        """As `Gate.is_endpoint_up`."""
        ...

    async def acquire(self, request: str, tokens: int = 0) -> Permit:
        """As `Gate.acquire`."""
        ...

    async def back_off(self, seconds: float) -> None:
        """As `Gate.back_off`."""
        ...

    def release(self, permit: Permit) -> None:
        """As `Gate.release`."""

    def close(self) -> None:
        """As `Gate.close`."""

    def succeeded(self, permit: Permit, *, tokens: int | None, quotas: Mapping[str, Quota]) -> None:
        """As `Gate.succeeded`."""

    def answered(self) -> None:
        """As `Gate.answered`."""

    def refused(self, permit: Permit, wait: float | None) -> None:
        """As `Gate.refused`."""

    def failed(self, permit: Permit, *, of_connection: bool, is_suspect: bool = False) -> None:
        """As `Gate.failed`."""

    def connection_not_allowed(self, permit: Permit) -> None:
        """As `Gate.connection_not_allowed`."""
