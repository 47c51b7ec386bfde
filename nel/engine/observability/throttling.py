"""Tells an observer how fast the endpoint may be asked, and when it is down; looks about once a second.

Knows of a gate only what it shows. Trap: a gate is read on the event loop that it lives on, so this is a task and no
thread; whoever starts it cancels it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from nel.core.observer import Observer

_LOOK_SECONDS = 1.0


class Paced(Protocol):
    """What lets requests through."""

    @property
    def limit(self) -> int:
        """Return how many requests may be with the endpoint now."""
        ...

    @property
    def down_seconds(self) -> float | None:
        """Return for how long the endpoint has answered nobody, None while it answers."""
        ...


async def report_pace(
    paced: Paced,
    observer: Observer,
    *,
    judge: str | None = None,
    because: Callable[[], str] | None = None,
    look_seconds: float = _LOOK_SECONDS,
) -> None:
    """Tell an observer of every change, until cancelled.

    Args:
        judge: The name of a judge, of which only outages are told; the evaluated model when not given.
        because: Says of an outage where it is and what was answered last.
    """
    kind = "endpoint" if judge is None else f"judge {judge}"
    limit: int | None = None
    down: float | None = None
    while True:
        if judge is None and paced.limit != limit:
            limit = paced.limit
            observer.throttled(limit)
        before, down = down, paced.down_seconds
        if down is not None and before is None:
            why = "" if because is None else f" ({because()})"
            observer.outage_started(kind, f"it has answered nobody for {down:.0f} s{why}")
        elif down is None and before is not None:
            observer.outage_ended(before)
        await asyncio.sleep(look_seconds)
