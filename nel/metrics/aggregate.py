"""Adds up outcomes, one at a time, into metrics, categories and accounting. Pure; memory is a few numbers a question.

A metric that every scored sample has also counts each model failure, as 0 where the scorer gave it no value. A metric
that only some samples have (``correct_algebra``) is the mean over those that have it. Trap: results must come in
dataset order, so that sums are the same to the last bit however the run was scheduled.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from nel.metrics.intervals import LEVEL, Interval, mean_interval, wilson_interval
from nel.types import ModelFailure, Outcome, Scored

FAILURE_KINDS: Final = ("truncated", "empty", "no_answer", "refusal", "content_filter", "context_exceeded")
_PUBLISHED: Final = {"correct": "accuracy"}


@dataclass(slots=True)
class _Series:
    """Values of one metric: sums a question, and whether all are 0 or 1."""

    sums: dict[int, float] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    n: int = 0
    n_scored: int = 0
    binary: bool = True
    unit: bool = True

    def add(self, question: int, value: float, *, scored: bool) -> None:
        self.sums[question] = self.sums.get(question, 0.0) + value
        self.counts[question] = self.counts.get(question, 0) + 1
        self.n += 1
        self.n_scored += scored
        self.binary = self.binary and value in (0.0, 1.0)
        self.unit = self.unit and 0.0 <= value <= 1.0

    def question_means(self) -> list[float]:
        return [total / self.counts[question] for question, total in self.sums.items()]

    def mean(self) -> float | None:
        return math.fsum(self.question_means()) / len(self.sums) if self.sums else None


@dataclass(slots=True)
class Accounting:
    """Where every planned (sample, repeat) ended; the parts add up to the total."""

    n_total: int = 0
    n_scored: int = 0
    model_failures: Counter[str] = field(default_factory=Counter)
    unscored: dict[str, Counter[str]] = field(default_factory=dict)
    not_run: int = 0

    @property
    def n_model_failure(self) -> int:
        """Return the number of model failures of all kinds."""
        return self.model_failures.total()

    @property
    def n_unscored(self) -> int:
        """Return the number of unscored of all causes."""
        return sum(kinds.total() for kinds in self.unscored.values())

    def count(self, outcome: Outcome) -> None:
        """Note one outcome."""
        self.n_total += 1
        if isinstance(outcome, Scored):
            self.n_scored += 1
        elif isinstance(outcome, ModelFailure):
            self.model_failures[outcome.kind] += 1
        else:
            self.unscored.setdefault(outcome.cause, Counter())[outcome.kind] += 1
            self.not_run += outcome.kind == "not_run"

    def as_json(self) -> dict[str, Any]:
        """Return the accounting in the form that all artifacts share."""
        return {
            "n_total": self.n_total,
            "n_scored": self.n_scored,
            "n_model_failure": self.n_model_failure,
            "n_unscored": self.n_unscored,
            "model_failures": dict(self.model_failures),
            "unscored": {cause: {"n": kinds.total(), "kinds": dict(kinds)} for cause, kinds in self.unscored.items()},
        }


@dataclass(slots=True)
class _Bare:
    """Model failures without any value from the scorer, by question."""

    questions: list[int] = field(default_factory=list)


class Aggregate:
    """All numbers of one benchmark (or one category of it)."""

    def __init__(self) -> None:
        """Start with nothing counted."""
        self.accounting = Accounting()
        self._rewards = _Series()
        self._metrics: dict[str, _Series] = {}
        self._bare = _Bare()
        self._reward_key: str | None = None
        self._several_keys = False

    def add(self, question: int, outcome: Outcome) -> None:
        """Count one outcome of a question."""
        self.accounting.count(outcome)
        if isinstance(outcome, Scored):
            self._rewards.add(question, outcome.reward, scored=True)
            self._note_reward_key(outcome)
        elif isinstance(outcome, ModelFailure):
            self._rewards.add(question, 0.0, scored=False)
            if not outcome.metrics:
                self._bare.questions.append(question)
        else:
            return
        for name, value in outcome.metrics.items():
            self._metrics.setdefault(name, _Series()).add(question, value, scored=isinstance(outcome, Scored))

    @property
    def binary(self) -> bool:
        """Return whether every reward so far is 0 or 1."""
        return self._rewards.binary

    @property
    def headline_name(self) -> str:
        """Return the published name of the metric that the rewards are."""
        if self._reward_key is None or self._several_keys:
            return "accuracy" if self.binary else "mean_reward"
        return _PUBLISHED.get(self._reward_key, self._reward_key)

    def headline(self) -> dict[str, Any]:
        """Return the headline metric: the mean reward with interval and bounds."""
        return self._metric(self.headline_name, self._rewards, universal=True)

    def metrics(self) -> list[dict[str, Any]]:
        """Return the headline and every other metric, sorted by name."""
        found = {self.headline_name: self.headline()}
        for key in sorted(self._metrics):
            name = _PUBLISHED.get(key, key)
            if name not in found and key != self._reward_key:
                universal = self._is_universal(self._metrics[key])
                series = self._with_bare_failures(self._metrics[key]) if universal else self._metrics[key]
                found[name] = self._metric(name, series, universal=universal)
        return [found[name] for name in sorted(found, key=lambda name: (name != self.headline_name, name))]

    def rates(self) -> dict[str, float]:
        """Return the share of each kind of model failure among all planned."""
        total = self.accounting.n_total
        return {kind: self.accounting.model_failures[kind] / total if total else 0.0 for kind in FAILURE_KINDS}

    def _note_reward_key(self, outcome: Scored) -> None:
        key = next((key for key in ("correct", "reward", "score") if key in outcome.metrics), None)
        key = key or next(iter(outcome.metrics), None)
        self._several_keys = self._several_keys or self._reward_key not in (None, key)
        self._reward_key = key

    def _is_universal(self, series: _Series) -> bool:
        return series.n_scored == self.accounting.n_scored

    def _with_bare_failures(self, series: _Series) -> _Series:
        filled = _Series(
            sums=dict(series.sums), counts=dict(series.counts), n=series.n, n_scored=series.n_scored,
            binary=series.binary, unit=series.unit,
        )  # fmt: skip
        for question in self._bare.questions:
            filled.add(question, 0.0, scored=False)
        return filled

    def _metric(self, name: str, series: _Series, *, universal: bool) -> dict[str, Any]:
        value = series.mean()
        interval = _interval(series)
        return {
            "name": name,
            "value": value,
            "n": series.n,
            "n_questions": len(series.sums),
            "repeats": max(series.counts.values(), default=0),
            "ci_lower": interval.lower,
            "ci_upper": interval.upper,
            "ci_level": LEVEL,
            "ci_method": interval.method,
            "ci_covers": interval.covers,
            "bounds": self._bounds(series) if universal else None,
            "denominator": "scored and model failures" if universal else "samples that have this metric",
            "reason": "nothing was scored" if value is None else interval.reason,
        }

    def _bounds(self, series: _Series) -> dict[str, float] | None:
        total = self.accounting.n_total
        if not series.unit or total == 0:
            return None
        if self.accounting.n_unscored == 0:
            value = series.mean()
            return None if value is None else {"lower": value, "upper": value}
        right = math.fsum(series.sums.values())
        return {"lower": right / total, "upper": (right + self.accounting.n_unscored) / total}


def _interval(series: _Series) -> Interval:
    if series.n == 0:
        return Interval(lower=None, upper=None, method="none", covers="new questions", reason="nothing was scored")
    means = series.question_means()
    if series.binary and (series.n == len(means) or len(set(means)) == 1):
        return wilson_interval(math.fsum(means), len(means))
    return mean_interval(means)


def aggregate(outcomes: Iterable[tuple[int, Outcome]]) -> Aggregate:
    """Return the aggregate of ``(question, outcome)`` pairs in dataset order."""
    total = Aggregate()
    for question, outcome in outcomes:
        total.add(question, outcome)
    return total
