"""Answers to BIG-Bench Hard as chat models word them, in each form of gold answer."""

from __future__ import annotations

import pytest

from nel.benchmarks.reasoning.bbh import bbh
from nel.types import ScorerInput

DATE = "What is the date?\nOptions:\n(A) 05/01/2021\n(B) 06/01/2021\n(C) 07/01/2021"
SORT = "Sort the following words alphabetically: List: cat apple bear"
CLOSE = "Complete the rest of the sequence, making sure that the parentheses are closed properly. Input: [ [ { ("
PLAUSIBLE = 'Is the following sentence plausible? "Ann scored a reverse layup."'
RETURN = "If you follow these instructions, do you return to the starting point? Take 1 step."
LIARS = "Question: Ann lies. Bob says Ann lies. Does Bob tell the truth?"
CAUSE = "How would a typical person answer each of the following questions about causation?\nDid Ann cause it?"
SHOT = (
    "How would a typical person answer each of the following questions about causation?\nFrank shot. Did Frank "
    "intentionally shoot his neighbor in the body?"
)
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


@pytest.mark.parametrize(
    ("answer", "gold", "problem", "right"),
    [
        ("The missing closing brackets are: `)`, `}`, `]`, `]`.", ") } ] ]", CLOSE, True),
        ('So the rest of the sequence is ") } ] ]".', ") } ] ]", CLOSE, True),
        ("Therefore, the sequence of closing brackets should be `) } ] ]`.", ") } ] ]", CLOSE, True),
        ("The remaining closing brackets are ) } ] ] in this order.", ") } ] ]", CLOSE, True),
        (r"$\boxed{) } ] ]}$", ") } ] ]", CLOSE, True),
        (r"\boxed{\texttt{) \} ] ]}}", ") } ] ]", CLOSE, True),
        ("<answer>) } ] ]</answer>", ") } ] ]", CLOSE, True),
        ("1. )\n2. }\n3. ]\n4. ]", ") } ] ]", CLOSE, True),
        ("I need to add a closing angle bracket: >", ">", "Input: < [ ]", True),
        ("The complete sequence is: [ [ { ( ) } ] ]", ") } ] ]", CLOSE, True),
        ("[ [ { ( ) } ] ]", ") } ] ]", CLOSE, True),
        ("So the answer is `[ [ { ( ) } ] ]`.", ") } ] ]", CLOSE, True),
        (r"\boxed{[ [ { ( ) } ] ]}", ") } ] ]", CLOSE, True),
        ("So the answer is [ [ { ( ) } ].", ") } ] ]", CLOSE, False),
        ("So the answer is [ [ { ( ] } ) ].", ") } ] ]", CLOSE, False),
        ("So the answer is [ { ( ) } ].", ") } ] ]", CLOSE, False),
        ("We have [ [ { ( ) } ] ]. So the answer is ) } ].", ") } ] ]", CLOSE, False),
        ("We close `(` with `)` and `[` with `]`.", ")", CLOSE, False),
        ('So, we need ")", "]". So the', ") ]", CLOSE, False),
        ("<answer>apple bear cat</answer>", "apple bear cat", SORT, True),
        ('{"answer": ["apple", "bear", "cat"]}', "apple bear cat", SORT, True),
        (r"\boxed{\text{apple},\ \text{bear},\ \text{cat}}", "apple bear cat", SORT, True),
        ("So the answer is apple, bear and cat.", "apple bear cat", SORT, True),
        ("The correct order is apple, bear, cat. Let me know if I can help!", "apple bear cat", SORT, True),
        ("apple\nbear\ncat", "apple bear cat", SORT, True),
        ("a. apple\nb. bear\nc. cat", "apple bear cat", SORT, True),
        ("(1) apple, (2) bear, (3) cat", "apple bear cat", SORT, True),
        ("| # | Word |\n|---|---|\n| 1 | apple |\n| 2 | bear |\n| 3 | cat |", "apple bear cat", SORT, True),
        ("So the answer is aspen apple bear cat.", "apple bear cat", SORT, False),
        ("So the answer is apple, bear, cat, dog.", "apple bear cat", SORT, False),
        (
            'Hence, we have "apple" < ["bear" ? "cat"]. Now let us look at the second letter of',
            "apple bear cat",
            SORT,
            False,
        ),
    ],
)
def test_brackets_and_lists_in_other_wrappings(answer: str, gold: str, problem: str, right: bool) -> None:
    """A row of brackets or words counts in a box, a tag, JSON, a list or a sentence, unless more belongs to it."""
    found = bbh.scorer(ScorerInput(response=answer, target=gold, metadata={"input": problem}))
    assert found["correct"] is right, found  # type: ignore[index]


@pytest.mark.parametrize(
    ("answer", "gold", "problem", "right"),
    [
        ("not (True) and (True) = False and True = False", "False", "not True is", True),
        ("True and False = False", "False", "True and False is", True),
        ("not True and True\n= False and True\n= False", "False", "not True is", True),
        ("Z = False", "False", "not True is", True),
        (r"$\boxed{\texttt{False}}$", "False", "not True is", True),
        ("We look at the parts.\nA = False", "False", "not True is", False),  # a part, not the whole
        ("= True or False", "True", "True or False is", False),  # cut off
        ("The sentence is not plausible.", "no", PLAUSIBLE, True),
        ("Implausible.", "no", PLAUSIBLE, True),
        ("So the answer is plausible.", "yes", PLAUSIBLE, True),
        ("So the answer is plausible.", "no", PLAUSIBLE, False),
        ("Therefore, you don't return to the starting point.", "No", RETURN, True),
        ("You return to the starting point.", "Yes", RETURN, True),
        ("We are not back at the starting point.", "Yes", RETURN, False),
        ("If you return to the starting point.", "Yes", RETURN, False),
        ("Since (0, 3) is not (0, 0), we are not where we started.", "No", RETURN, True),
        ("The final position is (0, 3), which is not the starting point.", "No", RETURN, True),
        ("Final position: (0, 3), not the starting point.", "No", RETURN, True),
        ("(1, 0) is not the starting point. Take 1 step back.", "No", RETURN, False),
        ("The conclusion does not follow, making the argument invalid.", "invalid", "", True),
        ('Hence, we have "apple" < "bear" < "cat".', "apple bear cat", SORT, True),
        ('Hence, we have "apple" < "bear".', "apple bear cat", SORT, False),
        ("So Bob tells the truth.", "Yes", LIARS, True),
        ("So Bob does not tell the truth.", "No", LIARS, True),
        ("So Ann tells the truth.", "Yes", LIARS, False),
        ("Most people would typically say no.", "No", CAUSE, True),
    ],
)
def test_decisions_that_restate_the_question(answer: str, gold: str, problem: str, right: bool) -> None:
    """The value that a formula comes to, and the last sentence that restates what was asked, decide."""
    found = bbh.scorer(ScorerInput(response=answer, target=gold, metadata={"input": problem}))
    assert found["correct"] is right, found  # type: ignore[index]


@pytest.mark.parametrize(
    ("answer", "gold", "problem", "right"),
    [
        ("A typical person would say that he did not intentionally shoot his neighbor.", "No", SHOT, True),
        ("Therefore, a typical person would say that Frank didn't intentionally shoot him.", "No", SHOT, True),
        ("A typical person would say that he did.", "Yes", SHOT, True),
        ("A typical person would say that Frank intentionally shot his neighbor.", "Yes", SHOT, True),
        ("A typical person would say that Frank intentionally shot his neighbor.", "No", SHOT, False),
        ("A typical person would say that Frank intentionally shot the policeman.", "Yes", SHOT, False),
        ("A typical person would say that it was an accident.", "Yes", SHOT, False),
        ("A typical person would say that he did not miss but hit him.", "No", SHOT, False),
        ("The sentence isn't plausible.", "no", PLAUSIBLE, True),
        ("It's not a plausible sentence.", "no", PLAUSIBLE, True),
        ("The sentence is not very plausible.", "no", PLAUSIBLE, True),
        ("The sentence is unlikely to be plausible.", "no", PLAUSIBLE, True),
        ("It is not implausible.", "yes", PLAUSIBLE, True),
        ("This is a plausible sentence.", "yes", PLAUSIBLE, True),
        ("This is a plausible sentence.", "no", PLAUSIBLE, False),
        ("You will not be at the starting point.", "No", RETURN, True),
        ("You end up back where you started.", "Yes", RETURN, True),
        ("Therefore, following these instructions does return you to the starting point.", "Yes", RETURN, True),
        ("Following these instructions will not bring you back to the starting point.", "No", RETURN, True),
        ("After following them you are 1 step away from the starting point.", "No", RETURN, True),
        ("You are 0 steps away from the starting point.", "No", RETURN, False),
        ("Bob is truthful.", "Yes", LIARS, True),
        ("Bob is a liar.", "No", LIARS, True),
        ("Ann is a liar.", "No", LIARS, False),
        ("The argument isn't deductively valid because it affirms the consequent.", "invalid", "", True),
        ("It isn't valid.", "invalid", "", True),
        ("This is not a valid argument.", "invalid", "", True),
        ("This is an invalid argument.", "invalid", "", True),
        ("This is a valid argument.", "valid", "", True),
        ("This is a valid argument.", "invalid", "", False),
        ("So the conclusion does not follow from the premises.", "invalid", "", True),
        ("The conclusion follows necessarily from the premises.", "valid", "", True),
        ("The conclusion follows if all cats are black.", "valid", "", False),
        ("A typical person would not say that Frank intentionally shot his neighbor.", "No", SHOT, True),
        ("A typical person would not say that Frank intentionally shot his neighbor.", "Yes", SHOT, False),
        ("Most people would say that the neighbor shot Frank intentionally.", "Yes", SHOT, False),
        ("It is not true that you return to the starting point.", "No", RETURN, True),
        ("You never return to the starting point.", "No", RETURN, True),
        ("We have to take two more steps before we are back at the starting point.", "Yes", RETURN, False),
        ("It is false that Bob tells the truth.", "No", LIARS, True),
        ("So it cannot be that Bob tells the truth.", "Yes", LIARS, False),
        ("It is not the case that the argument is invalid.", "valid", "", True),
    ],
)
def test_decisions_in_the_words_of_each_task(answer: str, gold: str, problem: str, right: bool) -> None:
    """A typical person's view, a plausible sentence, a walk, a liar and an argument, each with its near misses."""
    found = bbh.scorer(ScorerInput(response=answer, target=gold, metadata={"input": problem}))
    assert found["correct"] is right, found  # type: ignore[index]
