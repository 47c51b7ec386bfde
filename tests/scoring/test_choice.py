"""Multiple choice: gold answers in all their forms, the ranking by log-likelihood, and the errors."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nel.errors import DatasetError, ScorerError
from nel.reading.letters import labels_for
from nel.scoring.choice import multichoice_regex, multiple_choice, multiple_choice_acc
from nel.scoring.gold_choices import choices_of, gold_label, gold_labels
from nel.types import ScorerInput

CITIES = ["London", "Paris", "Rome", "Oslo"]


@pytest.mark.parametrize(
    ("target", "choices", "label"),
    [
        ("B", None, "B"),
        (1, None, "B"),
        ("Paris", CITIES, "B"),
        ("5", ["1", "3", "5", "7"], "C"),
    ],
)
def test_gold_label(target: Any, choices: list[str] | None, label: str) -> None:
    """A gold answer is a label, an index from 0 or the very text of one choice."""
    assert gold_label(target, labels_for(len(choices or CITIES)), choices) == label


@pytest.mark.parametrize(
    ("target", "choices", "message"),
    [
        (4, None, r"index 4 is not among 4 choices; indices start at 0"),
        (-1, None, r"index -1 is not among 4 choices"),
        ("E", None, r"'E' is not a label \(A to D\), index or text of a choice"),
        ("", None, r"'' is not a label"),
        (None, None, r"'None' is not a label"),
        ("Paris", ["Paris", "Paris"], r"'Paris' is not a label"),
        (3, ["1", "3", "5", "7"], r"'3' reads two ways: as the text of B and as the index of D"),
    ],
)
def test_gold_label_that_is_none(target: Any, choices: list[str] | None, message: str) -> None:
    """A gold answer that names no choice is a bad row that is named, not a wrong answer."""
    with pytest.raises(DatasetError, match=message):
        gold_label(target, labels_for(len(choices or CITIES)), choices)


@pytest.mark.parametrize(
    ("target", "choices", "labels"),
    [
        ("A,C", None, ("A", "C")),
        ("CA", None, ("A", "C")),
        (["C", "A", "A"], None, ("A", "C")),
        ([0, 2], None, ("A", "C")),
        (["Paris", "Oslo"], CITIES, ("B", "D")),
    ],
)
def test_gold_labels(target: Any, choices: list[str] | None, labels: tuple[str, ...]) -> None:
    """Several gold labels may be a list, separated or run together; they come in the order of the labels."""
    assert gold_labels(target, labels_for(4), choices) == labels


@pytest.mark.parametrize(
    ("target", "message"),
    [("", "names no choice"), ([], "names no choice"), ("A,E", "'E' is not a label"), ([0, 9], "index 9 is not among")],
)
def test_gold_labels_that_are_none(target: Any, message: str) -> None:
    """One bad part makes the whole row bad."""
    with pytest.raises(DatasetError, match=message):
        gold_labels(target, labels_for(4))


@pytest.mark.parametrize(
    ("metadata", "choices"),
    [
        ({}, None),
        ({"choices": CITIES}, CITIES),
        ({"options": tuple(CITIES)}, CITIES),
        ({"choices": {"text": CITIES, "label": ["A", "B", "C", "D"]}}, CITIES),
        ({"a": "x", "b": "y", "c": None}, ["x", "y"]),
        ({"a": "only one"}, None),
        ({"choices": "London"}, None),
    ],
)
def test_choices_of_metadata(metadata: dict[str, Any], choices: list[str] | None) -> None:
    """The texts of the choices are found in each of the usual shapes of a row."""
    assert choices_of(ScorerInput(response="", target="A", metadata=metadata)) == choices


def test_several_gold_labels_need_the_option() -> None:
    """A gold answer of two letters is a bad row where one is asked for."""
    with pytest.raises(DatasetError, match="'AC' is not a label"):
        multiple_choice(ScorerInput(response="ANSWER: AC", target="AC"))


def test_a_pattern_that_is_none_is_a_dataset_error() -> None:
    """A pattern that does not compile names itself."""
    with pytest.raises(DatasetError, match=r"the pattern '\(' is not a regular expression"):
        multichoice_regex(ScorerInput(response="A", target="A"), pattern="(")


def test_a_group_that_took_no_part_is_no_answer() -> None:
    """Where the first group of the last match is empty or unused, nothing is extracted."""
    result = multichoice_regex(ScorerInput(response="Answer: B, or none", target="B"), pattern=r"([A-D])|none")
    assert result == {"correct": False, "extracted": None}


def _ranked(target: Any, choices: list[str], sums: list[float], greedy: list[bool] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"_choices": choices, "_choices_logprobs": sums}
    if greedy is not None:
        metadata["_choices_is_greedy"] = greedy
    return multiple_choice_acc(ScorerInput(response="", target=target, metadata=metadata))


@pytest.mark.parametrize(
    ("target", "choices", "sums", "greedy", "acc", "acc_norm", "acc_greedy", "extracted"),
    [
        ("B", ["x", "y"], [-2.0, -1.0], [False, True], 1.0, 1.0, 1.0, "B"),
        ("A", ["x", "y"], [-2.0, -1.0], [False, True], 0.0, 0.0, 0.0, "B"),
        (1, ["x", "y"], [-2.0, -1.0], None, 1.0, 1.0, 0.0, "B"),
        ("B", ["no", "perhaps"], [-4.0, -7.0], None, 0.0, 1.0, 0.0, "A"),
        ("A", ["东京", "Rome"], [-3.0, -3.0], None, 1.0, 1.0, 0.0, "A"),
        ("A", ["x", "y"], [-1.0, -1.0], [True, True], 1.0, 1.0, 1.0, "A"),
        ("B", ["x", "y"], [-math.inf, -900.0], [False, False], 1.0, 1.0, 0.0, "B"),
        ("A", ["", "y"], [-1.0, -2.0], None, 1.0, 1.0, 0.0, "A"),
    ],
)
def test_multiple_choice_acc(
    target: Any,
    choices: list[str],
    sums: list[float],
    greedy: list[bool] | None,
    acc: float,
    acc_norm: float,
    acc_greedy: float,
    extracted: str,
) -> None:
    """Sum, sum per UTF-8 byte and greedy choice are ranked each for itself, and the sums are kept as JSON holds them."""
    expected = {"acc": acc, "acc_norm": acc_norm, "acc_greedy": acc_greedy, "extracted": extracted}
    kept = [None if value == -math.inf else value for value in sums]
    assert _ranked(target, choices, sums, greedy) == {**expected, "logprobs": kept}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, r"no _choices and _choices_logprobs; log-likelihoods need endpoint_type=\"completions_logprob\""),
        ({"_choices": ["x"]}, "no _choices_logprobs"),
        ({"_choices": ["x", "y"], "_choices_logprobs": [-1.0]}, "2 choices, 1 log-likelihoods and 2 greedy marks"),
        (
            {"_choices": ["x", "y"], "_choices_logprobs": [-1.0, -2.0], "_choices_is_greedy": [True]},
            "2 choices, 2 log-likelihoods and 1 greedy marks",
        ),
        ({"_choices": ["x", "y"], "_choices_logprobs": [math.nan, -2.0]}, "rank nothing"),
        ({"_choices": ["x", "y"], "_choices_logprobs": [None, -2.0]}, "log-likelihood"),
    ],
)
def test_multiple_choice_acc_without_a_ranking(metadata: dict[str, Any], message: str) -> None:
    """Missing, misfitting or meaningless log-likelihoods leave the sample unscored and say why."""
    with pytest.raises(ScorerError, match=message):
        multiple_choice_acc(ScorerInput(response="", target="A", metadata=metadata))
