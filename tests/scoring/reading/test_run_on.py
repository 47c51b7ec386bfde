"""A model that goes on with a question of its own is read up to there, whether the prompt is known or not."""

from __future__ import annotations

import pytest

from nel.benchmarks.mathematics.aime import whole_number
from nel.benchmarks.mathematics.mgsm import answer_number
from nel.scoring import math_equal
from nel.scoring.answers import gsm8k_answer, gsm8k_number
from nel.scoring.mathematics.answer import final_expression
from nel.types import Sample, ScorerInput

NEXT = (
    "\n\nQ: There are 3 cars and 2 more arrive. How many are there?\nA: 3 + 2 = 5. The answer is 5.\n\nQ:",
    "\n\nQuestion: Tom has 2 cats and 3 dogs.\nAnswer: \\boxed{5}",
    "\n\n### Problem\nFind $2+3$.\n### Solution\n\\boxed{5}",
    "\n\nHuman: What is 2 + 3?\n\nAssistant: The answer is 5.",
    "\n\n[Question]\nWhat is 2 + 3?\n[Answer]\nThe answer is 5.",
    "\n\nFrage: Was ist 2 + 3?\nAntwort: 5",
)


@pytest.mark.parametrize("following", NEXT)
@pytest.mark.parametrize("answer", ["The answer is 72.", "So it is \\boxed{72}.", "**Answer:** 72", "#### 72"])
def test_it_is_read_up_to_an_invented_question(answer: str, following: str) -> None:
    """A line that opens a question after a declared answer begins another problem."""
    response = f"She sold 48 + 24 = 72 clips.\n{answer}{following}"
    assert gsm8k_number(response) == whole_number(response) == answer_number(response, "en") == "72"
    assert final_expression(response) == "72"


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("Question: How many?\nAnswer: 9\n\nQuestion: How much?\nAnswer: 18", "18"),  # in steps of its own
        ("Let me restate it.\n\nQuestion: Tom sells 9 eggs at $2.\n\nThe answer is 18.", "18"),
        ("We know two things.\n\nProblem: find the price.\nSolution: 9 * 2 = 18\nThe answer is 18.", "18"),
        ("The answer is 18.\n\nThe question: how much? That is it.", "18"),
    ],
)
def test_a_question_that_is_restated_is_part_of_the_answer(response: str, number: str) -> None:
    """Nothing is declared before it, or it opens the response."""
    assert gsm8k_number(response) == number


@pytest.mark.parametrize(
    ("response", "language"),
    [
        (
            "La respuesta es 18.\n\nPregunta: Hay 9 coches.\nRespuesta paso a paso: 9+2=11. La respuesta es 11.",
            "es",
        ),
        ("答えは18です。\n\n問題：りんごが3個。\nステップごとの答え：3+2=5。答えは5です。", "ja"),
        ("Ответ: 18.\n\nЗадача: У Тома 3 кота.\nПошаговое решение: Ответ — 5.", "ru"),
        ("คำตอบคือ 18\n\nโจทย์: มีแมว 3 ตัว\nคำตอบทีละขั้นตอน: คำตอบคือ 5", "th"),
        ("Jibu ni 18.\n\nSwali: Ana magari 3.\nJibu la Hatua kwa Hatua: Jibu ni 5.", "sw"),
    ],
)
def test_it_is_read_so_in_the_languages_of_mgsm(response: str, language: str) -> None:
    """The labels of the dataset's own examples are question markers, too."""
    assert answer_number(response, language) == "18"


def test_the_marker_of_the_prompt_ends_an_undeclared_answer() -> None:
    """Where the prompt is known its own marker is enough; a restated question leaves the whole response to read."""
    prompt = Sample(id="1", input="Exercise 7: How?\nReply:", target="72")
    ran_on = ScorerInput(response="It is 72.\n\nExercise 8: How?\nReply: 5.", target="72", sample=prompt)
    restated = ScorerInput(response="Let me see.\n\nExercise 7: How?\nReply: It is 72.", target="72", sample=prompt)
    assert gsm8k_answer(ran_on)["extracted"] == gsm8k_answer(restated)["extracted"] == "72"
    assert math_equal(ran_on)["extracted"] == "72"
