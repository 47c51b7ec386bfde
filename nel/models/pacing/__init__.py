"""Client-side flow control of one endpoint: concurrency, rate limits, backoff, retry budget and
circuit breaker.
"""

from nel.models.pacing.admission import Admission
from nel.models.pacing.closing import ClosingGate, EndpointDown, GateClosed
from nel.models.pacing.gate import Gate, Pace, Permit

__all__ = ["Admission", "ClosingGate", "EndpointDown", "Gate", "GateClosed", "Pace", "Permit"]
