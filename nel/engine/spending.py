"""What the earlier sessions of a run spent, from its run.db.

A session that ended says so itself. One that was killed is counted from the answers that it stored; the requests that
were under way when it was killed, at most as many as its concurrency, are not known to anybody but the endpoint.
"""

from __future__ import annotations

from nel.config.schema import Price
from nel.engine.store_snapshot import Snapshot
from nel.models.budget import Spend, cost_of, tokens_of
from nel.types import Usage


def spent_before(snapshot: Snapshot, price: Price | None) -> Spend:
    """Return the requests, tokens and cost of all sessions of a run that are over."""
    total = Spend()
    for session in snapshot.sessions():
        if session["spent"] is not None:
            total.add(Spend(**session["spent"]))
    for attempts, prompt, completion, cached in snapshot.usage_of_killed_sessions():
        usage = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        total.add(Spend(attempts, tokens_of(usage, price) or 0, cost_of(usage, price) or 0.0))
    return total
