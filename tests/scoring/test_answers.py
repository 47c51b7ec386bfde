"""Short final answers: numbers and decisions, and what no response may do to any scorer."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nel.byob import scorers as byob
from nel.errors import DatasetError, ScorerError
from nel.reading.decisions import read_decision
from nel.reading.numerals import numbers_equal, parse_number
from nel.reading.response import own_response
from nel.scoring.answers import gsm8k_answer, numeric_match
from nel.scoring.choice import multichoice_regex, multiple_choice
from nel.scoring.decisions import boolean_yesno
from nel.scoring.text import answer_line, exact_match, fuzzy_match, same_text
from nel.types import ScorerInput

SCORERS: dict[str, Any] = {
    "answer_line": answer_line,
    "boolean_yesno": boolean_yesno,
    "byob_contains": byob.contains,
    "exact_match": exact_match,
    "fuzzy_match": fuzzy_match,
    "gsm8k_answer": gsm8k_answer,
    "multichoice_regex": multichoice_regex,
    "multiple_choice": multiple_choice,
}
PIECES = [
    *"AaBI019.,-+−–$€%*_#`(){}[]<>|/\\\"'’:：;!? \t\n\r",
    *"\u00a0\u200b\u200e\u200f\u202e\ufeff\x00\ud800\udfff\ue02d½²٤４Ｂ",
    "Answer: ",
    "the ",
    "A ",
    "U.S. ",
    "C++",
    "1,000",
    "yes",
    "no ",
    "not ",
    "#### ",
    "\\boxed{",
    "e5",
    "e\u0301",
    "答案：",
    "👍🏽",
]
ANY_TEXT = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
NUMBERS = st.one_of(
    st.integers(min_value=-(10**20), max_value=10**20).map(str),
    st.integers(min_value=0, max_value=10**12).map("{:,}".format),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9).map(str),
    ANY_TEXT,
)


@pytest.mark.parametrize("target", [72, 72.0, "72", "48 + 24 = 72\n#### 72"])
def test_gsm8k_gold_answers(target: Any) -> None:
    """The gold answer may be a number, a text or a whole solution."""
    assert gsm8k_answer(ScorerInput(response="#### 72", target=target))["correct"] is True


@pytest.mark.parametrize("target", ["", "none", None, True, "x=5", "5 or 6", ["5"]])
def test_gsm8k_gold_answer_without_a_number(target: Any) -> None:
    """A gold answer without a number is a bad row that is named."""
    with pytest.raises(DatasetError, match=r"not a number|is empty"):
        gsm8k_answer(ScorerInput(response="#### 72", target=target))


@pytest.mark.parametrize("target", [["10", "20"], {"value": 20}])
def test_gsm8k_gold_answer_that_is_no_text(target: Any) -> None:
    """A list or mapping is not a gold number; its last number is not taken for one."""
    with pytest.raises(DatasetError):
        gsm8k_answer(ScorerInput(response="#### 20", target=target))


@pytest.mark.parametrize(
    ("target", "response"),
    [(True, "Yes"), (False, "No"), (1, "Yes"), (0, "No"), (1.0, "yes"), (" TRUE. ", "yes"), ("N", "no"), ("y", "yes")],
)
def test_boolean_gold_answers(target: Any, response: str) -> None:
    """The gold answer may be a bool, 0, 1 or a word for either."""
    assert boolean_yesno(ScorerInput(response=response, target=target))["correct"] is True


@pytest.mark.parametrize("target", ["maybe", "", None, 2, ["yes"]])
def test_boolean_gold_answer_that_is_neither(target: Any) -> None:
    """A gold answer that is neither yes nor no is a bad row that is named."""
    with pytest.raises(DatasetError, match="is neither yes nor no"):
        boolean_yesno(ScorerInput(response="yes", target=target))


@pytest.mark.parametrize("scorer", [numeric_match, exact_match, answer_line])
def test_a_list_of_gold_answers_accepts_any(scorer: Any) -> None:
    """A list of gold answers accepts any of them or is a bad row; it never makes a right answer wrong."""
    with contextlib.suppress(DatasetError):
        response = "Answer: 42" if scorer is answer_line else "42"
        assert scorer(ScorerInput(response=response, target=["41", "42"]))["correct"] is True


def test_a_long_number_is_no_number() -> None:
    """More than 1,000 digits are not read; a thousand are."""
    assert parse_number("9" * 1_000) == int("9" * 1_000)
    assert parse_number("9" * 1_001) is None


@given(NUMBERS, NUMBERS)
@settings(deadline=None)
def test_equality_of_numbers_is_symmetric(left: str, right: str) -> None:
    """It does not matter which of two numbers is the gold one."""
    assert numbers_equal(left, right) == numbers_equal(right, left)


@given(NUMBERS)
@settings(deadline=None)
def test_a_number_equals_itself(text: str) -> None:
    """What can be read as a number equals itself; what cannot equals nothing."""
    assert numbers_equal(text, text) == (parse_number(text) is not None)


@given(ANY_TEXT, ANY_TEXT)
@settings(deadline=None)
def test_equality_of_texts_is_symmetric(left: str, right: str) -> None:
    """It does not matter which of two texts is the gold one, unless one has no word."""
    if all(re.search(r"[^\W_]", text) for text in (left, right)):
        assert same_text(left, right) == same_text(right, left)


@given(ANY_TEXT)
@settings(deadline=None)
@example("]")
@example("☆")
@example("the-cat")
def test_a_text_equals_itself(text: str) -> None:
    """Whatever a text is made of, giving exactly it is right; nothing equals nothing."""
    assert same_text(text, text) == bool(text.strip())


PROSE = st.lists(
    st.sampled_from("The river runs 12 miles to sea, Although nobody Knows. I think 3,4 (see 5) $7 - !".split()),
    max_size=25,
).map(" ".join)


@given(PROSE, st.integers(min_value=-9999, max_value=9999))
@settings(deadline=None)
def test_prose_before_the_number_does_not_matter(prose: str, number: int) -> None:
    """The number after the marker is the answer, whatever prose without markers stands before it."""
    text = f"{prose}\nAnswer: {number}"
    for scorer in (answer_line, gsm8k_answer, numeric_match):
        result = scorer(ScorerInput(response=text, target=str(number)))
        assert (result["correct"], result["extracted"]) == (True, str(number))


@given(PROSE, st.sampled_from(["yes", "no"]))
@settings(deadline=None)
def test_prose_around_the_decision_does_not_matter(prose: str, word: str) -> None:
    """The word after the marker is the decision, whatever prose without one stands around it."""
    assert read_decision(own_response(f"{prose}\nAnswer: {word}")).value == word
    assert read_decision(own_response(f"{prose}\nAnswer: {word}\n\n{prose}")).value == word


@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
@given(ANY_TEXT, st.one_of(ANY_TEXT, st.sampled_from(["A", "yes", "42", "Oslo", "B,C"])))
@settings(deadline=None, max_examples=50)
def test_no_text_breaks_a_scorer(scorer: Any, response: str, target: str) -> None:
    """Whatever characters a response or a row holds, a scorer gives a verdict or one of its own errors."""
    with contextlib.suppress(DatasetError, ScorerError):
        assert isinstance(scorer(ScorerInput(response=response, target=target))["correct"], bool)


@pytest.mark.parametrize("response", ["", " ", "\n", "\u200b", "\u200f\u202e", "\ud800", "\x00", "None", "null"])
@pytest.mark.parametrize(("name", "target"), [(name, "yes" if name == "boolean_yesno" else "3") for name in SCORERS])
def test_a_response_without_an_answer_is_wrong(name: str, target: str, response: str) -> None:
    """Empty responses and responses of invisible characters are wrong answers, not errors and never right."""
    assert SCORERS[name](ScorerInput(response=response, target=target))["correct"] is False


@pytest.mark.parametrize(("name", "target"), [(name, "yes" if name == "boolean_yesno" else "3") for name in SCORERS])
def test_a_missing_response_is_wrong(name: str, target: str) -> None:
    """A response that is None, as other tools hand it over, is an empty one."""
    missing: Any = None
    assert SCORERS[name](ScorerInput(response=missing, target=target))["correct"] is False
