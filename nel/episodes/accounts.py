"""What an episode has used of its limits, by its steps alone: a resume counts the same."""

from __future__ import annotations

import time
from dataclasses import replace

from nel.config.schema import Price
from nel.core.intervals import union_length
from nel.episodes.endings import LimitReached
from nel.episodes.limits import Limits
from nel.episodes.steps import digest_of
from nel.models.budget import cost_of, tokens_of
from nel.tools.results import ToolResult
from nel.types import Response, ToolCall

STUCK = "equal_calls"


class Accounts:
    """The counters of one attempt."""

    def __init__(self, limits: Limits, price: Price | None) -> None:
        """Begin at zero."""
        self._limits = limits
        self._price = price
        self.model_calls = 0
        self.tool_calls = 0
        self._work: list[tuple[float, float]] = []
        """When requests and calls began and ended, which may overlap."""
        self.tokens = 0
        self.cost = 0.0
        self._started = time.monotonic()
        self._wall_before = 0.0
        """Up to the last step of an earlier session, less what this session has taken since."""
        self._last_call = ""
        self._n_equal = 0

    def begin_stage(self, seconds: float | None) -> None:
        """Give the next stage of a task so many seconds of work."""
        end = None if seconds is None else self.work_seconds + seconds
        self._limits = replace(self._limits, work_seconds=end)

    def count_answer(self, response: Response, wall_seconds: float) -> None:
        """Count an answer of the model, sent now or stored."""
        self.model_calls += 1
        self.note_work(wall_seconds, response.latency_seconds or 0.0)
        self.tokens += tokens_of(response.usage) or 0
        self.cost += cost_of(response.usage, self._price) or 0.0
        self.saw(wall_seconds)

    def count_call(self, call: ToolCall, result: ToolResult) -> None:
        """Count a call, run now or stored."""
        self.tool_calls += 1
        # With its result: a call that is repeated until it shows something new is not stuck.
        digest = digest_of([call.name, call.arguments, result.text])
        self._n_equal = self._n_equal + 1 if digest == self._last_call else 1
        self._last_call = digest

    def note_work(self, wall_seconds: float, seconds: float) -> None:
        """Note a request or a call that took so long, and when it ended."""
        self._work.append((wall_seconds - seconds, wall_seconds))

    @property
    def work_seconds(self) -> float:
        """Return how long requests and calls have worked; what ran at once counts once."""
        return union_length(self._work)

    def saw(self, wall_seconds: float) -> None:
        """Set the clock of the attempt on, where a stored step is of a later time."""
        self._wall_before += max(0.0, wall_seconds - self.wall_seconds())

    def wall_seconds(self) -> float:
        """Return the time of the attempt, that between two sessions left out."""
        return self._wall_before + time.monotonic() - self._started

    def tool_seconds(self) -> float | None:
        """Return how long the next call of a tool may take."""
        remaining = self.left()
        bounds = [remaining[name] for name in ("work_seconds", "wall_seconds") if name in remaining]
        if self._limits.tool_seconds is not None:
            bounds.append(self._limits.tool_seconds)
        # Also where none is left: the call ends by its timeout then.
        return max(0.001, min(bounds)) if bounds else None

    def left(self) -> dict[str, float]:
        """Return what is left of each limit that counts up."""
        amounts = {
            "steps": self.model_calls,
            "tokens": self.tokens,
            "cost": self.cost,
            "work_seconds": self.work_seconds,
            "wall_seconds": self.wall_seconds(),
        }
        return {
            name: limit - amount
            for name, amount in amounts.items()
            if (limit := getattr(self._limits, name)) is not None
        }

    def limit_reached(self) -> LimitReached | None:
        """Return the limit that forbids another request for the model, None where none does."""
        for name, amount in self.left().items():
            if amount <= 0:
                return LimitReached(name, getattr(self._limits, name))
        return None

    def stuck(self) -> LimitReached | None:
        """Return the limit of equal calls where it is reached."""
        limit = self._limits.equal_calls
        return None if limit is None or self._n_equal < limit else LimitReached(STUCK, limit)
