"""Answers to BIG-Bench Hard as chat models word them, in each form of gold answer."""

from __future__ import annotations

import pytest

from nel.benchmarks.reasoning.bbh import bbh
from nel.types import ScorerInput

DATE = "What is the date?\nOptions:\n(A) 05/01/2021\n(B) 06/01/2021\n(C) 07/01/2021"
SORT = "Sort the following words alphabetically: List: cat apple bear"
CAUSE = "How would a typical person answer each of the following questions about causation?\nDid Ann cause it?"
REASONS = "First, we look at it.\n\n"


@pytest.mark.parametrize(
    ("answer", "gold", "problem", "right"),
    [
        ("Therefore, the correct option is (B).", "(B)", DATE, True),
        ("The final answer is:\n\n**B**", "(B)", DATE, True),
        ("So the answer is option B.", "(B)", DATE, True),
        (r"So the answer is $\boxed{\text{(B)}}$.", "(B)", DATE, True),
        ("<answer>B</answer>", "(B)", DATE, True),
        ("So the date is 06/01/2021.", "(B)", DATE, True),
        ("The answer is (B).\n\nNote that the answer is not (A).", "(B)", DATE, True),
        ("So the answer is (C).", "(B)", DATE, False),
        ("The month in (B) has 30 days. Now the days are counted", "(B)", DATE, False),
        ("The first part is False. Now the second part has to be looked at", "False", "not True is", False),
        ("Since Ann says that Bob lies, it is true. Now let us look at", "True", "", False),
        ("The expression evaluates to **False**.", "False", "not True is", True),
        (r"So the answer is \boxed{\text{False}}.", "False", "not True is", True),
        ("So the answer is not False.", "False", "not True is", False),
        ("So the answer is no, she does not.", "No", "", True),
        ("**No**, she lies.", "No", "", True),
        ("yes, plausible", "yes", "", True),
        ("A typical person would say no.", "No", CAUSE, True),
        ("Some people would say no.", "No", "", False),
        ("So the answer is yes or no.", "No", "", False),
        ("The argument, given the premises, is deductively valid.", "valid", "", True),
        ("The argument is not deductively valid.", "invalid", "", True),
        ("So the answer is not valid.", "valid", "", False),
        ("So the answer is neither valid nor invalid.", "valid", "", False),
        ("There are 8 musical instruments.", "8", "", True),
        ("So the answer is 3 + 5 = 8.", "8", "", True),
        ("So the answer is 8 or 9.", "8", "", False),
        ("Z = A + B = -3 - 5 = -8.", "-8", "", True),
        ("So the answer is:\n\n] } )", "] } )", "", True),
        ("So the answer is\n```\n] } )\n```", "] } )", "", True),
        (r"So the answer is \boxed{] } )}.", "] } )", "", True),
        ("So the answer is `]`, `}`, `)`.", "] } )", "", True),
        ("So the answer is ] ).", "] } )", "", False),
        ("So the answer is:\n1. apple\n2. bear\n3. cat", "apple bear cat", SORT, True),
        ("Sorted:\n\napple, bear, and cat", "apple bear cat", SORT, True),
        ("So the sorted list is: [apple, bear, cat].", "apple bear cat", SORT, True),
        ("So the answer is apple < bear < cat.", "apple bear cat", SORT, True),
        ("So the answer is:\n- apple\n- cat\n- bear", "apple bear cat", SORT, False),
        ("- apple\n- bear\n- dog", "apple bear cat", SORT, False),
    ],
)
def test_answers_in_the_words_of_chat_models(answer: str, gold: str, problem: str, right: bool) -> None:
    """What a response states counts, whether or not it says "the answer is" on one line."""
    found = bbh.scorer(ScorerInput(response=REASONS + answer, target=gold, metadata={"input": problem}))
    assert found["correct"] is right  # type: ignore[index]
