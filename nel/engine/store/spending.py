"""What the earlier sessions of a run spent, from its run.db.

A session that ended says so itself. One that was killed is counted from the answers that it stored; the requests that
were under way when it was killed, at most as many as its concurrency, are not known to anybody but the endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable

from nel.config.schema import Price, RunConfig
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
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


def dearest(prices: Iterable[Price]) -> Price | None:
    """Return a price that is none lower than any of several, None where there is none."""
    known = list(prices)
    if not known:
        return None
    return Price(input=max(one.input for one in known), output=max(one.output for one in known))


def settle_killed(store: Store, snapshot: Snapshot, price: Price | None, judges_price: Price | None) -> None:
    """Note what killed sessions spent, before a resume forgets the samples that they lost.

    Args:
        price: Of the model.
        judges_price: Of what judges said: the dearest one's, since their answers are not told apart here.
    """
    total = Spend()
    for source, (attempts, prompt, completion, cached) in snapshot.usage_of_killed_sessions().items():
        usage = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        paid = judges_price if source == "judges" else price
        total.add(Spend(attempts, tokens_of(usage, paid) or 0, cost_of(usage, paid) or 0.0))
    store.settle_killed(total.as_json(), Spend().as_json())
