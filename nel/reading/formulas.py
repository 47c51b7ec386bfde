"""The mathematical expression that a response gives as its answer, as it is written there.

Depends on `nel.reading.reader`, and on the reader of numbers for a result in words.
"""

from __future__ import annotations

import re
from typing import Final

from nel.reading.forms import Declaration
from nel.reading.numbers import NumberReader
from nel.reading.reader import read, sentences
from nel.reading.response import Answer
from nel.reading.texts import field_value
from nel.reading.types import Form, Reading, Reason, Value

# A formula in the delimiters of LaTeX: $$…$$, $…$, \\(…\\) or \\[…\\].
_FORMULA: Final = re.compile(
    r"\$\$(?P<display>[^$]{1,2000})\$\$|\$(?P<inline>(?:[^$\n\\]|\\.){1,1000})\$|\\\((?P<round>.{1,1000}?)\\\)"
    r"|\\\[(?P<square>.{1,2000}?)\\\]",
    re.DOTALL,
)
_WORD: Final = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{3,}")
_FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc log exp sqrt arcsin arccos arctan sinh cosh tanh det min max gcd lcm mod".split()
)
_COMMAND: Final = re.compile(r"\\[A-Za-z]+(?:\s*\{\s*[A-Za-z ,.]*\})?")
_DIGIT: Final = re.compile(r"\d")
_OPERAND: Final = re.compile(r"[\w∞∅]")
_WRAPPING: Final = " \t\r\n*`\"'“”"


class FormulaReader:
    """Reads expressions."""

    def __init__(self) -> None:
        """Take the reader of numbers."""
        self.numbers = NumberReader()

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the expression that a declaration introduces."""
        form, start, stop = declaration[:3]
        if form is Form.BOX:
            content = response.text[start:stop].strip()
            return Value(content or None, start, stop, Reason.BLANK)
        if form is Form.FIELD:
            value = field_value(response.text, start, stop)
            if value is None:
                return None
            return Value(_bare(value.answer or "") or None, value.start, value.end, Reason.BLANK)
        if form is Form.HASHES:
            return self.line(response, start, stop)
        if form is Form.TAG:
            return _strip(response.text, start, stop)
        sentence = next(sentences(response.text, start, stop), None)
        return None if sentence is None else self._introduced_formula(response, *sentence, stop)

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the expression of a line without words."""
        content = _bare(response.text[start:stop])
        is_expression = _OPERAND.search(content) and not has_words(content)
        return Value(content, start, stop) if is_expression else None

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only formula of a stretch, or its only number."""
        formulas = list(_FORMULA.finditer(response.text, start, stop))
        if formulas:
            is_result = len(formulas) == 1 and _DIGIT.search(formulas[0][0])
            return _in_formula(formulas[0]) if is_result else None
        return self.numbers.sentence(response, start, stop)

    def _introduced_formula(
        self, response: Answer, start: int, stop: int, line_stop: int
    ) -> Value | None:
        """Return the formula that a sentence gives: the one in delimiters, else the sentence where
        it has no words.
        """
        text = response.text
        formulas = [
            match for match in _FORMULA.finditer(text, start, line_stop) if match.start() < stop
        ]
        if formulas:
            return _in_formula(formulas[-1])
        return self.line(response, start, stop) or self.numbers.sentence(response, start, stop)


def has_words(text: str) -> bool:
    """Return whether a text has words beside commands of LaTeX and names of functions.

    >>> has_words(r"\\frac{1}{2} sin x"), has_words("12 apples")
    (False, True)
    """
    words = _WORD.findall(_COMMAND.sub(" ", text))
    return any(word.lower() not in _FUNCTIONS for word in words)


def _in_formula(match: re.Match[str]) -> Value:
    return Value(_bare(_inside(match)), *match.span())


def _inside(formula: re.Match[str]) -> str:
    """Return what stands within the delimiters of a formula."""
    return formula[formula.lastgroup or "inline"]


def _strip(text: str, start: int, stop: int) -> Value | None:
    content = _bare(text[start:stop])
    return Value(content, start, stop) if _OPERAND.search(content) else None


def _bare(text: str) -> str:
    """Return an expression without delimiters, emphasis and a full stop."""
    content = text.strip(_WRAPPING).rstrip(".").strip(_WRAPPING)
    formula = _FORMULA.fullmatch(content)
    return content if formula is None else _inside(formula).strip().rstrip(".,").strip()


def read_formula(response: Answer) -> Reading:
    """Return the expression that a response gives as its answer, as written."""
    return read(response, FormulaReader())
