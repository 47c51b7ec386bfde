"""`arithmetic_value`: the exact value of a formula of whole numbers: ``5!``, ``3! \\cdot 4``, ``\\binom{10}{3}``.

A formula with a variable, a decimal, an inexact root or too large a value has none. Depends on the standard library.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from nel.core.lazy_regex import lazy_pattern

_CHARACTERS_MAX: Final = 200
_DEPTH_MAX: Final = 20
_WHOLE_MAX: Final = 1_000
"""Of a factorial, a binomial coefficient and an exponent."""
_TOKEN: Final = lazy_pattern(
    r"""
    \s* (?: (?P<number> \d{1,18} ) | (?P<command> \\(?:[dt]?frac|[dt]?binom|sqrt) ) (?![A-Za-z])
      | (?P<sign> \\(?:cdot|times|div)(?![A-Za-z]) | [-−+*/^!(){}×·÷] ) ) \s*
    """,
    re.VERBOSE,
)
_SIGNS: Final = {"\\cdot": "*", "\\times": "*", "×": "*", "·": "*", "\\div": "/", "÷": "/", "−": "-"}
_SPACING: Final = lazy_pattern(r"\\(?:left|right)(?![A-Za-z])|\\[,;:! ]|~")
_OPENING: Final = {"(": ")", "{": "}"}


class _NoValueError(Exception):
    """The formula is none of whole numbers, or has no exact value."""


def arithmetic_value(formula: str) -> Fraction | None:
    """Return the exact value of a formula, or None where it has none.

    >>> [str(arithmetic_value(one)) for one in ("5!", "\\\\frac{6!}{3!}", "\\\\binom{10}{3} - 1", "\\\\sqrt{2}", "2x")]
    ['120', '120', '119', 'None', 'None']
    """
    if len(formula) > _CHARACTERS_MAX:
        return None
    tokens = _tokens(_SPACING.sub(" ", formula))
    if not tokens:
        return None
    reader = _Reader(tokens)
    try:
        value = reader.total(0)
    except (_NoValueError, ZeroDivisionError):
        return None
    return value if reader.place == len(tokens) else None


def _tokens(formula: str) -> list[str]:
    """Return the tokens of a formula; none where it has a character that is in none."""
    tokens, place = [], 0
    while place < len(formula):
        match = _TOKEN.match(formula, place)
        if match is None:
            return []
        token = match[match.lastgroup or 0]
        tokens.append(_SIGNS.get(token, token))
        place = match.end()
    return tokens


class _Reader:
    """Reads a formula from the left, each method what binds closer than the one before it."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.place = 0

    def total(self, depth: int) -> Fraction:
        """Read terms with plus and minus signs between them."""
        if depth > _DEPTH_MAX:
            raise _NoValueError
        value = -self._product(depth) if self._takes("-") else self._product(depth)
        while self._next() in ("+", "-"):
            value += self._product(depth) if self._takes("+") else self._negative(depth)
        return value

    def _negative(self, depth: int) -> Fraction:
        self._skip("-")
        return -self._product(depth)

    def _product(self, depth: int) -> Fraction:
        value = self._power(depth)
        while self._next() in ("*", "/", "(", "\\sqrt"):  # a fraction after a number may be a part of a mixed one
            if self._takes("/"):
                value /= self._power(depth)
            else:
                self._takes("*")
                value *= self._power(depth)
        return value

    def _power(self, depth: int) -> Fraction:
        value = self._atom(depth)
        while self._takes("!"):
            value = Fraction(math.factorial(_whole(value)))
        if not self._takes("^"):
            return value
        exponent = _whole(self._atom(depth))
        if value.numerator.bit_length() * exponent > _WHOLE_MAX or value.denominator.bit_length() > _WHOLE_MAX:
            raise _NoValueError
        return Fraction(value**exponent)

    def _atom(self, depth: int) -> Fraction:
        token = self._next()
        self.place += 1
        if token.isdigit():
            return Fraction(int(token))
        if token in _OPENING:
            value = self.total(depth + 1)
            self._skip(_OPENING[token])
            return value
        if token.endswith("sqrt"):
            return _root(self._group(depth))
        if token.endswith("frac"):
            return self._group(depth) / self._group(depth)
        if token.endswith("binom"):
            return Fraction(math.comb(_whole(self._group(depth)), _whole(self._group(depth))))
        raise _NoValueError

    def _group(self, depth: int) -> Fraction:
        """Read the braces after a command."""
        self._skip("{")
        value = self.total(depth + 1)
        self._skip("}")
        return value

    def _next(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def _takes(self, token: str) -> bool:
        taken = self._next() == token
        self.place += taken
        return taken

    def _skip(self, token: str) -> None:
        if not self._takes(token):
            raise _NoValueError


def _whole(value: Fraction) -> int:
    if value.denominator != 1 or not 0 <= value <= _WHOLE_MAX:
        raise _NoValueError
    return value.numerator


def _root(value: Fraction) -> Fraction:
    """Return the square root of a square."""
    if value < 0:
        raise _NoValueError
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root * root != value:
        raise _NoValueError
    return root
