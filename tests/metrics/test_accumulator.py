"""Outcomes add up to metrics, bounds and accounting."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from nel.metrics.accumulator import STOP_RULE, Accumulator
from nel.metrics.intervals import Interval
from nel.metrics.question_intervals import Design
from nel.types import ModelFailure, Outcome, Scored, Unscored


def aggregate(outcomes: Iterable[tuple[int, Outcome]]) -> Accumulator:
    total = Accumulator()
    for question, outcome in outcomes:
        total.add(question, outcome)
    return total


def _scored(reward: float, **metrics: float) -> Scored:
    return Scored(reward=reward, metrics={"correct": reward, **metrics})


def test_bounds_speak_of_the_unscored() -> None:
    """150 right, 40 wrong and 10 unscored of 200: the bounds are 0.75 and 0.80, among scored 0.789474."""
    outcomes: list[Outcome] = [_scored(1.0)] * 150 + [_scored(0.0)] * 40
    outcomes += [Unscored(cause="infra", kind="timeout")] * 10
    headline = aggregate(enumerate(outcomes)).headline()
    assert headline["bounds"] == {"lower": 0.75, "upper": 0.80}
    assert headline["value"] == pytest.approx(0.789474, abs=5e-7)


def test_accounting_adds_up() -> None:
    """Scored, model failures and unscored are the total, each by kind."""
    outcomes: list[Outcome] = [
        _scored(1.0),
        ModelFailure(kind="truncated"),
        Unscored(cause="infra", kind="auth"),
        Unscored(cause="judge", kind="no_verdict"),
    ]
    accounting = aggregate(enumerate(outcomes)).accounting.as_json()
    assert accounting == {
        "n_total": 4,
        "n_scored": 1,
        "n_model_failure": 1,
        "n_unscored": 2,
        "n_not_asked": 0,
        "model_failures": {"truncated": 1},
        "unscored": {"infra": {"n": 1, "kinds": {"auth": 1}}, "judge": {"n": 1, "kinds": {"no_verdict": 1}}},
    }


def test_nothing_scored_has_no_score() -> None:
    """A run of only unscored samples has a null headline and a reason, never 0.0."""
    headline = aggregate([(0, Unscored(cause="infra", kind="auth"))]).headline()
    assert headline["value"] is None
    assert headline["reason"] == "nothing was scored"


@pytest.mark.parametrize(("key", "published"), [("correct", "accuracy"), ("score", "score")])
def test_failures_alone_name_the_headline_as_scored_answers_do(key: str, published: str) -> None:
    """Where no answer could be read the rewards are one metric, not one of the name and a second of it."""
    outcomes = [ModelFailure(kind="no_answer", metrics={"f1": 0.0, key: 0.0})] * 3
    assert [one["name"] for one in aggregate(enumerate(outcomes)).metrics()] == [published, "f1"]


def test_a_metric_that_all_have_counts_model_failures_as_zero() -> None:
    """A truncated answer lowers every metric that each scored sample has, and no other."""
    outcomes: list[Outcome] = [
        _scored(1.0, f1=1.0, correct_a=1.0),
        _scored(0.0, f1=0.5),
        ModelFailure(kind="truncated"),
    ]
    metrics = {metric["name"]: metric for metric in aggregate(enumerate(outcomes)).metrics()}
    assert metrics["accuracy"]["value"] == pytest.approx(1 / 3)
    assert (metrics["f1"]["value"], metrics["f1"]["n"]) == (0.5, 3)
    assert (metrics["correct_a"]["value"], metrics["correct_a"]["n"]) == (1.0, 1)
    assert metrics["correct_a"]["denominator"] == "samples that have this metric"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_failure_with_other_values_counts_as_zero_too(place: int) -> None:
    """A scorer that says nothing but ``correct`` of an answer that it cannot read does not lift its other metrics."""
    outcomes: list[Outcome] = [_scored(1.0, f1=1.0), _scored(0.0, f1=0.5)]
    outcomes.insert(place, ModelFailure(kind="no_answer", metrics={"correct": 0.0}))
    (f1,) = [row for row in aggregate(enumerate(outcomes)).metrics() if row["name"] == "f1"]
    assert (f1["value"], f1["n"]) == (0.5, 3)


def test_what_a_stop_rule_left_out_has_its_own_place() -> None:
    """Of ten pairs five are left out: the total has them, and neither value, bounds nor rates do."""
    held = Interval(lower=0.3, upper=0.9, method="betting", covers="all questions of the benchmark")
    none = Interval(lower=None, upper=None, method="none", covers="all questions of the benchmark", reason="stopped")
    found = Accumulator(Design(fixed=none), headline=Design(fixed=held))
    outcomes = [Scored(reward=1.0, metrics={"correct": 1.0, "f1": 0.5})] * 3
    for idx, outcome in enumerate([*outcomes, ModelFailure(kind="truncated"), Unscored(cause="infra", kind="timeout")]):
        found.add(idx, outcome)
    for _ in range(5):
        found.add(9, STOP_RULE)
    accounting = found.accounting.as_json()
    parts = ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")
    assert [accounting[name] for name in parts] == [10, 3, 1, 1, 5]  # type: ignore[literal-required]
    headline, further = found.metrics()
    assert (headline["value"], headline["n"]) == (0.75, 4)
    assert headline["bounds"] == {"lower": 0.6, "upper": 0.8}
    assert (headline["ci_lower"], headline["ci_upper"], headline["ci_method"]) == (0.3, 0.9, "betting")
    assert (further["name"], further["ci_lower"], further["reason"]) == ("f1", None, "stopped")
    assert found.rates()["truncated"] == 0.2
