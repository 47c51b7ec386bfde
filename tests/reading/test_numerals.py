"""What a number is worth, however it is written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from nel.reading.numerals import parse_number

NUMBERS = {
    "$1,450,000": 1_450_000,  # the forms in which GSM8K outputs write money
    "$1,260.00": 1_260,
    "28,00 $": 28,  # two digits after a comma group no thousands, and amounts have two decimals
    "$434,50": Fraction(869, 2),
    "1,23,456": 123_456,
    "1'234.50": Fraction(2469, 2),
    "1/2": Fraction(1, 2),
    r"\dfrac12": Fraction(1, 2),
    "½": Fraction(1, 2),
    "2 1/2": Fraction(5, 2),
    "2½": Fraction(5, 2),
    "-2 1/2": Fraction(-5, 2),
    "1.5 × 10^3": 1_500,
    "1.5e3": 1_500,
    "4 million": 4_000_000,
    "400万": 4_000_000,
    "5k": 5_000,
    "56.87%": Fraction(5687, 100),  # the share is stated as a number of per cent, and not divided
}


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_what_a_number_is_worth(text: str, number: Fraction) -> None:
    """Thousands, currencies, fractions, powers and scales, exactly."""
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["1,2", "12,5", "1/0", "0^-1", "10^9999", "1e9999"])
def test_what_is_no_number(text: str) -> None:
    """A comma may part two numbers; a quotient without a value and one that no memory holds are none."""
    assert parse_number(text) is None


def test_a_decimal_comma_is_that_of_the_language() -> None:
    """With it a point groups thousands."""
    assert parse_number("12,5", decimal_mark=",") == Fraction(25, 2)
    assert parse_number("1.234", decimal_mark=",") == 1_234


def test_a_bare_numeral_is_read_as_inspect_does() -> None:
    """No currency and no fraction bar."""
    assert parse_number("1.2", numeral_only=True) == Fraction(6, 5)
    assert parse_number("$5", numeral_only=True) is None
