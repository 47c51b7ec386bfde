"""Which gold answers decide nothing, asked of a scorer before its row is asked."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nel.byob import scorers as byob
from nel.errors import DatasetError
from nel.reading.letters import labels_for
from nel.scoring.answers import numeric_match
from nel.scoring.compose import all_of, any_of
from nel.scoring.configurable import choice, includes
from nel.scoring.decisions import boolean_yesno
from nel.scoring.gold_choices import ChoiceSetting, gold_label, gold_labels, own_labels
from nel.scoring.golds import gold_check
from nel.scoring.label_match import label_match
from nel.scoring.multi import multi_scorer
from nel.scoring.text import exact_match
from nel.types import Sample, ScorerInput


def fault(scorer: object, target: Any, **fields: Any) -> str | None:
    check = gold_check(scorer, per_turn=True)
    return check and check(Sample(id="1", input="?", target=target, **fields))


@pytest.mark.parametrize(
    ("scorer", "usable"),
    [
        (any_of(numeric_match, byob.contains), True),
        (all_of(numeric_match, byob.contains), True),
        (any_of(numeric_match, numeric_match), False),
        (multi_scorer([includes(), numeric_match], "max"), True),
        (partial(label_match, labels=["a", "n/a"]), True),
        (partial(label_match, labels=["a", "b"]), False),
        (lambda sample: {"correct": sample.response == "x"}, True),
    ],
)
def test_a_composed_scorer_takes_a_row_that_one_member_can_decide(scorer: object, usable: bool) -> None:
    """Only what every member refuses is a bad row; a scorer of one's own is asked nothing."""
    assert (fault(scorer, "n/a") is None) is usable


@pytest.mark.parametrize("target", ["", " ", [], [""], None, "maybe", 2])
def test_a_gold_answer_that_is_neither_yes_nor_no(target: Any) -> None:
    """A scorer of decisions takes no other gold answer."""
    assert fault(boolean_yesno, target) is not None
    assert fault(boolean_yesno, True) is None


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({"text": ["Rome"], "answer_start": [3]}, "an object with the keys text, answer_start"),
        ([{"text": "Rome"}], "an object with the keys text"),
        ([["Rome"], ["Roma"]], "a list of lists"),
    ],
)
def test_an_object_is_no_text_to_compare_with(target: Any, message: str) -> None:
    """SQuAD's column `answers` as the target is refused row by row, where each answer would be wrong."""
    for scorer in (exact_match, byob.f1_token, includes()):
        assert message in str(fault(scorer, target))


def test_each_turn_has_its_own_gold_answer() -> None:
    """A conversation is a bad row as soon as one of its turns has a target that decides nothing."""
    assert fault(numeric_match, ["1", "2"], turns=("and?",)) is None
    assert fault(numeric_match, ["1", "n/a"], turns=("and?",)) is not None


@pytest.mark.parametrize(
    ("target", "choices", "message"),
    [
        ("B", ["AB", "O", "B", "A"], "as the label of B and as the text of C"),
        ("a", ["x", "a"], "as the label of A and as the text of B"),
        ("2", ["1", "2", "3"], "as the text of B and as the index of C"),
        ("(A)", ["B", "(A)"], "as the label of A and as the text of B"),
    ],
)
def test_a_gold_answer_that_reads_two_ways_names_both(target: str, choices: list[str], message: str) -> None:
    """Without a word on what the column is, neither reading is taken."""
    with pytest.raises(DatasetError, match="reads two ways: " + message.replace("(", r"\(")):
        gold_label(target, labels_for(len(choices)), choices)


@pytest.mark.parametrize(
    ("target", "kind", "labels"),
    [("AC", "label", ("A", "C")), ("AC", "text", ("B",)), ("A", "label", ("A",)), ("A", "text", ("C",))],
)
def test_the_kind_decides_between_several_letters_and_a_text(target: str, kind: Any, labels: tuple[str, ...]) -> None:
    """Letters run together are letters or a text as the rest of the column is."""
    assert gold_labels(target, "ABC", ["x", "AC", "A"], kind=kind) == labels


@pytest.mark.parametrize(
    ("found", "n", "labels"),
    [
        (["1", "2", "3", "4"], 4, ("1", "2", "3", "4")),
        (["a", "b"], 2, ("A", "B")),
        (["A", "B", "C"], 4, None),
        (["1", "1"], 2, None),
        ("AB", 2, None),
        (None, 2, None),
    ],
)
def test_labels_of_a_row(found: object, n: int, labels: tuple[str, ...] | None) -> None:
    """Short distinct texts, one for each choice, are labels; one-hot vectors and class names are not."""
    assert own_labels(found, n) == labels


@pytest.mark.parametrize("target", ["", [], ["A", "x"], "1", "red"])
def test_choice_takes_letters_alone(target: Any) -> None:
    """Its targets are letters: a text or an index is a bad row."""
    assert fault(choice(), target, choices=("red", "1")) is not None


def test_labels_of_arc_are_found_in_the_row() -> None:
    """A scorer that is called outside of a run reads the row's field as a run does."""
    row = {"choices": {"text": ["x", "y"], "label": ["1", "2"]}}
    assert ChoiceSetting.of(ScorerInput(response="", target="2", metadata=row)).gold("2") == "2"
