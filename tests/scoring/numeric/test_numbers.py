"""Numbers in text are found and compared exactly."""

from __future__ import annotations

import pytest

from nel.scoring.numeric.numbers import last_number, numbers_equal, numbers_in, numeric_match
from nel.scoring.numeric.parsing import parse_number
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10 100 1000", ["10", "100", "1000"]),
        ("10-5", ["10", "5"]),
        ("it is -5", ["-5"]),
        ("−3 degrees", ["−3"]),
        ("$-5 or -$5.50", ["$-5", "-$5.50"]),
        ("1,234.5", ["1,234.5"]),
        ("3,4", ["3,4"]),
        ("1,2345", ["1,2345"]),
        (".5", [".5"]),
        ("1e3", ["1e3"]),
        ("1.8 x 10^4 and 3 x 10", ["1.8 x 10^4", "3", "10"]),
        ("$29.00.", ["$29.00"]),
        ("72 clips, altogether.", ["72"]),
        ("12.", ["12"]),
        ("50%", ["50"]),
        ("no number", []),
        ("- 5 apples", ["5"]),
    ],
)
def test_numbers_in_text(text: str, found: list[str]) -> None:
    """Signs, separators and currency belong to a number; operators, bullets and full stops do not."""
    assert numbers_in(text) == found


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("10", "100", False),
        ("100", "1000", False),
        ("1,000", "1000", True),
        ("42.0", "42", True),
        ("$29.00", "29", True),
        ("**42**", "42", True),
        ("0.1", ".1", True),
        ("1e3", "1000", True),
        ("1.8 x 10^4", "18000", True),
        ("1.8X10⁴", "18000", True),
        ("0x10", "0", False),
        ("−3", "-3", True),
        ("50%", "50", True),
        ("", "0", False),
        ("none", "0", False),
        ("none", "none", False),
        ("0.30000000000000004", "0.3", False),
        ("٤٢", "42", True),
        ("2 thousand", "2000", True),
        ("1.5 million", "1500000", True),
        ("$3 billion", "3,000,000,000", True),
        ("4 trillion", "4e12", True),
        ("1 billion", "1 million", False),
    ],
)
def test_equality_is_exact(left: str, right: str, equal: bool) -> None:
    """10, 100 and 1000 differ, and what is no number equals nothing."""
    assert numbers_equal(left, right) is equal


def test_no_number_never_equals_a_gold_zero() -> None:
    """A response without a number is not the answer 0."""
    assert numeric_match(ScorerInput(response="no idea", target="0")) == {"correct": False, "extracted": None}


def test_numeric_match_takes_the_last_number() -> None:
    """The last number of a response is its answer."""
    assert numeric_match(ScorerInput(response="20 + 22 = 42", target="42")) == {"correct": True, "extracted": "42"}


def test_huge_numbers_are_refused_quickly() -> None:
    """A number of a million digits is no number, and costs no quadratic time."""
    assert parse_number("9" * 1_000_000) is None
    assert last_number("1," * 100_000) is None
