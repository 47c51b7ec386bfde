"""Statistics that were asked for count every sample that is counted."""

from __future__ import annotations

import math

import pytest

from nel.metrics import mean
from nel.metrics.requested import RequestedStatistics
from nel.metrics.statistics_collector import StatisticsCollector
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


def test_a_metric_of_nel_counts_them_too() -> None:
    """Also where it is given no more of a sample than its value."""
    statistics = StatisticsCollector(RequestedStatistics(metrics=(("share", mean()),)))
    scored = Scored(reward=1.0, metrics={"share": 0.5})
    for question, outcome in enumerate([scored, ModelFailure(kind="empty"), scored, scored]):
        statistics.add(question, outcome, SampleScore(score=Score(value=0.0), sample_id=str(question)))
    (row,) = statistics.rows("accuracy")
    assert (row["value"], row["n"]) == (0.375, 4)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("0.9", "failed: it is a str, not a number"),
        (b"1", "failed: it is a bytes, not a number"),
        (1j, "failed: it is a complex, not a number"),
        (10**400, "failed: it is a number that no float holds"),
        ({}, "failed: it gave no number at all"),
        ([], "failed: it gave no number at all"),
    ],
)
def test_what_is_no_number_is_a_failed_metric(given: object, reason: str) -> None:
    """Its row stays, with the reason, and the run says that a metric failed."""
    statistics = StatisticsCollector(RequestedStatistics(metrics=(("", lambda _: given),)))  # type: ignore[arg-type, return-value]
    statistics.add(0, Scored(reward=1.0, metrics={"correct": 1.0}), SampleScore(score=Score(value=0.0), sample_id="0"))
    (row,) = statistics.rows("accuracy")
    assert (row["value"], row["reason"], statistics.failed) == (None, reason, [row["name"]])
