"""The numbers and the labels of samples, and the statistics that metrics compute from them.

A sample without a score (NaN) is left out. Depends on `nel.metrics` and `nel.types`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final, Literal

from nel.core.scaling import mean_of
from nel.errors import UndefinedMetric
from nel.metrics.clusters import is_cluster_id
from nel.metrics.intervals import FEWEST
from nel.metrics.score_values import ValueToFloat
from nel.types import SampleScore

NOTHING: Final = "nothing was scored"


def label_in(sample: SampleScore, key: str, kind: Literal["cluster", "group"]) -> Hashable:
    """Return a sample's cluster or group.

    Raises:
        ValueError: It has none.
    """
    metadata: Mapping[str, Hashable] = sample.sample_metadata or {}
    if key not in metadata or not is_cluster_id(metadata[key]):
        state = f"is {metadata[key]!r}, which names none" if key in metadata else "is not there"
        raise ValueError(f'sample {sample.sample_id} has no {kind} metadata: "{key}" {state}')
    return metadata[key]


def scored_numbers(
    scores: Sequence[SampleScore], to_float: ValueToFloat
) -> Iterator[tuple[SampleScore, float]]:
    """Yield the samples that have a score, with its number."""
    for sample in scores:
        if sample.score.is_unscored:
            continue
        try:
            number = to_float(sample.score.value)
        except UndefinedMetric as error:
            raise UndefinedMetric(f"sample {sample.sample_id}: {error}") from error
        if math.isinf(number):
            raise UndefinedMetric(f"sample {sample.sample_id}: the score is infinite")
        if not math.isnan(number):
            yield sample, number


def numbers_of(scores: Sequence[SampleScore], to_float: ValueToFloat) -> list[float]:
    """Return the numbers of the samples that have a score."""
    return [number for _, number in scored_numbers(scores, to_float)]


def mean_number(values: Sequence[float]) -> float:
    """Return the mean.

    Raises:
        UndefinedMetric: There are no values.
    """
    if not values:
        raise UndefinedMetric(NOTHING)
    return mean_of(values)


def variance_of(values: Sequence[float]) -> float:
    """Return the sample variance, n - 1 below.

    Raises:
        UndefinedMetric: There are fewer than two values.
    """
    centre = mean_of(at_least_two(values))
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def at_least_two(values: Sequence[float]) -> Sequence[float]:
    """Return the values.

    Raises:
        UndefinedMetric: There are fewer than two.
    """
    if len(values) < FEWEST:
        raise UndefinedMetric("fewer than two samples were scored" if values else NOTHING)
    return values
