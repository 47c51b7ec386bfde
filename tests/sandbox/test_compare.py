"""Outputs are compared by four rules, and their first difference is named in one line."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nel.sandbox.verdict.compare
from nel.sandbox.verdict.compare import Rule, first_difference, outputs_equal
from tests.support.tiers import ENDS, diagonal

RULES: tuple[Rule, ...] = ("lines", "exact", "tokens", "floats")


def test_examples() -> None:
    """Each example in the docstrings gives what it says."""
    assert doctest.testmod(nel.sandbox.verdict.compare).failed == 0


@pytest.mark.parametrize(
    ("actual", "expected", "rules"),
    [
        ("1 2\n", "1 2\n", "lines exact tokens floats"),
        ("1 2", "1 2\n", "lines tokens floats"),
        ("1 2  \n3\t\n", "1 2\n3\n", "lines tokens floats"),
        ("1\r\n2\r\n", "1\n2\n", "lines tokens floats"),
        ("1  2", "1 2", "tokens floats"),
        ("1\n2", "1 2", "tokens floats"),
        ("\n1", "1", "tokens floats"),
        ("1.0", "1", "floats"),
        ("1e3", "1000", "floats"),
        ("0.3333333", "0.33333333333", "floats"),
        ("1.1", "1", ""),
        ("", "", "lines exact tokens floats"),
        ("", "1", ""),
        ("YES", "yes", ""),
        ("nan", "nan", "lines exact tokens"),
        ("NaN", "nan", ""),
        ("inf", "inf", "lines exact tokens floats"),
        ("1e400", "1e400", "lines exact tokens floats"),
        ("1e-400", "0", "floats"),
        ("9" * 400, "9" * 399 + "8", ""),
        ("0x10", "0x10", "lines exact tokens floats"),
        ("1,000", "1000", ""),
    ],
)
def test_what_each_rule_holds_equal(actual: str, expected: str, rules: str) -> None:
    """Each pair is equal by just the rules named."""
    assert [rule for rule in RULES if outputs_equal(actual, expected, rule=rule)] == rules.split()


def test_the_tolerance_is_of_the_expected_number() -> None:
    """It is absolute below one, and a share of the expected number above."""
    assert outputs_equal("1000001", "1000000", rule="floats")
    assert not outputs_equal("1000000", "999998.9", rule="floats")
    assert outputs_equal("0.0000011", "0.0000002", rule="floats")


@given(st.text(max_size=200))
def test_an_output_equals_itself(text: str) -> None:
    """By every rule; as floats, unless a token is not a number by name."""
    numbers = [token for token in text.split() if token.lower().lstrip("+-") == "nan"]
    assert [rule for rule in RULES if outputs_equal(text, text, rule=rule)] == [*RULES][: 3 if numbers else 4]


@given(st.lists(st.floats(allow_nan=False), max_size=20))
def test_numbers_survive_their_formats(numbers: list[float]) -> None:
    """A number equals its own other notations."""
    plain = " ".join(repr(number) for number in numbers)
    other = "\n".join(f"{number:.17e}" for number in numbers)
    assert outputs_equal(other, plain, rule="floats")


@given(st.floats(), st.floats())
def test_the_tolerance_is_that_of_arithmetic(left: float, right: float) -> None:
    """Two floats are equal if and only if their difference is within the tolerance."""
    close = left == right or (math.isfinite(left) and abs(left - right) <= 1e-6 * max(1, abs(right)))
    close = close and math.isfinite(left) == math.isfinite(right)
    assert outputs_equal(repr(left), repr(right), rule="floats") == close


@given(st.text(alphabet="a1.e-\n\r \t", max_size=30), st.text(alphabet="a1.e-\n\r \t", max_size=30))
def test_each_rule_holds_more_equal_than_the_one_before(actual: str, expected: str) -> None:
    """What is exactly equal is equal by lines, what that is by tokens, and what that is as floats."""
    equal = [outputs_equal(actual, expected, rule=rule) for rule in ("exact", "lines", "tokens", "floats")]  # type: ignore[arg-type]
    assert equal == sorted(equal)


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        ("1\n2\n5 7", "1\n2\n5 6", 'line 3: expected "5 6", got "5 7"'),
        ("", "1", 'line 1: expected "1", got the end'),
        ("1\n\n2", "1\n2", 'line 2: expected "2", got ""'),
        ("5\r\n", "5\n", 'line 1: expected "5", got "5\\r"'),
        ("5", "5", "no difference"),
        ("\x1b[31mred", "red", 'line 1: expected "red", got "\\x1b[31mred"'),
        ("x" * 60 + "a", "x" * 60 + "b", f'line 1: expected …"{"x" * 20}b", got …"{"x" * 20}a"'),
    ],
)
def test_the_first_difference_is_named(actual: str, expected: str, told: str) -> None:
    """With the line's number, both texts around the place, and nothing a terminal would act on."""
    assert first_difference(actual, expected) == told


@given(st.text(), st.text())
def test_a_difference_is_one_short_line(actual: str, expected: str) -> None:
    """Whatever the outputs are; and there is one if and only if they are not exactly equal."""
    told = first_difference(actual, expected)
    assert told.isprintable()
    assert len(told) < 1000
    assert (told == "no difference") == (actual == expected)


UNITS = ["1 ", "1\n", "\n", " ", "1" * 3_999 + "x ", "nan ", "1e400 ", "x"]


@ENDS
@pytest.mark.parametrize(
    ("rule", "unit"), diagonal({rule: rule for rule in RULES}, {repr(unit[:9]): unit for unit in UNITS})
)
def test_two_megabytes_are_compared(rule: Rule, unit: str) -> None:
    """A second or two by every rule, whatever the output repeats; work that grows with its square would take hours."""
    output = unit * (2_000_000 // len(unit))
    assert not outputs_equal(output + "1.5", output + "1.25", rule=rule)
    assert first_difference(output + "1", output + "2") != "no difference"
