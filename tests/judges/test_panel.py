"""Several opinions become one, in any order of the judges."""

from __future__ import annotations

from itertools import permutations

import pytest

from nel.errors import JudgeError
from nel.judges.panel import aggregate_opinions, aggregate_repeats
from nel.judges.types import Aggregate, Grade, Opinion

SCORES = {"C": 1.0, "P": 0.5, "I": 0.0, "5": 1.0, "4": 0.75, "2": 0.25, "1": 0.0}


def opinions(*labels: str) -> list[Opinion]:
    return [
        Opinion(judge=f"judge {number}", grade=None, fault="no_verdict", reply="hm")
        if label == "-"
        else Opinion(judge=f"judge {number}", grade=Grade(label=label, score=SCORES[label]))
        for number, label in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("labels", "aggregate", "label", "score"),
    [
        ("CCI", "majority", "C", 1.0),
        ("CPI", "majority", "P", 0.5),
        ("CCPPI", "majority", "P", 0.5),
        ("CCC-", "majority", "C", 1.0),
        ("CCI", "mean", "0.6667", 2 / 3),
        ("CI", "mean", "0.5", 0.5),
        ("CPI", "mean", "P", 0.5),
        ("CCI", "median", "C", 1.0),
        ("CI", "median", "0.5", 0.5),
        ("CPI", "min", "I", 0.0),
        ("CPI", "max", "C", 1.0),
    ],
)
def test_a_panel_is_settled_in_any_order(labels: str, aggregate: Aggregate, label: str, score: float) -> None:
    """Who speaks first does not matter."""
    given = opinions(*labels)
    settled = [aggregate_opinions(order, aggregate, 1) for order in permutations(given)]
    assert {one.label for one in settled} == {label}
    assert {one.score for one in settled} == {settled[0].score}
    assert settled[0].score == pytest.approx(score)


@pytest.mark.parametrize("labels", ["CI", "CCII", "15"])
def test_a_tie_in_the_middle_is_no_majority(labels: str) -> None:
    """Half a point that no judge gave is not made up."""
    with pytest.raises(JudgeError, match="there is no majority") as refused:
        aggregate_opinions(opinions(*labels), "majority", 1)
    assert refused.value.kind == "tie"


def test_too_few_opinions_are_no_quorum() -> None:
    """The message says who is missing and why."""
    with pytest.raises(JudgeError) as refused:
        aggregate_opinions(opinions("C", "-", "-"), "majority", 2)
    assert refused.value.kind == "no_quorum"
    assert refused.value.reply == "hm"
    assert str(refused.value) == (
        "2 of 3 judges must give a grade and 1 did; none from judge 1 (no_verdict), judge 2 (no_verdict)"
    )
    with pytest.raises(JudgeError, match="1 of 0 judges"):
        aggregate_opinions([], "mean", 0)


def test_repeats_of_one_judge() -> None:
    """More than half of them must have a grade."""
    good, bad = Grade(label="C", score=1.0), Grade(label="I", score=0.0)
    assert aggregate_repeats([good, bad, good]).label == "C"
    assert aggregate_repeats([good, None, good]).label == "C"
    assert aggregate_repeats([good, bad], "mean").score == 0.5
    with pytest.raises(JudgeError, match="1 of 2 repeats") as refused:
        aggregate_repeats([good, None])
    assert refused.value.kind == "no_verdict"


@pytest.mark.parametrize(
    ("labels", "aggregate", "weights", "label", "score"),
    [
        ("CII", "majority", (2.5, 1.0, 1.0), "C", 1.0),
        ("CII", "majority", (1.5, 1.0, 1.0), "I", 0.0),
        ("CII", "mean", (2.0, 1.0, 1.0), "0.5", 0.5),
        ("C-I", "majority", (1.0, 9.0, 2.0), "I", 0.0),
    ],
)
def test_votes_have_weights(
    labels: str, aggregate: Aggregate, weights: tuple[float, ...], label: str, score: float
) -> None:
    """A judge that is right more often may outvote two; one without a grade has no vote."""
    votes = {f"judge {number}": weight for number, weight in enumerate(weights)}
    found = aggregate_opinions(opinions(*labels), aggregate, 1, votes)
    assert (found.label, found.score) == (label, score)
