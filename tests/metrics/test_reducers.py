"""Reducers: from the scores of one sample's repeats to one, in every shape."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nel.metrics import (
    at_least,
    mean_score,
    pass_at,
    pass_at_k,
    pass_hat_k,
    pass_k,
    reducer_named,
    value_to_float,
    vote_at,
)
from nel.types import Score

NAN = math.nan
NAMES = ["mean", "median", "mode", "max", "collect", "at_least_2", "pass_at_2", "pass_k_2", "vote_at_2"]


def reduced(reducer, *values: Any) -> Any:
    """Return what a reducer makes of these values."""
    return reducer([Score(value=value, answer=str(value)) for value in values]).value


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("mean", "CIP", 0.5),
        ("mean", [1, NAN, 0], 0.5),
        ("median", [3, 1, 2], 2),
        ("mode", "ICCI", "I"),
        ("mode", [NAN, NAN, 1], 1),
        ("max", "IPC", "C"),
        ("max", ["no", "YES", "no"], "YES"),
        ("max", [True, 1.0], True),
        ("collect", ["C", NAN, "I"], ["C", "I"]),
        ("at_least_2", "CIC", 1.0),
        ("at_least_2", "CII", 0.0),
        ("pass_at_1", "CCCIIIII", 0.375),
        ("pass_at_4", "CCCIIIII", 0.928571),
        ("pass_at_2", ["C", "I", NAN], 1.0),
        ("pass_k_2", "CCCIIIII", 0.107143),
        ("pass_k_4", "CCCCCCII", 0.214286),
        ("pass_k_3", "CC", NAN),
    ],
)
def test_golden_values(name: str, values: Any, expected: Any) -> None:
    """Scalars, as inspect_ai reduces them."""
    found = reduced(reducer_named(name), *values)
    assert found == expected or found == pytest.approx(expected, abs=5e-7, nan_ok=True)


@pytest.mark.parametrize(
    ("n", "c", "k", "at", "hat"),
    [(8, 3, 1, 0.375, 0.375), (8, 3, 2, 0.642857, 0.107143), (8, 6, 4, 1.0, 0.214286), (200, 1, 100, 0.5, 0.0)],
)
def test_estimators(n: int, c: int, k: int, at: float, hat: float) -> None:
    """Published values of pass@k and pass^k."""
    assert (pass_at_k(n, c, k), pass_hat_k(n, c, k)) == pytest.approx((at, hat), abs=5e-7)


@pytest.mark.parametrize("name", NAMES)
def test_all_unscored_is_unscored(name: str) -> None:
    """Nothing scored, or nothing at all, reduces to NaN: as a whole, in a position, under a key."""
    reducer = reducer_named(name)
    assert reducer([]).is_unscored
    assert reducer([Score.unscored(), Score.unscored()]).is_unscored
    assert math.isnan(reduced(reducer, {"a": NAN, "b": 1}, {"a": NAN, "b": 1})["a"])
    assert math.isnan(reduced(reducer, [1, NAN], [1, NAN])[1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "shape", [lambda first, second: [first, second], lambda first, second: {"a": first, "b": second}]
)
def test_every_shape_is_reduced_place_by_place(name: str, shape) -> None:
    """A list or mapping gives what its parts give one by one."""
    reducer = reducer_named(name)
    firsts, seconds = ["C", "I", "C"], [0.5, 1, 1]
    whole = reduced(reducer, *map(shape, firsts, seconds))
    assert whole == shape(reduced(reducer, *firsts), reduced(reducer, *seconds))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, [1]], "mix shapes: list, scalar"),
        ([{"a": 1}, 1], "mix shapes: mapping, scalar"),
        ([[1, 2], [1]], "mismatched lengths"),
        ([{"a": 1}, {"b": 1}], "mismatched keys"),
    ],
)
def test_shapes_must_match(values: list[Any], message: str) -> None:
    """Different shapes, lengths or keys are errors."""
    with pytest.raises(ValueError, match=message):
        reduced(mean_score(), *values)


def test_what_the_repeats_share_is_kept() -> None:
    """Answer and explanation stay where all agree; metadata is the first's."""
    first = Score(value=1, answer="7", explanation="a", metadata={"n": 1})
    second = Score(value=0, answer="7", explanation="b", metadata={"n": 2})
    found = mean_score()([first, second])
    assert (found.answer, found.explanation, found.metadata) == ("7", None, {"n": 1})
    assert mean_score()([]).metadata is None


@pytest.mark.parametrize(
    ("votes", "k", "expected"),
    [
        ([("7", "I"), ("5", "C"), ("5", "C")], 3, 1.0),
        ([("7", "I"), ("5", "C"), ("5", "C")], 2, 0.0),
        ([("7", "I"), ("7", "C"), ("5", "C")], 3, 1.0),
        ([(None, "I"), ("7", "C"), (None, "I")], 3, 1.0),
        ([(None, "I"), (None, "I")], 2, 0.0),
        ([("7", "C"), ("7", NAN)], 2, NAN),
        ([("5", NAN), ("7", "C"), ("7", "C")], 2, 1.0),
    ],
)
def test_vote(votes: list[tuple[str | None, Any]], k: int, expected: float) -> None:
    """The majority's answer decides; ties go to the first seen, who has no answer does not vote."""
    found = vote_at(k)([Score(value=value, answer=answer) for answer, value in votes]).value
    assert found == pytest.approx(expected, nan_ok=True)


def test_right_attempts_without_answers_cannot_be_voted_on() -> None:
    """A scorer that names no answers has no vote, which is not a score of 0."""
    with pytest.raises(ValueError, match="does not say their answers"):
        vote_at(2)([Score(value="C"), Score(value="I")])


def test_own_grades_and_thresholds() -> None:
    """The number of a value and what counts as right can be chosen."""
    to_float = value_to_float(correct="pass", incorrect="fail")
    assert reduced(mean_score(to_float), "pass", "fail") == 0.5
    assert reduced(at_least(1, value=0.5), "P", "I") == 1.0
    assert reduced(pass_at(1, 0.5), "P", "I") == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("avg", 'unknown reducer "avg".*known are mean, median, mode, max, collect, at_least_<k>, pass_at_<k>'),
        ("meen", 'did you mean "mean"'),
        ("pass_at", "needs a k, such as pass_at_2"),
        ("pass_at_0", "k must be a positive integer"),
        ("pass_at_" + "9" * 5000, "k must be a positive integer"),
    ],
)
def test_unknown_names(text: str, message: str) -> None:
    """A name that is none lists those that are."""
    with pytest.raises(ValueError, match=message):
        reducer_named(text)


@pytest.mark.parametrize("factory", [at_least, pass_at, pass_k, vote_at])
@pytest.mark.parametrize("k", [0, True])
def test_k_is_a_positive_integer(factory, k: Any) -> None:
    """Any other k is refused when the reducer is built."""
    with pytest.raises(ValueError, match="k must be a positive integer"):
        factory(k)
