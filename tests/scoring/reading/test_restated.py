"""One amount in two units, and the numbers of sentences that hold several."""

from __future__ import annotations

import pytest

from nel.scoring.numeric.numbers import numeric_match
from nel.scoring.reading.numbers import read_number
from nel.types import Sample, ScorerInput


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("12 * 3 = 36 minutes, or 0.6 hours", "36"),
        ("The answer is 36 minutes, or 0.6 hours.", "36"),
        ("The answer is 1 hour 15 minutes, or 75 minutes.", "75"),
        ("The answer is 75 minutes or 1 hour 15 minutes.", "75"),
        ("The answer is 66 inches, or 5 feet 6 inches.", "66"),
        ("The answer is 5 km or 5000 m.", "5"),
        ("The answer is 1/2 or 50%.", "1/2"),
        ("The answer is 2.5 hours, which is 150 minutes.", "150"),
        # two amounts that are not one
        ("The answer is 36 minutes, or 6 hours.", None),
        ("The answer is 10 or 12 hours.", None),
        ("The answer is 1 hour and 15 minutes.", None),
    ],
)
def test_one_amount_in_two_units(response: str, value: str | None) -> None:
    """The first number that stands alone for the amount is read; what converting does not show to be one is left."""
    assert read_number(response).value == value


@pytest.mark.parametrize(
    ("question", "response", "value"),
    [
        ("How many minutes does it take?", "It takes 1.5 hours, or 90 minutes.", "90"),
        ("How many hours does it take?", "It takes 90 minutes, or 1.5 hours.", "1.5"),
        ("How long does it take?", "It takes 90 minutes, or 1.5 hours.", "90"),
        ("How many apples are left?", "The answer is 12.", "12"),
        # the amount in two units is another one than the answer
        ("How many minutes longer does it take?", "2 hours = 120 minutes. 120 - 118 = 2. The answer is 2.", "2"),
        ("How many inches is each piece?", "5 feet = 60 inches. 60 / 12 = 5. Each piece is 5 inches.", "5"),
    ],
)
def test_the_prompt_decides_on_the_unit(question: str, response: str, value: str) -> None:
    """Where the prompt asks for one of the units, its number is the answer."""
    sample = Sample(id="1", input=question, target="0")
    assert numeric_match(ScorerInput(response=response, target="0", sample=sample))["extracted"] == value


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("That leaves 20 - 12 = 8 apples for the 4 children, so each gets 2 apples.", "2"),
        ("Thus, in 4 hours, the train travels 240 miles.", "240"),
        ("So in 3 years he will be 18 years old.", "18"),
        ("Therefore, Janet makes $18 every day from selling 9 eggs at $2 each.", "$18"),
        ("He has 4 left.\n\nCheck: 10 - 6 = 4 ✓", "4"),
        ("Someone might say 20, but that's wrong: the answer is 18.", "18"),
        ("The answer can't be 18.", None),
        ("The number of pages he hasn't read is 18.", "18"),
        ("The number of students that didn't pass is 18.", "18"),
        ("The answer is 18, since they weren't sold.", "18"),
        ("The answer is half a million.", "half a million"),
        ("She walks 3 miles in 2 hours.", None),
    ],
)
def test_sentences_with_several_numbers(response: str, value: str | None) -> None:
    """A condition before the answer, and what it comes from, are no answer."""
    assert read_number(response).value == value


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("Final: 204", "204"),
        ("**Final: 204**", "204"),
        ("Final value: 204", "204"),
        ("Final sum = 204", "204"),
        ("Therefore final: \\(204\\)", "204"),
        ("Thus $m+n = 200+4 = 204$.", "204"),
        ("$$m+n=204.$$", "204"),
        ("Semi-final: 3 teams.", None),
        ("The answer is 12.\n\nFinal: 2 decimal places are enough.", "12"),
        ("Initial value: 10\nFinal value: 15\nSo the answer is 5.", "5"),
        ("Final value: 3 for each.\n\nThere are 4, so it is 12.", None),
        ("So $x = 204$.", None),
        ("$m+n = 204$, and we go on.", None),
    ],
)
def test_declared_endings(response: str, value: str | None) -> None:
    """A last line that is the sum asked for declares its number, an unknown on the way does not."""
    assert read_number(response, declared_only=True).value == value


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("答案是三十六。", "三十六"),
        ("答案：一千二百元", "一千二百"),
        ("答案是三十几个。", None),
        ("答案是三四个。", None),
        ("答えは百二十です。", "百二十"),
        ("উত্তর: দুই হাজার পাঁচশ", "2500"),
        ("Jibu: mia mbili", "200"),
        ("答案是3万5千", "3万5千"),
        ("答えは1万2千円です。", "1万2千"),
        ("答え：十八ドル", "十八"),
        ("คำตอบ: สามสิบหก", "36"),
        ("উত্তর: ছত্রিশ", "36"),
        ("উত্তর: ১ লাখ", "১ লাখ"),
        ("总共18个。\n希望这十二个步骤有帮助。", "18"),
        ("第三十六题。", None),
    ],
)
def test_numerals_of_other_scripts(response: str, value: str | None) -> None:
    """Numerals in characters or words are read where they are declared or conclude."""
    assert read_number(response).value == value
