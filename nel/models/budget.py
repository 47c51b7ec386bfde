"""What a run may spend: each request reserves its worst case and settles its real cost after.

A failed attempt may have been worked on and billed. Where that cannot be excluded it counts at its
worst, so that a cap is never passed; a vendor's bill may be lower than what is counted here, never
higher.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self

from nel.config.schema import BudgetConfig, Price
from nel.core.texts import cost_text
from nel.models.faults import Fault
from nel.types import Generation, JsonObject, Response, Usage

_MILLION = 1_000_000
_NOTHING: Final = Decimal(0)
LIMIT_NAME: Final = "max_completion_tokens"
"""Of the limit on the answer, where a reasoning model takes it under this name alone."""


class BudgetSpent(Exception):
    """The next request might pass a cap."""


@dataclass(slots=True)
class Spend:
    """Requests sent, tokens and cost; of a run, a session or a reservation."""

    requests: int = 0
    tokens: int = 0
    cost: Decimal = _NOTHING
    """Exact, so that a sum of costs is the same in whatever order its parts come."""

    def add(self, other: Spend, sign: int = 1) -> None:
        """Add another spend, or take it away."""
        self.requests += sign * other.requests
        self.tokens += sign * other.tokens
        self.cost += sign * other.cost

    def as_json(self) -> dict[str, Any]:
        """Return the fields, the cost as the nearest number."""
        return {"requests": self.requests, "tokens": self.tokens, "cost": float(self.cost)}

    @classmethod
    def of_json(cls, amounts: JsonObject) -> Self:
        """Return what `as_json` has written."""
        return cls(amounts["requests"], amounts["tokens"], _exact(amounts["cost"]))


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """Return the cost of an answer in the price's currency; None where one of both is unknown."""
    cost = exact_cost(usage, price)
    return None if cost is None else float(cost)


def exact_cost(usage: Usage, price: Price | None) -> Decimal | None:
    """Return `cost_of` as it is summed: a product of whole tokens and a decimal price is exact.

    Cached tokens are some of the prompt's, whatever the vendor calls them: each protocol reads them
    so.
    """
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    uncached = usage.prompt_tokens - cached
    cached_price = price.input if price.cached_input is None else price.cached_input
    return (
        uncached * _exact(price.input)
        + cached * _exact(cached_price)
        + usage.completion_tokens * _exact(price.output)
    ) / _MILLION


def _exact(amount: float) -> Decimal:
    """Return the decimal number that a configuration or a file has written."""
    return Decimal(repr(amount))


def tokens_of(usage: Usage) -> int | None:
    """Return all tokens of an answer, None where the endpoint does not say."""
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


def sum_usages(usages: Sequence[Usage], *, partly: bool = True) -> Usage:
    """Return the sum of token counts; a count that none has is None.

    Args:
        usages: Of the requests.
        partly: Whether a count that some do not have is summed over the others.
    """

    def total(name: str) -> int | None:
        counts = [getattr(usage, name) for usage in usages]
        reported = [count for count in counts if count is not None]
        return sum(reported) if reported and (partly or len(reported) == len(counts)) else None

    return Usage(
        prompt_tokens=total("prompt_tokens"),
        completion_tokens=total("completion_tokens"),
        reasoning_tokens=total("reasoning_tokens"),
        cached_tokens=total("cached_tokens"),
    )


def tokens_max(generation: Generation) -> int | None:
    """Return the most tokens that an answer may have; None where no limit is sent."""
    limit, extra_limit = generation.max_tokens, generation.extra.get(LIMIT_NAME)
    if not isinstance(extra_limit, int):
        return limit
    return extra_limit if limit is None else max(limit, extra_limit)


_UNCAPPED: Final = Spend()
"""Stands for every reservation of a run without caps."""


class Ledger:
    """The spending of one run; one event loop's."""

    def __init__(self, config: BudgetConfig, *, before: Spend | None = None) -> None:
        """Go on from what earlier sessions spent.

        Args:
            config: The caps.
            before: Spent already.
        """
        self._config = config
        self._before = before or Spend()
        self._reserved = Spend()
        self._refused: tuple[str, Spend] | None = None
        """The limit that the first refused request met, and what that request may take."""
        self._settled: list[asyncio.Future[None]] = []
        self._capped = any(
            cap is not None
            for cap in (config.max_cost, config.max_tokens_total, config.max_requests)
        )
        self.spent = Spend()
        """By this session."""

    async def reserve(self, body_bytes: int, tokens_max: int, price: Price | None) -> Spend:
        """Reserve the worst case of a request; wait while only others' reservations are in the way.

        Args:
            body_bytes: Size of the body; no prompt has more tokens than bytes.
            tokens_max: Most tokens that the answer may have.
            price: Of the model that is asked; needed for a cap on cost.

        Raises:
            BudgetSpent: It does not fit into what is left.
        """
        if not self._capped:
            return _UNCAPPED
        usage = Usage(prompt_tokens=body_bytes, completion_tokens=tokens_max)
        most_spent = Spend(1, body_bytes + tokens_max, exact_cost(usage, price) or _NOTHING)
        while (name := self._exceeded_limit(most_spent)) is not None:
            # Reservations are worst cases: what is in flight may leave room once it is settled.
            if self._reserved.requests == 0:
                self._refused = self._refused or (name, most_spent)
                raise BudgetSpent(self.reason())
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._settled.append(waiting)
            await waiting
        self._reserved.add(most_spent)
        return most_spent

    def share(self, *, before: Spend) -> Ledger:
        """Return the ledger of one of several runs that share these caps; it counts that run alone.

        Args:
            before: Spent by that run already; it is in this ledger's too.
        """
        return _Part(self, before)

    def settle(
        self, reserved: Spend, outcome: Response | Fault | None, price: Price | None
    ) -> Spend:
        """Replace a reservation by what the attempt cost, and return that.

        Args:
            outcome: None where the attempt was broken off.
            price: As it was reserved with.
        """
        if reserved is not _UNCAPPED:
            self._reserved.add(reserved, -1)
        real = self._real(reserved, outcome, price)
        self.spent.add(real)
        # All of them look again, since each needs another amount; those without room wait on.
        if self._settled:
            waiting, self._settled = self._settled, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)
        return real

    def _real(
        self, reserved: Spend, outcome: Response | Fault | None, price: Price | None
    ) -> Spend:
        if isinstance(outcome, Fault):
            return reserved if outcome.may_have_cost and self._capped else Spend(requests=1)
        if outcome is None:
            return reserved if self._capped else Spend(requests=1)
        tokens, cost = tokens_of(outcome.usage), exact_cost(outcome.usage, price)
        if tokens is None:
            return reserved if self._capped else Spend(requests=1)
        return Spend(1, tokens, cost or _NOTHING)

    def _exceeded_limit(self, most_spent: Spend) -> str | None:
        config = self._config
        caps = (config.max_requests, config.max_tokens_total, config.max_cost)
        for name, cap in zip(("requests", "tokens", "cost"), caps, strict=True):
            if cap is None:
                continue
            parts = (self._before, self.spent, self._reserved, most_spent)
            total = sum(getattr(share, name) for share in parts)
            if total > _exact(cap):
                return name
        return None

    def reason(self) -> str:
        """Return what the first refused request lacked, beside what is spent by now; empty without.

        Requests that were in flight, or that need less, are spent after that refusal.
        """
        if self._refused is None:
            return ""
        name, most_spent = self._refused
        key = {"requests": "max_requests", "tokens": "max_tokens_total", "cost": "max_cost"}[name]
        spent = getattr(self._before, name) + getattr(self.spent, name)
        amounts = (spent, getattr(self._config, key), getattr(most_spent, name))
        used, cap, needed = (
            cost_text(amount) if name == "cost" else f"{amount:,}" for amount in amounts
        )
        return (
            f"the budget is spent: {used} of budget.{key}={cap}, and the next request may take"
            f" {needed}; raise --{key.replace('_', '-')} and resume"
        )


class _Part(Ledger):
    """One run's part of a ledger that several runs share; caps and reservations are the whole's."""

    def __init__(self, whole: Ledger, before: Spend) -> None:
        super().__init__(BudgetConfig(), before=before)
        self._whole = whole

    async def reserve(self, body_bytes: int, tokens_max: int, price: Price | None) -> Spend:
        return await self._whole.reserve(body_bytes, tokens_max, price)

    def reason(self) -> str:
        return self._whole.reason()

    def settle(
        self, reserved: Spend, outcome: Response | Fault | None, price: Price | None
    ) -> Spend:
        real = self._whole.settle(reserved, outcome, price)
        self.spent.add(real)
        return real
