"""Accumulates outcomes, one at a time, into metrics and accounting; memory is a few numbers per question.

A metric that every scored sample has also counts each model failure, as 0 where the scorer gave it no value. A metric
that only some samples have (``correct_algebra``) is the mean over those that have it. Results must be added in dataset
order, so that sums are equal to the last bit however the run was scheduled. Depends on `nel.metrics` alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

from nel.core.scaling import mean_of, unscaled
from nel.errors import UndefinedMetric
from nel.metrics.clusters import cluster_interval
from nel.metrics.compact_arrays import CompactFloats, CompactRanges
from nel.metrics.intervals import LEVEL, Interval, mean_interval, wilson_interval
from nel.types import ModelFailure, Outcome, Scored

FAILURE_KINDS: Final = ("truncated", "empty", "no_answer", "refusal", "content_filter", "context_exceeded")
STOP_RULE: Final = "stop_rule"
OTHER_SHARD: Final = "other_shard"
"""Why a pair was not to be asked: a stop rule had ended the benchmark, or another shard of the run asks it."""
_ZERO_AND_ONE: Final = (0.0, 1.0)
_SMALL: Final = 2.0**-64
"""Factor of the values in a second sum, which stays finite where the sum of the values overflows."""
_REWARD_KEYS: Final = ("correct", "reward", "score")
_PUBLISHED: Final = {"correct": "accuracy"}
"""Names of scorers' values to the names under which metrics are published."""


class BoundsJson(TypedDict):
    """The metric if every unscored sample were wrong, and if every one were right."""

    lower: float
    upper: float


class MetricJson(TypedDict):
    """One row of metrics.json."""

    name: str
    value: float | None
    n: int
    n_questions: int
    repeats: int
    ci_lower: float | None
    ci_upper: float | None
    ci_level: float
    ci_method: str
    ci_covers: str
    bounds: BoundsJson | None
    denominator: str
    reason: str | None


class CompletedJson(TypedDict):
    """The mean reward of complete answers, and how many there are."""

    value: float | None
    n: int


class CauseJson(TypedDict):
    """Unscored outcomes of one cause, by kind."""

    n: int
    kinds: dict[str, int]


class AccountingJson(TypedDict):
    """The accounting as every artifact has it."""

    n_total: int
    n_scored: int
    n_model_failure: int
    n_unscored: int
    n_not_asked: int
    model_failures: dict[str, int]
    unscored: dict[str, CauseJson]
    not_asked: NotRequired[dict[str, int]]
    """By reason; only where there are any."""


class _Series:
    """Values of one metric in question order: one mean per question, and whether all values are 0 or 1."""

    __slots__ = (
        "_count",
        "_means",
        "_question",
        "_scaled",
        "_total",
        "binary",
        "n",
        "n_scored",
        "questions",
        "repeats",
        "total",
        "unit",
    )

    def __init__(self) -> None:
        self._means = CompactFloats()
        self.questions = CompactRanges()
        self._question = -1
        self._total = 0.0
        self._scaled = 0.0
        self._count = 0
        self.n = 0
        self.n_scored = 0
        self.repeats = 0
        self.total = 0.0
        self.binary = True
        self.unit = True

    def add(self, question: int, value: float, *, scored: bool) -> None:
        if question != self._question:
            self._flush()
            self._question = question
        self._total += value
        self._scaled += value * _SMALL
        self._count += 1
        self.n += 1
        self.n_scored += scored
        if value not in _ZERO_AND_ONE:
            self.binary = False
            self.unit = self.unit and 0.0 < value < 1.0

    def question_means(self) -> CompactFloats:
        """Return the mean of each question; no value may be added afterwards to the last one."""
        self._flush()
        return self._means

    def mean(self) -> float | None:
        means = self.question_means()
        return mean_of(means) if len(means) else None

    def _flush(self) -> None:
        if self._count:
            finite = math.isfinite(self._total)
            self._means.append(self._total / self._count if finite else _large(self._scaled / self._count))
            self.questions.append(self._question)
            self.total += self._total
            self.repeats = max(self.repeats, self._count)
            self._total, self._scaled, self._count = 0.0, 0.0, 0


@dataclass(slots=True)
class Accounting:
    """The outcome counts of all planned (sample, repeat) pairs; the parts add up to the total."""

    n_total: int = 0
    n_scored: int = 0
    not_asked: Counter[str] = field(default_factory=Counter)
    """Pairs that a stop rule left out, or that another shard asks, by which of the two it is."""
    model_failures: Counter[str] = field(default_factory=Counter)
    unscored: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def n_model_failure(self) -> int:
        """Return the number of model failures of all kinds."""
        return self.model_failures.total()

    @property
    def n_unscored(self) -> int:
        """Return the number of unscored of all causes."""
        return sum(kinds.total() for kinds in self.unscored.values())

    @property
    def n_not_asked(self) -> int:
        """Return the number of pairs that were not to be asked."""
        return self.not_asked.total()

    @property
    def n_asked(self) -> int:
        """Return the number of all but those that were not to be asked."""
        return self.n_total - self.n_not_asked

    def count_not_asked(self, reason: str = STOP_RULE) -> None:
        """Count one pair that was not to be asked, by `STOP_RULE` or by `OTHER_SHARD`."""
        self.n_total += 1
        self.not_asked[reason] += 1

    def count(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self.n_total += 1
        if isinstance(outcome, Scored):
            self.n_scored += 1
        elif isinstance(outcome, ModelFailure):
            self.model_failures[outcome.kind] += 1
        else:
            self.unscored.setdefault(outcome.cause, Counter())[outcome.kind] += 1

    def as_json(self) -> AccountingJson:
        """Return the accounting in the form that all artifacts share."""
        found: AccountingJson = {
            "n_total": self.n_total,
            "n_scored": self.n_scored,
            "n_model_failure": self.n_model_failure,
            "n_unscored": self.n_unscored,
            "n_not_asked": self.n_not_asked,
            "model_failures": dict(self.model_failures),
            "unscored": {cause: {"n": kinds.total(), "kinds": dict(kinds)} for cause, kinds in self.unscored.items()},
        }
        if self.not_asked:
            found["not_asked"] = dict(self.not_asked)
        return found


@dataclass(slots=True)
class _Metric:
    """One metric: over the samples that have it, and with a 0 for each model failure that has no values at all."""

    emitted: _Series = field(default_factory=_Series)
    filled: _Series = field(default_factory=_Series)


class Accumulator:
    """All numbers of one benchmark (or one category of it)."""

    def __init__(self, interval: Interval | None = None, *, elsewhere: Interval | None = None) -> None:
        """Start without outcomes.

        Args:
            interval: Of the headline, where a stop rule has ended the run; None: that of a fixed number of questions.
            elsewhere: Of every other metric then.
        """
        self._anytime = interval
        self._elsewhere = elsewhere
        self.accounting = Accounting()
        self._rewards = _Series()
        self._metrics: dict[str, _Metric] = {}
        self._bare_failures = CompactRanges()
        self._completed_sum = 0.0
        self._completed_scaled = 0.0
        self._reward_key: str | None = None
        self._several_keys = False
        self._groups: dict[int, str] = {}

    def add(self, question: int, outcome: Outcome, *, group: str | None = None) -> None:
        """Count one outcome of a question; questions must come in order.

        Args:
            group: The cluster the question belongs to; intervals then are those of clusters.
        """
        self.accounting.count(outcome)
        if group is not None:
            self._groups[question] = group
        if isinstance(outcome, Scored):
            self._rewards.add(question, outcome.reward, scored=True)
            self._completed_sum += outcome.reward
            self._completed_scaled += outcome.reward * _SMALL
            self._note_reward_key(outcome)
            self._add_metrics(question, outcome.metrics, scored=True)
        elif isinstance(outcome, ModelFailure):
            self._rewards.add(question, 0.0, scored=False)
            if outcome.metrics:
                self._add_metrics(question, outcome.metrics, scored=False)
            else:
                self._add_bare_failure(question)

    @property
    def binary(self) -> bool:
        """Return whether every reward so far is 0 or 1."""
        return self._rewards.binary

    @property
    def headline_name(self) -> str:
        """Return the published name of the metric that the rewards are."""
        key = self._rewards_key
        if key is None or self._several_keys:
            return "accuracy" if self.binary else "mean_reward"
        return _PUBLISHED.get(key, key)

    @property
    def _rewards_key(self) -> str | None:
        """Return which of the values is the reward; where nothing was scored, as the failures' values name it."""
        if self._reward_key is None and self.accounting.n_scored == 0:
            return next((key for key in _REWARD_KEYS if key in self._metrics), None)
        return self._reward_key

    def headline(self) -> MetricJson:
        """Return the headline metric: the mean reward with interval and bounds."""
        return self._metric(self.headline_name, self._rewards, universal=True)

    def metrics(self) -> list[MetricJson]:
        """Return the headline and every other metric, sorted by name."""
        found = {self.headline_name: self.headline()}
        for key in sorted(self._metrics):
            if key != self._rewards_key:
                name = free_name(_PUBLISHED.get(key, key), found)
                metric = self._metrics[key]
                universal = metric.emitted.n_scored == self.accounting.n_scored
                found[name] = self._metric(name, metric.filled if universal else metric.emitted, universal=universal)
        return [found[name] for name in sorted(found, key=lambda name: (name != self.headline_name, name))]

    def completed(self) -> CompletedJson:
        """Return the mean reward of the answers that were neither cut off nor empty nor refused."""
        n = self.accounting.n_scored
        if not math.isfinite(self._completed_sum):
            return {"value": _large(self._completed_scaled / n), "n": n}
        return {"value": self._completed_sum / n if n else None, "n": n}

    @property
    def n_correct(self) -> int | None:
        """Return how many answers were right, None where a reward is neither 0 nor 1."""
        return round(self._completed_sum) if self.binary else None

    def rates(self) -> dict[str, float]:
        """Return the share of each kind of model failure among all that were to be asked."""
        total = self.accounting.n_asked
        return {kind: self.accounting.model_failures[kind] / total if total else 0.0 for kind in FAILURE_KINDS}

    def _add_metrics(self, question: int, values: Mapping[str, float], *, scored: bool) -> None:
        for name, value in values.items():
            if name == self._reward_key:
                continue
            metric = self._metrics.get(name)
            if metric is None:
                metric = self._metrics[name] = _Metric()
                # Failures before the first value of this metric count 0 in it, as later ones do.
                for failed in self._bare_failures:
                    metric.filled.add(failed, 0.0, scored=False)
            metric.emitted.add(question, value, scored=scored)
            metric.filled.add(question, value, scored=scored)

    def _add_bare_failure(self, question: int) -> None:
        self._bare_failures.append(question)
        for metric in self._metrics.values():
            metric.filled.add(question, 0.0, scored=False)

    def _note_reward_key(self, outcome: Scored) -> None:
        for key in (*_REWARD_KEYS, next(iter(outcome.metrics), None)):
            if key in outcome.metrics:
                if self._reward_key is None:
                    self._reward_key = key
                self._several_keys = self._several_keys or self._reward_key != key
                return

    def _metric(self, name: str, series: _Series, *, universal: bool) -> MetricJson:
        value = series.mean()
        interval = self._interval(series)
        lower, upper = interval.lower, interval.upper
        if series.unit and lower is not None and upper is not None:
            lower, upper = max(0.0, lower), min(1.0, upper)
        return {
            "name": name,
            "value": value,
            "n": series.n,
            "n_questions": len(series.question_means()),
            "repeats": series.repeats,
            "ci_lower": lower,
            "ci_upper": upper,
            "ci_level": LEVEL,
            "ci_method": interval.method,
            "ci_covers": interval.covers,
            "bounds": self._bounds(series) if universal else None,
            "denominator": "scored and model failures" if universal else "samples that have this metric",
            "reason": "nothing was scored" if value is None else interval.reason,
        }

    def _interval(self, series: _Series) -> Interval:
        chosen = self._anytime if series is self._rewards else self._elsewhere
        return chosen if chosen is not None and series.n else _interval(series, self._groups)

    def _bounds(self, series: _Series) -> BoundsJson | None:
        total = self.accounting.n_asked
        if not series.unit or total == 0:
            return None
        if self.accounting.n_unscored == 0:
            value = series.mean()
            return None if value is None else {"lower": value, "upper": value}
        right = series.total
        return {"lower": right / total, "upper": (right + self.accounting.n_unscored) / total}


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with the first number behind it that makes it unlike the taken ones.

    >>> free_name("f1", {"accuracy"}), free_name("accuracy", {"accuracy", "accuracy@2"})
    ('f1', 'accuracy@3')
    """
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}@{number}"
    return free


def _large(mean: float) -> float:
    """Return the mean of values from the mean of the values times `_SMALL`."""
    return unscaled(mean, 64)


def _interval(series: _Series, groups: Mapping[int, str]) -> Interval:
    if series.n == 0:
        return Interval(lower=None, upper=None, method="none", covers="new questions", reason="nothing was scored")
    means = series.question_means()
    clusters = [groups.get(question, question) for question in series.questions] if groups else []
    if len(set(clusters)) < len(clusters):  # at least one cluster has two questions
        try:
            return cluster_interval(list(means), clusters)
        except UndefinedMetric as error:
            return Interval(lower=None, upper=None, method="none", covers="new clusters", reason=str(error))
    if series.binary and (series.repeats <= 1 or means.is_constant):
        return wilson_interval(math.fsum(means), len(means))
    return mean_interval(means.as_array())
