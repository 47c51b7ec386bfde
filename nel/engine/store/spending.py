"""What the sessions of a run took: the prices of its models, what was spent, and the time.

Depends on the configured prices. A session that ended has stored what it spent. Of one that was
killed its rows are added up (`nel.engine.store.projections.spend`); requests that were in flight
then, at most as many as the concurrency, are known to the endpoint alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from nel.config.schema import Price, RunConfig
from nel.engine.store.plans import StoredSession
from nel.models.budget import Spend, exact_cost, tokens_of
from nel.types import Usage


def price_of(config: RunConfig) -> Price | None:
    """Return the price of the run's model, None where it has none."""
    return config.budget.prices.get(config.endpoint.model) if config.endpoint is not None else None


def price_in(config: Mapping[str, Any]) -> Price | None:
    """Return the price of the evaluated model in a stored configuration, None where it has none."""
    model = (config.get("endpoint") or {}).get("model")
    price = ((config.get("budget") or {}).get("prices") or {}).get(model)
    return None if price is None else Price.model_validate(price)


def spent_before(sessions: Iterable[StoredSession]) -> Spend:
    """Return the requests, tokens and cost of all sessions of a run that are over."""
    total = Spend()
    for session in sessions:
        if session["spent"] is not None:
            total.add(Spend.of_json(session["spent"]))
    return total


def spent_json(sessions: Iterable[StoredSession], *, has_prices: bool) -> dict[str, Any]:
    """Return what all sessions spent; the cost is None where no model has a price."""
    spent = spent_before(sessions).as_json()
    return spent if has_prices else {**spent, "cost": None}


def elapsed_seconds(sessions: Iterable[StoredSession]) -> float | None:
    """Return how long all sessions took, None where that is known of none."""
    seconds = [session["elapsed"] for session in sessions if session["elapsed"] is not None]
    return sum(seconds) if seconds else None


def spent_by_killed(
    sums: Mapping[str, Sequence[int]], price: Price | None, of_judges: Mapping[str, Price]
) -> Spend:
    """Return what killed sessions spent.

    Args:
        sums: As `Snapshot.spent_by_killed` returns them.
        price: Of the model.
        of_judges: By the judge's name.
    """
    total = Spend()
    for payer, (requests, prompt, completion, cached) in sums.items():
        tokens = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
        paid = of_judges.get(payer) if payer else price
        cost = exact_cost(tokens, paid) or Decimal(0)
        total.add(Spend(requests, tokens_of(tokens) or 0, cost))
    return total
