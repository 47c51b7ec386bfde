"""Counts of a run in motion: the engine writes them, whoever shows progress reads them. Knows no terminal.

Trap: only what is committed to the store is counted as done.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

from nel.models.client import ClientCounters
from nel.models.pacing import Gate
from nel.types import ModelFailure, Outcome, Response, Scored


class Down(Protocol):
    """Judges, any of which may be down."""

    @property
    def down_seconds(self) -> float | None:
        """Return for how long one has been, None while none is."""
        ...

    @property
    def troubles(self) -> list[str]:
        """Return of each that judges nobody now its name, where it is served and why."""
        ...


@dataclass(slots=True)
class Progress:
    """Live numbers of one session; read them at any time."""

    total: int = 0
    """Planned (sample, repeat) pairs that this session sets out to finish."""
    scored: int = 0
    model_failures: int = 0
    unscored: int = 0
    reward_sum: float = 0.0
    completion_tokens: int = 0
    requests: int = 0
    """Answers received."""
    judges: Down | None = None
    """Who judges; None before anybody does."""
    gate: Gate | None = None
    """Who may send now; None while no endpoint is asked."""
    counters: ClientCounters | None = None
    started: float = field(default_factory=time.monotonic)
    running_since: float | None = None
    """When the first sample was about to be asked, on the monotonic clock; rates count from there."""
    rows_read: int = 0
    """Rows of datasets, while they are read before anything is asked."""
    stage: str = "starting"
    notes: list[str] = field(default_factory=list)
    """What the user should know beside the result."""
    in_flight: dict[int, float] = field(default_factory=dict)
    """Start times on the monotonic clock, by worker."""

    @property
    def done(self) -> int:
        """Return how many pairs have an outcome on disk."""
        return self.scored + self.model_failures + self.unscored

    @property
    def retries(self) -> int:
        """Return how many requests were sent again."""
        return self.counters.retries if self.counters is not None else 0

    @property
    def down_seconds(self) -> float | None:
        """Return for how long the endpoint has answered nobody, None while it answers."""
        return self.gate.down_seconds if self.gate is not None else None

    @property
    def score(self) -> float | None:
        """Return the running mean reward, None before the first."""
        counted = self.scored + self.model_failures
        return self.reward_sum / counted if counted else None

    @property
    def oldest_seconds(self) -> float | None:
        """Return the age of the oldest request in flight."""
        return time.monotonic() - min(self.in_flight.values()) if self.in_flight else None

    def count_response(self, response: Response) -> None:
        """Note an answer that is on disk."""
        self.requests += response.error is None
        self.completion_tokens += response.usage.completion_tokens or 0

    def count_outcome(self, outcome: Outcome) -> None:
        """Note an outcome that is on disk."""
        if isinstance(outcome, Scored):
            self.scored += 1
            self.reward_sum += outcome.reward
        elif isinstance(outcome, ModelFailure):
            self.model_failures += 1
        else:
            self.unscored += 1
