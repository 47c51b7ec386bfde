"""Compares what a program printed with what it was to print.

A float holds 15 digits and ends at 1.8e308. Numbers beyond it are compared as decimals, or ``1e400`` would equal every
other number of that size, and infinity too.
"""

from __future__ import annotations

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from itertools import zip_longest
from typing import Final, Literal

Rule = Literal["lines", "exact", "tokens", "floats"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_NO_NUMBER = re.compile(r"[+-]?nan", re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_NUMBER_CHARACTERS_MAX: Final = 4_000
"""A longer token is compared as text."""
_DECIMALS = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_SHOWN_CHARACTERS_MAX: Final = 40


def outputs_equal(actual: str, expected: str, *, rule: Rule = "lines", tolerance: float = 1e-6) -> bool:
    """Return whether a program's output is the expected one.

    Args:
        rule: ``lines``: whitespace at the end of a line, empty lines at the end and the kind of line end do not matter.
            ``exact``: every character counts. ``tokens``: any whitespace separates, and the amount does not matter.
            ``floats``: as ``tokens``, but two numbers are equal within the tolerance. Letters count in every rule.
        tolerance: The difference, absolute or as a share of the expected number, that still counts as equal.

    >>> outputs_equal("5 6 \\r\\n7\\n\\n", "5 6\\n7"), outputs_equal("5  6", "5 6")
    (True, False)
    >>> outputs_equal("5  6", "5\\n6", rule="tokens"), outputs_equal("5 6\\n", "5 6", rule="exact")
    (True, False)
    >>> outputs_equal("0.33333333 yes", "0.333333333333 yes", rule="floats"), outputs_equal("nan", "nan", rule="floats")
    (True, False)
    """
    if rule == "exact":
        return actual == expected
    if rule == "lines":
        return _lines(actual) == _lines(expected)
    given, wanted = actual.split(), expected.split()
    if rule == "tokens":
        return given == wanted
    return len(given) == len(wanted) and all(
        _same_token(left, right, tolerance) for left, right in zip(given, wanted, strict=True)
    )


def first_difference(actual: str, expected: str) -> str:
    """Return one short line that says where a program's output first differs from the expected one.

    Lines count from 1. Long lines are shown from shortly before the place; characters that a terminal would act on are
    shown as escapes.

    >>> first_difference("1\\n2\\n5 7\\n", "1\\n2\\n5 6\\n")
    'line 3: expected "5 6", got "5 7"'
    >>> first_difference("1\\n", "1\\n2\\n"), first_difference("1\\n2\\n", "1\\n")
    ('line 2: expected "2", got the end', 'line 2: expected the end, got "2"')
    """
    for read in (_lines, _raw_lines):
        for number, (given, wanted) in enumerate(zip_longest(read(actual), read(expected)), start=1):
            if given != wanted:
                shown = _shown(wanted, given), _shown(given, wanted)
                return f"line {number}: expected {shown[0]}, got {shown[1]}"
    return "no difference"


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _raw_lines(text: str) -> list[str]:
    return text.split("\n")


def _shown(line: str | None, other: str | None) -> str:
    """Return a line, or None as the end of the output, quoted and cut around its first difference from another."""
    if line is None:
        return "the end"
    start = 0
    if other is not None and max(len(line), len(other)) > _SHOWN_CHARACTERS_MAX:
        pairs = enumerate(zip(line, other, strict=False))
        same = next((at for at, (a, b) in pairs if a != b), min(len(line), len(other)))
        start = max(0, same - _SHOWN_CHARACTERS_MAX // 2)
    part = line[start : start + _SHOWN_CHARACTERS_MAX]
    plain = "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in part)
    before = "…" if start else ""
    after = "…" if start + _SHOWN_CHARACTERS_MAX < len(line) else ""
    return f'{before}"{plain}"{after}'


def _same_token(given: str, wanted: str, tolerance: float) -> bool:
    if given == wanted:
        return _NO_NUMBER.fullmatch(given) is None
    if max(len(given), len(wanted)) > _NUMBER_CHARACTERS_MAX:
        return False
    if _NUMBER.fullmatch(given) and _NUMBER.fullmatch(wanted):
        left, right = float(given), float(wanted)
        if math.isfinite(left) and math.isfinite(right):
            return abs(left - right) <= max(tolerance, tolerance * abs(right))
        return _same_decimal(given, wanted, tolerance)
    if _INFINITY.fullmatch(given) and _INFINITY.fullmatch(wanted):
        return given.startswith("-") == wanted.startswith("-")
    return False


def _same_decimal(given: str, wanted: str, tolerance: float) -> bool:
    """Return whether two numbers, of which a float cannot hold both, are equal within the tolerance."""
    left, right = _DECIMALS.create_decimal(given), _DECIMALS.create_decimal(wanted)
    if not (left.is_finite() and right.is_finite()):
        return False
    room = _DECIMALS.multiply(_DECIMALS.create_decimal(repr(tolerance)), max(right.copy_abs(), Decimal(1)))
    return _DECIMALS.abs(_DECIMALS.subtract(left, right)) <= room
