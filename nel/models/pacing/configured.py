"""The bounds of a gate, from the settings of its endpoint."""

from __future__ import annotations

from typing import Final

from nel.config.schema import EndpointConfig
from nel.models.pacing.gate import Pace

_PAUSE_MAX: Final = 15.0
"""Longest pause of all requests after one refusal, in seconds: a long hint to one request does not
freeze a run.
"""


def pace_of(endpoint: EndpointConfig, concurrency: int) -> Pace:
    """Return the bounds that an endpoint's settings give its gate."""
    return Pace(
        concurrency_max=concurrency,
        concurrency_min=min(endpoint.concurrency_min, concurrency),
        adaptive=endpoint.adaptive,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
        retry_share=endpoint.retry_budget,
        outage_seconds_max=endpoint.outage_seconds_max,
        probe_seconds=endpoint.outage_probe_seconds,
        pause_seconds_max=min(_PAUSE_MAX, endpoint.retry_after_seconds_max),
    )
