"""The form of the answer that a prompt asks for."""

from __future__ import annotations

import pytest

from nel.errors import ConfigError
from nel.reading.asked import parse_asked_form
from nel.reading.numbers import read_number
from nel.reading.response import own_response
from nel.reading.types import Form, Reading


def number(text: str, form: str, *, is_strict: bool = False) -> Reading:
    """Return how a response is read where the prompt asks for a form."""
    return read_number(own_response(text, asked=parse_asked_form(form, is_strict=is_strict)))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<result>7</result> The answer is 9.", "tag result"),
        ('{"result": "7", "answer": "9"}', "json result"),
        ("FINAL ANSWER: 7\nThe answer is 9.", 'after "FINAL ANSWER:"'),
        (r"\boxed{7}. The answer is 9.", "box"),
        ("Result = 7. Answer: 9", r"Result = (\d+)"),
        ("<answer>5</answer> or rather <answer>7</answer>", "tag answer"),
    ],
)
def test_the_asked_form_is_read_first(text: str, form: str) -> None:
    """A general declaration does not win, and the last one in the asked form counts."""
    reading = number(text, form)
    assert (reading.value, reading.form) == ("7", Form.ASKED)


def test_a_pattern_is_searched_as_it_is_written() -> None:
    assert number("result = 7. Answer: 9", r"Result = (\d+)").value == "9"


def test_the_general_rule_holds_without_it() -> None:
    """A response in another form is read too."""
    reading = number("The answer is 9.", "tag answer")
    assert (reading.value, reading.form) == ("9", Form.PHRASE)


def test_strict_reads_nothing_else() -> None:
    """An answer in another form does not count."""
    assert number("The answer is 9.", "tag answer", is_strict=True).value is None
    assert number("9", "tag answer", is_strict=True).value is None
    assert number("<answer>9</answer>", "tag answer", is_strict=True).value == "9"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("Result", r"'Result' has 0 groups; use \"tag NAME\""),
        ("(a)(b)", "has 2 groups"),
        ("Result (", "not a regular expression"),
    ],
)
def test_a_form_that_cannot_be_meant_is_refused(form: str, said: str) -> None:
    """Which group is the answer has to be known; the message lists the forms."""
    with pytest.raises(ConfigError, match=said):
        parse_asked_form(form)
