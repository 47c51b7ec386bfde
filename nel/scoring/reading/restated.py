"""One amount that a response gives in two units: "36 minutes, or 0.6 hours", "1 hour 15 minutes, i.e. 75 minutes".

Two amounts are one where converting the unit shows it, up to rounding; others are two answers and are left alone.
Depends on `nel.scoring.numeric` for the values.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.finding import Number
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.result import Reading
from nel.scoring.wording import last_match

_UNITS: Final = (
    ("time", Fraction(1), "seconds second secs sec s"),
    ("time", Fraction(60), "minutes minute mins min"),
    ("time", Fraction(3600), "hours hour hrs hr h"),
    ("time", Fraction(86400), "days day"),
    ("time", Fraction(604800), "weeks week"),
    ("months", Fraction(1), "months month"),
    ("months", Fraction(12), "years year yrs yr"),
    ("length", Fraction(1, 1000), "millimeters millimetres mm"),
    ("length", Fraction(1, 100), "centimeters centimetres centimeter centimetre cm"),
    ("length", Fraction(1), "meters metres meter metre m"),
    ("length", Fraction(1000), "kilometers kilometres kilometer kilometre km"),
    ("imperial", Fraction(1), "inches inch in"),
    ("imperial", Fraction(12), "feet foot ft"),
    ("imperial", Fraction(36), "yards yard yd"),
    ("imperial", Fraction(63360), "miles mile mi"),
    ("mass", Fraction(1, 1000), "milligrams mg"),
    ("mass", Fraction(1), "grams gram g"),
    ("mass", Fraction(1000), "kilograms kilogram kg"),
    ("weight", Fraction(1), "ounces ounce oz"),
    ("weight", Fraction(16), "pounds pound lbs lb"),
    ("volume", Fraction(1, 1000), "milliliters millilitres ml mL"),
    ("volume", Fraction(1), "liters litres liter litre L"),
    ("money", Fraction(1, 100), "cents cent"),
    ("money", Fraction(1), "dollars dollar"),
    ("count", Fraction(1), "eggs items pieces"),
    ("count", Fraction(12), "dozen"),
    ("share", Fraction(1, 100), "% percent"),
)
_FACTORS: Final = {name: (kind, factor) for kind, factor, names in _UNITS for name in names.split()}
_NAMES: Final = "|".join(re.escape(name) for name in sorted(_FACTORS, key=len, reverse=True))
_AMOUNT: Final = (
    r"[*_]*(?P<{0}>\d+\s\d+/\d+|\d[\d,]*(?:\.\d+)?(?:/\d+)?)[*_]*"
    r"(?:\s?\\?(?P<{0}_unit>NAMES)(?![A-Za-z/²³^])|(?![\w.,]*\d))[*_]*"
).replace("NAMES", _NAMES)
_MORE: Final = r"(?:,?\s(?:and\s)?(?P<{0}>\d+(?:\.\d+)?)\s?(?P<{0}_unit>NAMES)(?![A-Za-z/²³^]))?[*_]*".replace(
    "NAMES", _NAMES
)
_PAIR: Final = lazy_pattern(
    r"(?<![\w.,/$-])"
    + _AMOUNT.replace("{0}", "first")
    + _MORE.replace("{0}", "rest")
    + r"(?P<joint>,?\s(?:or|i\.e\.,?|that\sis,?|which\s(?:is|equals)|equivalently,?|equal\sto)\s"
    + r"|\s?=\s|\s\((?:or\s|i\.e\.,?\s|=\s?)?)"
    + _AMOUNT.replace("{0}", "second")
    + _MORE.replace("{0}", "more")
    + r"(?:\seach)?\)?(?=[\s.,;*_!]*(?:\Z|\s))"
)
_ROUNDING_MAX: Final = Fraction(1, 100)
_AROUND_MAX: Final = 120
"""Characters around a number in which the other one of its amount stands."""
_ASKED: Final = lazy_pattern(
    rf"\b(?:how\s(?:many|much)|in|number\sof)\s(?:total\s)?(?P<unit>{_NAMES})\b", re.IGNORECASE
)
_OPERATES: Final = lazy_pattern(r"[=≈]\s*[*_$]*\s*\Z")


_ALTERNATIVE: Final = lazy_pattern(r"\bor\b|equivalently|\(")


class _Amount(NamedTuple):
    kind: str
    value: Fraction
    """In the smallest unit of its kind."""
    unit: str
    is_single: bool


class Restated(NamedTuple):
    """An amount in two units: where it stands, the number that stands for it, and the other one."""

    start: int
    end: int
    number: Number
    other: Number | None
    units: tuple[str, str]
    is_equation: bool
    """Whether the second one is what the first one comes to: "which is", "="."""


def restated_in(text: str, start: int, stop: int) -> Restated | None:
    """Return the last amount of a passage that is given in two units, its number the first that is alone; or None.

    >>> text = "It takes 1 hour 15 minutes, or 75 minutes."
    >>> restated_in(text, 0, len(text)).number.written, restated_in("It takes 5 or 6 hours.", 0, 22)
    ('75', None)
    """
    found = None
    while (match := _PAIR.search(text, start, stop)) is not None:
        first, second = _amount(match, "first", "rest"), _amount(match, "second", "more")
        if first is None or second is None or not _is_one(first, second):
            start = match.end("first")
            continue
        start = match.end()
        numbers = [_number(text, match, name) for name, one in (("first", first), ("second", second)) if one.is_single]
        if numbers:
            is_equation = _ALTERNATIVE.search(match["joint"]) is None
            other = numbers[1] if len(numbers) > 1 else None
            found = Restated(*match.span(), numbers[0], other, (first.unit, second.unit), is_equation)
    return found


def is_computed(text: str, start: int, place: int) -> bool:
    """Return whether an amount is what a passage computes: an equals sign stands before it."""
    return _OPERATES.search(text, start, place) is not None


def in_asked_unit(question: str, response: str, reading: Reading) -> str | None:
    """Return the number that was read, in the unit that the question asks for where its amount is given in two.

    A number that was read elsewhere in the response is left: "2 hours = 120 minutes. 120 - 118 = 2. It is 2".

    >>> text = "It takes 1.5 hours, or 90 minutes."
    >>> in_asked_unit("How many minutes does it take?", text, Reading("1.5", 9, 12))
    '90'
    """
    if reading.value is None:
        return None
    begin = max(0, reading.start - _AROUND_MAX)
    found = restated_in(response, begin, min(len(response), reading.end + _AROUND_MAX))
    if found is None or found.other is None or not found.start <= reading.start < found.end:
        return reading.value
    if parse_number(reading.value) not in (found.number.value, found.other.value):
        return reading.value
    asked = last_match(_ASKED, question)
    is_asked = [asked is not None and _FACTORS.get(unit) == _FACTORS[asked["unit"].lower()] for unit in found.units]
    if is_asked[0] == is_asked[1]:
        return reading.value
    return found.number.written if is_asked[0] else found.other.written


def _amount(match: re.Match[str], name: str, more: str) -> _Amount | None:
    value = parse_number(match[name], words=False)
    if value is None:
        return None
    unit = match[f"{name}_unit"]
    kind, factor = _FACTORS[unit] if unit else ("share", Fraction(1))
    if match[more] is None:
        return _Amount(kind, value * factor, unit or "", is_single=True)
    rest, (other, smaller) = parse_number(match[more], words=False), _FACTORS[match[f"{more}_unit"]]
    if rest is None or other != kind or smaller >= factor:
        return None
    return _Amount(kind, value * factor + rest * smaller, unit or "", is_single=False)


def _is_one(first: _Amount, second: _Amount) -> bool:
    """Return whether two amounts of different units are the same, up to rounding."""
    if first.kind != second.kind or (first.unit == second.unit and first.is_single and second.is_single):
        return False
    return abs(first.value - second.value) <= _ROUNDING_MAX * abs(first.value)


def _number(text: str, match: re.Match[str], name: str) -> Number:
    start, end = match.span(name)
    return Number(start, end, text[start:end], parse_number(text[start:end], words=False))
