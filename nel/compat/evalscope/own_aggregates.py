"""What an adapter's `aggregate_scores` adds to a run's means where it is no mean, such as F1.

It is given each answer's score as `match_score` made it, subset by subset; an unscored answer is
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from nel.compat.evalscope.samples import (
    AggScore,
    ChatMessage,
    ModelOutput,
    Sample,
    SampleScore,
    Score,
)
from nel.errors import UndefinedMetric
from nel.types import JsonObject

if TYPE_CHECKING:
    from nel.compat.evalscope.adapters import DefaultDataAdapter
    from nel.types import SampleScore as OwnSampleScore

_EMPTY: Final = ""


class OwnAggregates:
    """A metric over all answers, by the adapter's rule."""

    name = "aggregated"
    reads_each_answer = True
    """So that it is given every answer of a sample, each with its numbers and details."""

    def __init__(self, adapter: DefaultDataAdapter) -> None:
        """Take the adapter."""
        self.adapter = adapter

    def __call__(self, scores: Sequence[OwnSampleScore]) -> dict[str, float]:
        """Return the aggregates by name, of several subsets each after its subset's name.

        Raises:
            UndefinedMetric: There are no scores.
        """
        if not scores:
            raise UndefinedMetric("nothing was scored")
        subsets: dict[str, list[SampleScore]] = {}
        for score in scores:
            subsets.setdefault(score.subset or _EMPTY, []).append(self._as_adapters(score))
        order = sorted(subsets)
        aggregates = {
            subset: values_by_name(self.adapter.aggregate_scores(subsets[subset]))
            for subset in order
        }
        if len(aggregates) == 1:
            return next(iter(aggregates.values()))
        return {
            f"{subset}/{name}": value
            for subset, each in aggregates.items()
            for name, value in each.items()
        }

    def _as_adapters(self, sample: OwnSampleScore) -> SampleScore:
        numbers = sample.score.value
        return sample_score(
            self.adapter,
            numbers=numbers if isinstance(numbers, Mapping) else {},
            details=sample.score.metadata or {},
            extracted=sample.score.answer,
            response=sample.response,
            target=sample.target,
            sample_id=sample.sample_id,
            metadata=dict(sample.sample_metadata or {}),
        )


def sample_score(
    adapter: DefaultDataAdapter | None,
    *,
    numbers: Mapping[str, Any],
    details: JsonObject,
    extracted: str | None,
    response: str | None,
    target: Any,
    sample_id: int | str | None,
    metadata: dict[str, Any],
) -> SampleScore:
    """Return a stored score as the adapter made it; if it has no numbers, an empty answer's."""
    # A failure of the model was never scored, and the adapter's rule may read what its
    # `match_score` keeps in details.
    if not numbers and adapter is not None:
        sample = Sample(
            input=[ChatMessage(role="user", content=_EMPTY)],
            target=target,
            id=sample_id,
            group_id=sample_id,
            metadata=metadata,
        )
        return adapter.calculate_metrics(
            adapter._on_inference_end(_NoModel, sample, ModelOutput(), _EMPTY)  # noqa: SLF001 - EvalScope's name for a hook
        )
    score = Score(
        value=dict(numbers),
        extracted_prediction=extracted or _EMPTY,
        prediction=response,
        metadata=dict(details),
    )
    return SampleScore(
        score=score, sample_id=sample_id, group_id=sample_id, sample_metadata=metadata
    )


class _NoModel:
    name = "none"


def values_by_name(aggregates: Iterable[AggScore]) -> dict[str, float]:
    """Return aggregates by name; those of one name are distinguished by their dimensions.

    >>> values_by_name([AggScore(score=0.5, metric_name="f1"), AggScore(metric_name="acc", score=1.0, dimensions={"level": "all"})])
    {'f1': 0.5, 'acc[level=all]': 1.0}
    """
    values: dict[str, float] = {}
    for aggregate in aggregates:
        marks = ",".join(f"{key}={value}" for key, value in aggregate.dimensions.items())
        name = aggregate.metric_name
        if marks:
            name += f"[{marks}]"
        if name in values:
            name += f"/{aggregate.aggregation}"
        values[name] = aggregate.score
    return values
