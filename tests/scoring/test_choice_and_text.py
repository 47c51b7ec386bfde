"""Letters and text answers."""

from __future__ import annotations

import pytest

from nel.scoring.choice import multichoice_regex
from nel.scoring.text import answer_line
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: B", "B"),
        ("The answer is (C).", "C"),
        ("Answer: A is tempting ... Answer: B", "B"),
        ("Answer: Although it rains", None),
        ("A good question", None),
    ],
)
def test_declared_letter(text: str, letter: str | None) -> None:
    """The last declared letter counts; a word that starts with one does not."""
    assert multichoice_regex(ScorerInput(response=text, target="A"))["extracted"] == letter


def test_multichoice_with_a_pattern_of_ten_letters() -> None:
    """A custom pattern widens the letters; its last match counts."""
    sample = ScorerInput(response="Answer: B\nAnswer: J", target="J")
    assert multichoice_regex(sample, pattern=r"(?i)Answer\s*:\s*([A-J])") == {"correct": True, "extracted": "J"}


def test_answer_line_compares_numbers_as_numbers() -> None:
    """42.0 and 42 are one answer; 42 and 420 are two."""
    assert answer_line(ScorerInput(response="Answer: 42.0", target="42"))["correct"] is True
    assert answer_line(ScorerInput(response="Answer: 420", target="42"))["correct"] is False


def test_answer_line_takes_a_bare_number_for_one_with_the_unit_of_the_question() -> None:
    """Reasoning Gym asks how many days pass and has "70 days" for gold; another unit is another answer."""
    assert answer_line(ScorerInput(response="<answer>70</answer>", target="70 days"))["correct"] is True
    assert answer_line(ScorerInput(response="<answer>7</answer>", target="70 days"))["correct"] is False
    assert answer_line(ScorerInput(response="<answer>70 weeks</answer>", target="70 days"))["correct"] is False


@pytest.mark.parametrize(
    ("answer", "target", "correct"),
    [
        ("x = 5", "x=5", True),
        (r"\frac{1}{2}", r"\frac {1} {2}", True),
        ("2  1/2 x", "21/2x", False),
        ("New York 2", "NewYork2", False),
    ],
)
def test_answer_line_ignores_spaces_in_formulas(answer: str, target: str, correct: bool) -> None:
    """Spaces beside operators and brackets do not count; those between numbers and words do."""
    assert answer_line(ScorerInput(response=f"Answer: {answer}", target=target))["correct"] is correct
