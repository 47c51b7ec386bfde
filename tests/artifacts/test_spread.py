"""Where the doubt of a headline comes from, in metrics.json and in words."""

from __future__ import annotations

from typing import Any

import pytest

from nel.artifacts.spread import Spread
from nel.reports.spread import spread_text


def _metrics(questions: list[list[float]], method: str = "added_question") -> dict[str, Any]:
    spread = Spread()
    for number, rewards in enumerate(questions):
        for reward in rewards:
            spread.add(number, reward)
    found = spread.as_json({"ci_method": method})
    return {"headline": {"unit": "rate"}, **({"spread": found} if found else {})}


def test_variance_is_split_as_a_comparison_splits_it() -> None:
    """Four questions asked twice: within 0.125, between 1/6, and more answers buy less doubt."""
    found = _metrics([[1, 1], [0, 0], [1, 0], [0, 0]])["spread"]
    assert (found["n_questions"], found["n_informative"]) == (4, 2)
    parts = found["repeats"]
    assert (parts["within"], parts["between"]) == pytest.approx((0.125, 1 / 6))
    assert parts["standard_error"] == pytest.approx(((1 / 6 + 0.125 / 2) / 4) ** 0.5)
    assert parts["with_more_questions"] < parts["with_one_more_repeat"] < parts["standard_error"]


def test_few_questions_that_differ_are_said() -> None:
    """One of thirty questions was ever answered wrongly: all doubt rests on it."""
    text = spread_text(_metrics([[1.0] * 4] * 29 + [[1.0, 1.0, 1.0, 0.0]]))
    assert text == (
        "doubt rests on 1 of 30 questions: the interval rests on the added question; variance"
        " 0 between questions, 0.0083 within (4 repeats): standard error 0.83\u202fpoints; after one more repeat"
        " 0.75\u202fpoints, after as many answers to new questions 0.75\u202fpoints"
    )
    assert "doubt rests" not in spread_text(_metrics([[1.0, 1.0]] * 20 + [[1.0, 0.0]] * 10))


def test_what_does_not_come_from_the_spread_of_questions_has_none() -> None:
    """One answer a question that is right or wrong has Wilson's interval; in groups the standard error is another."""
    assert spread_text(_metrics([[1.0]] * 30, "wilson")) == ""
    grouped = _metrics([[1, 1], [0, 0], [1, 0], [0, 0]], "added_question_groups")["spread"]["repeats"]
    assert grouped["within"] == 0.125
    assert grouped["standard_error"] is None
    assert _metrics([[0.5], [0.7]])["spread"]["repeats"] is None
