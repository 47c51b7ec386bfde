"""Which number a response gives."""

from __future__ import annotations

import pytest

from nel.reading.numbers import read_number
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason


def number(text: str, prompt: str = "") -> Reading:
    """Return how a response is read."""
    return read_number(own_response(text, prompt))


_CUT_OFF = (
    "We look at every day of the week in turn and count what is sold. " * 4 + "On Monday there are 30 eggs and so she"
)
_TWO_NUMBERS = '>> FINAL ANSWER:\n"""\nJaneth tendrá un saldo de $220 después de 12 meses.\n"""'


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        # An everyday "not" is a condition of the problem, and GSM8K is about students who raise dollars.
        (r"The number of ways with red not on top is $\boxed{130}$.", "130", Form.BOX),
        (r"Each student raised $\boxed{6250}$ dollars.", "6250", Form.BOX),
        (r"\boxed{x = 5}", "5", Form.BOX),
        # The verb of a Japanese sentence follows its numbers; outputs of text-davinci-002 leave a blank and then fill it.
        ("Final answer: 1日に24回掃除されます。", "24", Form.MARKER),
        ("The answer (arabic numerals) is _____.\n\nThe tree had 8 ripe apples.", "8", Form.PHRASE),
        ('{"reasoning": "42 * 29", "answer": "1,218"}', "1,218", Form.FIELD),
        ('{"answer": "$1,450,000"}', "$1,450,000", Form.FIELD),
        ('```json\n{\n  "reasoning": "3 + 4",\n  "answer": 7\n}\n```', "7", Form.FIELD),
        ('"answer": "16"\n3. Add the tax of 10 dollars.', "16", Form.FIELD),
        # The form that meta-prompting asks for; odyssey-math outputs end in a heading, solutions of GSM8K in hashes.
        ('আমরা জানি 2 + 1 = 3।\n\n>> FINAL ANSWER:\n"""\n3 রিল\n"""', "3", Form.MARKER),
        (_TWO_NUMBERS, "$220", Form.MARKER),
        ('>> FINAL ANSWER:\n"""\n28,00 $\n"""', "28,00", Form.MARKER),
        ("3 + 4 = 7\n\n### Final Answer\n\n7", "7", Form.MARKER),
        ("Answer: Tom sold 24 a week. That makes 168 in 7 weeks.", "168", Form.MARKER),
        ("She sells 9 eggs for 2 dollars each.\n#### 18", "18", Form.HASHES),
        ("#### 2.1: Trace Billy's lineage\n- He is a sibling of Anna.\n\n<ANSWER>4</ANSWER>", "4", Form.TAG),
        # A second A: is an answer to another question.
        ("A: Tom sold 24 a week for 7 weeks. The answer is 168.\n\nA: Nell started with 5. The answer is 12.", "168", None),
        ("The answer is 48 / 2 = 24.", "24", Form.PHRASE),
        ("A: Tom had 9 - 2 = 7 left. The answer is 31.", "31", Form.PHRASE),
        ("Answer: 250 grams (since 1 kg = 1000 g)", "250", Form.MARKER),
        ("答えは3個と5個で8個です。", "8", Form.PHRASE),
        ("<answer>12*7</answer>", None, None),
        ("g(2) cannot be known", None, None),
        ("The answer is x > 5.", None, None),
        (r"\boxed{x=2, y=3}", None, None),
        ("It is approximately 1.36041e-11.", "1.36041e-11", Form.SENTENCE),
        ("So the result is 8, not 7.", "8", Form.SENTENCE),
        # What a comma and words part from an answer explains it; "5, 6" and "x = 5, y = 6" are two answers.
        ("The answer is 42, which is 6 * 7.", "42", Form.PHRASE),
        ("A resposta é 11, pois 5 + 6.", "11", Form.PHRASE),
        ("The answer is x = 5, y = 6.", None, None),
        # As lm-eval's Basque MGSM reads it.
        ("Erantzuna 11 da. Beste 3 gehiago.", "11", Form.PHRASE),
        ("The answer is 10% of 50, which is 5.", "5", Form.PHRASE),
        ("The answer is twelve.", "twelve", Form.PHRASE),
        ("La respuesta es 1.234.", "1234", Form.PHRASE),
        ("Die Antwort ist 12,5.", "12.5", Form.PHRASE),
        ("Ergebnis: 3.600 Sekunden", "3600", Form.PHRASE),
        ("El resultado es **3,5**.", "3.5", Form.PHRASE),
        ("First 6 * 7 = 42.\nThen 42 + 8 = 50", "50", Form.SENTENCE),
        ("They add up. So the total is 25 dollars.", "25", Form.SENTENCE),
        ("So Weng earned **$10** for babysitting 50 minutes.", "$10", Form.SENTENCE),
        ("The answer is not 16 but 15.", "15", Form.PHRASE),
        ("12 apples", "12", Form.LINE),
        ("Tom has 3 apples and Ann has 4 pears.", None, None),
        ("The answer is not 42.", None, None),
        ("The answer is 10-20.", None, None),
        ("The answer is 10:30.", None, None),
        # A declared stretch that is one number is no answer either where the text goes on with the number.
        ("The answer is $10.", "$10", Form.PHRASE),
        ("Answer: 10\nto 20", None, None),
        # LawBench wants months, and a GSM8K question minutes: nothing here says which of two units is meant.
        ("[刑期]3年6个月", None, None),
        ("The answer (arabic numerals) is 5 minutes and 24 seconds, or 5:24.", None, None),
        ("The velocity ratio is 4, not 4.048.", "4", None),
        (r"\boxed{100\text{ cm}^2}", "100", Form.BOX),
        ("Then we add the 12 eggs of the next day to them and go on. " * 30, None, None),
        ('{"answer": "4x - 4"}', None, None),
        # Outputs on ZeroEval and MGSM declare that there is no answer, with numbers of the problem around it.
        ('{"reasoning": "3 = 2x, so x = 1.5.", "answer": "Not possible"}', None, None),
        ("So I cannot determine the return value of func_6351(2).", None, None),
        ("The solutions are x = 8 or x = -8.", None, None),
        ('{"answer": "10(x+8) + 5(y+3)"}', None, None),
    ],
)  # fmt: skip
def test_which_number_is_read(text: str, value: str | None, form: Form | None) -> None:
    """The declared one, in the strongest form; two at once, ranges, times, operands and loops are none."""
    reading = number(text)
    assert reading.value == value
    if form is not None:
        assert reading.form == form


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("FINAL ANSWER: 8 pens will cost $12.00.", "$12.00"),
        ("The answer is that after 60 days it is $16.", "$16"),
        ("Answer: 8 (12 less 4)", "8"),
        ("Answer: 8 because 4 and 4 are even", "8"),
        ("The answer is 8 rather than 12.", "8"),
        ("The answer is 8 or 12.", None),
    ],
)
def test_a_number_that_the_question_names_is_not_its_answer_beside_another(text: str, value: str | None) -> None:
    """An answer as a sentence repeats what it is of, as outputs on MGSM do; a mark parts an answer from its reasons."""
    question = "Q: 2 + 2?\nA: 12\n\nQ: What do 8 pens cost after 60 days?\nA:"
    assert read_number(own_response(text, question)).value == value


@pytest.mark.parametrize(
    ("text", "reason"), [("The answer is 5 or 6.", Reason.SEVERAL), (_CUT_OFF, Reason.CUT_OFF)], ids=["several", "cut"]
)
def test_why_a_number_is_rejected(text: str, reason: Reason) -> None:
    """A number that is not an answer is named with its reason."""
    reading = number(text)
    assert reading.value is None
    assert reason in {rejected.why for rejected in reading.rejected}


def test_numbers_of_the_question_are_not_its_answer() -> None:
    """A sentence that calculates nothing answers with the number that its question does not name (MathVista's LLaVA)."""
    question = "How many shipments had exactly 56 boxes?"
    assert number("There were 3 shipments with exactly 56 boxes.", question).value == "3"
    assert number("There were 56 boxes.", question).value == "56"


def test_the_prompts_own_marker_ends_the_response() -> None:
    """A base model goes on with a question of its own."""
    assert number("So 3 + 4 = 7.\n\nQuestion: And 5 + 5?\nAnswer: 10", "Question: 3 + 4?\nAnswer:").value == "7"


def test_positions_are_those_of_the_whole_response() -> None:
    """Removed tokens do not move the span, and a unit is not part of it."""
    text = "<|start_header_id|>assistant<|end_header_id|>The answer is 42."
    reading = number(text)
    assert text[reading.start : reading.end] == "42"
    assert (number("12 apples").start, number("12 apples").end) == (0, 2)
