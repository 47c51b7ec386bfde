"""What a number is worth, however it is written."""

from __future__ import annotations

from fractions import Fraction

from nel.reading.numerals import parse_number


def test_thousands_marks_and_currency_are_understood() -> None:
    """The forms in which GSM8K outputs write money."""
    assert parse_number("$1,450,000") == 1_450_000
    assert parse_number("$1,260.00") == 1_260


def test_a_comma_that_groups_no_thousands_is_no_number() -> None:
    """1,2 may be two numbers."""
    assert parse_number("1,2") is None


def test_indian_and_swiss_grouping_are_understood() -> None:
    """Digits are grouped by two, or with an apostrophe."""
    assert parse_number("1,23,456") == 123_456
    assert parse_number("1'234.50") == Fraction(2469, 2)


def test_a_decimal_comma_is_that_of_the_language() -> None:
    """Without a language 12,5 is not a number."""
    assert parse_number("12,5", decimal_mark=",") == Fraction(25, 2)
    assert parse_number("1.234", decimal_mark=",") == 1_234
    assert parse_number("12,5") is None


def test_two_digits_after_a_comma_are_cents() -> None:
    """They group no thousands, and amounts have two decimals."""
    assert parse_number("28,00 $") == 28
    assert parse_number("$434,50") == Fraction(869, 2)


def test_fractions_are_exact() -> None:
    """Plain, LaTeX, one character, mixed."""
    assert parse_number("1/2") == parse_number(r"\dfrac12") == parse_number("½") == Fraction(1, 2)
    assert parse_number("2 1/2") == parse_number("2½") == Fraction(5, 2)
    assert parse_number("-2 1/2") == Fraction(-5, 2)


def test_powers_and_scales_multiply() -> None:
    """A factor after the digits counts."""
    assert parse_number("1.5 × 10^3") == parse_number("1.5e3") == 1_500
    assert parse_number("4 million") == parse_number("400万") == 4_000_000
    assert parse_number("5k") == 5_000


def test_a_percent_sign_is_not_a_division() -> None:
    """The share is stated as a number of percent."""
    assert parse_number("56.87%") == Fraction(5687, 100)


def test_a_zero_denominator_is_no_number() -> None:
    """It raises nothing."""
    assert parse_number("1/0") is None
    assert parse_number("0^-1") is None


def test_a_huge_exponent_is_no_number() -> None:
    """Its value would not fit in memory."""
    assert parse_number("10^9999") is None
    assert parse_number("1e9999") is None


def test_a_bare_numeral_is_read_as_inspect_does() -> None:
    """No currency and no fraction bar."""
    assert parse_number("1.2", numeral_only=True) == Fraction(6, 5)
    assert parse_number("$5", numeral_only=True) is None
