"""How a run in progress moves, as short texts for the terminal and the page of a run."""

from __future__ import annotations

from nel.config.numbers import duration
from nel.engine.observability.run_status import RunStatus


def motion_of(status: RunStatus) -> list[str]:
    """Return what is done, how fast, and what is in flight."""
    live = status.live or {}
    parts = []
    if live.get("stage"):
        parts.append(str(live["stage"]))
    parts.append(f"{status.done:,}/{status.total:,}")
    if status.rate is not None:
        parts.append(f"{status.rate:,.1f}/s")
    if status.seconds_left is not None:
        parts.append(f"{duration(status.seconds_left)} left")
    if live.get("steps"):
        parts.append(f"steps {live['steps']:,}")
    if "in_flight" in live:
        in_flight = f"{live['in_flight']:,} in flight"
        limit = live.get("concurrency_limit")
        if limit is not None:
            in_flight += f" of {limit:,}"
        parts.append(in_flight)
    oldest = live.get("oldest_seconds")
    if oldest is not None and oldest >= 1:
        parts.append(f"oldest {duration(oldest)}")
    if live.get("retries"):
        parts.append(f"{live['retries']:,} retries")
    outage = live.get("outage_seconds")
    if outage is not None:
        parts.append(f"ENDPOINT DOWN for {duration(outage)}")
    if not live:
        parts.append("no live numbers")
    return parts
