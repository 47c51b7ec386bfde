"""Reads numbers from texts of others (headers, error bodies, files), and writes time spans.

Python's `int` and `float` read more than a protocol does: ``1_0`` is 10 to them, ``١٠`` too,
``inf`` and ``nan`` are numbers; and `str.isdigit` holds for ``²``, which `int` refuses. Here a
number has ASCII digits and a bounded length. No I/O.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

LENGTH_MAX: Final = 32
"""Longer texts are not numbers; a float has 24 characters at most."""
# 12, 1.5, 1., .5, each with a sign and an exponent, as in -1e-3
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_WHOLE: Final = re.compile(r"[0-9]+")


def plain_number(text: str) -> float | None:
    """Return the finite number that a text is, spaces around it aside; None where it is none.

    >>> plain_number(" 1.5"), plain_number("1_0"), plain_number("١"), plain_number("inf"), plain_number("9" * 400)
    (1.5, None, None, None, None)
    """
    digits = text.strip(" \t")
    if len(digits) > LENGTH_MAX or not _NUMBER.fullmatch(digits):
        return None
    number = float(digits)
    return number if math.isfinite(number) else None


def plain_int(text: str) -> int | None:
    """Return the whole number from 0 that a text is; None where it is none.

    >>> plain_int("429"), plain_int("²"), plain_int("-1"), plain_int("1" * 5000)
    (429, None, None, None)
    """
    return int(text) if len(text) <= LENGTH_MAX and _WHOLE.fullmatch(text) else None


_WORDS: Final = {
    "int_parsing": "is not a whole number",
    "int_from_float": "is not a whole number",
    "int_type": "is not a whole number",
    "float_parsing": "is not a number",
    "float_type": "is not a number",
    "less_than_equal": "is too large: at most {le}",
    "less_than": "is too large: below {lt}",
    "greater_than_equal": "is too small: at least {ge}",
    "greater_than": "is too small: above {gt}",
}
"""By pydantic's kind of error, with its bounds."""


def number_problem(problem: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a number, to stand after it; None for every other error.

    Args:
        problem: One of `pydantic.ValidationError.errors`.

    >>> number_problem({"type": "greater_than_equal", "ctx": {"ge": 1}})
    'is too small: at least 1'
    """
    words = _WORDS.get(problem["type"])
    return None if words is None else words.format(**problem.get("ctx", {}))


def duration(seconds: float) -> str:
    """Return a time span in a readable unit: ``42s``, ``3m07s``, ``2h05m``."""
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{remainder:02}s" if minutes else f"{remainder}s"
