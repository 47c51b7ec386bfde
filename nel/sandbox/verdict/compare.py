"""Compares what a program printed with what it was to print."""

from __future__ import annotations

import math
import re
from itertools import zip_longest
from os.path import commonprefix
from typing import Final, Literal

Rule = Literal["lines", "exact", "tokens", "floats"]

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_SHOWN_CHARACTERS_MAX: Final = 40
_TOLERANCE: Final = 1e-6


def outputs_equal(actual: str, expected: str, *, rule: Rule = "lines") -> bool:
    """Return whether a program's output is the expected one.

    Args:
        rule: ``lines``: whitespace at the end of a line, empty lines at the end and the kind of
            line end do not matter. ``exact``: every character counts. ``tokens``: any whitespace
            separates. ``floats``: as ``tokens``, with numbers that differ by at most
            a millionth, absolute or as a share of the expected number.

    >>> outputs_equal("5 6 \\r\\n7\\n\\n", "5 6\\n7"), outputs_equal("5  6", "5 6")
    (True, False)
    >>> outputs_equal("5  6", "5\\n6", rule="tokens"), outputs_equal("0.33333333", "0.333333", rule="floats")
    (True, True)
    """
    if rule == "exact":
        return actual == expected
    if rule == "lines":
        return _lines(actual) == _lines(expected)
    actual_tokens, expected_tokens = actual.split(), expected.split()
    if rule == "tokens" or len(actual_tokens) != len(expected_tokens):
        return actual_tokens == expected_tokens
    pairs = zip(actual_tokens, expected_tokens, strict=True)
    return all(_same_token(token, expected_token) for token, expected_token in pairs)


def first_difference(actual: str, expected: str) -> str:
    """Return one short line that says where a program's output first differs from the expected one.

    Characters that a terminal would act on are shown as escapes.

    >>> first_difference("1\\n2\\n5 7\\n", "1\\n2\\n5 6\\n")
    'line 3: expected "5 6", got "5 7"'
    """
    # Where only white space differs, as for the rule "exact", the second way of reading shows it.
    for split_lines in (_lines, lambda text: text.split("\n")):
        pairs = zip_longest(split_lines(actual), split_lines(expected))
        for number, (line, expected_line) in enumerate(pairs, start=1):
            if line != expected_line:
                expected_excerpt = _excerpt(expected_line, line)
                excerpt = _excerpt(line, expected_line)
                return f"line {number}: expected {expected_excerpt}, got {excerpt}"
    return "no difference"


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _excerpt(line: str | None, counterpart: str | None) -> str:
    """Return a line, quoted and cut around its first difference; None is the end."""
    if line is None:
        return "the end"
    counterpart = counterpart or ""
    start = 0
    if max(len(line), len(counterpart)) > _SHOWN_CHARACTERS_MAX:
        prefix = commonprefix((line, counterpart))  # noqa: RUF071 - characters are meant
        start = max(0, len(prefix) - _SHOWN_CHARACTERS_MAX // 2)
    excerpt = line[start : start + _SHOWN_CHARACTERS_MAX]
    quoted = '"'
    for mark in excerpt:
        quoted += mark if mark.isprintable() else ascii(mark)[1:-1]
    quoted += '"'
    if start:
        quoted = f"…{quoted}"
    if start + _SHOWN_CHARACTERS_MAX < len(line):
        quoted += "…"
    return quoted


def _same_token(token: str, expected_token: str) -> bool:
    """Return whether two tokens are one; what a float cannot hold is compared as text."""
    if _NUMBER.fullmatch(token) and _NUMBER.fullmatch(expected_token):
        number = float(token)
        expected_number = float(expected_token)
        if math.isfinite(number) and math.isfinite(expected_number):
            largest = _TOLERANCE * max(1.0, abs(expected_number))
            return abs(number - expected_number) <= largest
    is_nan = token.lower().strip("+-") == "nan"
    return token == expected_token and not is_nan
