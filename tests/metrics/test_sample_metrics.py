"""Metrics of a set of samples, the numbers of values, and the decorator."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.errors import UndefinedMetric
from nel.metrics import (
    accuracy,
    added_question_ends,
    bootstrap_stderr,
    ci,
    grouped,
    mean,
    metric,
    std,
    stderr,
    value_to_float,
    var,
)
from nel.types import SampleScore, Score

SIMPLE = [accuracy(), mean(), std(), var(), stderr(), bootstrap_stderr(), ci()]


def samples(values: Any, **columns: Any) -> list[SampleScore]:
    """Return samples with these values, and metadata from columns of the same length."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)] if columns else None
    return [
        SampleScore(score=Score(value=value), sample_id=f"q{i}", sample_metadata=None if rows is None else rows[i])
        for i, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("C", 1),
        ("I", 0),
        ("P", 0.5),
        ("N", 0),
        (True, 1),
        (0.25, 0.25),
        (np.float32(0.5), 0.5),
        ("yes", 1),
        (" 2.5\n", 2.5),
    ],
)
def test_numbers_of_values(value: Any, number: float) -> None:
    found = value_to_float()(value)
    assert found == number
    assert type(found) is float


@pytest.mark.parametrize(
    "value", [None, [1], {"a": 1}, "correct", "c", "", "nan", "inf", "-Infinity", 10**400, object()]
)
def test_values_without_a_number(value: Any) -> None:
    """Where inspect_ai says 0, this is an error."""
    with pytest.raises(UndefinedMetric, match="has no number"):
        value_to_float()(value)


def test_own_grades() -> None:
    """Grades can be other words; a number is never taken for one; NaN stays."""
    to_float = value_to_float(correct="pass", incorrect="fail", partial="half", noanswer="none")
    assert [to_float(value) for value in ("pass", "half", "fail", "none", 7)] == [1, 0.5, 0, 0, 7]
    assert math.isnan(to_float(math.nan))
    with pytest.raises(UndefinedMetric, match="'C'"):
        to_float("C")
    with pytest.raises(UndefinedMetric, match="…"):
        to_float("x" * 1000)


def test_own_grades_that_are_numbers() -> None:
    """They are told from other numbers by their value alone, and go before what a number is by itself."""
    to_float = value_to_float(correct=2, partial=True, incorrect=-1, noanswer=-2)
    assert [to_float(value) for value in (2.0, np.int64(2), 1, True, -1, -2, 3, 0.25)] == [
        1,
        1,
        0.5,
        0.5,
        0,
        0,
        3,
        0.25,
    ]
    assert math.isnan(to_float(math.nan))
    assert accuracy(to_float)(samples([2, 1, -1, -2])) == 0.375


def test_reference_values() -> None:
    """0..9 and 0..19, as inspect_ai's own tests have them."""
    ten = samples(range(10))
    assert stderr()(ten) == pytest.approx(0.957, abs=5e-4)
    assert var()(ten) == pytest.approx(9.167, abs=5e-4)
    assert std()(ten) == pytest.approx(np.std(range(10), ddof=1))
    assert mean()(ten) == accuracy()(ten) == 4.5
    assert bootstrap_stderr(num_samples=1000)(ten) == pytest.approx(stderr()(ten), rel=0.1)
    clustered = samples(range(20), group=[i % 4 for i in range(20)])
    assert stderr(cluster="group")(clustered) == pytest.approx(0.645, abs=5e-4)


@pytest.mark.parametrize("compute", SIMPLE)
def test_unscored_are_left_out(compute) -> None:
    """NaN changes nothing; a set of only NaN has no number."""
    scored = samples([0.0, 1.0, 0.5, 1.0])
    assert compute([*scored, *samples([math.nan])]) == compute(scored)
    for nothing in ([], samples([math.nan, math.nan])):
        with pytest.raises(UndefinedMetric, match="nothing was scored"):
            compute(nothing)


@pytest.mark.parametrize("compute", SIMPLE)
@pytest.mark.parametrize(
    ("value", "message"),
    [("correct", "sample q1: the text"), ([1], "sample q1:"), (math.inf, "sample q1: the score is inf")],
)
def test_values_without_a_number_name_the_sample(compute, value: Any, message: str) -> None:
    """A value that has no finite number is never counted as 0."""
    with pytest.raises(UndefinedMetric, match=message):
        compute(samples([1, value]))


@pytest.mark.parametrize("compute", SIMPLE[2:-1])
def test_one_sample_has_no_spread(compute) -> None:
    """One sample has a mean and nothing else."""
    assert mean()(samples([0.5])) == 0.5
    with pytest.raises(UndefinedMetric, match="fewer than two"):
        compute(samples([0.5]))


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_agrees_with_numpy(values: list[float]) -> None:
    """Mean, spread and standard error are numpy's."""
    scores = samples(values)
    assert mean()(scores) == pytest.approx(np.mean(values), abs=1e-9)
    assert var()(scores) == pytest.approx(np.var(values, ddof=1), abs=1e-9)
    assert std()(scores) == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert stderr()(scores) == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)), abs=1e-6)


def test_interval_of_one_question_more() -> None:
    """Partial credit has it, alone and in clusters, whose doubt is larger."""
    values = [1, 1, 0.75, 0.5, 1, 1, 0, 0.25, 1, 1, 1, 0.5]
    assert ci()(samples(values)) == dict(zip(("lower", "upper"), added_question_ends(values), strict=True))
    clustered = ci(cluster="passage")(samples(values, passage="aaaabbbbcccc"))
    assert (clustered["lower"], clustered["upper"]) == pytest.approx((0.114413, 1.0), abs=6e-7)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 0}, "level 0"),
        ({"level": 95}, "level 95"),
    ],
)
def test_interval_arguments(settings: dict[str, Any], message: str) -> None:
    """A wrong argument is refused when the metric is built."""
    with pytest.raises(ValueError, match=message):
        ci(**settings)


@pytest.mark.parametrize(
    ("build", "called"),
    [(stderr, "cluster"), (ci, "cluster"), (lambda cluster: grouped(mean(), cluster), "group")],
)
@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({}, '"passage" is not there'),
        ({"passage": [None]}, '"passage" is None'),
        ({"passage": [math.nan]}, '"passage" is nan'),
        ({"passage": [[1]]}, r'"passage" is \[1\]'),
    ],
)
def test_missing_cluster_ids(build, called: str, ids: dict[str, Any], message: str) -> None:
    """A sample without a cluster or group is named, even where it is the only one."""
    with pytest.raises(ValueError, match=f"sample q0 has no {called} metadata: {message}"):
        build(cluster="passage")(samples([1], **ids))


SUBJECTS = samples("CCIIC", subject=["law", "law", "law", "art", "art"])


def test_grouped() -> None:
    """A value a group, sorted, and one for all: over samples, over groups, or none."""
    assert grouped(mean(), "subject")(SUBJECTS) == {"art": 0.5, "law": pytest.approx(2 / 3), "all": 0.6}
    assert list(grouped(mean(), "subject")(SUBJECTS)) == ["art", "law", "all"]
    assert grouped(mean(), "subject", all="groups")(SUBJECTS)["all"] == pytest.approx((0.5 + 2 / 3) / 2)
    found = grouped(mean(), "subject", all=False, name_template="acc_{group_name}")(SUBJECTS)
    assert list(found) == ["acc_art", "acc_law"]
    assert grouped(mean(), "subject", all_label="total")(SUBJECTS)["total"] == 0.6


def test_group_without_a_value() -> None:
    """A group without a scored sample is None, not 0 and not gone, and then groups have no mean."""
    scores = samples(["C", math.nan], subject=["law", "art"])
    assert grouped(mean(), "subject")(scores) == {"art": None, "law": 1.0, "all": 1.0}
    assert grouped(mean(), "subject", all="groups")(scores)["all"] is None
    with pytest.raises(UndefinedMetric, match="nothing was scored"):
        grouped(mean(), "subject")([])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"all": "mean"}, "all must be"),
        ({"name_template": "same"}, "template must name"),
        ({"name_template": "{group}"}, "template must name"),
        ({"name_template": "{group_name}{}"}, "template must name"),
        ({"name_template": "{"}, "expected '}'|Single"),
    ],
)
def test_grouped_arguments(settings: dict[str, Any], message: str) -> None:
    """A wrong argument is refused when the metric is built."""
    with pytest.raises(ValueError, match=message):
        grouped(mean(), "subject", **settings)


def test_decorator_forms() -> None:
    """With and without a name, by position and by keyword; name, signature and docstring stay."""

    def first(place: int = 0):
        """Take one."""
        return lambda scores: scores[place].score.value

    for decorate, name in ((metric, "first"), (metric(), "first"), (metric("a"), "a"), (metric(name="b"), "b")):
        factory = decorate(first)
        assert (factory.__name__, factory.__doc__) == ("first", "Take one.")
        assert inspect.signature(factory) == inspect.signature(first)
        built = factory(place=1)
        assert (built.name, dict(built.params), built(samples([3, 4]))) == (name, {"place": 1}, 4)


def test_decorated_class() -> None:
    """A class whose instances can be called is a factory too."""

    @metric
    class Largest:
        def __init__(self, limit: float) -> None:
            self.limit = limit

        def __call__(self, scores: list[SampleScore]) -> float:
            return min(self.limit, max(one.score.as_float() for one in scores))

    built = Largest(5.0)
    assert (built.name, dict(built.params), built(samples([3.0, 9.0]))) == ("Largest", {"limit": 5.0}, 5.0)
