"""The built-in metrics: factories of functions from the scores of samples to a number, or to the
ends of an interval.

A sample without a score (NaN) is left out, so it counts neither as right nor as wrong. A number
that does not exist is an error and never 0: the mean of no samples, the spread of one sample.
Depends on `nel.metrics` and `nel.types`.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeGuard

from nel.errors import UndefinedMetric
from nel.metrics.bootstrap import bootstrap_means
from nel.metrics.clusters import cluster_codes
from nel.metrics.decorators import Metric, NamedMetric, metric
from nel.metrics.intervals import FEWEST, LEVEL, Interval
from nel.metrics.late_numpy import np
from nel.metrics.question_intervals import SHARES, macro_interval, values_interval
from nel.metrics.sample_numbers import (
    NOTHING,
    at_least_two,
    label_in,
    mean_number,
    numbers_of,
    scored_numbers,
    variance_of,
)
from nel.metrics.score_values import DEFAULT_TO_FLOAT, ValueToFloat
from nel.types import SampleScore, Value


@metric
def accuracy(to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> Metric:
    """Return the share of right answers: the mean of the scores' numbers, partial credit included.

    Args:
        to_float: The number of a score's value; 1 is right, 0 wrong.

    Raises:
        UndefinedMetric: When computed: nothing was scored, or a value has no number.

    >>> from nel.types import Score
    >>> accuracy()([SampleScore(score=Score(value=value)) for value in "CCIP"])
    0.625
    """
    return lambda scores: mean_number(numbers_of(scores, to_float))


def _clusters(
    scores: Sequence[SampleScore], to_float: ValueToFloat, cluster: str
) -> list[Hashable]:
    return [label_in(sample, cluster, "cluster") for sample, _ in scored_numbers(scores, to_float)]


@metric
def mean(to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> Metric:
    """Return the arithmetic mean of the scores' numbers, the same to the last bit in any order.

    Args:
        to_float: The number of a score's value.

    Raises:
        UndefinedMetric: When computed: nothing was scored, or a value has no number.

    >>> from nel.types import Score
    >>> mean()([SampleScore(score=Score(value=value)) for value in (1, 2, 6)])
    3.0
    """
    return lambda scores: mean_number(numbers_of(scores, to_float))


@metric
def var(to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> Metric:
    """Return the sample variance (n - 1 below) of the scores' numbers, in their unit squared.

    Args:
        to_float: The number of a score's value.

    Raises:
        UndefinedMetric: When computed: fewer than two samples were scored, or a value has no
            number.

    >>> from nel.types import Score
    >>> round(var()([SampleScore(score=Score(value=value)) for value in range(10)]), 3)
    9.167
    """
    return lambda scores: variance_of(numbers_of(scores, to_float))


@metric
def std(to_float: ValueToFloat = DEFAULT_TO_FLOAT) -> Metric:
    """Return the sample standard deviation (n - 1 below) of the scores' numbers, in their unit.

    Args:
        to_float: The number of a score's value.

    Raises:
        UndefinedMetric: When computed: fewer than two samples were scored, or a value has no
            number.

    >>> from nel.types import Score
    >>> std()([SampleScore(score=Score(value=value)) for value in (1, 3, 5)])
    2.0
    """
    return lambda scores: math.sqrt(variance_of(numbers_of(scores, to_float)))


@metric
def stderr(to_float: ValueToFloat = DEFAULT_TO_FLOAT, cluster: str | None = None) -> Metric:
    """Return the standard error of the mean, in the unit of the scores.

    ``sqrt(var / n)``, or with `cluster` the cluster-robust ``sqrt(G/(G-1) * sum_c (sum_{i in c} (s_i
    - mean))^2) / n``: CR1, the form of Miller 2024 (arXiv 2411.00640, appendix A) with the factor for
    few clusters, as Inspect and statsmodels have it. Note: for few 0/1 scores it is too small, and 0
    when all are right; `ci` holds there.

    Args:
        to_float: The number of a score's value.
        cluster: The metadata key whose value says which samples belong together.

    Raises:
        UndefinedMetric: When computed: fewer than two samples or clusters, or a value has no
            number.
        ValueError: When computed: a sample has no cluster id.

    >>> from nel.types import Score
    >>> round(stderr()([SampleScore(score=Score(value=value)) for value in range(10)]), 3)
    0.957
    """

    def compute(scores: Sequence[SampleScore]) -> Value:
        values = numbers_of(scores, to_float)
        if cluster is not None:
            codes, count = cluster_codes(_clusters(scores, to_float, cluster))
            if count < FEWEST:
                raise UndefinedMetric("fewer than two clusters" if count else NOTHING)
            residuals = np.array(values) - mean_number(values)
            sums = np.bincount(codes, weights=residuals)  # of each cluster
            return math.sqrt(count / (count - 1) * float(sums @ sums)) / len(values)
        return math.sqrt(variance_of(values) / len(values))

    return compute


@metric
def bootstrap_stderr(
    num_samples: int = 1000, to_float: ValueToFloat = DEFAULT_TO_FLOAT, seed: int = 0
) -> Metric:
    """Return the standard deviation of means of resamples, in the unit of the scores (Efron 1979).

    Args:
        num_samples: Resamples to draw, at least 2; the number's own relative error is about
            ``1/sqrt(2 num_samples)``.
        to_float: The number of a score's value.
        seed: Seeds a generator of its own: the same scores, in any order, give the same number.

    Raises:
        UndefinedMetric: When computed: fewer than two samples were scored, or a value has no
            number.
        ValueError: `num_samples` is below 2.

    >>> from nel.types import Score
    >>> error = bootstrap_stderr()([SampleScore(score=Score(value=value)) for value in range(10)])
    >>> 0.85 < error < 0.95
    True
    """
    if num_samples < FEWEST:
        raise ValueError(f"num_samples must be at least 2, not {num_samples}")

    def compute(scores: Sequence[SampleScore]) -> Value:
        values = at_least_two(numbers_of(scores, to_float))
        return float(bootstrap_means(values, n_resamples=num_samples, seed=seed).std())

    return compute


@metric
def ci(
    level: float = LEVEL,
    cluster: str | None = None,
    to_float: ValueToFloat = DEFAULT_TO_FLOAT,
) -> Metric:
    """Return a confidence interval of the mean as ``{"lower": …, "upper": …}``.

    It is that from the scores and one more at each bound, which holds for means over repeats and for
    partial credit; Student's t where a score is outside 0 to 1.

    Args:
        level: Strictly between 0 and 1.
        cluster: The metadata key whose value says which samples belong together.
        to_float: The number of a score's value.

    Raises:
        UndefinedMetric: When computed: there is no interval, because nothing was scored, there is
            one cluster, or scores outside 0 to 1 have no spread.
        ValueError: An argument is out of range; or when computed, a sample has no cluster id.

    >>> from nel.types import Score
    >>> scores = [SampleScore(score=Score(value=value)) for value in "CCCCCCCCII"]
    >>> {end: round(value, 6) for end, value in ci()(scores).items()}
    {'lower': 0.443918, 'upper': 0.987768}
    """
    if not 0 < level < 1:
        raise ValueError(f"no interval at level {level}")

    def compute(scores: Sequence[SampleScore]) -> Value:
        values = numbers_of(scores, to_float)
        labels = None if cluster is None else _clusters(scores, to_float, cluster)
        if not values:
            raise UndefinedMetric(NOTHING)
        is_share = min(values) >= 0 and max(values) <= 1
        codes = None if labels is None else cluster_codes(labels)[0]
        bounds = SHARES if is_share else None
        return _ends(values_interval(np.array(values), bounds=bounds, codes=codes, level=level))

    return compute


@metric
def grouped(
    metric: Metric,
    group_key: str,
    all: Literal["samples", "groups", False] = "samples",  # noqa: A002 - the name that inspect_ai gives it
    all_label: str = "all",
    name_template: str = "{group_name}",
    to_float: ValueToFloat = DEFAULT_TO_FLOAT,
) -> Metric:
    """Return a metric for each group of samples and one for all, as a mapping sorted by group.

    A group in which the metric is undefined (none of its samples was scored) has None, and then so
    has the mean of groups.

    Args:
        metric: What to compute in each group.
        group_key: The metadata key whose value, as text, is the group.
        all: ``samples`` computes the metric over all samples, ``groups`` takes the mean of the
            groups' values, False leaves it out.
        all_label: Its name in the mapping.
        name_template: The name of a group in the mapping.
        to_float: The number of a group's value, for the mean of groups.

    Raises:
        UndefinedMetric: When computed: there is no sample, the metric of all samples is undefined,
            or the groups' values have no mean.
        ValueError: An argument is wrong; when computed: a sample has no group, or names clash.

    >>> from nel.types import Score
    >>> scores = [
    ...     SampleScore(score=Score(value=value), sample_metadata={"subject": subject})
    ...     for value, subject in (("C", "law"), ("I", "law"), ("I", "art"), ("I", "law"))
    ... ]
    >>> grouped(accuracy(), "subject")(scores)
    {'art': 0.0, 'law': 0.3333333333333333, 'all': 0.25}
    """
    if all not in ("samples", "groups", False):
        raise ValueError(f'all must be "samples", "groups" or False, not {all!r}')
    _check_template(name_template)

    def compute(scores: Sequence[SampleScore]) -> Value:
        if not scores:
            raise UndefinedMetric(NOTHING)
        groups = _by_group(scores, group_key)
        names = {group: name_template.format(group_name=group) for group in sorted(groups)}
        if all and all_label in names.values():
            raise ValueError(
                f'a group is called "{all_label}" like the value of all; give another all_label'
            )
        values: dict[str, Any] = {
            name: _or_none(metric, groups[group]) for group, name in names.items()
        }
        if all == "samples":
            values[all_label] = metric(scores)
        elif all == "groups" and None in values.values():
            values[all_label] = None
        elif all == "groups":
            values[all_label] = mean_number(list(map(to_float, values.values())))
        return values

    return compute


def _check_template(name_template: str) -> None:
    """Refuse a template that does not name the group, or names anything else."""
    fields = {field for _, field, _, _ in string.Formatter().parse(name_template)}
    if fields - {None} != {"group_name"}:
        raise ValueError(
            f"the template must name {{group_name}} and nothing else: {name_template!r}"
        )


def _by_group(scores: Sequence[SampleScore], key: str) -> dict[str, list[SampleScore]]:
    groups: dict[str, list[SampleScore]] = {}
    for sample in scores:
        group = str(label_in(sample, key, "group"))
        groups.setdefault(group, []).append(sample)
    return groups


@metric
def aggregate(
    key: str,
    agg: Metric,
    *,
    to_float: ValueToFloat | None = None,
    on_missing: Literal["error", "skip", "zero"] = "error",
) -> Metric:
    """Return a metric of one key of scores that are mappings.

    Args:
        key: Of the score's value; a sample without a score is left out, and so is one whose entry
            is NaN.
        agg: The metric of its entries.
        to_float: The number of an entry, before `agg` sees it; the entry itself where it is not
            given.
        on_missing: What a sample without the key counts: an error, nothing (``skip``) or 0.

    Raises:
        UndefinedMetric: When computed: a score is not a mapping or lacks the key, or nothing is
            left.
        ValueError: `on_missing` is none of the three.

    >>> from nel.types import Score
    >>> scores = [SampleScore(score=Score(value=value)) for value in ({"a": 1, "b": 0}, {"a": 0.5})]
    >>> aggregate("a", mean())(scores), aggregate("b", mean(), on_missing="zero")(scores)
    (0.75, 0.0)
    """
    if on_missing not in ("error", "skip", "zero"):
        raise ValueError(f'invalid on_missing {on_missing!r}; use "error", "skip" or "zero"')

    def compute(scores: Sequence[SampleScore]) -> Value:
        entries = []
        for sample in scores:
            if sample.score.is_unscored:
                continue
            entry = _entry_of(sample, key, is_required=on_missing == "error")
            if entry is None and on_missing == "skip":
                continue
            if isinstance(entry, float) and math.isnan(entry):
                continue
            if entry is None:
                entry = 0.0
            elif to_float is not None:
                entry = to_float(entry)
            entries.append(replace(sample, score=replace(sample.score, value=entry)))
        if not entries:
            raise UndefinedMetric(NOTHING)
        return agg(entries)

    return compute


def _entry_of(sample: SampleScore, key: str, *, is_required: bool) -> Any:
    """Return one entry of a score that is a mapping; None where it has none and needs none."""
    value = sample.score.value
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise UndefinedMetric(
            f'sample {sample.sample_id}: a non-dict score, a {kind}, has no "{key}"'
        )
    entry = value.get(key)
    if entry is None and is_required:
        state = "is None" if key in value else "is missing"
        raise UndefinedMetric(
            f'sample {sample.sample_id}: "{key}" {state} in the score; set on_missing'
        )
    return entry


def reads_scores_alone(metric: Metric) -> bool:
    """Return whether a metric is built in and reads only the score of a sample."""
    return (
        _is_built_in(metric)
        and metric.params.get("cluster") is None
        and not {"group_key", "agg"} & set(metric.params)
    )


def unit_of_value(metric: Metric) -> Literal["rate", "points", "number"]:
    """Return the unit of what a metric gives for scores in [0, 1]: only built-in ones are known."""
    if not _is_built_in(metric):
        return "number"
    # `grouped` and `aggregate` have the unit of the metric that they were given.
    of = {"grouped": "metric", "aggregate": "agg"}.get(metric.name)
    name = metric.name if of is None else str(metric.params.get(of))
    if name in ("accuracy", "mean", "ci"):
        return "rate"
    return "points" if name in ("std", "stderr", "bootstrap_stderr") else "number"


def group_sizes(metric: Metric, scores: Sequence[SampleScore]) -> Counter[str]:
    """Return how many scores each value of `grouped` is of; empty for other metrics."""
    params = metric.params if _is_built_in(metric) else {}
    if "group_key" not in params:
        return Counter()
    labels = (label_in(sample, str(params["group_key"]), "group") for sample in scores)
    return Counter(str(params["name_template"]).format(group_name=label) for label in labels)


def macro_row(metric: Metric, scores: Sequence[SampleScore]) -> tuple[str, Interval] | None:
    """Return which of its values is a mean of groups' means, and the interval of that; None where a
    metric gives none, or the means are not of numbers from 0 to 1.
    """
    if not _is_built_in(metric) or metric.params.get("all") != "groups":
        return None
    if str(metric.params["metric"]) not in ("accuracy", "mean"):
        return None
    groups: dict[str, list[float]] = {}
    for sample in scores:
        label = str(label_in(sample, str(metric.params["group_key"]), "group"))
        groups.setdefault(label, []).extend(numbers_of([sample], DEFAULT_TO_FLOAT))
    parts = [np.array(values) for values in groups.values()]
    return str(metric.params["all_label"]), macro_interval(parts)


def _is_built_in(metric: Metric) -> TypeGuard[NamedMetric]:
    return isinstance(metric, NamedMetric) and metric.function.__module__ == __name__


def _or_none(metric: Metric, scores: Sequence[SampleScore]) -> Value | None:
    try:
        return metric(scores)
    except UndefinedMetric:
        return None


def _ends(interval: Interval) -> dict[str, float]:
    if interval.lower is None or interval.upper is None:
        raise UndefinedMetric(interval.reason or "there is no interval")
    return {"lower": interval.lower, "upper": interval.upper}
