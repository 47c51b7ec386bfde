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


def test_a_tag_is_read_first() -> None:
    """A phrase after it does not win."""
    reading = number("<result>7</result> The answer is 9.", "tag result")
    assert (reading.value, reading.form) == ("7", Form.ASKED)


def test_a_json_field_is_read_first() -> None:
    """Another field named answer does not win."""
    assert number('{"result": "7", "answer": "9"}', "json result").value == "7"


def test_words_are_read_first() -> None:
    """A general declaration after them does not win."""
    text = "FINAL ANSWER: 7\nThe answer is 9."
    assert number(text, 'after "FINAL ANSWER:"').value == "7"


def test_a_box_is_read_first() -> None:
    """A phrase after it does not win."""
    assert number(r"\boxed{7}. The answer is 9.", "box").value == "7"


def test_the_group_of_a_pattern_is_read() -> None:
    """Its match is searched as written, capitals included."""
    reading = number("Result = 7. Answer: 9", r"Result = (\d+)")
    assert (reading.value, reading.form) == ("7", Form.ASKED)
    assert number("result = 7. Answer: 9", r"Result = (\d+)").value == "9"


def test_the_last_one_counts() -> None:
    """A model may correct itself in the asked form."""
    assert number("<answer>5</answer> or rather <answer>7</answer>", "tag answer").value == "7"


def test_the_general_rule_holds_without_it() -> None:
    """A response in another form is read too."""
    reading = number("The answer is 9.", "tag answer")
    assert (reading.value, reading.form) == ("9", Form.PHRASE)


def test_strict_reads_nothing_else() -> None:
    """An answer in another form does not count."""
    assert number("The answer is 9.", "tag answer", is_strict=True).value is None
    assert number("9", "tag answer", is_strict=True).value is None
    assert number("<answer>9</answer>", "tag answer", is_strict=True).value == "9"


def test_a_pattern_without_a_group_is_refused() -> None:
    """The message lists the forms."""
    with pytest.raises(ConfigError, match=r"'Result' has 0 groups; use \"tag NAME\""):
        parse_asked_form("Result")


def test_two_groups_are_refused() -> None:
    """Which of them is the answer is not known."""
    with pytest.raises(ConfigError, match="has 2 groups"):
        parse_asked_form("(a)(b)")


def test_what_is_no_pattern_is_refused() -> None:
    """The message says what is wrong with it."""
    with pytest.raises(ConfigError, match="not a regular expression"):
        parse_asked_form("Result (")
