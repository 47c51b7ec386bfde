"""What judges did is counted exactly, in bounded memory, and measured as the textbooks do."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from nel.core.strict_json import pretty
from nel.judges.stats.position_bias import PositionBiasCounts
from nel.judges.stats.summary import JudgingCounts
from nel.metrics.question_intervals import values_interval
from tests.support.judgements import opinion, record, records, repeated


def counted(cases: list[dict[str, Any]], *judges: str, samples: int | None = None) -> dict[str, Any]:
    """Return the counts of cases, one a sample unless there are fewer samples."""
    counts = JudgingCounts(judges)
    each = len(cases) // (samples or len(cases))
    for number, case in enumerate(cases):
        counts.add(number // each, [case])
    found = counts.as_json()
    assert found is not None
    json.loads(pretty(found))
    return found


TWENTY_FIVE = [("C", "C")] * 20 + [("C", "I")] * 5 + [("I", "C")] * 10 + [("I", "I")] * 15


def test_nothing_judged_is_nothing() -> None:
    """A benchmark without a judgement has no counts, whatever its scorer keeps under that name."""
    counts = JudgingCounts(["a"])
    for kept in (
        None,
        "good",
        [1, None, {"opinions": "none"}],
        [{"template": "x", "opinions": [{"judge": 1}]}],
        {},
    ):
        counts.add(0, kept)
    assert counts.as_json() is None


def test_each_judge_is_counted_by_itself() -> None:
    """Cases, verdicts, second questions, faults by kind, mean score and grades are those of the records."""
    cases = [
        record("C", opinion("a", "C", reasked=1), opinion("b", "I")),
        record("C", opinion("a", "C"), opinion("b", None, fault="two_verdicts", reasked=2)),
        record(None, opinion("a", None, fault="empty"), opinion("b", None, fault="two_verdicts")),
        record("P", opinion("a", "P"), opinion("b", "C")),
    ]
    found = counted(cases, "a", "b")
    first, second = found["judges"]
    assert first == {
        "name": "a", "cases": 4, "verdicts": 3, "reasked": 1, "faults": {"empty": 1}, "mean_score": 2.5 / 3,
        "grades": {"C": 2, "P": 1},
    }  # fmt: skip
    assert second == {
        "name": "b", "cases": 4, "verdicts": 2, "reasked": 2, "faults": {"two_verdicts": 2}, "mean_score": 0.5,
        "grades": {"I": 1, "C": 1},
    }  # fmt: skip
    assert (found["n_cases"], found["n_cases_without_grade"], found["templates"]) == (4, 1, {"binary_qa": 4})
    assert (found["agreement"][0]["n_units"], found["agreement"][0]["n_missing"]) == (2, 2)


def test_samples_without_a_grade_are_counted_by_kind() -> None:
    """Each outcome that the judges left unscored counts once, also where no panel was ever asked."""
    counts = JudgingCounts()
    counts.add(0, [record(None, opinion("a", None))], unscored_kind="no_quorum")
    counts.add(1, None, unscored_kind="no_judge")
    counts.add(2, [record("C", opinion("a", "C"))])
    found = counts.as_json()
    assert found is not None
    assert found["n_judged"] == 3
    assert found["n_without_grade"] == {"n": 2, "kinds": {"no_quorum": 1, "no_judge": 1}}
    assert found["n_cases"] == 2


def test_two_judges_agree_as_the_textbook_says() -> None:
    """The table [[20, 5], [10, 15]] has raw agreement 0.7, kappa 0.4 and an alpha to match, all with intervals."""
    (row,) = counted(records(TWENTY_FIVE, ["a", "b"]), "a", "b")["agreement"]
    assert (row["n_units"], row["n_unanimous"], row["n_missing"]) == (50, 35, 0)
    assert row["raw"]["value"] == pytest.approx(0.7)
    assert row["raw"]["ci_method"] == "wilson"
    assert (row["raw"]["ci_lower"], row["raw"]["ci_upper"]) == pytest.approx((0.562496, 0.808964), abs=1e-5)
    assert row["kappa"]["value"] == pytest.approx(0.4)
    assert row["kappa"]["ci_lower"] < 0.4 - 0.126996 < 0.4 + 0.126996 < row["kappa"]["ci_upper"]
    # 100 values, 55 C and 45 I; 15 cases disagree: 1 - 99 * 30 / (100^2 - 55^2 - 45^2)
    assert row["alpha"]["value"] == pytest.approx(1 - 99 * 30 / (100**2 - 55**2 - 45**2))
    assert row["alpha"]["ci_method"] == row["kappa"]["ci_method"] == "bootstrap"
    assert row["fleiss_kappa"] is None
    assert row["pairs"] == [{"judges": ["a", "b"], "n": 50, "raw": 0.7, "kappa": pytest.approx(0.4), "reason": None}]


def test_three_judges_have_pairs_and_fleiss() -> None:
    """Kappa is the mean over pairs; Fleiss' kappa takes the cases that all three graded, alpha every pair."""
    cases = [("C", "C", "C")] * 6 + [("I", "I", "I")] * 3 + [("C", "C", "I")] * 2 + [("C", "I", None)]
    (row,) = counted(records(cases, ["a", "b", "c"]), "a", "b", "c")["agreement"]
    assert [pair["n"] for pair in row["pairs"]] == [12, 11, 11]
    assert row["kappa"]["method"] == "mean of pairs"
    assert row["kappa"]["value"] == pytest.approx(sum(pair["kappa"] for pair in row["pairs"]) / 3)
    # 11 cases of three: 22 C and 11 I; pairs agree in 9 cases wholly and in 2 by a third
    agreeing, by_chance = (9 + 2 / 3) / 11, (2 / 3) ** 2 + (1 / 3) ** 2
    assert row["fleiss_kappa"]["value"] == pytest.approx((agreeing - by_chance) / (1 - by_chance))
    # alpha: 35 values, 23 C and 12 I; two cases with 4/2 of disagreement, one with 2/1
    assert row["alpha"]["value"] == pytest.approx(1 - 34 * (2 * 2 + 2) / (35**2 - 23**2 - 12**2))
    assert row["n_missing"] == 1


def test_repeats_measure_self_consistency() -> None:
    """Of ten cases asked three times, eight agree wholly and one by a third; one lost a repeat and agrees."""
    cases = [
        *[record("C", repeated("a", "C", "C", "C"))] * 5,
        *[record("I", repeated("a", "I", "I", "I"))] * 3,
        record("C", repeated("a", "C", "I", "C")),
        record("C", repeated("a", "C", None, "C")),
    ]
    (row,) = counted(cases, "a")["self_consistency"]
    assert (row["judge"], row["n_units"], row["n_unanimous"], row["n_missing"]) == ("a", 10, 9, 1)
    assert row["unanimous"]["value"] == pytest.approx(0.9)
    assert row["unanimous"]["ci_method"] == "wilson"
    assert row["raw"]["value"] == pytest.approx((9 + 1 / 3) / 10)
    # 29 values, 19 C and 10 I; one case disagrees by 4/2
    assert row["alpha"]["value"] == pytest.approx(1 - 28 * 2 / (29**2 - 19**2 - 10**2))


@pytest.mark.parametrize(
    ("winners", "consistent", "first", "second"),
    [
        ([("first", "second"), ("second", "first"), ("tie", "tie")], 3, 0, 0),
        ([("first", "first"), ("first", "tie"), ("tie", "first")], 0, 3, 0),
        ([("second", "second"), ("second", "tie")], 0, 0, 2),
    ],
)
def test_verdicts_that_change_with_the_order_favour_a_position(
    winners: list[tuple[Any, Any]], consistent: int, first: int, second: int
) -> None:
    """The same answer in both orders is consistent; anything else favours the one position or the other."""
    order = PositionBiasCounts()
    for before, after in winners:
        order.add(before, after)
    found = order.as_json()
    assert (found["n_pairs"], found["n_consistent"]) == (len(winners), consistent)
    assert (found["n_first"], found["n_second"]) == (first, second)
    assert found["first_share"]["value"] == (None if consistent else first / (first + second))


def test_intervals_of_the_order_are_clustered_by_question() -> None:
    """Ten pairs of each question that all agree say no more than one: the interval is that of the questions."""
    alone, together = PositionBiasCounts(), PositionBiasCounts()
    for question in range(20):
        for _ in range(10):
            winners: tuple[Any, Any] = ("first", "first") if question % 2 else ("first", "second")
            alone.add(*winners)
            together.add(*winners, question=question)
    one, other = alone.as_json()["consistency"], together.as_json()["consistency"]
    assert (one["value"], other["value"]) == (0.5, 0.5)
    assert (one["ci_method"], other["ci_method"]) == ("wilson", "added_question_groups")
    values, questions = [float(place // 10 % 2 == 0) for place in range(200)], [place // 10 for place in range(200)]
    expected = values_interval(np.array(values), codes=np.array(questions))
    assert (other["ci_lower"], other["ci_upper"]) == pytest.approx((expected.lower, expected.upper))
    same = together.as_json()["first_share"]
    assert (same["value"], same["ci_method"], same["ci_upper"]) == (1.0, "added_question_groups", 1.0)
    assert same["ci_lower"] < 0.97


def test_pairs_in_both_orders_are_found_in_the_records() -> None:
    """A pair that was asked in both orders counts; one order, a lost verdict, or a rubric's criteria do not."""

    def pair(label: str, *questions: tuple[str, Any]) -> dict[str, Any]:
        asked = opinion("a", label, questions=questions)
        return record(label, asked, template="pairwise", level="ordinal")

    cases = [
        pair("C", ("response_first", "first"), ("baseline_first", "second")),
        pair("P", ("response_first", "first"), ("baseline_first", "first")),
        pair("P", ("response_first", "first"), ("baseline_first", "tie")),
        pair("C", ("response_first", "first")),
        pair("C", ("response_first", "first"), ("baseline_first", None)),
        record("C", opinion("a", "C", questions=(("1", "met"), ("2", "not met"))), template="rubric"),
    ]
    (row,) = counted(cases, "a")["position_swap"]
    assert (row["template"], row["judge"], row["n_pairs"]) == ("pairwise", "a", 3)
    assert (row["n_consistent"], row["n_first"], row["n_second"]) == (1, 2, 0)
    assert row["consistency"]["value"] == pytest.approx(1 / 3)
