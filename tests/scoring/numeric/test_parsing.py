"""Numbers of every script are read exactly, and what is no number is none."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.scoring.numeric.parsing import parse_number
from tests.support.tiers import ENDS

numeral = partial(parse_number, numeral_only=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("42", 42),
        (" 42\n", 42),
        ("007", 7),
        ("4.", 4),
        (".5", Fraction(1, 2)),
        ("0.1", Fraction(1, 10)),
        ("1e3", 1000),
        ("1E-3", Fraction(1, 1000)),
        ("1e+3", 1000),
        ("1e400", 10**400),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0.1000000000000000000001", Fraction("0.1000000000000000000001")),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_plain_numbers_are_exact(text: str, value: Fraction | int) -> None:
    """Integers, decimals and exponents keep every digit."""
    assert numeral(text) == value


@pytest.mark.parametrize("minus", ["-", "−", "﹣", "－", "负", "負"])
def test_every_minus_negates(minus: str) -> None:
    """Each character that means minus negates, a pair of them does not."""
    assert numeral(f"{minus}7") == -7
    assert numeral(f"{minus}{minus}7") == 7
    assert numeral(f"{minus} 7") == -7


@pytest.mark.parametrize("plus", ["+", "＋", "﹢", "正"])
def test_every_plus_is_skipped(plus: str) -> None:
    """Each character that means plus changes nothing, also beside a minus."""
    assert numeral(f"{plus}7") == 7
    assert numeral(f"{plus}-7") == -7


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("½", Fraction(1, 2)),
        ("⅓", Fraction(1, 3)),
        ("⅞", Fraction(7, 8)),
        ("⅑", Fraction(1, 9)),
        ("2½", Fraction(5, 2)),
        ("2 ½", Fraction(5, 2)),
        ("-2½", Fraction(-5, 2)),
        ("十二⅓", 12 + Fraction(1, 3)),
        ("Ⅻ", 12),
        ("ⅻ", 12),
        ("Ⅿ", 1000),
        ("①", 1),
    ],
)
def test_numeric_symbols(text: str, value: Fraction | int) -> None:
    """A vulgar fraction stands alone or after a whole number; Roman and circled numbers are single characters."""
    assert numeral(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3²", 9),
        ("2¹⁰", 1024),
        ("−2²", 4),
        ("−2³", -8),
        ("1.5⁻³", Fraction(8, 27)),
        ("10⁻²", Fraction(1, 100)),
        ("10⁺²", 100),
        ("7⁰", 1),
        ("7¹", 7),
        ("0²", 0),
    ],
)
def test_superscripts_are_exponents_and_a_sign_binds_before_them(text: str, value: Fraction | int) -> None:
    """A tail of superscripts is a power, and −2² is 4, as Inspect has it."""
    assert numeral(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三百", 300),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("二十五", 25),
        ("一百零五", 105),
        ("一千零一", 1001),
        ("两千", 2000),
        ("一万", 10_000),
        ("三万二千", 32_000),
        ("十万", 100_000),
        ("一百二十三万四千五百六十七", 1_234_567),
        ("一亿", 10**8),
        ("一億二千万", 120_000_000),
        ("一兆", 10**12),
        ("一亿零一", 100_000_001),
        ("三億五千万", 350_000_000),
        ("万亿", 10**12),
        ("一万亿", 10**12),
        ("廿", 20),
        ("廿一", 21),
        ("卅", 30),
        ("卌二", 42),
        ("二〇二五", 2025),
        ("壹佰贰拾叁", 123),
        ("零", 0),
        ("〇", 0),
        ("三点一四", Fraction(157, 50)),
        ("零點五", Fraction(1, 2)),
        ("负三", -3),
        ("負二十", -20),
    ],
)
def test_chinese_numerals(text: str, value: Fraction | int) -> None:
    """Digits, financial forms, units up to 兆, strings of digits, decimals and signs."""
    assert numeral(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("１２３", 123),
        ("٣٤", 34),
        ("۳۴", 34),
        ("४२", 42),
        ("๔๒", 42),
        ("𝟒𝟐", 42),
        ("٣٫٥", Fraction(7, 2)),
        ("１．５", Fraction(3, 2)),
        ("１，２３４，５６７", 1_234_567),
        ("١٬٢٣٤٬٥٦٧", 1_234_567),
    ],
)
def test_digits_of_other_scripts(text: str, value: Fraction | int) -> None:
    """Decimal digits of any script count, with their own separators and decimal marks."""
    assert numeral(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 000", 3000),
        ("3\u00a0000", 3000),
        ("3\u202f000", 3000),
        ("3\u2009000", 3000),
        ("3\u2007000", 3000),
        ("3'000", 3000),
        ("3’000", 3000),
        ("1,234.5", Fraction(2469, 2)),
        ("1.234,5", Fraction(2469, 2)),
        ("1.234.567,5", Fraction(2469135, 2)),
        ("1,234,567", 1_234_567),
        ("1,234,567.5", Fraction(2469135, 2)),
        ("1,5", Fraction(3, 2)),
        ("0,25", Fraction(1, 4)),
    ],
)
def test_separators(text: str, value: Fraction | int) -> None:
    """Grouping vanishes, and of a point and a comma the later one is the decimal mark."""
    assert numeral(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-",
        "+",
        "−−",
        "twelve",
        "1/2",
        "0x1F",
        "0b1",
        "1_000",
        "12a",
        "a12",
        "1e",
        "e5",
        "1e5.5",
        ".",
        ",",
        "1.2.3",
        "1..2",
        "inf",
        "-inf",
        "Infinity",
        "nan",
        "∞",
        "x=42",
        "\\boxed{42}",
        "60%",
        "$5",
        "½½",
        "½2",
        "1½½",
        "三点",
        "点五点",
        "三a",
        "百x",
        "⁻²",
        "0⁻¹",
        "5²½",
        "1e401",
        "1e99999",
        "1e-99999",
        "10⁹⁹⁹⁹",
        "\u200b",
        "\ud800",
        "1\ud800",
        "\x00",
        "🙂",
        "4️⃣",
        "١٢a",
        "-½-",
        "--",
        "5-",
        "1 - 2",
    ],
)
def test_what_is_no_number_is_none(text: str) -> None:
    """Words, fractions, other bases, infinities, NaN, half numbers and stray characters are not numbers."""
    assert numeral(text) is None


@pytest.mark.parametrize("text", ["一二三四五六七八九十", "三四百", "九九十"])
def test_a_digit_before_a_digit_and_a_unit_is_no_number(text: str) -> None:
    """A string of digits that ends in a unit is no numeral."""
    assert numeral(text) is None


@pytest.mark.parametrize("text", ["万二千", "亿万", "万万"])
def test_a_large_unit_without_a_digit_before_it_is_not_zero(text: str) -> None:
    """万 at the start is ten thousand or makes no numeral, but never vanishes."""
    read = {"万二千": 12_000, "亿万": 10**12, "万万": 10**8}
    assert numeral(text) in {None, read[text]}


@pytest.mark.parametrize(("text", "value"), [("1234.50", Fraction(2469, 2)), ("-0", 0), ("-0.0", 0), ("1.0", 1)])
def test_equal_values_are_equal_however_written(text: str, value: Fraction | int) -> None:
    """Trailing zeros and the sign of zero make no difference."""
    assert numeral(text) == value


@given(st.integers(min_value=-(10**40), max_value=10**40))
def test_every_integer_comes_back(number: int) -> None:
    """An integer written in ASCII, with grouping commas or in full-width digits is itself."""
    wide = str(number).translate({ord(digit): chr(ord(digit) + 0xFEE0) for digit in "0123456789"})
    assert numeral(str(number)) == number
    assert numeral(wide) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**9), max_value=10**9))
def test_every_decimal_comes_back(number: object) -> None:
    """A decimal of twelve places is exactly itself."""
    assert numeral(f"{number:f}") == Fraction(f"{number:f}")


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    """Any text gives a fraction or None."""
    found = numeral(text)
    assert found is None or isinstance(found, Fraction | int)


@given(st.text(alphabet="0123456789.,eE+-−½²³⁻十百千万亿〇一二点负 '", max_size=30))
def test_no_text_of_number_characters_raises(text: str) -> None:
    """Any mixture of the marks of numbers gives a fraction or None."""
    found = numeral(text)
    assert found is None or isinstance(found, Fraction | int)


@ENDS
@pytest.mark.parametrize("filler", ["9", "½", "²", "-", "万", "兆", "一", "1 ", "1,", "十½"])
def test_a_megabyte_of_marks_is_no_number_at_once(filler: str) -> None:
    """A text of a million marks is refused without being read."""
    assert numeral(filler * (1_000_000 // len(filler))) is None


@ENDS
@pytest.mark.parametrize(
    "text", ["9" * 999, "0." + "9" * 900, "兆" * 999, "亿" * 999, "九" * 999, "9" * 900 + "³⁰⁰", "9" * 900 + "e400"]
)
def test_the_longest_numbers_are_read_or_refused(text: str) -> None:
    """Numbers just below the limit of characters have a value of less than a million bits, or none."""
    found = numeral(text)
    assert found is None or found.numerator.bit_length() < 1_000_000
