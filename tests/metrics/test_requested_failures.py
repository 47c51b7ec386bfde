"""Statistics that were asked for count every sample that is counted."""

from __future__ import annotations

import math

from nel.metrics import mean
from nel.metrics.requested import RequestedStatistics, StatisticsCollector
from nel.types import ModelFailure, SampleScore, Score, Scored, Unscored


def values_of(outcomes: list[Scored | ModelFailure | Unscored]) -> list[float]:
    """Return what a metric over the number ``share`` gets to see."""
    seen: list[float] = []

    def spy(scores: object) -> float:
        seen.extend(one.score.as_float() for one in scores)  # type: ignore[attr-defined]
        return math.fsum(seen)

    statistics = StatisticsCollector(RequestedStatistics(metrics=(("share", spy),)))
    for question, outcome in enumerate(outcomes):
        statistics.add(question, outcome, SampleScore(score=Score(value=0.0), sample_id=str(question)))
    statistics.rows("accuracy")
    return seen


def test_a_failure_without_numbers_counts_0_in_every_number() -> None:
    """An empty or cut off answer lowers a metric over a number as it lowers its mean; what is unscored does not."""
    scored = Scored(reward=1.0, metrics={"correct": 1.0, "share": 0.5})
    outcomes = [scored, ModelFailure(kind="empty"), Unscored(cause="infra", kind="timeout"), scored]
    assert sorted(values_of(outcomes)) == [0.0, 0.5, 0.5]


def test_a_number_that_only_some_samples_have_is_theirs_alone() -> None:
    """Where a scorer leaves a number out, a failure does not bring it in."""
    outcomes = [
        Scored(reward=1.0, metrics={"correct": 1.0, "share": 0.5}),
        Scored(reward=0.0, metrics={"correct": 0.0}),
        ModelFailure(kind="truncated"),
    ]
    assert values_of(outcomes) == [0.5]


def test_a_metric_of_nel_counts_them_too() -> None:
    """Also where it is given no more of a sample than its value."""
    statistics = StatisticsCollector(RequestedStatistics(metrics=(("share", mean()),)))
    scored = Scored(reward=1.0, metrics={"share": 0.5})
    for question, outcome in enumerate([scored, ModelFailure(kind="empty"), scored, scored]):
        statistics.add(question, outcome, SampleScore(score=Score(value=0.0), sample_id=str(question)))
    (row,) = statistics.rows("accuracy")
    assert (row["value"], row["n"]) == (0.375, 4)
