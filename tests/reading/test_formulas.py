"""Which expression a response gives."""

from __future__ import annotations

import pytest

from nel.reading.formulas import read_formula
from nel.reading.response import own_response
from nel.reading.types import Form, Reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"The number of students is $\boxed{130}$.", "130"),
        (r"There were $\boxed{130}$ marbles.", "130"),
        (r"So \(p = \boxed{\frac{1}{2}}\).", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"First \boxed{3}, and so \boxed{4}.", "4"),
        (r'{"answer": "\\frac{3}{4}"}', r"\frac{3}{4}"),
        ("Here $x=3$. The answer is $x^2+1$.", "x^2+1"),
        ("The answer is\n$$\nx+1\n$$", "x+1"),
        ("### Final Answer\n\\[ x = 5 \\]", "x = 5"),
        ("\\[\n\\text{Answer: } \\frac{4}{3}\n\\]", r"\frac{4}{3}"),
        ("$x$", "x"),
        (r"So the area is $3\pi$.", r"3\pi"),
        ("Now we solve for the value of $n$.", None),
        ('{"answer": <answer>,\n"reasoning": "x is 4"}\n\n{"answer": "4"}', "4"),
    ],
)
def test_which_expression_is_read(text: str, value: str | None) -> None:
    """The last box with the braces that belong to it, a field, a marker or a phrase; a placeholder is passed over."""
    assert read_formula(own_response(text)).value == value


@pytest.mark.parametrize("text", [r"\boxed{}", '{"answer": " "}'])
def test_an_empty_box_or_field_is_no_answer(text: str) -> None:
    """What is left blank is named as that."""
    assert read_formula(own_response(r"\boxed{4}")).form == Form.BOX
    reading = read_formula(own_response(text))
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.BLANK)
