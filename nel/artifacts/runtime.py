"""runtime_stats.json: latency, tokens, retries, throughput, over all sessions of a run.

All fields are volatile. A number that was never observed is null; zero would look like a
measurement.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from operator import attrgetter
from statistics import quantiles
from typing import Any, Final

from nel.config.schema import Price
from nel.engine.store.plans import StoredSession
from nel.engine.store.spending import elapsed_seconds, spent_json
from nel.models.budget import exact_cost
from nel.types import JsonObject, Response


class RuntimeStats:
    """Collects what responses say of time and tokens."""

    def __init__(self, price: Price | None = None) -> None:
        """Start with nothing observed.

        Args:
            price: Of the model; without one there is no cost.
        """
        self._price = price
        self._cost = Decimal(0)
        self._costed = 0
        self._inter_token = array("f")
        self._latency = array("f")
        self._first_token = array("f")
        self._tokens: dict[str, int] = {}
        """Those that the usage of some answer has."""
        self._reported = 0
        """Answers whose usage has the tokens of the completion."""
        self._finish: Counter[str] = Counter()
        self._models: Counter[str] = Counter()
        self._requests = self._completed = self._attempts = self._cached = 0
        self._answered = 0
        self._episodes: Counter[str] = Counter()
        self._tool_errors: Counter[str] = Counter()
        self._episode_ends: Counter[str] = Counter()

    def add_answer(self, response: Response | None) -> None:
        """Note the answer of a sample, or that there is none.

        That of an episode or of ranked choices sums up requests which are stored, and counted,
        one by one.
        """
        if response is None:
            return
        is_sum = response.episode is not None or bool(response.choice_scores)
        if not is_sum:
            self.add(response)
        if response.episode is not None:
            self._note_episode(response.episode)
        if response.error is None and not response.cached:
            self._answered += is_sum or response.attempts > 0

    def add(self, response: Response) -> None:
        """Note the response to one request."""
        if response.cached:
            self._cached += 1
        if response.attempts == 0:  # of a recorded answer, or one from the cache: nothing was sent
            return
        self._requests += 1
        self._attempts += response.attempts
        if response.error is not None:
            return
        self._completed += 1
        self._note_tokens(response)
        cost = exact_cost(response.usage, self._price)
        if cost is not None:
            self._cost += cost
            self._costed += 1
        if response.inter_token_seconds is not None:
            self._inter_token.append(response.inter_token_seconds)
        self._finish[response.finish_reason or "none"] += 1
        if response.model is not None:
            self._models[response.model] += 1
        if response.latency_seconds is not None:
            self._latency.append(response.latency_seconds)
        if response.first_token_seconds is not None:
            self._first_token.append(response.first_token_seconds)

    def as_json(
        self,
        sessions: Sequence[StoredSession],
        *,
        has_prices: bool,
        n_correct: int | None = None,
    ) -> dict[str, Any]:
        """Return the statistics, with the time of all sessions added up.

        Args:
            sessions: Of the run, as the store has them.
            has_prices: Whether any model of the run has a price.
            n_correct: Right answers of this benchmark, None where there is no such count.
        """
        elapsed = elapsed_seconds(sessions)
        tokens = self._tokens_json()
        samples_rate = tokens_rate = None  # of nothing that was observed
        if elapsed and self._answered:
            samples_rate = self._answered / elapsed
        if elapsed and tokens["completion"]:
            tokens_rate = tokens["completion"] / elapsed
        return {
            "sessions": len(sessions),
            "elapsed_seconds": elapsed,
            "n_answered": self._answered,
            "requests": self._requests_json(),
            "latency_seconds": _percentiles(self._latency),
            "first_token_seconds": _percentiles(self._first_token),
            "inter_token_seconds": _percentiles(self._inter_token),
            "cost": self._cost_json(n_correct),
            "run": spent_json(sessions, has_prices=has_prices),
            "tokens": tokens,
            "throughput": {
                "samples_per_second": samples_rate,
                "completion_tokens_per_second": tokens_rate,
            },
            "finish_reasons": dict(self._finish),
            "models": dict(self._models),
            "episodes": self._episodes_json() if self._episodes else None,
        }

    def as_judge_json(self, model: str | None) -> dict[str, object]:
        """Return what is known of the requests to one judge.

        Args:
            model: Its name in the configuration, None where that is not known.
        """
        cost = self._cost_json(None)
        return {
            "model": model,
            "requests": self._answered_json(),
            "latency_seconds": _percentiles(self._latency),
            "tokens": self._tokens_json(),
            "cost": {name: cost[name] for name in ("total", "unknown")},
            "finish_reasons": dict(self._finish),
            "models": dict(self._models),
        }

    def _requests_json(self) -> dict[str, int]:
        return {**self._answered_json(), "failed": self._requests - self._completed}

    def _answered_json(self) -> dict[str, int]:
        return {
            "completed": self._completed,
            "attempts": self._attempts,
            "retries": self._attempts - self._requests,
            "cached": self._cached,
        }

    def _tokens_json(self) -> dict[str, int | None]:
        return {**{name: self._tokens.get(name) for name in _TOKENS}, "reported": self._reported}

    def _cost_json(self, n_correct: int | None) -> dict[str, object]:
        """Return the kept answers' cost, null without a price, and how many had no known cost."""
        has_price = self._price is not None
        return {
            "total": float(self._cost) if has_price else None,
            "per_correct": float(self._cost / n_correct) if has_price and n_correct else None,
            "unknown": self._completed - self._costed if has_price else None,
        }

    def _note_episode(self, episode: JsonObject) -> None:
        self._episodes.update(n=1, steps=episode["steps"], tool_calls=episode["tool_calls"])
        self._tool_errors.update(episode["tool_errors"])
        self._episode_ends[episode["ended_by"]] += 1

    def _episodes_json(self) -> dict[str, object]:
        return {
            **self._episodes,
            "tool_errors": dict(sorted(self._tool_errors.items())),
            "ended_by": dict(sorted(self._episode_ends.items())),
        }

    def _note_tokens(self, response: Response) -> None:
        tokens = self._tokens
        for name, count in zip(_TOKENS, _counts_of(response.usage), strict=True):
            if count is not None:
                tokens[name] = tokens.get(name, 0) + count
        self._reported += response.usage.completion_tokens is not None


class JudgeStats:
    """Keeps the requests to each judge of a benchmark apart from those to the model."""

    def __init__(
        self, panel: Iterable[str], models: Mapping[str, str], prices: Mapping[str, Price]
    ) -> None:
        """Start with nothing observed.

        Args:
            panel: The judges by name; others join as they are asked.
            models: By judge, what the configuration calls its model.
            prices: By model.
        """
        self._models = models
        self._prices = prices
        self._stats: dict[str, RuntimeStats] = {}
        self._served: dict[str, set[str]] = {}
        for name in panel:
            self._of(name)

    def add(self, name: str, response: Response) -> None:
        """Note a reply of a judge."""
        self._of(name).add(response)
        models = self._served[name]
        if response.model is not None and len(models) < SERVED_MAX:
            models.add(response.model)

    def served_names(self) -> Mapping[str, set[str]]:
        """Return by judge what its server calls it; up to `SERVED_MAX` names."""
        return self._served

    def as_json(self) -> dict[str, Any]:
        """Return by judge what is known of its requests."""
        return {
            name: stats.as_judge_json(self._models.get(name)) for name, stats in self._stats.items()
        }

    def _of(self, name: str) -> RuntimeStats:
        self._served.setdefault(name, set())
        model = self._models.get(name, name)
        return self._stats.setdefault(name, RuntimeStats(self._prices.get(model)))


SERVED_MAX: Final = 16
"""Names of one model that are listened to; a server may call itself otherwise each time."""
_DECIMALS = 6
"""A microsecond; what is observed is kept with seven digits, in four bytes each."""
_TOKENS = ("prompt", "completion", "reasoning", "cached")
_counts_of: Final = attrgetter(*(f"{name}_tokens" for name in _TOKENS))


def _percentiles(values: array[float]) -> dict[str, float | None]:
    names = ("p50", "p90", "p99", "max", "mean")
    if not values:
        return dict.fromkeys(names)
    # 99 cuts: the p-th percentile is at index p - 1. Of a single value all are that value.
    cuts = list(values) * 99
    if len(values) > 1:
        cuts = quantiles(values, n=100, method="inclusive")
    numbers = cuts[49], cuts[89], cuts[98], max(values), math.fsum(values) / len(values)
    return {name: round(number, _DECIMALS) for name, number in zip(names, numbers, strict=True)}
