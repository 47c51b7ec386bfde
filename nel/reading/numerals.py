"""`parse_number`: the exact value of a text that is one number, however it is written.

Values are `Fraction`, so 10, 100 and 1000 differ and 0.1 is 0.1. Three layers: `_written_value`
takes off what stands around a number in answers (currency, emphasis, LaTeX, units of percent) and
resolves fractions, powers and scales; `_join_digits` decides which marks group thousands and which
parts decimals; `_numeral` reads a sign, digits and an exponent. Digits of other scripts are made
ASCII before. Depends on `nel.reading.number_words`.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Final, Literal

from nel.reading.number_words import SCALES as ENGLISH_SCALES
from nel.reading.number_words import words_value

Mark = Literal[",", "."]
"""What parts decimals in a language."""
DIGITS_MAX: Final = 1_000
_EXPONENT_MAX: Final = 400
_GROUP: Final = 3
_CENTS: Final = 2
"""Digits after the decimal mark of an amount: ``28,00 $``."""
_ASCII_DECIMAL: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)
_PLAIN_MONEY: Final = re.compile(
    r"\$?(?:[1-9]\d{0,2}(?:,\d{3}){1,9}|\d{1,40})(?:\.\d{1,40})?", re.ASCII
)
"""Most numbers of answers that are not bare digits: ``$18``, ``1,200``, ``$1,200.50``."""
CURRENCIES: Final = "$€£¥₹₩₽₺₫₪₱฿￥"
_CURRENCY_CODE: Final = r"(?:US|A|C|NZ|HK|S)?\\?\$|USD|EUR|GBP|INR|JPY|CNY|RMB|CHF|Rs\.?"
_CODE_BEFORE: Final = re.compile(rf"(?P<sign>[+-]?)(?:{_CURRENCY_CODE})\s?(?=[+-]?[\d.])")
_CODE_AFTER: Final = re.compile(rf"(?<=\d)\s?(?:{_CURRENCY_CODE})\Z")
_NOISE: Final = re.compile(rf"[{CURRENCIES}]|(?<!\d)\s+|\s+(?!\d)")
"""Currency signs, and spaces other than between two digits: "5 / 8", but not "2 1/2"."""
_GROUP_MARK: Final = re.compile(r"(?<=\d)(?:[\s'’]|\\[,!;: ]|\{,\}|_)(?=\d{3}(?!\d))")
"""What groups thousands beside a comma and a point: a space, an apostrophe, LaTeX."""
_SEPARATED: Final = re.compile(r"(?P<sign>[+-]*)(?P<digits>\d+(?:[.,']\d+)+)(?![.,'\d])")
_FRACTION: Final = re.compile(r"([+-]?)(\d{1,400})/(\d{1,400})")
_LATEX_FRACTION: Final = re.compile(r"([+-]?)\\[dt]?frac(?:\{([+-]?\d+)\}\{(\d+)\}|(\d)(\d))")
_MIXED: Final = re.compile(
    r"(?P<whole>[+-]?\d{1,400})(?:\s+(?:and\s)?(?P<part>\d{1,400}/\d{1,400})|(?P<latex>\\[dt]?frac.{2,20}))"
)
SCALES: Final = ENGLISH_SCALES | {
    "mil": 10**3,
    "mille": 10**3,
    "millones": 10**6,
    "millions": 10**6,
    "тыс.": 10**3,
    "тысяч": 10**3,
    "млн": 10**6,
    "миллионов": 10**6,
    "千": 10**3,
    "万": 10**4,
    "萬": 10**4,
    "亿": 10**8,
    "億": 10**8,
    "หมื่น": 10**4,
    "แสน": 10**5,
    "ล้าน": 10**6,
    "হাজার": 10**3,
    "লাখ": 10**5,
}
"""Words after digits that multiply them, in the languages of recorded outputs."""
SCALE_WORD: Final = "|".join(re.escape(word) for word in sorted(SCALES, key=len, reverse=True))
_LETTER_SCALES: Final = {"k": 10**3, "K": 10**3, "M": 10**6, "bn": 10**9, "B": 10**9}
_LETTER_SCALE: Final = re.compile(r"(?<=\d)(?:k|K|M|bn|B)\Z")
"""Only without a space: ``300 K`` is a temperature."""
_SCALED: Final = re.compile(
    rf"(?P<base>.+?)(?:(?:[×·*x]|\\times|\\cdot)10(?P<power>\D.*)|(?P<word>{SCALE_WORD}))",
    re.IGNORECASE,
)
_POWER: Final = re.compile(r"(?P<base>.+?)\^\{?(?P<exponent>[+-]?\d{1,4})\}?")
_MINUS_WORD: Final = re.compile(r"\A(?:minus|negative)\s+", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_SUPERSCRIPTS: Final = {mark: str(digit) for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")} | {
    "⁻": "-",
    "⁺": "+",
}
_SUPERSCRIPT_TAIL: Final = re.compile(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})\Z")
_DECIMAL: Final = re.compile(
    r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d{1,4}))?", re.ASCII
)
_FLOAT: Final = re.compile(r"\d\.\d{15,17}(?:e-\d+)?\Z")
"""Decimals of a binary fraction that was written out in full, as JSON has it."""
_OTHER_MARKS: Final = str.maketrans("，﹐٫．٬−–﹣－", ",,..,----")


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
        text: At most 2,000 characters; a longer text is not a number.
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
    if len(text) > 2 * DIGITS_MAX:
        return None
    if not text.isascii():
        text = "".join(map(_ascii_digit, text)).translate(_OTHER_MARKS)
    return _numeral(text) if numeral_only else _written_value(text, decimal_mark)


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


def _written_value(text: str, mark: Mark | None) -> Fraction | None:
    """Return the value of a number with what surrounds it in an answer."""
    numeral = text.strip().strip("*_`").strip()
    if numeral[:1].isalpha() and (value := words_value(numeral)) is not None:
        return value
    if numeral.isascii() and not _DIGIT.search(numeral):
        return None
    numeral = _MINUS_WORD.sub("-", numeral)
    numeral = numeral.replace("\\!", "").replace("\\$", "$")
    numeral = _CODE_AFTER.sub("", _CODE_BEFORE.sub(r"\g<sign>", _GROUP_MARK.sub("'", numeral)))
    scale = _LETTER_SCALE.search(numeral)
    if scale is not None:
        value = _written_value(numeral[: scale.start()], mark)
        return None if value is None else value * _LETTER_SCALES[scale[0]]
    numeral = _NOISE.sub("", numeral).rstrip(".").rstrip("%").rstrip("\\").rstrip(".")
    if len(numeral) > DIGITS_MAX:
        return None
    separated = _SEPARATED.match(numeral)
    if separated:
        digits = _join_digits(separated["digits"], mark)
        if digits is None:
            return None
        numeral = f"{separated['sign']}{digits}{numeral[separated.end() :]}"
    return _value(numeral)


def _join_digits(text: str, mark: Mark | None) -> str | None:
    """Return digits with marks between them as a plain decimal, or None for several numbers.

    Several equal marks group; of two kinds the last one parts decimals. A lone point parts
    decimals, a lone comma before three digits groups them, before two it parts decimals, and the
    other way round where the language's decimal mark is the comma.
    """
    digits, marks = re.split("[.,']", text), re.findall("[.,']", text)
    last_mark = marks[-1]
    if len(set(marks)) == 1:
        grouped = "".join(digits) if _are_groups(digits, last_mark) else None
        if len(marks) > 1 or last_mark == "'":
            return grouped
        is_cents = mark is None and len(digits[-1]) == _CENTS
        is_decimal = (
            last_mark == mark
            or is_cents
            or (last_mark == "." and (mark is None or grouped is None))
        )
        return ".".join(digits) if is_decimal else grouped
    if last_mark != "'" and marks.count(last_mark) == 1 and _are_groups(digits[:-1], marks[0]):
        return f"{''.join(digits[:-1])}.{digits[-1]}"
    return None


def _are_groups(digits: list[str], mark: str) -> bool:
    """Return whether digits are grouped by thousands, or as in India: ``1,23,456``."""
    head_size, *sizes = (len(group) for group in digits)
    if digits[0].startswith("0") or sizes[-1] != _GROUP:
        return False
    is_western = head_size <= _GROUP and all(length == _GROUP for length in sizes)
    return is_western or (
        mark == "," and head_size < _GROUP and all(length == _GROUP - 1 for length in sizes[:-1])
    )


def _ascii_digit(character: str) -> str:
    if character.isspace():
        return " "
    digit = None if character.isascii() else unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _value(numeral: str) -> Fraction | None:
    """Return the value of a number without spaces, currency and thousands marks."""
    fraction = _FRACTION.fullmatch(numeral) or _LATEX_FRACTION.fullmatch(numeral)
    if fraction:
        sign, over, under = (group for group in fraction.groups() if group is not None)
        value = None if int(under) == 0 else Fraction(int(over), int(under))
        return -value if value is not None and sign == "-" else value
    mixed = _MIXED.fullmatch(numeral)
    if mixed:
        integer, fraction_part = _value(mixed["whole"]), _value(mixed["part"] or mixed["latex"])
        if integer is None or fraction_part is None:
            return None
        return (
            integer - fraction_part if mixed["whole"].startswith("-") else integer + fraction_part
        )  # -2 1/2 is -2.5, not -1.5
    scaled = _SCALED.fullmatch(numeral) if not numeral[-1:].isdigit() or "10" in numeral else None
    if scaled and _DIGIT.search(scaled["base"]):
        base = _value(scaled["base"])
        factor = (
            SCALES[scaled["word"].lower()] if scaled["word"] else _value(f"10{scaled['power']}")
        )
        return None if base is None or factor is None else base * factor
    power = _POWER.fullmatch(numeral)
    if power:
        return _power(_value(power["base"]), int(power["exponent"]))
    return _numeral(numeral)


def _power(base: Fraction | None, exponent: int) -> Fraction | None:
    if base is None or abs(exponent) > _EXPONENT_MAX or (base == 0 and exponent < 0):
        return None
    return Fraction(base) ** exponent


def _numeral(text: str) -> Fraction | None:
    """Return the value of a signed numeral, with an exponent in superscripts where it has one."""
    numeral = text.strip()
    if not numeral or len(numeral) > DIGITS_MAX:
        return None
    is_negative = False
    while numeral and numeral[0] in "+-":
        is_negative ^= numeral[0] == "-"
        numeral = numeral[1:].lstrip()
    exponent = 1
    tail = _SUPERSCRIPT_TAIL.search(numeral)
    if tail and tail.start():  # a text that is nothing but superscripts has no base
        exponent = int("".join(_SUPERSCRIPTS[mark] for mark in tail[1]))
        numeral = numeral[: tail.start()]
    value = _unsigned_value(numeral)
    if value is None:
        return None
    value = -value if is_negative else value
    return value if exponent == 1 else _power(value, exponent)


def _unsigned_value(text: str) -> Fraction | None:
    if not text:
        return None
    value = _decimal(text)
    if value is not None:
        return value
    if len(text) == 1:
        return _symbol(text)
    fraction = _symbol(text[-1])
    if fraction is not None and 0 < fraction < 1:  # 2½
        integer = _unsigned_value(text[:-1].rstrip())
        return None if integer is None else integer + fraction
    return None


def _symbol(character: str) -> Fraction | None:
    """Return the value of one character, such as ½ or Ⅻ, which Unicode gives as a float."""
    value = None if character in _SUPERSCRIPTS else unicodedata.numeric(character, None)
    return None if value is None else Fraction(value).limit_denominator(1000)


def _decimal(text: str) -> Fraction | None:
    match = _DECIMAL.fullmatch(text)
    if match is None or (match["exponent"] and abs(int(match["exponent"])) > _EXPONENT_MAX):
        return None
    return Fraction(text)
