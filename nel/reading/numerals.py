"""`parse_number`: the exact value of a text that is one number, however it is written.

Values are `Fraction`, so 10, 100 and 1000 differ and 0.1 is 0.1. One pattern says what a number
looks like; `_without_groups` decides which of its marks group thousands and which one parts decimals.
Numbers in words are read in English alone, since recorded outputs in other languages write digits.
Depends on `nel.reading.table`.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Final, Literal

from nel.reading.table import scales

Mark = Literal[",", "."]
"""What parts decimals in a language."""
CHARACTERS_MAX: Final = 1_000
_EXPONENT_MAX: Final = 400
_CENTS: Final = 2
"""Digits after the decimal mark of an amount: ``28,00 $``."""
_ASCII_DECIMAL: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)
_PLAIN_MONEY: Final = re.compile(
    r"\$?(?:[1-9]\d{0,2}(?:,\d{3}){1,9}|\d{1,40})(?:\.\d{1,40})?", re.ASCII
)
"""Most numbers of answers that are not bare digits: ``$18``, ``1,200``, ``$1,200.50``."""
CURRENCIES: Final = "$€£¥₹₩₽₺₫₪₱฿￥"
_SCALES: Final = scales()
SCALE_WORD: Final = "|".join(re.escape(word) for word in sorted(_SCALES, key=len, reverse=True))
_LETTER_SCALES: Final = {"k": 10**3, "K": 10**3, "M": 10**6, "bn": 10**9, "B": 10**9}
"""Only directly after a digit: ``300 K`` is a temperature."""
CURRENCY_CODES: Final = "USD|EUR|GBP|INR|JPY|CNY|RMB|CHF"
_CURRENCY: Final = rf"(?:\\?[{CURRENCIES}]|(?:US|A|C|NZ|HK|S)\\?\$|{CURRENCY_CODES}|Rs\.?)"
_EXPONENT: Final = r"[+-]?\d{1,4}"
_WRITTEN: Final = re.compile(
    rf"""
    (?P<sign> (?:[+\s-]|{_CURRENCY})* )
    (?: (?P<integer>\d+) \s+ (?:and\s)? (?=\d+\s?/) )?
    (?P<digits> \d+(?:[.,']\d+)* | \.\d+ )
    (?: \s?/\s?(?P<under>\d+) | [eE](?P<e>{_EXPONENT}) )?
    (?: \s?\^\s?\{{?(?P<power>{_EXPONENT})\}}? )?
    (?: \s?(?:[×·*x]|\\times|\\cdot)\s?10\s?\^\{{?(?P<tens>{_EXPONENT})\}}? )?
    (?: (?P<letter>k|K|M|bn|B) | \s?(?P<word>(?i:{SCALE_WORD})) )?
    (?:[\s.%\\]|{_CURRENCY})*
    """,
    re.VERBOSE,
)
_BARE: Final = re.compile(
    r"\s*[+−–-]*\s*(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[⁻⁺⁰¹²³⁴-⁹]*|\d*[¼½¾⅐-⅞])\s*"
)
"""What Inspect's ``match`` takes for a number."""
_GROUP_MARK: Final = re.compile(r"(?<=\d)(?:[\s'’_]|,?\\[,!;: ]\s?|\{,\})(?=\d{3}(?!\d))")
"""What groups thousands beside a comma and a point: a space, an apostrophe, LaTeX."""
_GROUPED: Final = re.compile(
    r"(?P<integer>[1-9]\d{0,2}(?:(?P<mark>[.,'])\d{3}(?:(?P=mark)\d{3})*)|[1-9]\d?(?:,\d\d)+,\d{3})"
    r"(?:(?!(?P=mark))[.,](?P<decimals>\d+))?"
)
"""Thousands, or as in India: ``1,23,456``."""
_LONE_MARK: Final = re.compile(r"(\d*)([.,])(\d+)")
_LATEX_FRACTION: Final = re.compile(
    r"\\[dt]?frac\s?(?:\{\s?(-?\d+)\s?\}\s?\{\s?(\d+)\s?\}|(\d)\s?(\d))"
)
_MINUS_WORD: Final = re.compile(r"\A(?:minus|negative)\s+", re.IGNORECASE)
# Where a raised exponent begins (10²), and where a vulgar fraction follows a digit (2½).
_RAISED: Final = re.compile("(?<![⁻⁺⁰¹²³⁴-⁹])(?=[⁻⁺⁰¹²³⁴-⁹])")
_VULGAR: Final = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞])")
_FLOAT: Final = re.compile(r"\d\.\d{15,17}(?:e-\d+)?\Z")
"""Decimals of a binary fraction that was written out in full, as JSON has it."""
_OTHER_MARKS: Final = str.maketrans("⁄﹐٫٬−–", "/,.,--")
_DIGITS: Final = "one two three four five six seven eight nine".split()
_TEENS: Final = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES: Final = {word: value for value, word in enumerate([*_DIGITS, *_TEENS], 1)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_SECTION_MIN: Final = 1_000
"""A scale from which on a number has another section: "two thousand five hundred"."""
_SMALL: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_DIGITS)}))?|{'|'.join(_VALUES)}|zero)(?!\w)"
)
_SCALED: Final = rf"(?:{_SMALL}|an?)(?:[\s-](?:{SCALE_WORD}))+"
IN_WORDS: Final = re.compile(
    rf"(?<![\w-])(?:(?:minus|negative)\s)?(?:{_SCALED}(?:,?\s(?:and\s)?(?:{_SCALED}|{_SMALL}))*|{_SMALL})(?![\w-])",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[a-z]+")


def parse_number(
    text: str, *, numeral_only: bool = False, decimal_mark: Mark | None = None
) -> Fraction | None:
    """Return the exact value of a text that is one number, or None.

    Understood are thousands marks (``1,234``, ``1.000.000``, ``1'234.50``, ``1,23,456``), a
    currency, a trailing full stop or percent sign, emphasis, fractions (``1/2``,
    ``\\\\frac{1}{2}``, ``½``, ``2½``, ``2 1/2``), powers (``10^3``, ``3²``, ``1.5 × 10^3``,
    ``1e3``), scales such as ``million``, ``5k`` and ``3.2M``, digits of any script
    and numbers in English words. Infinities, NaN, factorials, roots, times and numbers of
    over 1,000 digits are not numbers.

    Args:
        text: At most 1,000 characters; a longer text is not a number.
        numeral_only: Read a bare numeral as Inspect's ``match`` does: no currency, percent sign,
            LaTeX, fraction bar, ``^``, scale or comma.
        decimal_mark: The language's, where it is known: with a comma ``12,5`` is 12.5 and ``1.234``
            is 1234; without, ``12,5`` is not a number, ``12,50`` an amount, and ``1.234`` is less
            than two.

    >>> [str(parse_number(text)) for text in ("$1,234.50", "1/2", "\\\\dfrac12", "1.5 × 10^3", "1,2")]
    ['2469/2', '1/2', '1/2', '1500', 'None']
    >>> [str(parse_number(text)) for text in ("−7", "2½", "１２３", "3²", "twelve", "4 million", "50%")]
    ['-7', '5/2', '123', '9', '12', '4000000', '50']
    >>> [str(parse_number(text, decimal_mark=",")) for text in ("12,5", "1.234", "1.234,5", "0.5")]
    ['25/2', '1234', '2469/2', '1/2']
    >>> [str(parse_number(text, numeral_only=True)) for text in ("1.5", "10²", "$5", "1/2")]
    ['3/2', '100', 'None', 'None']
    """
    if decimal_mark != "," and _ASCII_DECIMAL.fullmatch(text):
        return Fraction(text if "." in text else int(text))  # from text at five times the cost
    if not numeral_only and decimal_mark != "," and _PLAIN_MONEY.fullmatch(text):
        return Fraction(text.lstrip("$").replace(",", ""))
    if len(text) > CHARACTERS_MAX or (numeral_only and not _BARE.fullmatch(text)):
        return None
    text = text.strip(" \t\r\n*_`")
    if text[:1].isalpha() and (value := words_value(text)) is not None:
        return value
    text = _LATEX_FRACTION.sub(r" \1\3/\2\4 ", _MINUS_WORD.sub("-", plain_numerals(text)))
    number = _WRITTEN.fullmatch(_GROUP_MARK.sub("'", text))
    return None if number is None else _value(number, decimal_mark)


def numbers_equal(answer: object, gold: object) -> bool:
    """Return whether two values are the same number, exactly; what is not a number equals nothing.

    A value with as many digits as a float has equals what it was rounded from.

    >>> numbers_equal("1,000", 1000.0), numbers_equal("10", "100"), numbers_equal("x", "x")
    (True, False, False)
    >>> numbers_equal("1/3", 1 / 3), numbers_equal("1/3", "0.333")
    (True, False)
    """
    if answer == gold and isinstance(gold, str) and _ASCII_DECIMAL.fullmatch(gold):
        return True
    answer_value, gold_value = parse_number(str(answer)), parse_number(str(gold))
    if answer_value is None or gold_value is None:
        return False
    is_float = _FLOAT.search(str(answer)) or _FLOAT.search(str(gold))
    return answer_value == gold_value or (
        is_float is not None and float(answer_value) == float(gold_value)
    )


def plain_numerals(text: str) -> str:
    """Return a text with ASCII marks for fractions, exponents and signs: ``2½`` as ``2 1/2``."""
    if text.isascii():
        return text
    spaced = _VULGAR.sub(" ", _RAISED.sub("^", text))
    return unicodedata.normalize("NFKC", spaced).translate(_OTHER_MARKS)


def _value(number: re.Match[str], mark: Mark | None) -> Fraction | None:
    """Return the value of a number by the parts that it is written in."""
    tens = int(number["e"] or number["tens"] or 0)
    power = int(number["power"] or 1)
    digits, under = _without_groups(number["digits"], mark), int(number["under"] or 1)
    if digits is None or under == 0 or max(abs(tens), abs(power)) > _EXPONENT_MAX:
        return None
    # In "2 1/2" the integer is 2, the digits 1 and what stands under the bar 2.
    base = Fraction(digits) / under + int(number["integer"] or 0)
    if base == 0 and power < 0:
        return None
    if number["sign"].count("-") % 2:
        base = -base
    scale = _SCALES.get((number["word"] or "").lower(), 1)
    scale *= _LETTER_SCALES.get(number["letter"] or "", 1)
    return base**power * Fraction(10) ** tens * scale


def _without_groups(digits: str, mark: Mark | None) -> str | None:
    """Return digits with marks between them as a plain decimal, or None for several numbers.

    Several equal marks group; of two kinds the last one parts decimals. A lone point parts
    decimals, a lone comma before three digits groups them, before two it parts decimals, and the
    other way round where the language's decimal mark is the comma.
    """
    grouped, lone = _GROUPED.fullmatch(digits), _LONE_MARK.fullmatch(digits)
    if lone is not None:
        integer, lone_mark, decimals = lone.groups()
        is_cents = mark is None and len(decimals) == _CENTS
        if lone_mark == mark or is_cents or (lone_mark == "." and not (mark and grouped)):
            return f"{integer}.{decimals}"
    if grouped is None:
        return digits if digits.isdecimal() else None
    integer = re.sub("[.,']", "", grouped["integer"])
    return f"{integer}.{grouped['decimals'] or 0}"


def words_value(text: str) -> Fraction | None:
    """Return the value of a text that is one number in words, or None.

    >>> [str(words_value(text)) for text in ("twelve", "one hundred and five", "a hundred", "a")]
    ['12', '105', '100', 'None']
    >>> [str(words_value(text)) for text in ("minus seven", "five six", "half")]
    ['-7', 'None', 'None']
    """
    if IN_WORDS.fullmatch(text) is None:
        return None
    # "two thousand five hundred": a scale multiplies its section, and from a thousand on closes it.
    total = section = 0
    words = _WORD.findall(text.lower())
    for word in words:
        if word in _SCALES:
            section = max(section, 1) * _SCALES[word]
        else:
            section += _VALUES.get(word, 0)
        if _SCALES.get(word, 0) >= _SECTION_MIN:
            total, section = total + section, 0
    total += section
    return Fraction(-total if words[0] in ("minus", "negative") else total)
