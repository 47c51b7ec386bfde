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
_DIGITS_MAX = 1_000


def numbers_in(text: str) -> list[str]:
    """Return the numbers that occur in a text, as written, in order."""
    return [match[0] for match in _TOKEN.finditer(text) if match[0]]


def last_number(text: str) -> str | None:
    """Return the last number in a text as written, or None."""
    found = numbers_in(text)
    return found[-1] if found else None


def parse_number(text: str) -> Decimal | None:
    """Return the exact value of a text that is one number, or None.

    Thousands commas, a leading currency sign, a trailing full stop or percent sign, Markdown emphasis and the
    typographic minus are understood; a number of over 1,000 digits is not.
    """
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

    Returns:
        ``correct`` and ``extracted``, the number as written or None.
    """
    extracted = last_number(sample.response)
    return {
        "correct": extracted is not None and numbers_equal(extracted, sample.target),
        "extracted": extracted,
    }
