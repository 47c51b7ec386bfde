"""Which expression a response gives."""

from __future__ import annotations

from nel.reading.formulas import read_formula
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason


def formula(text: str) -> Reading:
    """Return how a response is read."""
    return read_formula(own_response(text))


def test_a_box_in_any_sentence_is_read() -> None:
    """An everyday word in its sentence does not deny it."""
    assert formula(r"The number of students is $\boxed{130}$.").value == "130"
    assert formula(r"There were $\boxed{130}$ marbles.").value == "130"


def test_nested_braces_are_part_of_a_box() -> None:
    """A fraction ends where its braces do."""
    reading = formula(r"So \(p = \boxed{\frac{1}{2}}\).")
    assert (reading.value, reading.form) == (r"\frac{1}{2}", Form.BOX)


def test_escaped_braces_do_not_count() -> None:
    """A set has braces of its own."""
    assert formula(r"\boxed{\{1, 2\}}").value == r"\{1, 2\}"


def test_the_last_box_counts() -> None:
    """An earlier one is a result on the way."""
    assert formula(r"First \boxed{3}, and so \boxed{4}.").value == "4"


def test_an_empty_box_is_no_answer() -> None:
    """It is left blank."""
    reading = formula(r"\boxed{}")
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.BLANK)


def test_a_json_string_with_latex_is_read() -> None:
    """JSON doubles the backslash."""
    assert formula(r'{"answer": "\\frac{3}{4}"}').value == r"\frac{3}{4}"


def test_the_formula_of_a_phrase_is_read() -> None:
    """It stands between dollar signs."""
    assert formula("Here $x=3$. The answer is $x^2+1$.").value == "x^2+1"


def test_a_display_below_a_phrase_is_read() -> None:
    """It goes on over several lines."""
    assert formula("The answer is\n$$\nx+1\n$$").value == "x+1"


def test_a_heading_over_a_display_is_a_marker() -> None:
    """odyssey-math outputs end so."""
    assert formula("### Final Answer\n\\[ x = 5 \\]").value == "x = 5"


def test_a_line_without_words_is_read() -> None:
    """An expression alone is an answer."""
    assert formula("$x$").value == "x"


def test_a_tag_that_is_a_placeholder_is_passed_over() -> None:
    """A comma is no expression."""
    assert formula('{"answer": <answer>,\n"reasoning": "x is 4"}\n\n{"answer": "4"}').value == "4"
