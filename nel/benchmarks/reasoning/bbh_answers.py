"""Reads and compares answers to BIG-Bench Hard, each in the form of its gold answer.

Letters, decisions, numbers and verdicts on arguments are read as everywhere
(docs/reference/reading.md). Brackets are what the response declares, spaces aside; the words of a
list are those it declares, whatever separates them.
"""

from __future__ import annotations

import re
from typing import Final

from nel.reading.decisions import read_decision
from nel.reading.labels import read_label
from nel.reading.letters import labels_for, read_letter
from nel.reading.numbers import read_number
from nel.reading.numerals import numbers_equal
from nel.reading.response import Answer
from nel.reading.texts import read_text

_LETTER: Final = re.compile(r"\(([A-Z])\)")
_OPTION: Final = re.compile(r"(?m)^\(([A-Z])\) (.*)$")
_LETTERS_MAX: Final = 26
_BRACKETS: Final = frozenset("()[]{}<>")
# Marks, and the backslash of LaTeX's \{
_BETWEEN_BRACKETS: Final = re.compile(r"[\s,;.`\"'“”$*_]|\\(?=[{}])")
# Commas, arrows and quotes around words, brackets around the list; the apostrophe of "don't" stays.
_BETWEEN_WORDS: Final = re.compile(r"[,;>\"<|→]+|->|(?<!\w)['‘’]|['‘’](?!\w)|^\[|\]$")
_LAST_AND: Final = re.compile(r",\s+and\s+")
# The "- " or "2. " before an item on a line of its own
_ITEM: Final = re.compile(r"(?m)^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_TRUTH: Final = {"yes": "True", "no": "False"}


def read_answer(response: Answer, gold: str, problem: str = "") -> str | None:
    """Return the answer that a response gives, in the form that the gold answer has, or None.

    Args:
        response: The response.
        gold: The gold answer, whose form alone counts.
        problem: The question, whose options a response may repeat.

    >>> read_answer(Answer("The correct option is (B)."), "(A)"), read_answer(Answer("It is False"), "True")
    ('(B)', 'False')
    >>> read_answer(Answer("So the answer is: ant, bee."), "bee ant"), read_answer(Answer("So it is ] )."), "]")
    ('ant, bee', '] )')
    """
    gold = gold.strip()
    if _LETTER.fullmatch(gold):
        options = [text for _, text in _OPTION.findall(problem)]
        letter = read_letter(
            response, labels_for(len(options) or _LETTERS_MAX), options or None
        ).value
        return None if letter is None else f"({letter})"
    if gold.casefold() in ("yes", "no", "true", "false"):
        decision = read_decision(response).value
        return _TRUTH.get(decision or "") if gold.casefold() in ("true", "false") else decision
    if gold in ("valid", "invalid"):
        return read_label(response, ("valid", "invalid")).value
    if numbers_equal(gold, gold):  # it is a number: a word equals none, not even itself
        return read_number(response).value
    return read_text(response).value


def same_answer(answer: str, gold: str) -> bool:
    """Return whether an answer is the gold one, in the way that its form asks for.

    ``True``, ``yes`` and ``valid`` compare without case; numbers by value; brackets without spaces;
    words of a list with spaces, commas or arrows between them.

    >>> same_answer("no", "No"), same_answer("7.0", "7"), same_answer("(B)", "(A)")
    (True, True, False)
    >>> same_answer("] } )", "]})"), same_answer("apple, bear", "apple bear"), same_answer("invalid", "valid")
    (True, True, False)
    """
    gold = gold.strip()
    if set(gold) <= _BRACKETS | {" "}:
        return _BETWEEN_BRACKETS.sub("", answer) == _BETWEEN_BRACKETS.sub("", gold)
    if numbers_equal(gold, gold):
        return numbers_equal(answer, gold)
    return _words(answer) == _words(gold)


def _words(text: str) -> list[str]:
    items = _ITEM.sub(" ", text.casefold().strip())
    return _BETWEEN_WORDS.sub(" ", _LAST_AND.sub(", ", items)).split()
