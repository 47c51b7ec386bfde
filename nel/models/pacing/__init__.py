"""Client-side flow control of one endpoint: concurrency, rate limits, backoff, retry budget and circuit breaker."""

from nel.models.pacing.admission import Admission
from nel.models.pacing.gate import EndpointDown, Gate, GateClosed, Pace, Permit

__all__ = ["Admission", "EndpointDown", "Gate", "GateClosed", "Pace", "Permit"]
