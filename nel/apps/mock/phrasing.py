"""What the demo model says: right and wrong answers in several natural phrasings.

Whatever the phrasing, the last line is ``Answer: X``, and no earlier line is of that form. Every
choice comes from the generator that is passed in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

_LETTERS: Final = "ABCDE"

_PHRASINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "arithmetic": (
        (
            "Let me work through it step by step. Putting the numbers together gives"
            " {shown}.\nAnswer: {answer}"
        ),
        (
            "Step 1: pick out the numbers in the question.\nStep 2: calculate. The result is"
            " {shown}.\n\nAnswer: {answer}"
        ),
        "The calculation comes to {shown}.\nAnswer: {answer}",
        (
            "First I note what is given, then I calculate, and I check the result once more:"
            " {shown}.\n\nAnswer: {answer}"
        ),
        "Answer: {answer}",
    ),
    "choice": (
        "Going through the options one by one, {shown} fits best.\nAnswer: {answer}",
        "The other options can be ruled out, which leaves {shown}.\n\nAnswer: {answer}",
        "This is about {shown}, so I choose option {answer}.\nAnswer: {answer}",
        "Answer: {answer}",
    ),
    "short": (
        "From what I remember, it is {shown}.\nAnswer: {answer}",
        (
            "Let me think. Of the candidates that come to mind, {shown} is the one that"
            " fits.\n\nAnswer: {answer}"
        ),
        "That would be {shown}.\nAnswer: {answer}",
        "Answer: {answer}",
    ),
}

_UNKNOWN: Final = (
    (
        "Thank you for your question. I am a demo model, and beyond the quickstart problems I know"
        " nothing."
    ),
    (
        "I am sorry, I am only a demo model: beyond the quickstart problems I have nothing useful"
        " to say."
    ),
    (
        "This is a demo model for rehearsals. It answers the quickstart problems only, so I have to"
        " pass here."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasedProblem:
    """One quickstart problem with its right answer."""

    kind: str
    question: str
    answer: str
    choices: tuple[str, ...] = ()


def problem_in(problems: Sequence[PhrasedProblem], text: str) -> PhrasedProblem | None:
    """Return the problem asked last: worked examples stand before it. Of two the longer counts."""

    def place(problem: PhrasedProblem) -> tuple[int, int]:
        length = len(problem.question)
        return text.rfind(problem.question) + length, length

    return max(
        (problem for problem in problems if problem.question in text), key=place, default=None
    )


def right_answer(problem: PhrasedProblem, prompt: str) -> str:
    """Return the right answer: of a choice the letter that stands before it in the prompt."""
    if problem.kind != "choice":
        return problem.answer
    option = problem.choices[_LETTERS.index(problem.answer)]
    letters = re.findall(rf"(?m)^\s*\(?([A-Z])[).:]\s*{re.escape(option)}\s*$", prompt)
    return str(letters[-1]) if letters else problem.answer


def wrong_answer(
    problem: PhrasedProblem, right: str, answers: Sequence[str], draw: random.Random
) -> str:
    """Return a plausible wrong answer.

    Args:
        answers: Of the problems of the same kind.
    """
    if problem.kind == "arithmetic":
        return _wrong_number(right, draw)
    if problem.kind == "choice":
        return draw.choice(
            [letter for letter in _LETTERS[: len(problem.choices)] if letter != right]
        )
    return draw.choice([answer for answer in answers if answer != right])


def phrase(problem: PhrasedProblem, answer: str, right: str, draw: random.Random) -> str:
    """Return an answer in one of the phrasings of its kind."""
    option = f"option {answer}" if problem.kind == "choice" else answer
    if problem.kind == "choice" and answer == right:
        option = problem.choices[_LETTERS.index(problem.answer)]
    return draw.choice(_PHRASINGS[problem.kind]).format(answer=answer, shown=option)


def unknown(draw: random.Random) -> str:
    """Return a polite reply to a prompt that is none of the problems."""
    return draw.choice(_UNKNOWN)


def cut_in_the_middle(text: str, draw: random.Random) -> str:
    """Return the text up to somewhere between a third and two thirds of its length."""
    return text[: max(1, int(len(text) * draw.uniform(1 / 3, 2 / 3)))]


def _wrong_number(right: str, draw: random.Random) -> str:
    value = Decimal(right.replace(",", ""))
    step = Decimal(1).scaleb(int(value.as_tuple().exponent))
    candidates = [
        value + step,
        value - step,
        value * 10,
        value * 2,
        -value if value < 0 else value + 10 * step,
    ]
    number = draw.choice([candidate for candidate in candidates if candidate != value])
    return f"{number:,f}" if "," in right else f"{number:f}"
