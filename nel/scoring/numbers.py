"""Numbers in text: finding them, reading them exactly, comparing them. Knows no benchmark.

Values are `Decimal`, so 10, 100 and 1000 differ and 0.1 is 0.1. Trap: a minus sign after a digit or a letter is an
operator or a hyphen, not a sign: ``10-5`` ends in 5.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from nel.types import ScorerInput

_MINUS = "−–-"
_TOKEN = re.compile(
    rf"(?:(?<![\w.)])[+{_MINUS}])?[$€£¥]?(?:(?<=[$€£¥])[+{_MINUS}])?"
    r"(?:(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d+)?|(?<![\w.])\.\d+)"
    r"(?:[eE][+-]?\d{1,4}(?![\w.]))?"
)
_PLAIN = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)
_DIGITS_MAX = 1_000
_WINDOW = 40
"""Characters at the end of a text that are searched first for its last number."""
_IN_NUMBERS = frozenset("0123456789.,eE+$€£¥" + _MINUS)


def numbers_in(text: str) -> list[str]:
    """Return the numbers that occur in a text, as written, in order."""
    return [match[0] for match in _TOKEN.finditer(text) if match[0]]


def last_number(text: str) -> str | None:
    """Return the last number in a text as written, or None."""
    for window in (_WINDOW, len(text)):
        start = _outside_a_number(text, max(0, len(text) - window))
        last = None
        for match in _TOKEN.finditer(text, start):
            last = match[0] or last
        if last or start == 0:
            return last
    return None


def _outside_a_number(text: str, position: int) -> int:
    """Return the first place at or before a position where no number is cut in two."""
    while position and text[position - 1] in _IN_NUMBERS:
        position -= 1
    return position


def parse_number(text: str) -> Decimal | None:
    """Return the exact value of a text that is one number, or None.

    Thousands commas, a leading currency sign, a trailing full stop or percent sign, Markdown emphasis and the
    typographic minus are understood; a number of over 1,000 digits is not.
    """
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    plain = text.strip().strip("*_`").strip()
    for minus in _MINUS[:-1]:
        plain = plain.replace(minus, "-")
    plain = re.sub(r"[$€£¥\s]", "", plain).rstrip("%").rstrip(".")
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    if len(plain) > _DIGITS_MAX or not re.fullmatch(r"[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d{1,4})?", plain, re.ASCII):
        return None
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def numbers_equal(left: Any, right: Any) -> bool:
    """Return whether two values are the same number, exactly; anything that is no number equals nothing."""
    first, second = parse_number(str(left)), parse_number(str(right))
    return first is not None and first == second


def numeric_match(sample: ScorerInput) -> dict[str, Any]:
    """Compare the last number of the response with the target.

    Rule: exactly, as decimals; 10, 100 and 1000 differ, 1,000 and 1000.0 do not. Thousands commas, a currency sign, the
    typographic minus and a percent sign behind are understood. No number equals no target, 0 included. Source: NeMo
    Evaluator's primitive, which strips trailing zeros.

    Returns:
        ``correct`` and ``extracted``, the number as written or None.

    >>> numeric_match(ScorerInput(response="The total is 20 + 22 = 42", target="42"))
    {'correct': True, 'extracted': '42'}
    >>> numeric_match(ScorerInput(response="10", target="100"))
    {'correct': False, 'extracted': '10'}
    """
    extracted = last_number(sample.response)
    return {
        "correct": extracted is not None and numbers_equal(extracted, sample.target),
        "extracted": extracted,
    }
