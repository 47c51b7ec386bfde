"""Numbers as the world writes them, as exact fractions: other scripts, Chinese numerals, vulgar fractions, exponents.

Source: the number reader of Inspect's ``match``, made exact. Knows no scorer. Trap: with both a point and a comma the
later one is the decimal mark, and a lone comma is one when one to three digits follow; callers that know commas to be
thousands separators take them out first.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Final

_DIGITS_MAX: Final = 1_000
_EXPONENT_MAX: Final = 400
_MINUS: Final = "-−﹣－负負"
_PLUS: Final = "+＋﹢正"
_SPACES: Final = "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f\u3000'’ʼ＇"
_GROUPING: Final = "，﹐、٬"
_DECIMAL: Final = "٫．"
_SUPERSCRIPTS: Final = {**{mark: str(digit) for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "-", "⁺": "+"}
_CHINESE_DIGITS: Final = {
    **{mark: value for value, mark in enumerate("〇一二三四五六七八九")},
    **{mark: value for value, mark in enumerate("零壹贰叁肆伍陆柒捌玖")},
    "壱": 1,
    "弌": 1,
    "貳": 2,
    "弐": 2,
    "两": 2,
    "兩": 2,
    "參": 3,
    "参": 3,
    "陸": 6,
}
_SMALL_UNITS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_TENS: Final = {"廿": 20, "卅": 30, "卌": 40}
_BIG_UNITS: Final = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
_CHINESE_POINT: Final = "点點"
_SUPERSCRIPT_TAIL = re.compile(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})\Z")
_PLAIN = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,4}))?", re.ASCII)


def exact_number(text: str) -> Fraction | None:
    """Return the exact value of a text that is one number, or None.

    Understood: decimals of any script with exponents (``1e3``), grouping spaces, signs of every kind, ``½`` and ``2½``,
    superscript exponents (``3²`` is 9), Roman numeral characters, Chinese numerals. Infinities, NaN, words and numbers
    of over 1,000 digits are not numbers here.

    >>> [str(exact_number(text)) for text in ("−7", "2½", "１２３", "三百", "3²", "1.234,5", "Ⅻ", "twelve")]
    ['-7', '5/2', '123', '300', '9', '2469/2', '12', 'None']
    """
    plain = text.strip()
    if not plain or len(plain) > _DIGITS_MAX:
        return None
    negative = False
    while plain and plain[0] in _MINUS + _PLUS:
        negative ^= plain[0] in _MINUS
        plain = plain[1:].lstrip()
    exponent = 1
    tail = _SUPERSCRIPT_TAIL.search(plain)
    if tail and tail.start():
        exponent = int("".join(_SUPERSCRIPTS[mark] for mark in tail[1]))
        plain = plain[: tail.start()]
    value = _unsigned(plain)
    if value is None:
        return None
    value = -value if negative else value
    if exponent == 1:
        return value
    return None if abs(exponent) > _EXPONENT_MAX or (value == 0 and exponent < 0) else Fraction(value) ** exponent


def _unsigned(text: str) -> Fraction | None:
    if not text:
        return None
    found = _decimal(text)
    if found is not None:
        return found
    if len(text) == 1:
        return _symbol(text)
    fractions = [character for character in text if unicodedata.category(character) == "No" and _symbol(character)]
    if len(fractions) == 1 and text.endswith(fractions[0]):
        part = _symbol(fractions[0])
        head = _unsigned(text[:-1].rstrip())
        return None if head is None or part is None or part >= 1 else head + part
    return _chinese(text)


def _symbol(character: str) -> Fraction | None:
    value = None if character in _SUPERSCRIPTS else unicodedata.numeric(character, None)
    return None if value is None else Fraction(value).limit_denominator(1000)


def _decimal(text: str) -> Fraction | None:
    plain = "".join(_ascii(character) for character in text)
    plain = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "", plain)
    point, comma = plain.rfind("."), plain.rfind(",")
    if comma >= 0 and (point > comma or plain.count(",") > 1):
        plain = plain.replace(",", "")
    elif comma >= 0 and (point >= 0 or re.fullmatch(r"\d*,\d{1,3}", plain)):
        plain = plain.replace(".", "").replace(",", ".")
    match = _PLAIN.fullmatch(plain)
    if match is None or (match[1] and abs(int(match[1])) > _EXPONENT_MAX):
        return None
    return Fraction(plain)


def _ascii(character: str) -> str:
    if character in _SPACES:
        return " "
    if character in _GROUPING:
        return ","
    if character in _DECIMAL:
        return "."
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _chinese(text: str) -> Fraction | None:
    whole, _, rest = text.partition("点") if "点" in text else text.partition("點")
    value = _chinese_whole(whole)
    if value is None or not rest:
        return None if value is None or text[-1] in _CHINESE_POINT else Fraction(value)
    if any(mark not in _CHINESE_DIGITS for mark in rest):
        return None
    digits = "".join(str(_CHINESE_DIGITS[mark]) for mark in rest)
    return value + Fraction(int(digits), 10 ** len(digits))


def _chinese_whole(text: str) -> int | None:
    if text and all(mark in _CHINESE_DIGITS for mark in text):
        return int("".join(str(_CHINESE_DIGITS[mark]) for mark in text))
    total, section, digit = 0, 0, None
    for mark in text:
        if mark in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[mark]
        elif mark in _SMALL_UNITS:
            section += (1 if digit is None else digit) * _SMALL_UNITS[mark]
            digit = None
        elif mark in _TENS:
            section += _TENS[mark]
            digit = None
        elif mark in _BIG_UNITS:
            unit = _BIG_UNITS[mark]
            below = section + (digit or 0)
            if total < unit or not below:
                total = (total + below or 1) * unit
            else:
                total += below * unit
            section, digit = 0, None
        else:
            return None
    return total + section + (digit or 0) if text else None
