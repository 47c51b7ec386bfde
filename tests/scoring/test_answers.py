"""Short final answers: numbers and decisions, and what no response may do to any scorer."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nel.byob import scorers as byob
from nel.errors import DatasetError, ScorerError
from nel.reading.numerals import numbers_equal, parse_number
from nel.scoring.answers import gsm8k_answer, numeric_match
from nel.scoring.choice import multichoice_regex, multiple_choice
from nel.scoring.decisions import boolean_yesno
from nel.scoring.text import answer_line, exact_match, fuzzy_match
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


@given(NUMBERS)
@settings(deadline=None)
def test_a_number_equals_itself(text: str) -> None:
    """What can be read as a number equals itself; what cannot equals nothing."""
    assert numbers_equal(text, text) == (parse_number(text) is not None)


@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
@given(ANY_TEXT, st.one_of(ANY_TEXT, st.sampled_from(["A", "yes", "42", "Oslo", "B,C"])))
@settings(deadline=None, max_examples=50)
def test_no_text_breaks_a_scorer(scorer: Any, response: str, target: str) -> None:
    """Whatever characters a response or a row holds, a scorer gives a verdict or one of its own errors."""
    with contextlib.suppress(DatasetError, ScorerError):
        assert isinstance(scorer(ScorerInput(response=response, target=target))["correct"], bool)


@pytest.mark.parametrize(("name", "target"), [(name, "yes" if name == "boolean_yesno" else "3") for name in SCORERS])
def test_a_missing_response_is_wrong(name: str, target: str) -> None:
    """A response that is None, as other tools hand it over, is an empty one."""
    missing: Any = None
    assert SCORERS[name](ScorerInput(response=missing, target=target))["correct"] is False
