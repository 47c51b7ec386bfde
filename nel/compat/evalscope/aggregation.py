"""Aggregations of an adapter's scores, by the names that EvalScope gives them."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from nel.compat.evalscope.samples import AggScore, SampleScore
from nel.errors import ConfigError, did_you_mean
from nel.metrics.pass_at_k import pass_at_k, pass_hat_k

Reduce: TypeAlias = "Callable[[Sequence[SampleScore], str, int], float]"
"""From the repeats of one problem, a metric and k to a number."""


def _passing(rule: Callable[[int, int, int], float]) -> Reduce:
    def reduce(repeats: Sequence[SampleScore], metric: str, k: int) -> float:
        n_right = sum(score.score.value[metric] >= 1.0 for score in repeats)
        return rule(len(repeats), n_right, k)

    return reduce


def _vote(repeats: Sequence[SampleScore], metric: str, k: int) -> float:
    """Return whether the most frequent answer of the first k repeats is right; on a tie the first.

    An empty answer has no vote.
    """
    scores = [repeat.score for repeat in repeats[:k]]
    answers = [score.extracted_prediction for score in scores]
    votes = Counter(answer for answer in answers if answer is not None and str(answer).strip())
    right = {score.extracted_prediction for score in scores if score.value[metric] == 1.0}
    return float(bool(votes) and votes.most_common(1)[0][0] in right)


OVER_REPEATS: Final[dict[str, Reduce]] = {
    "pass_at": _passing(pass_at_k),
    "pass_hat": _passing(pass_hat_k),
    "vote_at": _vote,
}
MEANS_OF_ONE: Final = (
    "mean",
    *(f"{m}{name}_k" for name in OVER_REPEATS for m in ("mean_and_", "")),
)
"""Those whose value at one answer to a sample is the mean."""
OF_REPEATS: Final = MEANS_OF_ONE[1:]
AGGREGATIONS: Final = (*MEANS_OF_ONE, "clipped_mean", "weighted_mean")
METRIC_WEIGHTS_KEY: Final = "metric_weights"
"""Where a score's metadata say of how many units, such as instructions, each number is a mean."""


def check_aggregation(name: str) -> None:
    """Refuse an aggregation that there is not.

    Raises:
        ConfigError: There is none of this name.
    """
    if name not in AGGREGATIONS:
        hint = did_you_mean(name, AGGREGATIONS, or_all="; there are ")
        raise ConfigError(f'there is no aggregation "{name}"{hint}; or override aggregate_scores')


def aggregate_subset(aggregation: str, scores: Sequence[SampleScore]) -> list[AggScore]:
    """Return the aggregates of one subset's scores; k goes up to the fewest repeats of a problem.

    Raises:
        ConfigError: There is no such aggregation.
    """
    check_aggregation(aggregation)
    aggregates: list[AggScore] = []
    for metric in dict.fromkeys(name for sample in scores for name in sample.score.value):
        having = [sample for sample in scores if metric in sample.score.value]
        if "mean" in aggregation:  # as in ``mean_and_pass_at_k``
            aggregates += _means(aggregation, metric, having)
        rule = aggregation.removeprefix("mean_and_").removesuffix("_k")
        if rule in OVER_REPEATS:
            aggregates += _over_repeats(rule, metric, having)
    return aggregates


def _means(aggregation: str, metric: str, scores: Sequence[SampleScore]) -> list[AggScore]:
    """Return the mean of a metric; by units where each score says how many, none of no units."""
    label, weights = "mean", [1] * len(scores)
    if aggregation == "weighted_mean":
        declared = [(one.score.metadata or {}).get(METRIC_WEIGHTS_KEY) or {} for one in scores]
        if all(metric in each for each in declared):
            label, weights = aggregation, [int(each[metric]) for each in declared]
    n_units = sum(weights)
    if not n_units:
        return []
    values = (one.score.value[metric] * n for one, n in zip(scores, weights, strict=True))
    mean = math.fsum(values) / n_units
    if aggregation == "clipped_mean":
        label = aggregation
        mean = min(max(mean, 0.0), 1.0)
    ids = [one.sample_id for one in scores]
    return [AggScore(score=mean, metric_name=metric, aggregation=label, num=n_units, ids=ids)]


def _over_repeats(rule: str, metric: str, scores: Sequence[SampleScore]) -> list[AggScore]:
    groups: dict[object, list[SampleScore]] = {}
    for sample in scores:
        problem = sample.sample_id if sample.group_id is None else sample.group_id
        groups.setdefault(problem, []).append(sample)
    reduce = OVER_REPEATS[rule]
    aggregates: list[AggScore] = []
    # A problem with fewer answers than k has no value of k, so the fewest answers are the largest.
    for k in range(1, min(map(len, groups.values())) + 1):
        score = statistics.fmean(reduce(repeats, metric, k) for repeats in groups.values())
        label = f"{rule}_{k}"
        aggregates.append(
            AggScore(
                score=score, metric_name=metric, aggregation=label, num=len(groups), ids=groups
            )
        )
    return aggregates
