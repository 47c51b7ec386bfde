"""Client-side flow control of one endpoint: concurrency, rate limits, backoff, retry budget and
circuit breaker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nel.models.pacing.gate import Gate, Pace, Permit, pace_of
from nel.models.pacing.retries import ClosingGate, EndpointDown, GateClosed

if TYPE_CHECKING:
    from nel.models.limiter.shared_gate import SharedGate

__all__ = [
    "Admission",
    "ClosingGate",
    "EndpointDown",
    "Gate",
    "GateClosed",
    "Pace",
    "Permit",
    "pace_of",
]

Admission: TypeAlias = "Gate | SharedGate"
"""The gate of one process, or of several that share a limiter."""
