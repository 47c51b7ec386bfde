"""What happens while an adapter scores an answer, whatever its own code makes of it.

An adapter may catch what nel raises and go on with a score of its own. A fault that is noted here
leaves the sample unscored all the same, and the verdict on a program says how it was reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nel.errors import NelError

if TYPE_CHECKING:
    from nel.sandbox import ProgramVerdict


@dataclass(slots=True)
class Proceedings:
    """What happened while one answer was scored."""

    fault: NelError | None = None
    """The first of them."""
    verdict: ProgramVerdict | None = None
    """Of the last program that was run."""


_NOW: Final[ContextVar[Proceedings | None]] = ContextVar("nel-proceedings", default=None)


@contextmanager
def proceedings() -> Iterator[Proceedings]:
    """Note what happens until the block ends.

    Raises:
        NelError: The fault that was noted, where the block ended without one of its own.
    """
    events = Proceedings()
    token = _NOW.set(events)
    try:
        yield events
    finally:
        _NOW.reset(token)
    if events.fault is not None:
        raise events.fault


def note_fault(error: NelError) -> None:
    """Leave the answer unscored that is being scored, by its first fault."""
    events = _NOW.get()
    if events is not None and events.fault is None:
        events.fault = error


def note_verdict(verdict: ProgramVerdict) -> None:
    """Keep the verdict on a program of the answer that is being scored."""
    events = _NOW.get()
    if events is not None:
        events.verdict = verdict
