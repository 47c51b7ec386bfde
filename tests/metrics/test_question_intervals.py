"""The one function that chooses an interval knows of clusters and of samples of a benchmark."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from nel.metrics.accumulator import Accumulator
from nel.metrics.added_question import added_question_ends
from nel.metrics.aggregation import category_breakdown
from nel.metrics.intervals import wilson_interval
from nel.metrics.question_intervals import (
    Design,
    macro_interval,
    new_questions_interval,
    question_interval,
    values_interval,
)
from nel.metrics.reducers import reducer_named
from nel.metrics.requested import RequestedStatistics
from nel.metrics.series import Series
from nel.metrics.statistics_collector import StatisticsCollector
from nel.metrics.strata import QuestionStratum, stratified_interval
from nel.types import SampleScore, Score, Scored
from tests.support.mmlu_pro import recorded_answers

GROUPS = {question: f"passage {question // 10}" for question in range(100)}
"""Ten questions on each of ten passages."""
REWARDS = [1.0 if question // 10 < 8 else 0.0 for question in range(100)]


def series_of(values: list[float]) -> Series:
    series = Series()
    for question, value in enumerate(values):
        series.add(question, value, scored=True)
    return series


def strata_of(*drawn: tuple[list[float], int]) -> list[QuestionStratum]:
    return [QuestionStratum(values=np.array(values, dtype=np.float64), size=size) for values, size in drawn]


@pytest.mark.parametrize("name", ["max", "median", "mode", "pass_at_1", "pass_k_1", "at_least_1"])
def test_a_reducer_has_the_interval_of_clusters(name: str) -> None:
    """Every reducer of questions in clusters is as uncertain as the headline of the same values."""
    collected = StatisticsCollector(RequestedStatistics(reducers=(reducer_named(name),)))
    total = Accumulator()
    for question, reward in enumerate(REWARDS):
        outcome = Scored(reward=reward, metrics={"correct": reward})
        total.add(question, outcome, group=GROUPS[question])
        collected.add(question, outcome, SampleScore(score=Score(value=0.0)), group=GROUPS[question])
    (row,) = collected.rows("accuracy")
    headline = total.headline()
    assert row["ci_method"] == headline["ci_method"] == "added_question_groups"
    assert (row["ci_lower"], row["ci_upper"]) == (headline["ci_lower"], headline["ci_upper"])


def test_a_metric_beside_the_headline_has_the_interval_of_clusters() -> None:
    """Another number of the scorer is of the same clusters."""
    total = Accumulator()
    for question, reward in enumerate(REWARDS):
        total.add(question, Scored(reward=1.0, metrics={"correct": 1.0, "f1": reward}), group=GROUPS[question])
    expected = values_interval(np.array(REWARDS), codes=np.arange(100) // 10)
    (f1,) = (row for row in total.metrics() if row["name"] == "f1")
    assert (f1["ci_method"], f1["ci_lower"]) == ("added_question_groups", expected.lower)


def test_copies_of_right_and_wrong_answers_are_no_proportion() -> None:
    """Repeats that were planned, not how they came out, choose the interval, in a category as in the headline."""
    rows = [{"reward": one, "sample_id": str(n), "metadata": {"c": "x"}} for n, one in enumerate((1.0, 0.0, 1.0))]
    (category,) = category_breakdown(rows * 4, "c")
    total = Accumulator()
    for question, reward in enumerate((1.0, 0.0, 1.0)):
        for _ in range(4):
            total.add(question, Scored(reward=reward, metrics={"correct": reward}))
    expected = added_question_ends([1.0, 0.0, 1.0])
    assert (category.ci_lower, category.ci_upper) == expected
    assert total.headline()["ci_lower"] == expected[0]


def test_planned_repeats_that_did_not_arrive_do_not_make_a_proportion() -> None:
    """One scored answer of four planned ones to each question: the design chooses, not what arrived."""
    series = series_of([1.0] * 30)
    assert question_interval(series, Design(repeats=4)).method == "added_question"
    assert question_interval(series, Design()).method == "wilson"


def test_golden_values_of_designs() -> None:
    """Groups, a sample of a benchmark and a macro mean have the ends worked out beforehand."""
    values = np.array([1, 1, 0.75, 0.5, 1, 1, 0, 0.25, 1, 1, 1, 0.5])
    groups = values_interval(values, codes=np.repeat([0, 1, 2], 4))
    drawn = strata_of(([1, 1, 0.5, 1], 40), ([0, 0.25, 1, 0], 40))
    few = strata_of(([1.0] * 20, 400))
    macro = macro_interval([np.ones(10), np.array([1, 0.5, 0.75, 1, 1]), np.array([0, 1, 0.5, 0.5])])
    found = [
        groups,
        stratified_interval(drawn, is_single=False),
        stratified_interval(few, is_single=False),
        macro,
    ]
    golden = [(0.114413, 1.0), (0.316933, 0.876011), (0.841171, 1.0), (0.540276, 0.930830)]
    assert [(one.lower, one.upper) for one in found] == [pytest.approx(ends, abs=6e-7) for ends in golden]
    kinds = ["groups", "stratified", "stratified", "macro"]
    assert [one.method for one in found] == [f"added_question_{kind}" for kind in kinds]


def test_a_macro_mean_of_single_questions_has_no_interval() -> None:
    """A part of one question shows no spread, and the reason says so."""
    found = macro_interval([np.ones(10), np.ones(1)])
    assert (found.lower, found.reason) == (None, "one of the parts has fewer than two questions")


def test_scores_without_bounds_have_students_t() -> None:
    """The interval equals scipy's; one value or equal values give none, with the reason."""
    values = np.array([-1.0, 5.0, 9.0, 4.0, 7.0])
    interval = values_interval(values, bounds=None)
    expected = scipy.stats.t.interval(0.95, 4, loc=values.mean(), scale=scipy.stats.sem(values))
    assert (interval.lower, interval.upper) == pytest.approx(expected)
    assert interval.method == "t"
    for without in ([math.pi], [0.5, 0.5, 0.5]):
        none = values_interval(np.array(without), bounds=None)
        assert (none.lower, none.upper, bool(none.reason)) == (None, None, True)


def test_nearly_all_questions_leave_little_uncertainty() -> None:
    """The interval of the whole shrinks with the share that was asked; that for new questions does not."""
    few, many = (stratified_interval(strata_of(([1.0, 0.0] * 50, size)), is_single=True) for size in (100_000, 101))
    assert few.upper is not None and few.lower is not None  # noqa: PT018 - of the type
    assert many.upper is not None and many.lower is not None  # noqa: PT018 - of the type
    assert many.upper - many.lower < 0.2 * (few.upper - few.lower)
    plain = wilson_interval(50, 100)
    assert few.lower == pytest.approx(plain.lower, abs=0.002)


def test_strata_of_one_question_each_are_joined() -> None:
    """Many small groups, one question of each: neighbours make one stratum, and there is an interval."""
    values = [float(n % 3 == 0) for n in range(40)]
    interval = stratified_interval(strata_of(*(([value], 5) for value in values)), is_single=True)
    assert interval.method == "stratified"
    assert interval.lower is not None


def test_a_sample_covers_the_benchmark_and_beside_it_new_questions() -> None:
    """A row of a sample has two intervals, and each says what it covers."""
    design = Design(sizes={"law": 500, "art": 500}, strata={n: "law" if n < 50 else "art" for n in range(100)})
    total = Accumulator(design)
    for question in range(100):
        reward = float(question % 2)
        total.add(question, Scored(reward=reward, metrics={"correct": reward}), group=f"g{question // 10}")
    headline = total.headline()
    assert (headline["ci_method"], headline["ci_covers"]) == ("stratified", "all 1,000 questions of the benchmark")
    assert headline["new_questions"]["ci_covers"] == "new clusters"


def test_a_sample_says_of_its_benchmark_no_less_than_of_new_questions() -> None:
    """Few strata of few questions estimate the spread badly: the interval was the wider one, 0.50 against 0.45."""
    values = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    strata = {question: "ab"[question % 2] for question in range(10)}
    interval = question_interval(series_of(values), Design(sizes={"a": 500, "b": 500}, strata=strata))
    new = new_questions_interval(series_of(values), Design())
    assert (interval.lower, interval.upper) == (new.lower, new.upper)
    assert interval.covers == "all 1,000 questions of the benchmark"


def coverage(n_asked: int, n_draws: int, seed: int) -> float:
    """Return how often the interval of a sample of MMLU-Pro holds the score of all 12,032 recorded answers."""
    right, places = recorded_answers()
    sizes = np.bincount(places)
    rng = np.random.default_rng(seed)
    whole, held = right.mean(), 0
    for _ in range(n_draws):
        # As `nel.engine.planning.selection` draws: systematically, from the rows sorted by category and then at random.
        order = np.lexsort((rng.random(len(right)), places))
        drawn = order[(np.arange(n_asked) * len(order) + rng.integers(len(order))) // n_asked]
        strata = [
            QuestionStratum(values=right[drawn[places[drawn] == place]], size=size)
            for place, size in enumerate(sizes.tolist())
        ]
        interval = stratified_interval(strata, is_single=True)
        held += bool(interval.lower is not None and interval.lower <= whole <= (interval.upper or 0.0))
    return held / n_draws


def test_the_interval_of_a_sample_holds_the_whole() -> None:
    """Of 300 samples of MMLU-Pro the nominal 95 % hold, within the error of so few."""
    size = 200
    assert 0.92 <= coverage(size, 300, seed=1) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("size", [50, 100, 200, 500, 1000])
def test_the_interval_of_2000_samples_holds_the_whole(size: int) -> None:
    """Of 2,000 samples of MMLU-Pro 94 to 97 % hold the score of the whole."""
    assert 0.94 <= coverage(size, 2000, seed=size) <= 0.97
