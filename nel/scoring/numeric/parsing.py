"""`parse_number`: the exact value of a text that is one number, however it is written.

Values are `Fraction`, so 10, 100 and 1000 differ and 0.1 is 0.1. Reading has three layers: `_written` takes off what
stands around a number in answers (currency, emphasis, LaTeX) and resolves fractions, powers and ``million``;
`_separated` decides which marks group thousands and which one parts decimals; `_numeral` reads the digits, of any
script. Depends on `nel.scoring.numeric.words` for numbers in words.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.languages import Mark
from nel.scoring.numeric.words import words_value

_DIGITS_MAX: Final = 1_000
_EXPONENT_MAX: Final = 400
_ASCII_DECIMAL = lazy_pattern(r"[+-]?\d{1,40}(?:\.\d{1,40})?", re.ASCII)

_PLAIN_MONEY = lazy_pattern(r"\$?(?:[1-9]\d{0,2}(?:,\d{3}){1,9}|\d{1,40})(?:\.\d{1,40})?", re.ASCII)
"""What most numbers of answers are that are no bare digits: ``$18``, ``1,200``, ``$1,200.50``."""

_OTHER_MINUS: Final = "−–－﹣‐‑"
CURRENCIES: Final = "$€£¥₹₩₽₺₫₴₪₱฿￥"
"""Signs that may stand before or after a number."""
_CODES: Final = r"(?:US|R|A|C|NZ|HK|S)?\\?\$|USD|EUR|GBP|INR|JPY|CNY|RMB|CHF|Rs\.?|kr\.?"
_CODE_BEFORE = lazy_pattern(rf"(?P<sign>[+-]?)(?:{_CODES})\s?(?=[+-]?[\d.])")
_CODE_BEHIND = lazy_pattern(rf"(?<=\d)\s?(?:{_CODES})\Z")
_NOISE = lazy_pattern(
    rf"""
    [{CURRENCIES}]
    | (?<!\d)\s+ | \s+(?!\d)       # spaces other than between two digits: "5 / 8", but not "2 1/2"
    """,
    re.VERBOSE,
)
_GROUP_MARK = lazy_pattern(r"(?<=\d)(?:[\s’ʼ＇٬]|\\[,!;: ])(?=\d{3}(?!\d))")
"""A space or an apostrophe between groups of three digits."""
_BRACED_COMMA = lazy_pattern(r"\s?\{\s?,\s?\}(?:\\!)?\s?")
_AND_A_FRACTION = lazy_pattern(r"(?<=\d)\sand(?=\s\d{1,3}/\d{1,3}\Z)")
"""In "1 and 1/2"."""
_OTHER_COMMA = str.maketrans("，﹐٫．", ",,..")
_GROUPING_UNDERSCORE = lazy_pattern(r"(?<=\d)_(?=\d{3})")
_SEPARATED = lazy_pattern(r"(?P<sign>[+-]*)(?P<digits>\d+(?:[.,']\d+)+)(?![.,'\d])")
_FRACTION = lazy_pattern(r"([+-]?)(\d{1,400})/(\d{1,400})")
_LATEX = lazy_pattern(r"([+-]?)\\[dt]?frac(?:\{([+-]?\d+)\}\{(\d+)\}|(\d)(\d))")
_MIXED = lazy_pattern(r"(?P<whole>[+-]?\d{1,400})(?:\s+(?P<part>\d{1,400}/\d{1,400})|(?P<latex>\\[dt]?frac.{2,20}))")
AND_A_PART: Final = r"(?:[ ]|-)and[ -](?:a|one)[ -](?:half|third|quarter)"
"""A part in words after digits: "2 and a half"."""
_WITH_PART = lazy_pattern(rf"(?P<whole>.*\d){AND_A_PART}(?P<scale>\s+\w+)?", re.IGNORECASE)
_PARTS: Final = {"half": 2, "third": 3, "quarter": 4}
_SCALE_WORDS: Final = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "lakh": 10**5,
    "lakhs": 10**5,
    "crore": 10**7,
    "crores": 10**7,
    "tausend": 10**3,
    "millionen": 10**6,
    "mio.": 10**6,
    "mio": 10**6,
    "milliarde": 10**9,
    "milliarden": 10**9,
    "mrd.": 10**9,
    "mrd": 10**9,
    "mille": 10**3,
    "millions": 10**6,
    "milliard": 10**9,
    "milliards": 10**9,
    "mil": 10**3,
    "millón": 10**6,
    "millones": 10**6,
    "mila": 10**3,
    "milione": 10**6,
    "milioni": 10**6,
    "miliardo": 10**9,
    "miliardi": 10**9,
    "milhão": 10**6,
    "milhões": 10**6,
    "bilhão": 10**9,
    "bilhões": 10**9,
    "тысяча": 10**3,
    "тысячи": 10**3,
    "тысяч": 10**3,
    "тыс.": 10**3,
    "миллион": 10**6,
    "миллиона": 10**6,
    "миллионов": 10**6,
    "млн": 10**6,
    "миллиард": 10**9,
    "миллиарда": 10**9,
    "миллиардов": 10**9,
    "млрд": 10**9,
    "千": 10**3,
    "万": 10**4,
    "萬": 10**4,
    "億": 10**8,
    "亿": 10**8,
    "百万": 10**6,
    "千万": 10**7,
    "만": 10**4,
    "হাজার": 10**3,
    "লাখ": 10**5,
    "লক্ষ": 10**5,
    "কোটি": 10**7,
    "हजार": 10**3,
    "लाख": 10**5,
    "หมื่น": 10**4,
    "แสน": 10**5,
    "ล้าน": 10**6,
}
MIXED_SCALES: Final = (
    r"(?: \d+[億亿] (?:\d+[万萬])? (?:\d+千)? | \d+[万萬] \d+千 (?:\d+百)? | \d+[万萬億亿] \d{4} (?!\d) | \d+千 \d+百 )"
)
"""Digits with several of the scales of East Asia, as a verbose regular expression: ``3万5千``."""
_MIXED_SCALES = lazy_pattern(MIXED_SCALES, re.VERBOSE)
_SCALED_PART = lazy_pattern(r"(\d+)([億亿万萬千百]?)")
SCALES: Final = "|".join(re.escape(word) for word in sorted(_SCALE_WORDS, key=len, reverse=True))
"""The words after digits that multiply them, as a regular expression."""
_GLUED_SCALES: Final = {
    "k": "thousand",
    "K": "thousand",
    "M": "million",
    "mn": "million",
    "B": "billion",
    "bn": "billion",
}
_GLUED_SCALE = lazy_pattern(r"(?<=\d)(?:k|K|M|mn|B|bn)\Z")
"""Only without a space: ``300 K`` is a temperature."""
_SCALED = lazy_pattern(
    rf"(?P<base>.+?)(?:(?:[×·*x]|\\times|\\cdot)10(?P<power>\D.*)|(?P<word>{SCALES}))", re.IGNORECASE
)
_DIGIT = lazy_pattern(r"\d")
_SENTENCE = lazy_pattern(r"[^\W\d_]{3,}\s+[^\W\d_]{3,}|\n")
_SENTENCE_CHARACTERS_MIN: Final = 80
"""A shorter text is read whole; that costs less than to see that it is none."""
_CARET = lazy_pattern(r"(?P<base>.+?)\^\{?(?P<exponent>[+-]?\d{1,4})\}?")
_SIGN_WORD = lazy_pattern(
    r"(?:(?:minus|negative|moins|menos|meno|минус)\s+|(?:マイナス|负|負|ناقص\s|سالب\s)\s*)(?=[^\w\s]?\d)", re.IGNORECASE
)

_MINUS_SIGNS: Final = "-−﹣－‐‑负負"
_PLUS_SIGNS: Final = "+＋﹢正"
_SPACES: Final = "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f\u3000'’ʼ＇"
_COMMAS: Final = "，﹐、٬"
_POINTS: Final = "٫．"
_SUPERSCRIPTS: Final = {**{mark: str(digit) for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "-", "⁺": "+"}
_SUPERSCRIPT_TAIL = lazy_pattern(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})\Z")
_GROUPING_SPACE = lazy_pattern(r"(?<=\d) (?=\d{3}(?!\d))")
_DECIMAL_COMMA = lazy_pattern(r"\d*,\d{1,3}")
_DECIMAL = lazy_pattern(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d{1,4}))?", re.ASCII)
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


def parse_number(
    text: str, *, numeral_only: bool = False, decimal_mark: Mark | None = None, words: bool = True
) -> Fraction | None:
    """Return the exact value of a text that is one number, or None.

    Understood are thousands marks (``1,234``, ``1.000.000``, ``1'234.50``, ``1,23,456``), a currency sign, a trailing
    full stop or percent sign, Markdown emphasis, signs of every kind ("minus 7" too), fractions (``1/2``,
    ``\\\\frac{1}{2}``, ``½``, ``2½``), powers (``10^3``, ``3²``, ``1.5 × 10^3``, ``1e3``), ``million`` and its like in
    seven languages, ``5k`` and ``3.2M``, digits of any script, Chinese numerals and numbers in words. Infinities, NaN,
    factorials, roots, times and numbers of over 1,000 digits are not numbers.

    Args:
        numeral_only: Read a bare numeral as Inspect's ``match`` does: no currency, percent sign, emphasis, LaTeX,
            fraction bar, ``^`` or ``million``, and a lone comma before one to three digits is the decimal mark.
            Callers remove thousands commas first.
        decimal_mark: The language's, where it is known: with a comma ``12,5`` is 12.5 and ``1.234`` is 1234; without,
            ``12,5`` is no number and ``1.234`` is less than two.
        words: Read numbers in words.

    >>> [str(parse_number(text)) for text in ("$1,234.50", "1/2", "\\\\dfrac12", "1.5 × 10^3", "1,2")]
    ['2469/2', '1/2', '1/2', '1500', 'None']
    >>> [str(parse_number(text)) for text in ("−7", "2½", "１２３", "三百", "3²", "Ⅻ", "twelve")]
    ['-7', '5/2', '123', '300', '9', '12', '12']
    >>> [str(parse_number(text, decimal_mark=",")) for text in ("12,5", "1.234", "1.234,5", "0.5")]
    ['25/2', '1234', '2469/2', '1/2']
    >>> [str(parse_number(text, numeral_only=True)) for text in ("1,2", "1.234,5", "$5", "1/2")]
    ['6/5', '2469/2', 'None', 'None']
    """
    if decimal_mark != "," and _ASCII_DECIMAL.fullmatch(text):
        return Fraction(text)
    if not numeral_only and decimal_mark != "," and _PLAIN_MONEY.fullmatch(text):
        return Fraction(text.lstrip("$").replace(",", ""))
    return _numeral(text) if numeral_only else _written(text, decimal_mark, words)


def _written(text: str, mark: Mark | None, words: bool) -> Fraction | None:
    """Return the value of a number with the marks that surround it in an answer."""
    if len(text) > 2 * _DIGITS_MAX:
        return None
    plain = text.strip().strip("*_`").strip()
    if " and" in plain and (with_part := _WITH_PART.fullmatch(plain)) is not None:
        return _with_part(with_part, mark)
    plain = _AND_A_FRACTION.sub("", plain)
    if len(plain) > _SENTENCE_CHARACTERS_MIN and _SENTENCE.search(plain):
        return None
    if words and plain[:1].isalpha() and (found := words_value(plain)) is not None:
        return found
    if plain.isascii():
        if not _DIGIT.search(plain):
            return None
    else:
        plain = "".join(map(_ascii_digit, plain)).translate(_OTHER_COMMA)
    for minus in _OTHER_MINUS:
        plain = plain.replace(minus, "-")
    plain = _SIGN_WORD.sub("-", plain, count=1)
    plain = _BRACED_COMMA.sub(",", plain).replace(",\\!", "'").replace("\\$", "").replace("\\!", "")
    plain = _CODE_BEHIND.sub("", _CODE_BEFORE.sub(r"\g<sign>", _GROUP_MARK.sub("'", plain)))
    plain = _GLUED_SCALE.sub(lambda letter: _GLUED_SCALES[letter[0]], plain)
    plain = _NOISE.sub("", plain)
    plain = plain.rstrip("%").rstrip(".").rstrip("%").rstrip("\\")  # "50%.", "50.%" and "50\%"
    plain = _GROUPING_UNDERSCORE.sub("", plain)
    if len(plain) > _DIGITS_MAX:
        return None
    separated = _SEPARATED.match(plain)
    if separated:
        digits = _separated(separated["digits"], mark)
        if digits is None:
            return None
        plain = f"{separated['sign']}{digits}{plain[separated.end() :]}"
    return _value(plain)


def _with_part(found: re.Match[str], mark: Mark | None) -> Fraction | None:
    """Return the value of digits with a part in words: "2 and a half"."""
    whole, scale = _written(found["whole"], mark, words=False), (found["scale"] or "").strip().lower()
    if whole is None or (scale and scale not in _SCALE_WORDS):
        return None
    part = next(Fraction(1, under) for word, under in _PARTS.items() if word in found[0][found.end("whole") :].lower())
    return (whole - part if found["whole"].startswith(("-", "−")) else whole + part) * _SCALE_WORDS.get(scale, 1)


def _separated(text: str, mark: Mark | None) -> str | None:
    """Return digits with marks between them as a plain decimal, or None where they are no single number.

    Several equal marks group; of two kinds the one after parts the decimals. A lone point parts decimals, a lone comma
    before three digits groups them, and the other way round where the language's decimal mark is the comma.
    """
    digits, marks = re.split("[.,']", text), re.findall("[.,']", text)
    kinds, last = set(marks), marks[-1]
    if len(kinds) == 1:
        grouped = "".join(digits) if _are_groups(digits, last) else None
        if len(marks) > 1 or last == "'":
            return grouped
        is_decimal = last == mark or (last == "." and (mark is None or grouped is None))
        return ".".join(digits) if is_decimal else grouped
    if len(kinds) == 2 and last != "'" and marks.count(last) == 1 and _are_groups(digits[:-1], marks[0]):  # noqa: PLR2004
        return f"{''.join(digits[:-1])}.{digits[-1]}"
    return None


def _are_groups(digits: list[str], mark: str) -> bool:
    """Return whether digits are grouped by thousands, or, with commas, as in India: ``1,23,456``."""
    first, *rest = (len(group) for group in digits)
    if digits[0].startswith("0") or rest[-1] != 3:  # noqa: PLR2004 - groups of three
        return False
    western = first <= 3 and all(length == 3 for length in rest)  # noqa: PLR2004
    return western or (mark == "," and first <= 2 and all(length == 2 for length in rest[:-1]))  # noqa: PLR2004


def _ascii_digit(character: str) -> str:
    digit = None if character.isascii() else unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _value(plain: str) -> Fraction | None:
    """Return the value of a number without spaces, currency signs and thousands marks."""
    if not plain.isascii() and _MIXED_SCALES.fullmatch(plain):
        parts = _SCALED_PART.findall(plain)
        return Fraction(
            sum(int(digits) * {"百": 100, "": 1}.get(unit, _SCALE_WORDS.get(unit, 1)) for digits, unit in parts)
        )
    fraction = _FRACTION.fullmatch(plain) or _LATEX.fullmatch(plain)
    if fraction:
        sign, *parts = (part for part in fraction.groups() if part is not None)
        over, under = int(parts[0]), int(parts[1])
        return None if under == 0 else Fraction(over, under) * (-1 if sign == "-" else 1)
    mixed = _MIXED.fullmatch(plain)
    if mixed:
        whole, part = _value(mixed["whole"]), _value(mixed["part"] or mixed["latex"])
        if whole is None or part is None:
            return None
        return whole - part if mixed["whole"].startswith("-") else whole + part  # -2 1/2 is -2.5, not -1.5
    may_scale = plain[-1:].isalpha() or plain[-1:] in (".", "ি") or "10" in plain
    scaled = _SCALED.fullmatch(plain) if may_scale else None
    if scaled and _DIGIT.search(scaled["base"]):
        base = _value(scaled["base"])
        factor = _SCALE_WORDS[scaled["word"].lower()] if scaled["word"] else _value(f"10{scaled['power']}")
        return None if base is None or factor is None else base * factor
    caret = _CARET.fullmatch(plain)
    if caret:
        return _power(_value(caret["base"]), int(caret["exponent"]))
    return None if "," in plain else _numeral(plain)


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
