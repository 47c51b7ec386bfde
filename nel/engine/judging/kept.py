"""What judges need of a store: where replies are kept, and what is kept of earlier sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from nel.engine.store.plans import StoredPlan


class ReplyStore(Protocol):
    """Keeps the replies of judges."""

    @property
    def session(self) -> int:
        """Return the number of this session."""

    def put_call(
        self, benchmark: int, idx: int, repeat: int, key: str, request: str, response: str
    ) -> asyncio.Future[None]:
        """Keep a reply; the future is done once it is kept."""

    def put_plan(self, benchmark: int, plan: StoredPlan) -> asyncio.Future[None]:
        """Keep another plan of a benchmark; the future is done once it is kept."""


class KeptReplies(Protocol):
    """The replies of earlier requests and sessions."""

    def benchmarks(self) -> Sequence[tuple[int, str, str, StoredPlan]]:
        """Return ``(id, slot, name, plan)`` of each benchmark."""

    def call(self, benchmark: int, idx: int, repeat: int, key: str) -> str | None:
        """Return a reply, or None."""

    def session_of_call(self, benchmark: int, idx: int, repeat: int, key: str) -> int | None:
        """Return the number of the session that a reply is of, None where there is none."""

    def calls(self, benchmark: int) -> Iterable[tuple[str, str]]:
        """Return ``(key, reply)`` of every reply of a benchmark."""
