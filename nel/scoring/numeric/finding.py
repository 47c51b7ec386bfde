"""Finds the numbers of a text and says what each is worth, and compares them.

Depends on `nel.scoring.numeric.parsing` for their values, on `nel.scoring.numeric.context` for what the characters
around them make of them, and on `nel.scoring.wording` for denials ("it is not 42"). A minus sign after a digit or a
letter is an operator or a hyphen, not a sign.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.context import Standing, standing
from nel.scoring.numeric.eastern import numerals_in
from nel.scoring.numeric.languages import Mark, decimal_mark
from nel.scoring.numeric.parsing import AND_A_PART, CURRENCIES, MIXED_SCALES, SCALES, parse_number
from nel.scoring.numeric.words import words_in, words_value
from nel.scoring.wording import cleaned, is_denied

_SIGN: Final = "[+−–-]"
_POWER: Final = r"(?:\^\s?\{?[+\-−]?\d{1,4}\}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})"
_VULGAR: Final = "[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]"
_LATEX_FRACTION: Final = r"\\[dt]?frac\s?(?:\{\s?-?\d+\s?\}\s?\{\s?\d+\s?\}|\d\s?\d)"
_JOINT: Final = "(?:[.,'’_٬٫，．\u00a0\u2007\u2009\u202f]|[ ]?\\{[ ]?,[ ]?\\}(?:\\\\!)?[ ]?|,?\\\\[,!; ])"
"""What stands between the digits of one number, in whatever language."""
# The parts that are tried at every character have comments instead of named groups: with groups finding the numbers of
# 2,800 answers took 20 % longer.
_NUMBER = lazy_pattern(
    rf"""
    (?: (?<![\dA-Za-zÀ-ɏ.)]) {_SIGN} )?                 # a sign; behind a word, a point or a bracket it is an operator
    [{CURRENCIES}]?
    (?: (?<=[{CURRENCIES}]) {_SIGN} )?         # or a sign behind the currency: $-5
    (?:
        {_LATEX_FRACTION}
      | {MIXED_SCALES}                                                         # 3万5千
      | (?:
            (?<!\d[ ]) (?<!\d) \d{{1,3}} (?: [ ]\d{{3}} )+ (?![ ]?\d) (?: [.,]\d+ )?    # 1 234.5
          | \d+ (?: {_JOINT} \d+ )*                                            # 1,234.5 and all that is no number
          | (?<![\w.]) \.\d+                                                   # .5
        )
        (?:
            {_VULGAR}                                                          # 2½
          | [ ]? {_LATEX_FRACTION}                                             # 2\frac12
          | [ ] (?:and[ ])? \d{{1,3}} /\d{{1,3}} (?![\d/])                                 # 2 1/2
          | {AND_A_PART} (?![a-zA-Z])                                         # 2 and a half
          | {_POWER}                                                           # 10^3 and 3²
          | (?P<exponent> [eE][+-]?\d{{1,4}} (?! \w | \.\d ) )
          | (?P<denominator>                                                   # not of a date: 12/31/2020, 2020/12/31
                (?<!/\d) (?<!/\d\d) (?<!/\d{{4}}) /\d+ (?! \d | /\d | [.,]\d )
            )
        )?
      | {_VULGAR}
    )
    (?: \s? (?: [×·*xX] | \\times | \\cdot ) \s?10 {_POWER} )?
    (?: (?:k|K|M|mn|B|bn) (?!\w) | (?: \s? (?i: {SCALES} ) (?![a-zA-Z]) ){{1,2}} )?
    """,
    re.VERBOSE,
)
_DIGIT = re.compile(rf"[\d{_VULGAR[1:-1]}]")
_BEFORE_DIGIT_MAX: Final = 16
"""Characters of a number before its first digit: signs, a currency, the beginning of a LaTeX fraction."""
_WRAPPING: Final = " \t\n\r.,;:()[]{}\"'“”‘’«»*_`"
_DELIMITERS = lazy_pattern(r"\\[()\[\]]")
_WORDS_MAX: Final = 12
_STATED_CHARACTERS_MAX: Final = 200
_UNIT = lazy_pattern(
    rf"""
    \s* (?: \\?[%°{CURRENCIES}] | \^\{{?\\circ\}}? | \\ (?:text|mathrm|textrm|,|;|[ ]) \{{? )* \s*
    (?: [^\W\d_]+ [²³]? \.? (?: / [^\W\d_]+ )? (?: \s+ [^\W\d_]+ )? )? [²³]? [\s.}})]*
    """,
    re.VERBOSE,
)
"""At most two words or signs of a unit: ``km/h``, ``\\text{ cm}``, "dollars a", ``°C``."""
_UNLIKE_UNITS: Final = frozenset(
    """
    or and to not more less fewer than times squared cubed factorial plus minus halves thirds quarters fourths fifths
    tenths hundredths thousandths maybe perhaps approximately roughly about
    """.split()
)
"""Words after a number that make another one of it, or none."""
_OR_MORE = lazy_pattern(r"\s+or\s+(?:more|fewer|less|greater)\b", re.IGNORECASE)
"""After a number in words that is a bound: "two or more"."""
_WINDOW: Final = 24
"""Characters at the end of a text that are searched first for its last number."""
_WIDENED_MAX: Final = 2_000
"""Characters by which a window grows to the left so that it does not begin within a number."""
_LOOKED_AT_MAX: Final = 200
"""Numbers at the end of a text of which the last one that is more than a label is its answer."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, or what looks like one and is none: a range, a time, a part of an expression."""

    start: int
    end: int
    written: str
    """As it stands in the text, its sign in words included."""
    value: Fraction | None
    """None where it is no single number."""
    is_literal: bool = True
    """Whether `written` alone has the value; it has not where its language gives it, or where it was computed."""

    @property
    def text(self) -> str:
        """The number as written, or as a plain decimal where its language gives it its value: ``12,5`` is 12.5."""
        if self.value is None or self.is_literal or parse_number(self.written) == self.value:
            return self.written
        return _plain(self.value)


def numbers_in(text: str) -> list[str]:
    """Return the numbers that occur in a text, as written, in order.

    >>> numbers_in("Half of 1,000 is 5e2, not 1/2 or 10^3.")
    ['1,000', '5e2', '1/2', '10^3']
    """
    return [match[0] for match in _NUMBER.finditer(text) if match[0]]


def found_numbers(text: str, start: int = 0, end: int | None = None, language: Mark | None = None) -> Iterator[Number]:
    """Yield the numbers of a part of a text; numbers of lists, labels, footnotes and names are left out.

    Args:
        text: The whole text, since the words around a number tell its language.
        start: Where the part begins.
        end: Where it ends; numbers that reach beyond are left out.
        language: The decimal mark where the words around do not tell.
    """
    for match in _matches(text, start, len(text) if end is None else end):
        if (found := number_at(text, match, language)) is not None:
            yield found


def _matches(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield what looks like a number, found by its first digit: most of a text has none."""
    while (digit := _DIGIT.search(text, start, end)) is not None:
        match = _NUMBER.search(text, max(start, digit.start() - _BEFORE_DIGIT_MAX), end)
        if match is None:
            return
        yield match
        start = match.end()


def number_at(text: str, match: re.Match[str], language: Mark | None = None) -> Number | None:
    """Return the number of a match, or None where it is a label, a footnote or a part of a name."""
    start, end = match.span()
    kind, sign = standing(text, start, end)
    if kind is Standing.LABEL:
        return None
    if kind is Standing.PART:
        return Number(start, end, match[0], None)
    written = text[sign:end]
    mark = decimal_mark(text, start, end) or language if "," in written or "." in written else None
    return Number(sign, end, written, parse_number(written, decimal_mark=mark), is_literal=mark != ",")


def last_number(text: str, language: Mark | None = None) -> str | None:
    """Return the last number in a text; None when there is none, it is denied, or a part of a range or an expression.

    It is given as written, or as a plain decimal where the language gives it its value: ``12,5`` in a German text. A
    text without digits is read where it is a number in words and nothing else.

    >>> last_number("48 / 2 = 24, so 72 in all"), last_number("It is not 42"), last_number("between 40 and 42")
    ('72', None, None)
    >>> last_number("Die Antwort lautet 12,5."), last_number("12,5"), last_number("minus 7"), last_number("10!")
    ('12.5', None, 'minus 7', None)
    """
    last = last_number_found(text, language)
    if last is not None:
        return None if last.value is None else last.text
    in_words = stated_number(text)
    return None if in_words is None else in_words.text


def last_number_found(text: str, language: Mark | None = None) -> Number | None:
    """Return the last number of a text, its value None where it is no single number; None where there is none."""
    for match in _last_numbers(text):
        found = number_at(text, match, language)
        if found is not None:
            denied = is_denied(text, found.start, found.end, closely=True)
            return Number(found.start, found.end, found.written, None) if denied else found
    return None


def stated_value(text: str) -> Fraction | None:
    """Return the value of a text that is one number with at most its unit, such as "18kg" or "twelve dollars", or None.

    An approximation ("about 5", ``~5``), a root or a factorial is not the number in it.

    >>> [str(stated_value(text)) for text in ("42 dollars", "$5k", "(7)", "5!", "~5", "40 or 42", "twelve eggs")]
    ['42', '5000', '7', 'None', 'None', 'None', '12']
    """
    plain = _DELIMITERS.sub(" ", cleaned(text)).strip(_WRAPPING)
    value = parse_number(plain)
    if value is not None:
        return value
    if plain[:1].isalpha():
        return _value_in_words(plain)
    match = _NUMBER.match(plain) if len(plain) <= _STATED_CHARACTERS_MAX else None
    if not match or not match[0] or not (unit := _UNIT.fullmatch(plain, match.end())):
        return None
    number = number_at(plain, match)
    return None if number is None or not _UNLIKE_UNITS.isdisjoint(unit[0].lower().split()) else number.value


def _value_in_words(plain: str) -> Fraction | None:
    """Return the value of a number in words with at most two words of its unit, or None."""
    words = plain[:_STATED_CHARACTERS_MAX].split(maxsplit=_WORDS_MAX)
    ends = range(len(words), max(0, len(words) - 3), -1)
    found = ((words_value(" ".join(words[:end])), words[end:]) for end in ends)
    return next((value for value, rest in found if value is not None and _UNLIKE_UNITS.isdisjoint(rest)), None)


def stated_number(text: str, offset: int = 0) -> Number | None:
    """Return the number in words that a short text is, with at most its unit, or None.

    Args:
        offset: Where the text begins in a longer one; the number's places are of that.
    """
    plain = text.strip(_WRAPPING)
    value = _value_in_words(plain) if plain[:1].isalpha() and len(plain) < _STATED_CHARACTERS_MAX else None
    if value is None:
        return None
    start = offset + text.index(plain)
    return Number(start, start + len(plain), plain, value)


def number_in_words(text: str, start: int, stop: int) -> Number | None:
    """Return the only number in words of a part of a text, its value None where there are several; or None.

    "One" alone is left out: it is mostly no number.
    """
    found = [
        Number(*place, text[slice(*place)], None if _OR_MORE.match(text, place[1]) else value, is_literal=is_western)
        for is_western, places in ((True, words_in(text, start, stop)), (False, numerals_in(text, start, stop)))
        for place, value in places
    ]
    if len({number.value for number in found}) > 1:
        return Number(found[0].start, found[-1].end, text[found[0].start : found[-1].end], None)
    return found[0] if found else None


def numbers_equal(left: object, right: object) -> bool:
    """Return whether two values are the same number, exactly; anything that is no number equals nothing."""
    first = parse_number(str(left))
    return first is not None and first == parse_number(str(right))


def _last_numbers(text: str) -> Iterator[re.Match[str]]:
    """Yield the numbers of a text from the last one backwards, at most `_LOOKED_AT_MAX` of them.

    Searching from the start would cost a long response its whole length; answers stand at the end.
    """
    until = len(text)
    for window in (_WINDOW, 20 * _WINDOW, len(text)):
        start = max(0, len(text) - window)
        leftmost = max(0, start - _WIDENED_MAX)
        while start > leftmost and not _may_split(text, start):
            start -= 1
        if start < until:
            found = deque((match for match in _NUMBER.finditer(text, start) if match[0]), maxlen=_LOOKED_AT_MAX)
            yield from (match for match in reversed(found) if match.start() < until)
            until = start


def _may_split(text: str, place: int) -> bool:
    """Return whether white space before a place separates words, and not the digits of one number."""
    if not text[place - 1].isspace():
        return False
    return not (place > 1 and text[place - 2].isdigit() and text[place].isdigit())


def _plain(value: Fraction) -> str:
    """Return a number as a decimal where it has an end, else as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(0, len(str(value.denominator)) * 4)
    scaled = abs(value.numerator) * 10**places // value.denominator
    digits = f"{scaled // 10**places}.{scaled % 10**places:0{places}d}".rstrip("0")
    return f"-{digits}" if value < 0 else digits
