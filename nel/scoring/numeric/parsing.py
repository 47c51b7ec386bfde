"""`parse_number`: the exact value of a text that is one number, however it is written.

Values are `Fraction`, so 10, 100 and 1000 differ and 0.1 is 0.1. Reading has two layers: `_written` takes off what
stands around a number in answers (currency, emphasis, LaTeX) and resolves fractions, powers and ``million``; `_numeral`
reads the digits, of any script. Depends on `unicodedata` alone.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Final

_DIGITS_MAX: Final = 1_000
_EXPONENT_MAX: Final = 400
_ASCII_DECIMAL = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)

_OTHER_MINUS: Final = "−–"
_NOISE = re.compile(
    r"""
    [$€£¥]
    | (?<!\d)\s+ | \s+(?!\d)       # spaces other than between two digits: "5 / 8", but not "2 1/2"
    | (?<=\d)\s(?=\d{3}(?!\d))     # a space between groups of three digits
    """,
    re.VERBOSE,
)
_GROUPING_UNDERSCORE = re.compile(r"(?<=\d)_(?=\d{3})")
_FRACTION = re.compile(r"([+-]?)(\d{1,400})/(\d{1,400})")
_LATEX = re.compile(r"([+-]?)\\[dt]?frac(?:\{(\d+)\}\{(\d+)\}|(\d)(\d))")
_MIXED = re.compile(r"(?P<whole>[+-]?\d{1,400})\s+(?P<part>\d{1,400}/\d{1,400})")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SCALED = re.compile(
    r"(?P<base>.+?)(?:(?:[×·*]|\\times)10(?P<power>.+)|(?P<word>thousand|million|billion|trillion))", re.IGNORECASE
)
_CARET = re.compile(r"(?P<base>.+?)\^\{?(?P<exponent>[+-]?\d{1,4})\}?")
_SCALE_WORDS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_MINUS_SIGNS: Final = "-−﹣－负負"
_PLUS_SIGNS: Final = "+＋﹢正"
_SPACES: Final = "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f\u3000'’ʼ＇"
_COMMAS: Final = "，﹐、٬"
_POINTS: Final = "٫．"
_SUPERSCRIPTS: Final = {**{mark: str(digit) for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "-", "⁺": "+"}
_SUPERSCRIPT_TAIL = re.compile(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})\Z")
_GROUPING_SPACE = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"\d*,\d{1,3}")
_DECIMAL = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d{1,4}))?", re.ASCII)
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
_CHINESE_POINTS: Final = "点點"


def parse_number(text: str, *, numeral_only: bool = False) -> Fraction | None:
    """Return the exact value of a text that is one number, or None.

    Understood are thousands commas, a leading currency sign, a trailing full stop or percent sign, Markdown emphasis,
    signs of every kind, fractions (``1/2``, ``\\\\frac{1}{2}``, ``½``, ``2½``), powers (``10^3``, ``3²``,
    ``1.5 × 10^3``, ``1e3``), ``million`` and its like, digits of any script and Chinese numerals. A lone comma before
    other than three digits is not understood. Infinities, NaN, words and numbers of over 1,000 digits are not numbers.

    Args:
        numeral_only: Read a bare numeral as Inspect's ``match`` does: no currency, percent sign, emphasis, LaTeX,
            fraction bar, ``^`` or ``million``, and a lone comma before one to three digits is the decimal mark.
            Callers remove thousands commas first.

    >>> [str(parse_number(text)) for text in ("$1,234.50", "1/2", "\\\\dfrac12", "1.5 × 10^3", "1,2")]
    ['2469/2', '1/2', '1/2', '1500', 'None']
    >>> [str(parse_number(text)) for text in ("−7", "2½", "１２３", "三百", "3²", "Ⅻ", "twelve")]
    ['-7', '5/2', '123', '300', '9', '12', 'None']
    >>> [str(parse_number(text, numeral_only=True)) for text in ("1,2", "1.234,5", "$5", "1/2")]
    ['6/5', '2469/2', 'None', 'None']
    """
    if _ASCII_DECIMAL.fullmatch(text):
        return Fraction(text)
    return _numeral(text) if numeral_only else _written(text)


def _written(text: str) -> Fraction | None:
    """Return the value of a number with the marks that surround it in an answer."""
    if len(text) > 2 * _DIGITS_MAX:
        return None
    plain = text.strip().strip("*_`").strip()
    for minus in _OTHER_MINUS:
        plain = plain.replace(minus, "-")
    plain = plain.replace("{,}", ",").replace("\\,", ",").replace("\\$", "").replace("\\!", "")
    plain = _NOISE.sub("", plain)
    plain = plain.rstrip("%").rstrip(".").rstrip("%").rstrip("\\")  # "50%.", "50.%" and "50\%"
    plain = _GROUPING_UNDERSCORE.sub("", plain)
    return None if len(plain) > _DIGITS_MAX else _value(plain)


def _value(plain: str) -> Fraction | None:
    """Return the value of a number without spaces and currency signs."""
    fraction = _FRACTION.fullmatch(plain) or _LATEX.fullmatch(plain)
    if fraction:
        sign, *parts = (part for part in fraction.groups() if part is not None)
        over, under = int(parts[0]), int(parts[1])
        return None if under == 0 else Fraction(over, under) * (-1 if sign == "-" else 1)
    mixed = _MIXED.fullmatch(plain)
    if mixed:
        whole, part = _value(mixed["whole"]), _value(mixed["part"])
        if whole is None or part is None:
            return None
        return whole - part if mixed["whole"].startswith("-") else whole + part  # -2 1/2 is -2.5, not -1.5
    if _GROUPED.fullmatch(plain):
        return _numeral(plain.replace(",", ""))
    scaled = _SCALED.fullmatch(plain)
    if scaled:
        base = _value(scaled["base"])
        factor = _SCALE_WORDS[scaled["word"].lower()] if scaled["word"] else _value(f"10{scaled['power']}")
        return None if base is None or factor is None else base * factor
    caret = _CARET.fullmatch(plain)
    if caret:
        return _power(_value(caret["base"]), int(caret["exponent"]))
    # Thousands commas are resolved above: what is left would be a decimal comma, or several numbers.
    return None if "," in plain and "." not in plain else _numeral(plain)


def _power(base: Fraction | None, exponent: int) -> Fraction | None:
    if base is None or abs(exponent) > _EXPONENT_MAX or (base == 0 and exponent < 0):
        return None
    return Fraction(base) ** exponent


def _numeral(text: str) -> Fraction | None:
    """Return the value of a signed numeral, with an exponent in superscripts where it has one."""
    plain = text.strip()
    if not plain or len(plain) > _DIGITS_MAX:
        return None
    negative = False
    while plain and plain[0] in _MINUS_SIGNS + _PLUS_SIGNS:
        negative ^= plain[0] in _MINUS_SIGNS
        plain = plain[1:].lstrip()
    exponent = 1
    tail = _SUPERSCRIPT_TAIL.search(plain)
    if tail and tail.start():  # a text that is nothing but superscripts has no base
        exponent = int("".join(_SUPERSCRIPTS[mark] for mark in tail[1]))
        plain = plain[: tail.start()]
    value = _unsigned(plain)
    if value is None:
        return None
    value = -value if negative else value
    return value if exponent == 1 else _power(value, exponent)


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
    """Return the value of one character, such as ½ or Ⅻ; Unicode gives it as a float, of denominators below 1000."""
    value = None if character in _SUPERSCRIPTS else unicodedata.numeric(character, None)
    return None if value is None else Fraction(value).limit_denominator(1000)


def _decimal(text: str) -> Fraction | None:
    plain = _GROUPING_SPACE.sub("", "".join(_ascii(character) for character in text))
    point, comma = plain.rfind("."), plain.rfind(",")
    # Of a point and a comma the later one is the decimal mark. A lone comma is one before one to three digits.
    if comma >= 0 and (point > comma or plain.count(",") > 1):
        plain = plain.replace(",", "")
    elif comma >= 0 and (point >= 0 or _DECIMAL_COMMA.fullmatch(plain)):
        plain = plain.replace(".", "").replace(",", ".")
    match = _DECIMAL.fullmatch(plain)
    if match is None or (match["exponent"] and abs(int(match["exponent"])) > _EXPONENT_MAX):
        return None
    return Fraction(plain)


def _ascii(character: str) -> str:
    if character in _SPACES:
        return " "
    if character in _COMMAS:
        return ","
    if character in _POINTS:
        return "."
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _chinese(text: str) -> Fraction | None:
    whole, _, rest = text.partition("点") if "点" in text else text.partition("點")
    value = _chinese_whole(whole)
    if value is None or not rest:
        return None if value is None or text[-1] in _CHINESE_POINTS else Fraction(value)
    if any(mark not in _CHINESE_DIGITS for mark in rest):
        return None
    digits = "".join(str(_CHINESE_DIGITS[mark]) for mark in rest)
    return value + Fraction(int(digits), 10 ** len(digits))


def _chinese_whole(text: str) -> int | None:
    """Return the value of a Chinese integer: digits in a row (二〇二四), or digits with units (三百二十万五千).

    Units up to 千 multiply the digit before them and add up to a section; 万, 億 and 兆 multiply the section before
    them. A big unit that follows a smaller one multiplies all that was read so far: 一万亿 is 10^12.
    """
    if text and all(mark in _CHINESE_DIGITS for mark in text):
        return int("".join(str(_CHINESE_DIGITS[mark]) for mark in text))
    total, section, digit = 0, 0, None
    for mark in text:
        if mark in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[mark]
        elif mark in _SMALL_UNITS:
            section += (1 if digit is None else digit) * _SMALL_UNITS[mark]  # 十 alone is 10
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
