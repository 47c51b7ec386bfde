"""The forms of Inspect's page: metrics by position, parts of a score, a metric of one key, intermediate scoring."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from types import SimpleNamespace
from typing import Any

import pytest

from nel.errors import ConfigError, UndefinedMetric
from nel.metrics.requested import RequestedStatistics
from nel.metrics.statistics_collector import StatisticsCollector
from nel.scorers import (
    UNCHANGED,
    Metric,
    MetricProtocol,
    SampleScore,
    Score,
    ScoreEdit,
    accuracy,
    aggregate,
    mean,
    metric,
    score,
    scorer,
    stderr,
    value_to_float,
)
from nel.scoring.declarations import metrics_of
from nel.scoring.protocol import scoring
from nel.types import Scored, ScorerInput


@pytest.mark.parametrize("declared", [[accuracy(), stderr()], (accuracy(), stderr()), {"a": [accuracy(), stderr()]}])
def test_metrics_stand_first_in_the_decorator(declared: Any) -> None:
    """``@scorer([accuracy(), stderr()])`` declares them as ``@scorer(metrics=…)`` does."""

    @scorer(declared, name="mine")
    def factory(strict: bool = False) -> Any:
        async def graded(state: Any, target: Any) -> Score:
            return Score(value="C" if strict else "I")

        return graded

    built = factory(strict=True)
    assert (built.name, metrics_of(built)) == ("mine", declared)
    with pytest.raises(ConfigError, match="not a int"):
        scorer(3)  # type: ignore[call-overload]  # what a mistake gives


def test_a_score_says_what_it_is_made_of() -> None:
    """Its parts by name, the edits that made it, and a changed copy; the score itself stays as it is."""
    first = Score(value="I", answer="4")
    edited = first.edit(ScoreEdit(value="C", provenance="read again"))
    assert (edited.value, edited.answer, edited.history[0].answer) == ("C", "4", UNCHANGED)
    assert edited.model_dump() == {
        "value": "C",
        "answer": "4",
        "explanation": None,
        "metadata": None,
        "history": [{"value": "C", "provenance": "read again"}],
    }
    assert first.model_copy(update={"answer": "5"}).answer == "5"
    assert SampleScore(score=first, sample_id=1).model_dump()["score"] == first.model_dump()
    with pytest.raises(FrozenInstanceError):
        first.value = "C"  # type: ignore[misc]  # the point


def samples(*values: Any) -> list[SampleScore]:
    """Return the scores of samples with these values."""
    return [SampleScore(score=Score(value=value), sample_id=place) for place, value in enumerate(values)]


def test_a_metric_of_one_key() -> None:
    """Missing entries are an error, left out or 0, as is said; NaN and samples without a score are left out."""
    found: MetricProtocol = aggregate("a", mean())
    assert found(samples({"a": 1}, {"a": 0, "b": 2}, {"a": math.nan}, math.nan)) == 0.5
    lacking = samples({"a": 1}, {"b": 1}, {"a": None})
    with pytest.raises(UndefinedMetric, match='sample 1: "a" is missing in the score'):
        found(lacking)
    with pytest.raises(UndefinedMetric, match='sample 2: "a" is None in the score'):
        found([lacking[0], lacking[2]])
    assert aggregate("a", mean(), on_missing="skip")(lacking) == 1.0
    assert aggregate("a", mean(), on_missing="zero")(lacking) == pytest.approx(1 / 3)
    assert aggregate("a", mean(), to_float=value_to_float())(samples({"a": "C"}, {"a": "I"})) == 0.5
    with pytest.raises(UndefinedMetric, match="nothing was scored"):
        aggregate("b", mean(), on_missing="skip")(samples({"a": 1}))
    with pytest.raises(UndefinedMetric, match="sample 0: a non-dict score, a int, has no"):
        found(samples(1))
    with pytest.raises(ValueError, match="on_missing"):
        aggregate("a", mean(), on_missing="drop")  # type: ignore[arg-type]  # the point


@metric
def best_and_worst() -> Metric:
    """Return two numbers, in a list."""
    return lambda scores: [function(one.score.as_float() for one in scores) for function in (max, min)]


@metric
def number_of_scores() -> Any:
    """Return how many there are, of scores without samples."""

    def count(scores: list[Score]) -> int:
        return sum(score.as_float() >= 0 for score in scores)

    return count


@metric(name="above")
class Above:
    """The same form as a class."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __call__(self, scores: list[Score]) -> float:
        """Return how many are above the limit."""
        return float(sum(score.as_float() > self.limit for score in scores))


def test_metrics_of_bare_scores_and_of_several_numbers() -> None:
    """``list[Score]`` is the older form of a metric's parameter; a list's numbers are counted from 1."""
    chosen = StatisticsCollector(
        RequestedStatistics(metrics=(("", best_and_worst()), ("", number_of_scores()), ("", Above(0.5))))
    )
    for question, reward in enumerate((0.0, 1.0, 0.25)):
        outcome = Scored(reward=reward, metrics={})
        chosen.add(question, outcome, SampleScore(score=Score(value=reward), sample_id=str(question)))
    found = {row["name"]: row["value"] for row in chosen.rows("accuracy")}
    assert found == {"best_and_worst/1": 1.0, "best_and_worst/2": 0.0, "number_of_scores": 3.0, "above": 1.0}


async def test_whatever_has_messages_and_an_output_can_be_scored() -> None:
    """The state of an agent, as well as a `TaskState`."""

    @scorer
    def same(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": sample.response == sample.target}

    state: Any = SimpleNamespace(output=SimpleNamespace(completion="4"), messages=[{"role": "user", "content": "?"}])
    with scoring(same, ScorerInput(response="", target="4")):
        assert await score(state) == [{"correct": True}]
