"""Which number a response gives."""

from __future__ import annotations

import pytest

from nel.reading.numbers import read_number
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason


def number(text: str, prompt: str = "") -> Reading:
    """Return how a response is read."""
    return read_number(own_response(text, prompt))


def test_an_everyday_word_before_a_box_does_not_deny_it() -> None:
    """ "not on top" is a condition of the problem."""
    text = r"The number of ways with red not on top is $\boxed{130}$."
    assert (number(text).value, number(text).form) == ("130", Form.BOX)


def test_a_box_in_a_sentence_about_people_is_read() -> None:
    """GSM8K is about students who raise dollars."""
    assert number(r"Each student raised $\boxed{6250}$ dollars.").value == "6250"


def test_a_thousands_mark_in_a_json_string_is_read() -> None:
    """A comma inside a string does not end the field."""
    assert number('{"reasoning": "42 * 29", "answer": "1,218"}').value == "1,218"


def test_a_currency_in_a_json_string_is_read() -> None:
    """The whole amount is the answer."""
    assert number('{"answer": "$1,450,000"}').value == "$1,450,000"


def test_a_bare_json_number_is_read() -> None:
    """A field may hold a number without quotes."""
    assert number('```json\n{\n  "reasoning": "3 + 4",\n  "answer": 7\n}\n```').value == "7"


def test_a_list_after_a_json_answer_is_not_the_answer() -> None:
    """A word or number after the field does not win."""
    assert number('"answer": "16"\n3. Add the tax of 10 dollars.').value == "16"


def test_an_answer_between_triple_quotes_below_its_marker_is_read() -> None:
    """The form that meta-prompting asks for."""
    reading = number('আমরা জানি 2 + 1 = 3।\n\n>> FINAL ANSWER:\n"""\n3 রিল\n"""')
    assert (reading.value, reading.form) == ("3", Form.MARKER)


def test_a_heading_over_the_answer_is_a_marker() -> None:
    """odyssey-math outputs end in a heading and a number."""
    assert number("3 + 4 = 7\n\n### Final Answer\n\n7").value == "7"


def test_hashes_before_the_answer_are_a_form() -> None:
    """Solutions of GSM8K end in #### N."""
    reading = number("She sells 9 eggs for 2 dollars each.\n#### 18")
    assert (reading.value, reading.form) == ("18", Form.HASHES)


def test_a_numbered_heading_is_no_answer() -> None:
    """A heading such as "#### 2.1:" does not beat a tag."""
    reading = number("#### 2.1: Trace Billy's lineage\n- He is a sibling of Anna.\n\n<ANSWER>4</ANSWER>")
    assert (reading.value, reading.form) == ("4", Form.TAG)


def test_an_invented_turn_is_not_read() -> None:
    """A second A: is another answer, as a second Q: is another question."""
    text = "A: Tom sold 24 a week for 7 weeks. The answer is 168.\n\nA: Nell started with 5. The answer is 12."
    assert number(text).value == "168"


def test_the_prompts_own_marker_ends_the_response() -> None:
    """A base model goes on with a question of its own."""
    assert number("So 3 + 4 = 7.\n\nQuestion: And 5 + 5?\nAnswer: 10", "Question: 3 + 4?\nAnswer:").value == "7"


def test_a_calculation_gives_its_result() -> None:
    """The number after the last equals sign is declared, not the first."""
    assert number("The answer is 48 / 2 = 24.").value == "24"


def test_the_result_of_the_last_sentence_is_read() -> None:
    """Without a declaration the last line may be a calculation."""
    reading = number("First 6 * 7 = 42.\nThen 42 + 8 = 50")
    assert (reading.value, reading.form) == ("50", Form.SENTENCE)


def test_the_only_number_of_the_last_sentence_is_read() -> None:
    """An undeclared number counts where it is the only one."""
    assert number("They add up. So the total is 25 dollars.").value == "25"


def test_two_numbers_in_a_closing_sentence_are_no_answer() -> None:
    """A sentence that names two numbers declares neither."""
    assert number("Tom has 3 apples and Ann has 4 pears.").value is None


def test_two_joined_numbers_are_no_answer() -> None:
    """ "5 or 6" is not an answer."""
    reading = number("The answer is 5 or 6.")
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.SEVERAL)


def test_a_denied_number_is_no_answer() -> None:
    """ "not 42" says what the answer is not."""
    assert number("The answer is not 42.").value is None


def test_a_cut_off_response_has_no_answer() -> None:
    """A number on the way to a result is not the result."""
    text = "We look at every day of the week in turn and count what is sold. " * 4
    reading = number(text + "On Monday there are 30 eggs and so she")
    assert reading.value is None
    assert Reason.CUT_OFF in {rejected.why for rejected in reading.rejected}


def test_a_loop_has_no_answer() -> None:
    """A response that repeats itself up to its limit declares nothing."""
    reading = number("Then we add the 12 eggs of the next day to them and go on. " * 30)
    assert reading.value is None


def test_a_range_is_no_number() -> None:
    """ "10-20" has no single value."""
    assert number("The answer is 10-20.").value is None


def test_a_time_is_no_number() -> None:
    """ "10:30" is not ten."""
    assert number("The answer is 10:30.").value is None


def test_a_unit_after_a_number_is_allowed() -> None:
    """A line of a number and its unit is an answer."""
    reading = number("12 apples")
    assert (reading.value, reading.form, reading.start, reading.end) == ("12", Form.LINE, 0, 2)


def test_a_number_in_words_is_read() -> None:
    """text-davinci-002 writes "two" where digits were asked for."""
    assert number("The answer is twelve.").value == "twelve"


def test_a_name_in_a_box_is_allowed() -> None:
    """The value of a variable is its number."""
    assert number(r"\boxed{x = 5}").value == "5"


def test_a_language_with_a_decimal_comma_is_read_by_its_rule() -> None:
    """The row of the table says what parts decimals."""
    assert number("La respuesta es 1.234.").value == "1234"
    assert number("Die Antwort ist 12,5.").value == "12.5"


def test_positions_are_those_of_the_whole_response() -> None:
    """Removed tokens do not move the span."""
    text = "<|start_header_id|>assistant<|end_header_id|>The answer is 42."
    reading = number(text)
    assert text[reading.start : reading.end] == "42"


def test_declared_only_reads_nothing_undeclared() -> None:
    """A number that nothing introduces does not count."""
    assert read_number(own_response("25 dollars"), declared_only=True).value is None
    assert read_number(own_response("Answer: 25"), declared_only=True).value == "25"


def test_the_first_of_several_numbers_is_read() -> None:
    """A sentence names its answer before what it depends on."""
    sentence = "Janeth tendrá un saldo de $220 después de 12 meses."
    assert number(f'>> FINAL ANSWER:\n"""\n{sentence}\n"""').value == "$220"


def test_of_several_sentences_the_last_is_read() -> None:
    """A marker may introduce the reasoning too."""
    assert number("Answer: Tom sold 24 a week. That makes 168 in 7 weeks.").value == "168"


def test_an_amount_with_a_decimal_comma_is_read() -> None:
    """Two digits after a comma are cents."""
    assert number('>> FINAL ANSWER:\n"""\n28,00 $\n"""').value == "28,00"


@pytest.mark.parametrize("term", ["4x - 4", "10(x+8) + 5(y+3)"])
def test_an_expression_with_an_unknown_is_not_read(term: str) -> None:
    """Its numbers are operands."""
    assert number(f'{{"answer": "{term}"}}').value is None
