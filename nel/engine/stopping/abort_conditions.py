"""Decides from the answers when to abort a run: faults in a row, or too many truncated answers.

Does no I/O.

Returns the reason and stops nothing itself. Note: what looks like an outage may be one sample that
the endpoint cannot process, so no single sample aborts a run that has had answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nel.config.schema import EngineConfig
from nel.core.finish_reasons import ending_of
from nel.engine.stopping.exit_status import ExitStatus
from nel.errors import EXIT_STOPPED_EARLY
from nel.models.budget import tokens_max
from nel.models.faults import is_refusal
from nel.models.refusals import is_alike
from nel.types import Generation, Response, ResponseError

_FAULTS_MIN = 32
_REFUSALS_MIN = 8
_FIRST_REFUSALS_MIN = 3
"""As long as the endpoint has never answered."""


class EndpointFaultCounter:
    """Counts samples lost to the endpoint in a row, and separately those it refused alike.

    A status that it returns is a suspicion: the samples may be at fault. Only a spent quota holds
    for all of them.
    """

    def __init__(self, config: EngineConfig, *, has_answered: bool) -> None:
        """Start counting.

        Args:
            has_answered: Whether the endpoint has answered in an earlier session of this run.
        """
        self._step = config.faults_in_a_row_max or max(_FAULTS_MIN, 3 * config.concurrency)
        self._max = self._step
        self._in_a_row = 0
        self._refusals_max = _REFUSALS_MIN if has_answered else _FIRST_REFUSALS_MIN
        self._refusals = 0
        self._refused: ResponseError | None = None
        self.has_answered = has_answered

    def add(self, error: ResponseError | None) -> ExitStatus | None:
        """Count a sample's fault; return a status to abort with if others fail too."""
        if error is None or error.model_failure is not None:
            self._in_a_row = self._refusals = 0
            self._refusals_max = max(self._refusals_max, _REFUSALS_MIN)
            self.has_answered = True
            return None
        # A certificate that is refused before any answer is this machine's setting: no sample can
        # be the reason, so that one is enough.
        if is_refusal(error) and (error.kind != "tls" or self.has_answered):
            return self._add_refusal(error)
        self._in_a_row += 1
        lost = f"{self._in_a_row} samples in a row were lost to the endpoint, the last one by"
        if error.kind == "quota":
            lost = "the account has no quota left"
        elif error.kind == "tls":
            lost = "no request can be sent"
        elif self._in_a_row < self._max:
            return None
        reason = f"{lost}: {error.message}"
        return ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason, endpoint_kind=error.kind)

    def _add_refusal(self, error: ResponseError) -> ExitStatus | None:
        if self._refused is None or not is_alike(error, self._refused):
            self._refused, self._refusals = error, 0
        self._refusals += 1
        if self._refusals < self._refusals_max:
            return None
        reason = f"the endpoint refuses every request: {error.message}"
        return ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=reason, endpoint_kind=error.kind)

    def clear(self) -> None:
        """Note that the samples were at fault: a neutral prompt or another sample was answered."""
        self._max = self._in_a_row + self._step
        self._refusals_max = max(self._refusals_max, 2 * self._refusals)


class TruncationProbe:
    """Counts truncated answers among the first ones of each benchmark."""

    def __init__(self, config: EngineConfig, benchmarks: Sequence[int]) -> None:
        """Start counting.

        Args:
            config: Of the run.
            benchmarks: The numbers of all, in the order of the configuration.
        """
        self._benchmarks = benchmarks
        self._probe = config.truncation_probe
        self._rate_max = config.truncation_rate_max
        self._seen: Counter[int] = Counter()
        self._truncated: Counter[int] = Counter()

    def add(
        self,
        benchmark: int,
        name: str,
        response: Response,
        generation: Generation,
        *,
        are_wanted: bool = False,
    ) -> ExitStatus | None:
        """Count an answer; return a status when too many of the first ones were truncated.

        Args:
            benchmark: Its number.
            name: What it is called.
            response: The answer.
            generation: The settings that were sent.
            are_wanted: Truncated answers are scored as they stand, so that none stops the run.
        """
        if are_wanted or response.error is not None or self._seen[benchmark] >= self._probe:
            return None
        self._seen[benchmark] += 1
        self._truncated[benchmark] += ending_of(response.finish_reason) == "truncated"
        n_truncated = self._truncated[benchmark]
        if self._seen[benchmark] < self._probe or n_truncated <= self._rate_max * self._probe:
            return None
        max_tokens = tokens_max(generation)
        limit = "the endpoint's own limit" if max_tokens is None else f"--max-tokens {max_tokens}"
        return ExitStatus(
            exit_code=EXIT_STOPPED_EARLY,
            reason=(
                f"{n_truncated} of the first {self._probe} answers of {name} were cut off"
                f" by {limit}; start a new run with a larger --max-tokens, or resume with -O"
                " engine.truncation_rate_max=1 to go on as it is, or with -O"
                f" benchmarks.{self._benchmarks.index(benchmark)}.truncated=score to score them as"
                " they stand"
            ),
        )
