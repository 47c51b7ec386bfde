"""Chosen metrics see the same scores, whether they are given whole samples or no more than they look at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from nel.metrics import accuracy, bootstrap_stderr, ci, grouped, mean, reducer_named, std, stderr, var
from nel.metrics.decorators import Metric
from nel.metrics.requested import RequestedStatistics
from nel.metrics.sample_metrics import reads_scores_alone
from nel.metrics.statistics_collector import StatisticsCollector
from nel.types import ModelFailure, SampleScore, Score, Scored, Unscored, Value

OWN = [
    accuracy(),
    mean(),
    var(),
    std(),
    stderr(),
    bootstrap_stderr(50),
    ci(),
]


class _OfAPlugin:
    """The same metric, of which nothing is known."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.name = getattr(metric, "name", "")

    def __call__(self, scores: Sequence[SampleScore]) -> Value:
        assert isinstance(scores, list)
        assert scores[3].response == "answer 3"
        return self._metric(scores)


class _OfAnyPlugin(_OfAPlugin):
    """The same, of any samples."""

    def __call__(self, scores: Sequence[SampleScore]) -> Value:
        return self._metric(scores)


def _rows(metric: Metric) -> list[dict[str, Any]]:
    chosen = StatisticsCollector(RequestedStatistics(metrics=(("", metric), ("part", metric))))
    for question in range(300):
        for repeat in range(2):
            reward = (question * 7 + repeat) % 11 / 10
            outcome = Scored(reward=reward, metrics={"part": math.sqrt(question + repeat)})
            sample = SampleScore(
                score=Score(value=0.0),
                sample_id=str(question),
                sample_metadata={"topic": question % 3},
                response=f"answer {question}",
            )
            chosen.add(question, outcome, sample)
    return chosen.rows("accuracy")


@pytest.mark.parametrize("metric", OWN, ids=lambda metric: f"{metric.name} {metric.params.get('method', '')}")
def test_a_metric_of_nel_is_the_same_on_bare_scores(metric: Metric) -> None:
    """The rows are equal to the last bit, for rewards and for numbers of a name, but for the unit."""
    assert reads_scores_alone(metric)
    rows = _rows(metric)
    assert [{**row, "unit": "number"} for row in rows] == _rows(_OfAPlugin(metric))
    assert all(row["value"] is not None for row in rows)


@pytest.mark.parametrize("metric", [stderr(cluster="topic"), ci(cluster="topic"), grouped(mean(), "topic")])
def test_a_metric_by_cluster_or_group_gets_the_rows(metric: Metric) -> None:
    """What it looks up in a sample's metadata is there."""
    assert not reads_scores_alone(metric)
    assert all(row["value"] is not None for row in _rows(metric))


def test_a_group_has_its_own_n() -> None:
    """Two of three questions are of one group: its row says two, that of all three."""
    metric = grouped(mean(), "topic", name_template="of {group_name}")
    chosen = StatisticsCollector(RequestedStatistics(metrics=(("", metric),)))
    for question, topic in enumerate(("law", "law", "art")):
        sample = SampleScore(score=Score(value=0.0), sample_id=str(question), sample_metadata={"topic": topic})
        chosen.add(question, Scored(reward=1.0, metrics={}), sample)
    n = {row["name"]: (row["n"], row["n_questions"]) for row in chosen.rows("accuracy")}
    assert n == {"grouped/of art": (1, 1), "grouped/of law": (2, 2), "grouped/all": (3, 3)}


def test_a_question_without_any_score_is_counted_as_left_out() -> None:
    """Of three questions one has no scored answer and one too few: the row of pass_at_2 leaves out two."""
    chosen = StatisticsCollector(RequestedStatistics(reducers=(reducer_named("pass_at_2"),)))
    outcomes = [("s", "s"), ("s", "u"), ("u", "u")]
    for question, states in enumerate(outcomes):
        for state in states:
            unscored = Unscored(cause="infra", kind="timeout", detail="")
            outcome = Scored(reward=1.0, metrics={}) if state == "s" else unscored
            chosen.add(question, outcome, SampleScore(score=Score(value=0.0), sample_id=str(question)))
    (row,) = chosen.rows("accuracy")
    assert row["reason"] == "2 samples left out: too few scored answers, or no number"


@pytest.mark.parametrize("metric", [mean(), _OfAnyPlugin(mean())], ids=["of nel", "of a plugin"])
def test_a_failure_that_lacks_a_number_counts_0_in_it(metric: Metric) -> None:
    """A number that each scored answer has counts 0 in failures with other numbers; one that some have does not."""
    chosen = StatisticsCollector(RequestedStatistics(metrics=(("f1", metric), ("seen", metric))))
    failure = ModelFailure(kind="no_answer", detail="", metrics={"correct": 0.0})
    answers = [
        (Scored(reward=1.0, metrics={"correct": 1.0, "f1": 1.0}), failure),
        (Scored(reward=1.0, metrics={"correct": 1.0, "f1": 1.0, "seen": 1.0}),) * 2,
        (failure, failure),
    ]
    for question, outcomes in enumerate(answers):
        for outcome in outcomes:
            chosen.add(question, outcome, SampleScore(score=Score(value=0.0), sample_id=str(question)))
    rows = {row["name"]: (row["value"], row["n"], row["denominator"]) for row in chosen.rows("accuracy")}
    assert rows == {
        "f1/mean": (0.5, 3, "scored and model failures"),
        "seen/mean": (1.0, 1, "samples that have this metric"),
    }
