"""Numbers in text: finding them, comparing them, and the scorer `numeric_match`.

Depends on `nel.scoring.numeric.parsing` for their values and on `nel.scoring.wording` for denials ("it is not 42").
A minus sign after a digit or a letter is an operator or a hyphen, not a sign: ``10-5`` ends in 5. An en dash between
digits makes a range, which is no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nel.scoring.numeric.parsing import parse_number
from nel.scoring.wording import is_denied
from nel.types import ScorerInput

_SIGN: Final = "[+−–-]"
_POWER: Final = r"(?:\^\s?\{?[+\-−]?\d{1,4}\}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})"
_VULGAR: Final = "[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]"
# The parts that are tried at every character have comments instead of named groups: with groups finding the numbers of
# 2,800 answers took 20 % longer.
_NUMBER = re.compile(
    rf"""
    (?: (?<![\w.)]) {_SIGN} )?                 # a sign; behind a word, a point or a bracket it is an operator
    [$€£¥]?
    (?: (?<=[$€£¥]) {_SIGN} )?                 # or a sign behind the currency: $-5
    (?:
        \\[dt]?frac\s? (?: \{{\s?\d+\s?\}}\s?\{{\s?\d+\s?\}} | \d\s?\d )
      | (?:
            \d{{1,3}} (?: \.\d{{3}} )+ ,\d+                                    # 1.234,5
          | (?<!\d) \d{{1,3}}                                                  # 1,234.5 and 1_234, one mark throughout
            (?P<mark> , | \{{,\}} | \\, | _ | [\u00a0\u2007\u2009\u202f] ) \d{{3}}
            (?: (?P=mark) \d{{3}} )* (?!\d) (?: \.\d+ )?
          | (?<!\d[ ]) (?<!\d) \d{{1,3}} (?: [ ]\d{{3}} )+ (?![ ]?\d) (?: \.\d+ )?    # 1 234.5
          | \d+ (?: \.\d+ )?
          | (?<![\w.]) \.\d+                                                  # .5
        )
        (?:
            {_VULGAR}                                                          # 2½
          | {_POWER}                                                           # 10^3 and 3²
          | (?P<exponent> [eE][+-]?\d{{1,4}} (?![\w.]) )
          | (?P<denominator>                                                   # not of a date: 12/31/2020, 2020/12/31
                (?<!/\d) (?<!/\d\d) (?<!/\d{{4}}) /\d+ (?! \d | /\d | [.,]\d )
            )
        )?
      | {_VULGAR}
    )
    (?: \s? (?: [×·*] | \\times ) \s?10 {_POWER} | \s (?i: thousand | million | billion | trillion ) \b )?
    """,
    re.VERBOSE,
)
_WINDOW: Final = 24
"""Characters at the end of a text that are searched first for its last number."""
_WIDENED_MAX: Final = 2_000
"""Characters by which a window grows to the left so that it does not begin within a number."""
_RANGE_DASHES: Final = "–—"


def numbers_in(text: str) -> list[str]:
    """Return the numbers that occur in a text, as written, in order.

    >>> numbers_in("Half of 1,000 is 5e2, not 1/2 or 10^3.")
    ['1,000', '5e2', '1/2', '10^3']
    """
    return [match[0] for match in _NUMBER.finditer(text) if match[0]]


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


def numbers_equal(left: object, right: object) -> bool:
    """Return whether two values are the same number, exactly; anything that is no number equals nothing."""
    first = parse_number(str(left))
    return first is not None and first == parse_number(str(right))


def numeric_match(sample: ScorerInput) -> dict[str, bool | str | None]:
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


def _last_numbers(text: str) -> Iterator[re.Match[str]]:
    """Yield the numbers of the end of a text, or of the whole where its end has none.

    Searching from the start would cost a long response its whole length; answers stand at the end.
    """
    for window in (_WINDOW, 20 * _WINDOW, len(text)):
        start = max(0, len(text) - window)
        leftmost = max(0, start - _WIDENED_MAX)
        while start > leftmost and not _may_split(text, start):
            start -= 1
        found = [match for match in _NUMBER.finditer(text, start) if match[0]]
        if found or start == 0:
            yield from found
            return


def _may_split(text: str, place: int) -> bool:
    """Return whether white space before a place separates words, and not the digits of one number."""
    if not text[place - 1].isspace():
        return False
    return not (place > 1 and text[place - 2].isdigit() and text[place].isdigit())


def _is_range(text: str, start: int) -> bool:
    """Return whether a number is the end of a range: ``10–20``."""
    dash = start if text[start] in _RANGE_DASHES else start - 1
    return dash > 0 and text[dash] in _RANGE_DASHES and text[dash - 1].isdigit()
