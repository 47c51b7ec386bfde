"""What a judge plugin is: a question to ask another model about an answer, and how to read its reply.

Pure; it sends nothing. Trap: a reply without a clear verdict is a fault of the judge, never a low grade.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nel.types import Score, ScorerInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One way of judging."""

    name: str
    description: str
    """One line, shown by ``nel list``."""
    ask: Callable[[ScorerInput], str]
    """Returns the prompt for the judging model; it must hold the response."""
    read: Callable[[str], Score]
    """Returns the verdict of a reply; raises `JudgeError` when there is none."""
    example_reply: str
    """A reply that reads as full marks; conformance checks use it."""
