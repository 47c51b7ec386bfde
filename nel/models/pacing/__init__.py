"""Flow control of an endpoint: concurrency, rate limits, backoff, retry budget, circuit breaker."""

from __future__ import annotations

from nel.models.pacing.gate import Gate, Pace, Permit, pace_of
from nel.models.pacing.retries import ClosingGate, EndpointDown, GateClosed

__all__ = [
    "ClosingGate",
    "EndpointDown",
    "Gate",
    "GateClosed",
    "Pace",
    "Permit",
    "pace_of",
]
