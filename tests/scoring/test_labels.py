"""Labels in responses: what is found, what is never found, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import UnionType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nel.scoring.answers import decision, gsm8k_number
from nel.scoring.numeric.numbers import numbers_in
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.letters import declared_label, declared_labels, given_labels, labels_for
from nel.scoring.text import answer_after_marker, normalise
from tests.support.tiers import ENDS, diagonal

FOUR = ("A", "B", "C", "D")
CITIES = ["London", "Paris", "Rome", "Oslo"]
PIECES = [
    *"ABCDEIabi01 .,;:!?()[]*$`\"'/-\n",
    "Answer: ",
    "the answer is ",
    "答案：",
    "\\boxed{",
    "}",
    "option ",
    "and ",
    "or ",
    "not ",
    "Paris",
    "Cannot",
    "\u200b",
    "\u200f",
    "Ｂ",
    "é",
    "\ud800",
]
ANY_TEXT = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
PROSE = st.lists(
    st.sampled_from("The river runs to sea, Although a Cat barks. I think Dogs do; (see B) A good 12 (C)! É".split()),
    max_size=25,
).map(" ".join)


@pytest.mark.parametrize(
    ("count", "labels"),
    [(0, ()), (1, ("A",)), (4, FOUR), (26, tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))],
)
def test_labels_for(count: int, labels: tuple[str, ...]) -> None:
    """As many letters as there are choices."""
    assert labels_for(count) == labels


def test_labels_beyond_z() -> None:
    """The 27th choice is 1, the 36th 10, and a label of two digits is read whole."""
    labels = labels_for(40)
    assert (labels[26], labels[35]) == ("1", "10")
    assert given_labels("Answer: 10", labels) == ("10",)
    assert given_labels("Answer: 1", labels) == ("1",)
    assert declared_labels("ANSWER: 1, 10, Z", labels, strict=True) == ("Z", "1", "10")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ANSWER: A, C", ("A", "C")),
        ("ANSWER: C and A", ("A", "C")),
        ("ANSWER: [A][C]", ("A", "C")),
        ("ANSWER: AC", ("A", "C")),
        ("ANSWER: ACE", ()),
        ("ANSWER: AA", ()),
        ("So ANSWER: A", ()),
        ("the answer is A", ()),
        ("ANSWER: A\nANSWER: none", ("A",)),
    ],
)
def test_strict_declarations(text: str, found: tuple[str, ...]) -> None:
    """Strictly, only a line that starts with the word declares; labels come in the order of the labels."""
    assert declared_labels(text, FOUR, strict=True) == found


def test_several_labels_are_no_single_one() -> None:
    """Where several labels are given, the functions for one give None."""
    assert declared_label("Answer: A or B", FOUR) is None
    assert given_labels("Answer: A or B", FOUR) == ()
    assert given_labels("Answer: A or B", FOUR) == ()
    assert given_labels("Answer: A and B", FOUR) == ("A", "B")


@given(ANY_TEXT, st.integers(min_value=1, max_value=10))
@settings(deadline=None)
def test_found_labels_are_among_those_asked_for(text: str, count: int) -> None:
    """Whatever a text holds, only labels that were asked for are found, each once and in their order."""
    labels = labels_for(count)
    for found in (
        declared_labels(text, labels),
        declared_labels(text, labels, strict=True),
        given_labels(text, labels),
        given_labels(text, labels, CITIES[:count]),
    ):
        assert found == tuple(label for label in labels if label in found)


@given(PROSE, st.sampled_from(FOUR))
@settings(deadline=None)
def test_prose_before_the_answer_does_not_matter(prose: str, label: str) -> None:
    """A declaration on the last line gives its letter, whatever prose without declarations stands before it."""
    text = f"{prose}\nAnswer: {label}"
    assert declared_labels(text, FOUR) == (label,)
    assert declared_labels(text, FOUR, strict=True) == (label,)
    assert given_labels(text, FOUR, CITIES) == ((label,) if label else ())


@given(PROSE, st.sampled_from(FOUR))
@settings(deadline=None)
@example("(see B) then (C)", "C")
@example("A. London is in England.", "C")
def test_prose_after_the_answer_does_not_matter(prose: str, label: str) -> None:
    """A declaration on the first line gives its letter, whatever prose without declarations stands below it."""
    assert declared_label(f"Answer: {label}\n\n{prose}", FOUR) == label


HOSTILE = {
    "line breaks": "\n",
    "blank lines": " \n",
    "spaces": " ",
    "asterisks": "*",
    "bullets": "*\n",
    "hashes": "#",
    "digits": "9",
    "thousands": "1,234,",
    "letters": "A, ",
    "declarations": "Answer: ",
    "answers": "the answer is A ",
    "boxes": "\\boxed{",
    "parentheses": "(",
    "options": "option (A) ",
    "denials": "not ",
    "noes": "no ",
    "articles": "the ",
    "quotation marks": '"',
    "abbreviations": "a.",
}
RULES: dict[str, tuple[Callable[[str], object], type | UnionType]] = {
    "given_labels": (lambda text: given_labels(text, FOUR, CITIES), tuple),
    "declared_labels": (lambda text: declared_labels(text, FOUR, strict=True), tuple),
    "gsm8k_number": (gsm8k_number, str | None),
    "decision": (decision, str | None),
    "normalise": (normalise, str),
    "answer_after_marker": (answer_after_marker, str | None),
    "numbers_in": (numbers_in, list),
    "parse_number": (parse_number, Fraction | None),
}
"""Each with what it gives, whatever the text."""
MEGABYTE = 1_048_576


@ENDS
@pytest.mark.parametrize(("rule", "unit"), diagonal(RULES, HOSTILE))
def test_a_megabyte_is_read(rule: tuple[Callable[[str], object], type | UnionType], unit: str) -> None:
    """Reading ends, whatever a text of a megabyte repeats: about a second, where quadratic work takes an hour."""
    read, gives = rule
    assert isinstance(read((unit * MEGABYTE)[:MEGABYTE]), gives)
