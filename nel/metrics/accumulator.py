"""Accumulates outcomes one at a time into metrics and accounting, with a few numbers a question.

A metric that every scored sample has also counts each model failure, as 0 where the scorer gave it
no value. A metric that only some samples have (``correct_algebra``) is the mean over those that
have it. Results must be added in dataset order, so that sums are equal to the last bit however the
run was scheduled. Depends on `nel.metrics` alone.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from nel.core.reward_keys import REWARD_KEYS, reward_key
from nel.core.scaling import mean_of
from nel.core.strict_json import Count, Level, Rate, Text
from nel.metrics.intervals import LEVEL
from nel.metrics.question_intervals import Design, new_questions_interval, question_interval
from nel.metrics.series import Series
from nel.types import FailureKind, ModelFailure, Outcome, Scored, UnscoredCause

FAILURE_KINDS: Final = (
    "truncated",
    "empty",
    "no_answer",
    "refusal",
    "content_filter",
    "context_exceeded",
    "limit",
)
STOP_RULE: Final = "stop_rule"
OTHER_SHARD: Final[Literal["other_shard"]] = "other_shard"
"""Why a pair was not asked: a stop rule had ended the benchmark, or another shard asks it."""
_PUBLISHED: Final = {"correct": "accuracy"}
"""Names of scorers' values to the names under which metrics are published."""
Unit: TypeAlias = Literal["rate", "points", "number"]
"""How a number is shown: a rate in per cent, a difference of rates in points, else as it is."""
_UNNAMED: Final = "unnamed"
"""How a value whose name is empty is published."""


class BoundsJson(TypedDict):
    """The metric if every unscored sample were wrong, and if every one were right."""

    lower: Rate
    upper: Rate


class EndsJson(TypedDict):
    """Both ends of an interval."""

    ci_lower: float | None
    ci_upper: float | None


class NewQuestionsJson(EndsJson):
    """The interval for new questions, where the metric's own is of the whole benchmark."""

    ci_method: str
    ci_covers: str


class IntervalFields(NewQuestionsJson):
    """What a row of metrics.json says of its interval."""

    ci_level: Level
    reason: str | None
    new_questions: NotRequired[NewQuestionsJson]
    """Of a sample of the benchmark alone."""


class MetricJson(IntervalFields):
    """One row of metrics.json."""

    name: Text
    value: float | None
    n: Count
    n_questions: Count
    repeats: Count
    bounds: BoundsJson | None
    denominator: Text
    unit: Unit


class CompletedJson(TypedDict):
    """The mean reward of complete answers, and how many there are."""

    value: float | None
    n: Count


COUNTS: Final = ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")
"""Of a benchmark's accounting, those that each number of it has beside it."""


class CauseJson(TypedDict):
    """Unscored outcomes of one cause, by kind."""

    n: Count
    kinds: dict[str, Count]


class AccountingJson(TypedDict):
    """The accounting as every artifact has it."""

    n_total: Count
    n_scored: Count
    n_model_failure: Count
    n_unscored: Count
    n_not_asked: Count
    model_failures: dict[FailureKind, Count]
    unscored: dict[UnscoredCause, CauseJson]
    not_asked: NotRequired[dict[str, Count]]
    """By reason; only where there are any."""


@dataclass(slots=True)
class Accounting:
    """The outcome counts of all planned (sample, repeat) pairs; the parts add up to the total."""

    n_total: int = 0
    n_scored: int = 0
    not_asked: Counter[str] = field(default_factory=Counter)
    """Pairs that a stop rule left out, or that another shard asks, by which of the two it is."""
    model_failures: Counter[FailureKind] = field(default_factory=Counter)
    unscored: dict[UnscoredCause, Counter[str]] = field(default_factory=dict)

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

    def count(self, outcome: Outcome | str) -> None:
        """Count an outcome, or why a pair was not asked: `STOP_RULE` or `OTHER_SHARD`."""
        self.n_total += 1
        if isinstance(outcome, Scored):
            self.n_scored += 1
        elif isinstance(outcome, ModelFailure):
            self.model_failures[outcome.kind] += 1
        elif isinstance(outcome, str):
            self.not_asked[outcome] += 1
        else:
            self.unscored.setdefault(outcome.cause, Counter())[outcome.kind] += 1

    def as_json(self) -> AccountingJson:
        """Return the accounting in the form that all artifacts share."""
        fields: AccountingJson = {
            "n_total": self.n_total,
            "n_scored": self.n_scored,
            "n_model_failure": self.n_model_failure,
            "n_unscored": self.n_unscored,
            "n_not_asked": self.n_not_asked,
            "model_failures": dict(self.model_failures),
            "unscored": {
                cause: {"n": kinds.total(), "kinds": dict(kinds)}
                for cause, kinds in self.unscored.items()
            },
        }
        if self.not_asked:
            fields["not_asked"] = dict(self.not_asked)
        return fields


@dataclass(slots=True)
class _Metric:
    """One metric: over the samples that have it, and with a 0 for each model failure without it."""

    emitted: Series = field(default_factory=Series)
    filled: Series = field(default_factory=Series)


class Accumulator:
    """All numbers of one benchmark (or one category of it)."""

    def __init__(
        self,
        design: Design | None = None,
        *,
        headline: Design | None = None,
    ) -> None:
        """Start without outcomes.

        Args:
            design: How the questions were drawn; None: they are all there are, each asked once.
            headline: The same for the headline alone, where that has another interval.
        """
        self._design = design or Design()
        self._headline_design = headline or self._design
        self.accounting = Accounting()
        self._rewards = Series()
        self._metrics: dict[str, _Metric] = {}
        self._failures = array("q")
        # Rewards of scored answers alone; `_rewards` has a 0 for each model failure as well.
        self._completed = array("d")
        # The name of the value that is the reward, such as "correct"; with several such names among
        # the samples, the headline has none of them.
        self._reward_key: str | None = None
        self._several_keys = False
        self._latest_names: tuple[str, ...] = ()
        self._groups: dict[int, str] = {}

    def add(self, question: int, outcome: Outcome | str, *, group: str | None = None) -> None:
        """Count one outcome of a question, or why it was not asked; questions come in order.

        Args:
            group: The cluster the question belongs to; intervals then are those of clusters.
        """
        self.accounting.count(outcome)
        if group is not None:
            self._groups[question] = group
        if isinstance(outcome, Scored):
            self._rewards.add(question, outcome.reward, scored=True)
            self._completed.append(outcome.reward)
            self._note_reward_key(outcome)
            self._add_metrics(question, outcome.metrics, scored=True)
        elif isinstance(outcome, ModelFailure):
            self._rewards.add(question, 0.0, scored=False)
            self._add_metrics(question, outcome.metrics, scored=False)
            for name in self._metrics.keys() - outcome.metrics.keys():
                self._metrics[name].filled.add(question, 0.0, scored=False)
            self._failures.append(question)

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
        return published_name(key)

    @property
    def _rewards_key(self) -> str | None:
        """Return which value is the reward; with nothing scored, of the failures' values."""
        if self._reward_key is None and self.accounting.n_scored == 0:
            return next((key for key in REWARD_KEYS if key in self._metrics), None)
        return self._reward_key

    def headline(self) -> MetricJson:
        """Return the headline metric: the mean reward with interval and bounds."""
        return self._metric(self.headline_name, self._rewards, True)

    @property
    def caution(self) -> str | None:
        """Return what should be known of the headline's interval beside its ends."""
        if not self._groups:
            return None
        return question_interval(self._rewards, self._design_of_headline()).caution

    def metrics(self) -> list[MetricJson]:
        """Return the headline and every other metric, sorted by name."""
        headline = self.headline_name
        series = self._series()
        names = sorted(series, key=lambda name: (name != headline, name))
        return [self._metric(name, *series[name]) for name in names]

    def shares(self, name: str) -> Series | None:
        """Return a metric from 0 to 1 of questions drawn by themselves; None where there is no value,
        or an interval needs to know more than these.
        """
        if self._groups or self._design.fixed or self._headline_design.fixed:
            return None
        series, _ = self._series().get(name, (Series(), False))
        if series.n and series.unit:
            return series
        return None

    def _series(self) -> dict[str, tuple[Series, bool]]:
        """Return the values of each metric by its name, and whether every scored sample has it."""
        series = {self.headline_name: (self._rewards, True)}
        names = published_names(self._metrics, self.headline_name, self._rewards_key)
        for key, name in names.items():
            metric = self._metrics[key]
            # One that every scored sample has counts each failure of the model as 0.
            universal = metric.emitted.n_scored == self.accounting.n_scored
            series[name] = (metric.filled if universal else metric.emitted, universal)
        return series

    def completed_json(self) -> CompletedJson:
        """Return the mean reward of the answers that were neither cut off nor empty nor refused."""
        n = len(self._completed)
        if n == 0:
            return {"value": None, "n": 0}
        return {"value": mean_of(self._completed), "n": n}

    @property
    def n_correct(self) -> int | None:
        """Return how many answers were right, None where a reward is neither 0 nor 1."""
        return round(sum(self._completed)) if self.binary else None

    def rates(self) -> dict[str, float]:
        """Return the share of each kind of model failure among all that were to be asked."""
        total = self.accounting.n_asked
        if total == 0:
            return dict.fromkeys(FAILURE_KINDS, 0.0)
        return {kind: self.accounting.model_failures[kind] / total for kind in FAILURE_KINDS}

    def _add_metrics(self, question: int, values: Mapping[str, float], *, scored: bool) -> None:
        for name, value in values.items():
            if name != self._reward_key:
                metric = self._metric_named(name)
                for series in (metric.emitted, metric.filled):
                    series.add(question, value, scored=scored)

    def _metric_named(self, name: str) -> _Metric:
        """Return a metric; failures before its first value count 0 in it, as later ones do."""
        if name not in self._metrics:
            metric = self._metrics[name] = _Metric()
            for failed in self._failures:
                metric.filled.add(failed, 0.0, scored=False)
        return self._metrics[name]

    def _note_reward_key(self, outcome: Scored) -> None:
        names = tuple(outcome.metrics)
        # Nearly all samples of a benchmark have the same names, which are looked at once.
        if names and names != self._latest_names:
            self._latest_names = names
            name = reward_key(names)
            self._reward_key = self._reward_key or name
            self._several_keys |= self._reward_key != name

    def _metric(self, name: str, series: Series, universal: bool) -> MetricJson:
        value = series.mean()
        design = replace(self._design, groups=self._groups)
        if series is self._rewards:
            design = self._design_of_headline()
        bounds, denominator = None, "samples that have this metric"
        if universal:
            bounds, denominator = self._bounds(series), "scored and model failures"
        return {
            "name": name,
            "value": value,
            "n": series.n,
            "n_questions": len(series.question_means()),
            "repeats": series.repeats,
            **interval_fields(series, design),
            "bounds": bounds,
            "denominator": denominator,
            "unit": unit_of(series),
        }

    def _design_of_headline(self) -> Design:
        return replace(self._headline_design, groups=self._groups)

    def _bounds(self, series: Series) -> BoundsJson | None:
        total, n_unscored = self.accounting.n_asked, self.accounting.n_unscored
        if not series.unit or total == 0:
            return None
        if n_unscored == 0:
            value = series.mean()
            if value is None:
                return None
            return {"lower": value, "upper": value}
        # Every unscored sample as wrong, and every one as right. `series.total` is complete here:
        # `_metric` has asked for the mean, which adds the last question to it.
        return {"lower": series.total / total, "upper": (series.total + n_unscored) / total}


def published_name(key: str) -> str:
    """Return the name of a metric by the name of a scorer's value."""
    return _PUBLISHED.get(key, key) or _UNNAMED


def published_names(keys: Iterable[str], headline: str, reward_key: str | None) -> dict[str, str]:
    """Return the names of the metrics beside the headline, by the names of the scorers' values.

    Args:
        keys: Names of all values; that of the reward may be among them.
        headline: The name that is taken by the headline.
        reward_key: Of the value that is the reward.

    >>> published_names(["correct", "f1", "accuracy"], "accuracy", "correct")
    {'accuracy': 'accuracy@2', 'f1': 'f1'}
    """
    published, names = {headline}, {}
    for key in sorted(keys):
        if key != reward_key:
            names[key] = free_name(published_name(key), published)
            published.add(names[key])
    return names


def free_name(name: str, names: Collection[str]) -> str:
    """Return a name, with the first number after it that makes it unlike the taken ones.

    >>> free_name("f1", {"accuracy"}), free_name("accuracy", {"accuracy", "accuracy@2"})
    ('f1', 'accuracy@3')
    """
    number, candidate = 1, name
    while candidate in names:
        number += 1
        candidate = f"{name}@{number}"
    return candidate


def unit_of(series: Series) -> Unit:
    """Return the unit of the mean of values: a rate where each of them is in [0, 1]."""
    return "rate" if series.unit and series.n else "number"


def interval_fields(series: Series, design: Design) -> IntervalFields:
    """Return what a row says of the interval of a mean, and of that for new questions.

    Args:
        series: The values.
        design: How their questions were drawn.
    """
    interval = question_interval(series, design)
    fields: IntervalFields = {
        "ci_lower": interval.lower,
        "ci_upper": interval.upper,
        "ci_level": LEVEL,
        "ci_method": interval.method,
        "ci_covers": interval.covers,
        "reason": interval.reason if series.n else "nothing was scored",
    }
    if design.sizes and design.fixed is None:
        of_new = new_questions_interval(series, design)
        fields["new_questions"] = {
            "ci_lower": of_new.lower,
            "ci_upper": of_new.upper,
            "ci_method": of_new.method,
            "ci_covers": of_new.covers,
        }
    return fields
