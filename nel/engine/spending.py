"""What the earlier sessions of a run spent, from its run.db.

A session that ended says so itself. One that was killed is counted from the answers that it stored; the requests that
were under way when it was killed, at most as many as its concurrency, are not known to anybody but the endpoint.
"""

from __future__ import annotations

from nel.config.schema import Price, RunConfig
from nel.engine.store import Store
from nel.engine.store_snapshot import Snapshot
from nel.models.budget import Spend, cost_of, tokens_of
from nel.types import Usage


def price_of(config: RunConfig) -> Price | None:
    """Return the price of the run's model, None where it has none."""
    return config.budget.prices.get(config.endpoint.model) if config.endpoint is not None else None


def spent_before(snapshot: Snapshot) -> Spend:
    """Return the requests, tokens and cost of all sessions of a run that are over."""
    total = Spend()
    for session in snapshot.sessions():
        if session["spent"] is not None:
            total.add(Spend(**session["spent"]))
    return total


def settle_killed(store: Store, snapshot: Snapshot, price: Price | None) -> None:
    """Note what killed sessions spent, before a resume forgets the samples that they lost."""
    total = Spend()
    for attempts, prompt, completion, cached in snapshot.usage_of_killed_sessions():
        usage = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        total.add(Spend(attempts, tokens_of(usage, price) or 0, cost_of(usage, price) or 0.0))
    store.settle_killed(total.as_json(), Spend().as_json())
