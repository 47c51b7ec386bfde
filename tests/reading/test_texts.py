"""Which short text a response gives."""

from __future__ import annotations

from nel.reading.response import own_response
from nel.reading.texts import read_text
from nel.reading.types import Form, Reading


def text(response: str) -> Reading:
    """Return how a response is read."""
    return read_text(own_response(response))


def test_a_move_between_triple_quotes_is_read() -> None:
    """The form that meta-prompting asks for."""
    reading = text('White mates.\n\n>> FINAL ANSWER:\n"""\nQxf7#\n"""')
    assert (reading.value, reading.form) == ("Qxf7#", Form.MARKER)


def test_a_python_literal_in_a_json_string_is_read() -> None:
    """ZeroEval asks for the value of an expression."""
    assert text('{"reasoning": "a list", "answer": "[1, 2]"}').value == "[1, 2]"


def test_a_python_literal_that_is_json_is_read_as_written() -> None:
    """A list without quotes around it is the answer too."""
    assert text('{"answer": [1, {"a": 2}]}').value == '[1, {"a": 2}]'


def test_quotes_within_a_json_string_are_unescaped() -> None:
    """The value of the field is what JSON says it is."""
    assert text(r'{"answer": "\"Permission Is Granted\""}').value == '"Permission Is Granted"'


def test_an_empty_json_string_is_an_answer() -> None:
    """The output of a program may be empty."""
    reading = text('{"reasoning": "Nothing is left.", "answer": ""}')
    assert (reading.value, reading.form) == ("", Form.FIELD)


def test_a_phrase_ends_with_its_sentence() -> None:
    """What follows is another sentence."""
    assert text("The answer is Oslo. It lies in Norway.").value == "Oslo"


def test_a_name_after_called_is_read() -> None:
    """A response of one sentence names its answer last."""
    assert text("The city is called Zenith.").value == "Zenith"


def test_a_short_line_below_the_reasoning_is_read() -> None:
    """It stands apart."""
    reading = text("I know the capitals of Europe.\n\nOslo")
    assert (reading.value, reading.form) == ("Oslo", Form.LINE)


def test_a_tag_is_read_whole() -> None:
    """Its content is the text."""
    assert text("<answer>the Beatles</answer>").value == "the Beatles"


def test_the_line_below_a_marker_is_read() -> None:
    """A marker may end its line."""
    assert text("Answer:\nOslo").value == "Oslo"


def test_quotation_marks_around_all_of_it_are_not_read() -> None:
    """They quote the answer."""
    assert text('Answer: "Oslo"').value == "Oslo"


def test_a_question_is_no_answer() -> None:
    """A response that asks back gives none."""
    assert text("Who knows?").value is None


def test_hashes_before_the_last_line_are_not_read() -> None:
    """GSM8K's form, in words."""
    reading = text("It is the capital of Norway.\n#### Oslo")
    assert (reading.value, reading.form) == ("Oslo", Form.HASHES)


def test_a_heading_in_hashes_is_no_answer() -> None:
    """Text follows it."""
    assert text("#### Conclusion\nThe city is called Oslo.").value == "Oslo"


def test_words_in_a_box_are_read_without_their_command() -> None:
    """LaTeX sets words in text mode."""
    assert text(r"Thus \boxed{\text{Oslo}}.").value == "Oslo"
