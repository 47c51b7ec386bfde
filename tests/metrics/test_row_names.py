"""Every requested metric and every number of a scorer is shown, under a name that occurs once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from nel.metrics import accuracy, ci, mean, metric, score_reducer, std, stderr
from nel.metrics.accumulator import Accumulator
from nel.metrics.decorators import Metric, NamedReducer, ScoreReducer
from nel.metrics.requested import RequestedStatistics
from nel.metrics.statistics_collector import StatisticsCollector
from nel.types import ModelFailure, SampleScore, Score, Scored


@metric
def length(unit: str = "words") -> Metric:
    return lambda scores: float(len(unit))


@metric
def broken(kind: type[BaseException] = RuntimeError) -> Metric:
    def compute(scores: Sequence[SampleScore]) -> float:
        raise kind("no")

    return compute


@metric
def text() -> Metric:
    return lambda scores: "much"


@score_reducer
def broken_reducer() -> ScoreReducer:
    def reduce(scores: Sequence[Score]) -> Score:
        raise KeyError("no")

    return reduce


def _rows(requested: RequestedStatistics, **numbers: float) -> tuple[list[Any], list[str]]:
    total, chosen = Accumulator(), StatisticsCollector(requested)
    for question in range(6):
        reward = float(question % 2)
        outcome = Scored(reward=reward, metrics={"correct": reward, **numbers})
        total.add(question, outcome)
        chosen.add(question, outcome, SampleScore(score=Score(value=0.0), sample_id=str(question)))
    own = total.metrics()
    return [*own, *chosen.rows(total.headline_name, own)], chosen.failed


def _values(*asked: tuple[str, Metric], **numbers: float) -> dict[str, float | None]:
    requested = RequestedStatistics(
        metrics=tuple(("", one) for _, one in asked), specs=tuple(text for text, _ in asked)
    )
    rows, _ = _rows(requested, **numbers)
    found = {row["name"]: row["value"] for row in rows}
    assert len(found) == len(rows)
    return found


def test_metrics_of_one_name_are_shown_as_asked_for() -> None:
    """Two of a run, one of a scorer beside one of a run, and two of a scorer."""
    words, letters = length(), length("letters")
    assert _values(("len", words)) == {"accuracy": 0.5, "length": 5.0}
    found = _values(("len:unit=words", words), ("len:unit=letters", letters))
    assert found == {"accuracy": 0.5, "len:unit=words": 5.0, "len:unit=letters": 7.0}
    found = _values(("", words), ("len:unit=letters", letters))
    assert found == {"accuracy": 0.5, "length:unit=words": 5.0, "len:unit=letters": 7.0}
    found = _values(("package:len:unit=letters", letters), ("len", words))
    assert found == {"accuracy": 0.5, "package:len:unit=letters": 7.0, "length": 5.0}
    found = _values(("", words), ("", letters))
    assert found == {"accuracy": 0.5, "length:unit=words": 5.0, "length:unit=letters": 7.0}


def test_the_parts_of_a_metric_carry_its_name() -> None:
    """Of two intervals each end is shown under the interval that was asked for."""
    found = _values(("ci", ci()), ("ci:level=0.9", ci(level=0.9)))
    assert list(found) == ["accuracy", "ci/lower", "ci/upper", "ci:level=0.9/lower", "ci:level=0.9/upper"]


def test_what_only_repeats_a_number_is_shown_once() -> None:
    """nel's own accuracy and mean over the rewards, and the same metric asked for twice."""
    found = _values(("", accuracy()), ("accuracy", accuracy()), ("", stderr()), ("stderr", stderr()))
    assert found.keys() == {"accuracy", "stderr"}


@pytest.mark.parametrize("one", [broken(), broken(SystemExit), broken(ValueError), text()])
def test_a_metric_that_crashes_or_gives_no_number_is_listed(one: Metric) -> None:
    """Its row has no value and says why; the others have theirs."""
    rows, failed = _rows(RequestedStatistics(metrics=(("", one), ("", std()))))
    by_name = {row["name"]: row for row in rows}
    assert failed == [one.name]  # type: ignore[attr-defined]
    assert by_name[failed[0]]["value"] is None
    assert by_name[failed[0]]["reason"].startswith("failed: ")
    assert by_name["std"]["value"] is not None


def test_a_reducer_that_crashes_is_listed() -> None:
    """As a metric is; it does not end the writing of the artifacts."""
    named = NamedReducer(broken_reducer(), name="bad")
    rows, failed = _rows(RequestedStatistics(reducers=(named,)))
    assert failed == ["accuracy/bad"]
    assert [row["reason"] for row in rows if row["name"] == "accuracy/bad"] == ["failed: KeyError: 'no'"]


def test_a_key_without_a_number_fails_only_where_something_was_scored() -> None:
    """A run of nothing but failures says nothing of the scorer's keys."""
    requested = RequestedStatistics(metrics=(("lenght", mean()),))
    rows, failed = _rows(requested, length=1.0)
    assert failed == ["lenght/mean"]
    assert 'did you mean "length"?' in next(row["reason"] for row in rows if row["name"] == "lenght/mean")
    chosen = StatisticsCollector(requested)
    chosen.add(0, ModelFailure(kind="empty"), SampleScore(score=Score(value=0.0), sample_id="0"))
    assert chosen.rows("accuracy") == []
    assert chosen.failed == []
