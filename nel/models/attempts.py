"""What the attempts of one request came to, and how long to wait before the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeAlias

from nel.config.schema import EndpointConfig
from nel.models.faults import Fault
from nel.models.pacing import EndpointDown, Gate

if TYPE_CHECKING:
    from nel.models.limiter.shared_gate import SharedGate

Admission: TypeAlias = "Gate | SharedGate"
"""The gate of one process, or of several that share a limiter."""

_GROWTH: Final = 1.2
"""Each wait is longer than the one before by this factor at least, whatever the jitter says."""
_OUTLIVED_MAX: Final = 2
"""From so many of `Attempts.outlived` on, the request is suspected and not the endpoint."""
_HINT_JITTER: Final = 0.25
"""Largest random addition to a wait that the endpoint names, as a share of it."""


@dataclass(slots=True)
class Attempts:
    """The attempts of one request so far."""

    count: int = 0
    charged: int = 0
    """Attempts that count against the limit."""
    seconds: float = 0.0
    last_seconds: float = 0.0
    wait: float = 0.0
    """From the last failure without a hint to the next attempt, gate and retry budget included."""
    failed_at: float | None = None
    """The event loop's time of the last failure where the endpoint did not name a wait."""
    outlived: int = 0
    """Failures after which others were answered."""
    is_failed_probe: bool = False
    """Whether the last attempt was a probe of the circuit breaker that got a connection."""

    @property
    def is_suspect(self) -> bool:
        """Return whether its failures say nothing of the endpoint, which answered others."""
        return self.outlived >= _OUTLIVED_MAX

    def record_request(self, sent_at: float) -> None:
        """Count one more."""
        if self.failed_at is not None:
            self.wait = max(self.wait, sent_at - self.failed_at)
        self.count += 1

    def record_failure(self, fault: Fault, *, is_endpoint_up: bool, is_probe: bool) -> None:
        """Charge a failed attempt, unless the endpoint was down."""
        if is_endpoint_up:  # as it may seem for long, while what was sent before is answered
            self.charged += not fault.is_of_connection
        else:  # what was charged before the endpoint was known to be down was the outage's fault
            self.charged *= self.is_suspect
        self.is_failed_probe = is_probe and not fault.never_connected


class RetryWaits:
    """How long requests to one endpoint wait before their next attempt."""

    def __init__(
        self, endpoint: EndpointConfig, gate: Admission, jitter: Callable[[], float]
    ) -> None:
        """Start without a hint of the endpoint.

        Args:
            endpoint: Has the bounds.
            gate: Has the retry budget, and knows whether the endpoint is up.
            jitter: Returns numbers in [0, 1).
        """
        self._endpoint = endpoint
        self._gate = gate
        self._jitter = jitter
        self._long_hints_in_a_row = 0

    def record_answer(self) -> None:
        """Note an answer."""
        self._long_hints_in_a_row = 0

    def before_retry(self, fault: Fault, attempts: Attempts) -> float | None:
        """Return the seconds to wait after a fault; None where it is not tried again.

        Raises:
            EndpointDown: The endpoint asks to be left alone for too long, twice in a row.
        """
        endpoint = self._endpoint
        if not fault.retryable or attempts.charged >= endpoint.attempts_max:
            return None
        hint = fault.wait_seconds
        if hint is not None and hint > endpoint.retry_after_seconds_max:
            self._note_long_hint(hint)
            return None
        # Exponential with full jitter: anything from 0 to the ceiling, but longer than last time.
        doublings = min(attempts.count - 1, 30)  # 2.0 ** 1024, late in an outage, would overflow
        ceiling = min(endpoint.backoff_seconds_max, endpoint.backoff_seconds * 2.0**doublings)
        wait = self._jitter() * ceiling
        wait = min(max(wait, attempts.wait * _GROWTH), endpoint.backoff_seconds_max)
        if hint is not None:
            wait = max(wait, hint * (1 + _HINT_JITTER * self._jitter()))
        # An outage uses up no request's time; it has a bound of its own, `outage_seconds_max`.
        if self._gate.is_endpoint_up or attempts.is_suspect:
            attempts.seconds += attempts.last_seconds + wait
        if attempts.seconds > endpoint.retry_seconds_max:
            return None
        now = asyncio.get_running_loop().time()
        attempts.failed_at = now if hint is None else None
        return max(wait, self._gate.retries.take(now))

    def _note_long_hint(self, hint: float) -> None:
        # One may be a single request's; a second without an answer in between is the endpoint's.
        self._long_hints_in_a_row += 1
        if self._long_hints_in_a_row > 1:
            reopens = datetime.now(UTC) + timedelta(seconds=min(hint, 10 * 365 * 86400.0))
            raise EndpointDown(
                f"the endpoint takes no request before {reopens:%Y-%m-%d %H:%M} UTC (it asks to"
                f" wait {hint:,.0f} s, more than"
                f" retry_after_seconds_max={self._endpoint.retry_after_seconds_max:g})"
            )
