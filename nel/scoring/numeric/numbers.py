"""Numbers in text: finding them, reading them exactly, comparing them. Knows no benchmark.

Values are exact fractions, so 10, 100 and 1000 differ, 0.1 is 0.1 and 1/2 is 0.5. Trap: a minus sign after a digit or a
letter is an operator or a hyphen, not a sign: ``10-5`` ends in 5. An en dash between digits is a range, and no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from nel.scoring.numeric.unicode_numbers import exact_number
from nel.scoring.wording import is_denied
from nel.types import ScorerInput

_MINUS: Final = "−–-"
_GROUP: Final = "(?:,|\\{,\\}|\\\\,|_|[\u00a0\u2007\u2009\u202f])"
_POWER: Final = r"(?:\^\s?\{?[+\-−]?\d{1,4}\}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})"
_TOKEN = re.compile(
    rf"(?:(?<![\w.)])[+{_MINUS}])?[$€£¥]?(?:(?<=[$€£¥])[+{_MINUS}])?"
    r"(?:\\[dt]?frac\s?(?:\{\s?\d+\s?\}\s?\{\s?\d+\s?\}|\d\s?\d)"
    rf"|(?:\d{{1,3}}(?:\.\d{{3}})+,\d+|(?<!\d)\d{{1,3}}(?P<group>{_GROUP})\d{{3}}(?:(?P=group)\d{{3}})*(?!\d)(?:\.\d+)?"
    r"|(?<!\d )(?<!\d)\d{1,3}(?: \d{3})+(?! ?\d)(?:\.\d+)?"
    r"|\d+(?:\.\d+)?|(?<![\w.])\.\d+)"
    rf"(?:[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]|{_POWER}|[eE][+-]?\d{{1,4}}(?![\w.])|(?<!/\d)(?<!/\d\d)(?<!/\d{{4}})/\d+(?!\d|/\d|[.,]\d))?"
    r"|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒])"
    rf"(?:\s?(?:[×·*]|\\times)\s?10{_POWER}|\s(?i:thousand|million|billion|trillion)\b)?"
)
_PLAIN = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)
_FRACTION = re.compile(r"([+-]?)(\d{1,400})/(\d{1,400})")
_LATEX = re.compile(r"([+-]?)\\[dt]?frac(?:\{(\d+)\}\{(\d+)\}|(\d)(\d))")
_SCALED = re.compile(r"(.+?)(?:(?:[×·*]|\\times)10(.+)|(thousand|million|billion|trillion))", re.IGNORECASE)
_MIXED = re.compile(r"([+-]?\d{1,400})\s+(\d{1,400}/\d{1,400})")
_CARET = re.compile(r"(.+?)\^\{?([+-]?\d{1,4})\}?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORDS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_EXPONENT_MAX: Final = 400
_DIGITS_MAX: Final = 1_000
_WINDOW: Final = 24
"""Characters at the end of a text that are searched first for its last number."""
_RANGES: Final = "–—"


def numbers_in(text: str) -> list[str]:
    """Return the numbers that occur in a text, as written, in order.

    >>> numbers_in("Half of 1,000 is 5e2, not 1/2 or 10^3.")
    ['1,000', '5e2', '1/2', '10^3']
    """
    return [match[0] for match in _TOKEN.finditer(text) if match[0]]


def last_number(text: str) -> str | None:
    """Return the last number in a text as written; None when there is none, it is denied or the end of a range.

    >>> last_number("48 / 2 = 24, so 72 in all"), last_number("It is not 42"), last_number("10–20")
    ('72', None, None)
    """
    last = None
    for last in _last_numbers(text):  # noqa: B007 - the last one is wanted
        pass
    if last is None or _is_range(text, last.start()) or is_denied(text, last.start(), last.end(), closely=True):
        return None
    return last[0]


def parse_number(text: str) -> Fraction | None:
    """Return the exact value of a text that is one number, or None.

    Understood are thousands commas, a leading currency sign, a trailing full stop or percent sign, Markdown emphasis,
    the typographic minus, fractions (``1/2``, ``\\\\frac{1}{2}``, ``½``), powers (``10^3``, ``3²``, ``1.5 × 10^3``),
    ``million`` and its like, and digits of any script. A lone comma before other than three digits is not understood; a
    number of over 1,000 digits is not a number.

    >>> [str(parse_number(text)) for text in ("$1,234.50", "1/2", "\\\\dfrac12", "1.5 × 10^3", "1,2")]
    ['2469/2', '1/2', '1/2', '1500', 'None']
    """
    if _PLAIN.fullmatch(text):
        return Fraction(text)
    if len(text) > 2 * _DIGITS_MAX:
        return None
    plain = text.strip().strip("*_`").strip()
    for minus in _MINUS[:-1]:
        plain = plain.replace(minus, "-")
    plain = plain.replace("{,}", ",").replace("\\,", ",")
    plain = re.sub(
        r"[$€£¥]|(?<!\d)\s+|\s+(?!\d)|(?<=\d)\s(?=\d{3}(?!\d))", "", plain.replace("\\$", "").replace("\\!", "")
    )
    plain = plain.rstrip("%").rstrip(".").rstrip("%").rstrip("\\")
    plain = re.sub(r"(?<=\d)_(?=\d{3})", "", plain)
    if len(plain) > _DIGITS_MAX:
        return None
    return _value(plain)


def numbers_equal(left: Any, right: Any) -> bool:
    """Return whether two values are the same number, exactly; anything that is no number equals nothing."""
    written, wanted = str(left), str(right)
    if written == wanted and _PLAIN.fullmatch(written):
        return True
    first, second = parse_number(written), parse_number(wanted)
    return first is not None and first == second


def numeric_match(sample: ScorerInput) -> dict[str, Any]:
    """Compare the last number of the response with the target.

    Rule: exactly, as fractions; 10, 100 and 1000 differ, 1,000 and 1000.0 do not, and 1/2 is 0.5. Thousands marks, a
    currency sign, the typographic minus and a percent sign behind are understood. A denied number ("it is not 42") and
    a range are no answer, and no number equals no target, 0 included. Source: NeMo Evaluator's primitive, which strips
    trailing zeros.

    Returns:
        ``correct`` and ``extracted``, the number as written or None.

    >>> numeric_match(ScorerInput(response="The total is 20 + 22 = 42", target="42"))
    {'correct': True, 'extracted': '42'}
    >>> numeric_match(ScorerInput(response="10", target="100"))
    {'correct': False, 'extracted': '10'}
    """
    extracted = last_number(sample.response or "")
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    correct = extracted is not None and any(numbers_equal(extracted, target) for target in targets)
    return {"correct": correct, "extracted": extracted}


def _parts_numbers(text: str, place: int) -> bool:
    """Return whether white space before a place parts words, and not the digits of one number."""
    if not text[place - 1].isspace():
        return False
    return not (place > 1 and text[place - 2].isdigit() and text[place].isdigit())


def _is_range(text: str, start: int) -> bool:
    """Return whether a number is the end of a range: ``10–20``."""
    dash = start if text[start] in _RANGES else start - 1
    return dash > 0 and text[dash] in _RANGES and text[dash - 1].isdigit()


def _last_numbers(text: str) -> Iterator[re.Match[str]]:
    """Yield the numbers of the end of a text, or of the whole where its end has none."""
    for window in (_WINDOW, 20 * _WINDOW, len(text)):
        start = max(0, len(text) - window)
        leftmost = max(0, start - 2 * _DIGITS_MAX)
        while start > leftmost and not _parts_numbers(text, start):
            start -= 1
        found = [match for match in _TOKEN.finditer(text, start) if match[0]]
        if found or start == 0:
            yield from found
            return


def _value(plain: str) -> Fraction | None:
    """Return the value of a number without spaces and currency signs."""
    fraction = _FRACTION.fullmatch(plain) or _LATEX.fullmatch(plain)
    if fraction:
        sign, *parts = (part for part in fraction.groups() if part is not None)
        over, under = int(parts[0]), int(parts[1])
        return None if under == 0 else Fraction(over, under) * (-1 if sign == "-" else 1)
    mixed = _MIXED.fullmatch(plain)
    if mixed:
        whole, part = _value(mixed[1]), _value(mixed[2])
        if whole is None or part is None:
            return None
        return whole - part if mixed[1].startswith("-") else whole + part
    if _GROUPED.fullmatch(plain):
        return exact_number(plain.replace(",", ""))
    scaled = _SCALED.fullmatch(plain)
    if scaled:
        base = _value(scaled[1])
        factor = _WORDS[scaled[3].lower()] if scaled[3] else _value(f"10{scaled[2]}")
        return None if base is None or factor is None else base * factor
    caret = _CARET.fullmatch(plain)
    if caret:
        base, exponent = _value(caret[1]), int(caret[2])
        usable = base is not None and abs(exponent) <= _EXPONENT_MAX and (base != 0 or exponent >= 0)
        return Fraction(base) ** exponent if usable and base is not None else None
    return None if "," in plain and "." not in plain else exact_number(plain)
