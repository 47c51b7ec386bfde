"""The grades of a judge with scores and spellings; reads the grade with which a text begins."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from nel.errors import JudgeError
from nel.judges.types import Grade

LINE_MAX: Final = 200
"""Characters of a text that may be a grade."""
_NUMBER: Final = re.compile(
    r"(?P<value>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf(?:inity)?)\b)"
    r"(?:\s*(?:/|out\s+of)\s*(?P<maximum>\d+)(?!\d))?",
    re.IGNORECASE,
)
"""A number, and of "4/5" the maximum too; nan and inf match, to be refused as out of range."""
_NUMBER_GOES_ON: Final = re.compile(r"\w|[.,:/%°]\d|[-–—]\s?\d", re.IGNORECASE)
"""What makes another thing of a number: ``4th``, ``4,5``, ``4:30``, ``3-4``."""
_WORD_GOES_ON: Final = re.compile(r"[^\W_]|[+/]|[<>=]+\w|[’']\w|[-–—](?:\w|\s*$)|\.\w")
"""What makes another word of a grade: ``Cat``, ``C+``, ``A/B``, ``A>B``, ``I'm``, ``A-``, ``I.e``.
"""
_OPENING: Final = re.compile(
    r"(?:(?-i:</?[a-z]{1,20}>)"
    r"|[\[(\{<\"'“„«「‘`$_*: ]"
    r"|\\(?:boxed|text(?:bf|tt|it)?|math(?:rm|bf))\{"
    r"|(?:output|answer|assistant|response|option|model)\s+(?=\W?\S{1,3}(?:\W|$)))*",
    re.IGNORECASE,
)
"""Marks around a grade, and the noun that it distinguishes: ``Output (a)``."""
_CLOSING: Final = re.compile(r"[\])}>\"'”“»」’`$_*\\]*")
_FILLER: Final = " \t.,;!。*_`\"'”’()[]{}$|\\"
USUAL_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "C": ("correct", "right", "正确"),
    "P": ("partial", "partially correct", "部分正确"),
    "I": ("incorrect", "wrong", "错误", "不正确"),
}
"""Words that judges write for the letters of grades."""


class OutOfRange(ValueError):
    """A number that is not a grade."""


class Stated(NamedTuple):
    """A grade and what follows it."""

    label: str
    tail: str
    is_word: bool
    """Whether it is a word or has a noun, and is not a single letter or a number."""


class Scale:
    """Grades, their scores and their spellings."""

    def __init__(
        self, scores: Mapping[str, float] | None, words: Mapping[str, Sequence[str]] = USUAL_WORDS
    ) -> None:
        """Take grades and their spellings; None: any number is a grade and its own score.

        Raises:
            JudgeError: ``bad_template``: there is no grade, or a score is not a finite number.
        """
        self._is_any_number = scores is None
        self.scores = {str(label): score for label, score in (scores or {}).items()}
        are_finite = all(
            isinstance(score, int | float) and math.isfinite(score)
            for score in self.scores.values()
        )
        if not are_finite or not (self.scores or self._is_any_number):
            raise JudgeError(
                f"grades need finite numbers as scores, not {self.scores!r:.200}",
                kind="bad_template",
            )
        self._spellings = {_spelling(label): label for label in self.scores}
        for label in self.scores:
            for word in words.get(label, ()):
                self._spellings.setdefault(_spelling(word), label)
        numbers = {label: _number(label) for label in self.scores}
        self._numbers = {number: label for label, number in numbers.items() if number is not None}
        self.is_numeric = len(self._numbers) == len(self.scores)
        longest_first = sorted(self._spellings, key=len, reverse=True)
        # The longest first: of "partially correct" and "partial" the first that matches counts.
        spellings = (re.escape(word).replace(r"\ ", r"[\s_-]+") for word in longest_first)
        self._head = re.compile("|".join(spellings), re.IGNORECASE)

    def label_of(self, text: str) -> str | None:
        """Return the grade that a text spells, None where it spells none.

        Raises:
            OutOfRange: It is a number and not a grade.
        """
        if len(text) > LINE_MAX:
            return None
        label = self._spellings.get(_spelling(text))
        if label is not None:
            return label
        stated = self.stated_grade(text)
        return stated.label if stated is not None and not stated.tail.strip(_FILLER) else None

    def stated_grade(self, text: str) -> Stated | None:
        """Return the grade with which a text begins, after marks too, and what follows it.

        Raises:
            OutOfRange: It begins with a number that is not a grade.

        >>> Scale({"C": 1.0, "I": 0.0}).stated_grade('"C", since it agrees')
        Stated(label='C', tail=', since it agrees', is_word=False)
        """
        opening = _OPENING.match(text)
        start = opening.end() if opening else 0
        word = None if self.is_numeric else self._head.match(text, start)
        head = word or _NUMBER.match(text, start)
        goes_on = _WORD_GOES_ON if word else _NUMBER_GOES_ON
        if head is None or goes_on.match(text, head.end()):
            return None
        label = self._spellings[_spelling(head[0])] if word else self._of_number(head)
        closing = _CLOSING.match(text, head.end())
        end = closing.end() if closing else head.end()
        has_noun = any(map(str.isalpha, text[:start]))  # "Output (a)"
        is_word = head[0].isalpha() and (len(head[0]) > 1 or has_noun)
        return Stated(label, text[end:], is_word)

    def grade(self, label: str) -> Grade:
        """Return a grade with its score."""
        score = label if self._is_any_number else self.scores[label]
        return Grade(label=label, score=float(score))

    def _of_number(self, number: re.Match[str]) -> str:
        value = float(number["value"])
        if self._is_any_number:
            label = number["value"] if math.isfinite(value) else None
        else:
            label = self._numbers.get(value)
        # "4/10" is not the 4 of a scale that ends at 5.
        maximum = number["maximum"]
        is_other_scale = maximum is not None and float(maximum) != max(self._numbers, default=None)
        if label is None or is_other_scale:
            raise OutOfRange(number[0])
        return label


def _spelling(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip()).casefold()


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[+-]?\d{1,15}(?:\.\d{1,15})?", text) else None
