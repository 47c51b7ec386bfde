"""Watches what comes back for the signs that going on is pointless. Pure; says why, and stops nothing itself.

Trap: what looks like an outage may be one poisonous sample, so nothing here ends a run for a single one.
"""

from __future__ import annotations

from collections import Counter

from nel.config.schema import EngineConfig
from nel.engine.exit_status import ExitStatus
from nel.errors import EXIT_STOPPED_EARLY
from nel.models.faults import FATAL_KINDS
from nel.types import Outcome, Response, Unscored

_FAULTS_MIN = 32


class EndpointWatch:
    """Counts samples lost in a row."""

    def __init__(self, config: EngineConfig, *, has_answered: bool) -> None:
        """Start counting.

        Args:
            has_answered: The endpoint has answered in this run before.
        """
        self._max = config.faults_in_a_row_max or max(_FAULTS_MIN, 3 * config.concurrency)
        self._in_a_row = 0
        self.has_answered = has_answered

    def saw(self, verdict: Outcome | None) -> ExitStatus | None:
        """Note what a sample came to before scoring; return an ending when no further one is worth asking."""
        if not (isinstance(verdict, Unscored) and verdict.cause == "infra"):
            self._in_a_row = 0
            self.has_answered = True
            return None
        if self.has_answered and verdict.kind == "bad_request":
            return None  # an endpoint that answers others refuses this one sample
        self._in_a_row += 1
        lost = f"{self._in_a_row} samples in a row were lost to the endpoint, the last one by"
        if verdict.kind == "quota":
            lost = "the account has no quota left"
        elif verdict.kind in FATAL_KINDS and not self.has_answered:
            lost = "the endpoint refuses every request"
        elif self._in_a_row < self._max:
            return None
        return ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=f"{lost}: {verdict.detail}", endpoint_kind=verdict.kind)


class TruncationWatch:
    """Looks at the first answers of each benchmark for ones that were cut off."""

    def __init__(self, config: EngineConfig) -> None:
        """Start counting."""
        self._probe = config.truncation_probe
        self._rate_max = config.truncation_rate_max
        self._seen: Counter[int] = Counter()
        self._truncated: Counter[int] = Counter()

    def saw(self, job: int, name: str, response: Response, max_tokens: int | None) -> ExitStatus | None:
        """Note an answer; return an ending when too many of the first ones were cut off."""
        if response.error is not None or self._seen[job] >= self._probe:
            return None
        self._seen[job] += 1
        self._truncated[job] += response.finish_reason == "length"
        if self._seen[job] < self._probe or self._truncated[job] <= self._rate_max * self._probe:
            return None
        limit = "the endpoint's own limit" if max_tokens is None else f"--max-tokens {max_tokens}"
        return ExitStatus(
            exit_code=EXIT_STOPPED_EARLY,
            reason=(
                f"{self._truncated[job]} of the first {self._probe} answers of {name} were cut off by {limit}; start "
                "anew with a larger --max-tokens, or resume with -O engine.truncation_rate_max=1 to go on as it is"
            ),
        )
