"""What judges need of a store: where replies are kept, and what is kept of earlier sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from nel.engine.store.plans import StoredPlan
from nel.engine.store.rows import Asked, Row
from nel.types import SampleKey


class ReplyStore(Protocol):
    """Keeps the replies of judges."""

    @property
    def session(self) -> int:
        """Return the number of this session."""

    def append(self, rows: Sequence[Row]) -> asyncio.Future[None]:
        """Keep replies; the future is done once they are kept."""

    def put_plan(self, benchmark: int, plan: StoredPlan) -> asyncio.Future[None]:
        """Keep another plan of a benchmark; the future is done once it is kept."""


class KeptReplies(Protocol):
    """The replies of earlier requests and sessions."""

    def benchmarks(self) -> Sequence[tuple[int, str, str, StoredPlan]]:
        """Return ``(id, slot, name, plan)`` of each benchmark."""

    def reply(self, key: SampleKey, asked: Asked) -> Row | None:
        """Return the newest reply to a question, or None."""

    def has_reply(self, benchmark: int, judge: str | None = None) -> bool:
        """Return whether a judge has replied in a benchmark."""
