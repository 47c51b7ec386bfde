"""Live counts of a session: the engine writes, the terminal, progress.json and metrics read.

Depends on no terminal. Only what is committed to the store is counted as done.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nel.models.attempts import Admission
from nel.models.client_context import ClientCounters
from nel.types import SECOND_ASKING, ModelFailure, Outcome, Response, Scored, Unscored

if TYPE_CHECKING:
    from nel.engine.judging.endpoint_set import JudgeEndpoints

_DETAILS_MAX = 1_000
"""Different texts that are counted for one kind of fault."""


_EARLY: Final = 10
"""The part of a run, one in so many, below which its score says nothing yet."""


def is_early(done: int, total: int) -> bool:
    """Return whether so little is done that a score of it would mislead: quick answers are in
    first, and of a sorted dataset one category.
    """
    return done * _EARLY < total


def _early(score: float | None, done: int, unscored: int, total: int) -> tuple[float, int] | None:
    return None if score is None or is_early(done, total) else (score, done - unscored)


@dataclass(slots=True, kw_only=True)
class BenchmarkProgress:
    """Live numbers of one benchmark of a session."""

    slot: str
    total: int
    """Pairs that this session sets out to finish; a stop rule may leave some of them out."""
    done: int = 0
    unscored: int = 0
    reward_sum: float = 0.0

    @property
    def score(self) -> float | None:
        """Return the running mean reward, None before the first."""
        n_rewards = self.done - self.unscored
        return self.reward_sum / n_rewards if n_rewards else None

    @property
    def early_score(self) -> tuple[float, int] | None:
        """Return the running mean reward and of how many, None before a tenth is done."""
        return _early(self.score, self.done, self.unscored, self.total)


@dataclass(slots=True)
class Progress:
    """Live numbers of one session; read them at any time."""

    total: int = 0
    """Planned (sample, repeat) pairs that this session sets out to finish."""
    scored: int = 0
    model_failures: int = 0
    unscored: int = 0
    asked_again: int = 0
    """Second askings with an outcome, which no other count and no score includes."""
    reward_sum: float = 0.0
    completion_tokens: int = 0
    steps: int = 0
    """Answers within episodes; those of an episode in progress are in no other count."""
    requests: int = 0
    """Answers received."""
    judges: JudgeEndpoints | None = None
    """None before they are set up."""
    gate: Admission | None = None
    """Of the evaluated endpoint; None while none is asked."""
    counters: ClientCounters | None = None
    started: float = field(default_factory=time.monotonic)
    running_since: float | None = None
    """Monotonic time when the first sample was about to be asked, from which rates count."""
    rows_read: int = 0
    """Rows of datasets, while they are read before anything is asked."""
    stage: str = "starting"
    run_dir: Path | None = None
    """The directory of the run, once there is one."""
    benchmarks: dict[int, BenchmarkProgress] = field(default_factory=dict)
    """By the number of the benchmark in the store."""
    notes: list[str] = field(default_factory=list)
    """What the user should know beside the result."""
    alerts: list[str] = field(default_factory=list)
    """What the user should know at once."""
    faults: dict[str, Counter[str]] = field(default_factory=dict)
    """Why samples of this session are unscored by ``infra`` or by their scorer: by kind how often
    what was said, without secrets.
    """
    in_flight: dict[int, float] = field(default_factory=dict)
    """Start times on the monotonic clock, by worker."""

    @property
    def done(self) -> int:
        """Return how many pairs have an outcome on disk."""
        return self.scored + self.model_failures + self.unscored + self.asked_again

    @property
    def retries(self) -> int:
        """Return how many requests were retried."""
        return self.counters.retries if self.counters is not None else 0

    @property
    def down_seconds(self) -> float | None:
        """Return for how many seconds the endpoint has been down, None while it answers."""
        return self.gate.down_seconds if self.gate is not None else None

    @property
    def score(self) -> float | None:
        """Return the running mean reward, None before the first."""
        n_rewards = self.scored + self.model_failures
        return self.reward_sum / n_rewards if n_rewards else None

    @property
    def early_score(self) -> tuple[float, int] | None:
        """Return the running mean reward and of how many; None before a tenth is done.

        Of several benchmarks, which are asked one after the other, there is none.
        """
        if len(self.benchmarks) > 1:
            return None
        return _early(self.score, self.done - self.asked_again, self.unscored, self.total)

    @property
    def oldest_seconds(self) -> float | None:
        """Return the age of the oldest request in flight."""
        return time.monotonic() - min(self.in_flight.values()) if self.in_flight else None

    def count_response(self, response: Response) -> None:
        """Note an answer that is on disk."""
        self.requests += response.error is None
        self.completion_tokens += response.usage.completion_tokens or 0

    def count_outcome(self, outcome: Outcome, *, repeat: int = 0, benchmark: int = -1) -> None:
        """Note an outcome that is on disk."""
        if repeat == SECOND_ASKING:
            self.asked_again += 1
            return
        reward = outcome.reward if isinstance(outcome, Scored) else 0.0
        of_benchmark = self.benchmarks.get(benchmark)
        if of_benchmark is not None:
            of_benchmark.done += 1
            of_benchmark.unscored += isinstance(outcome, Unscored)
            of_benchmark.reward_sum += reward
        self.reward_sum += reward
        if isinstance(outcome, Scored):
            self.scored += 1
        elif isinstance(outcome, ModelFailure):
            self.model_failures += 1
        else:
            self.unscored += 1
            if outcome.cause in ("infra", "scorer") and outcome.detail:
                words = self.faults.setdefault(outcome.kind, Counter())
                if outcome.detail in words or len(words) < _DETAILS_MAX:
                    words[outcome.detail] += 1
