"""How fast an endpoint is asked: concurrency, rates, pauses, the retry budget and the circuit breaker."""

from nel.models.pacing.gate import EndpointDown, Gate, GateClosed, Pace, Permit

__all__ = ["EndpointDown", "Gate", "GateClosed", "Pace", "Permit"]
