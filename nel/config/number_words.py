"""Says in words a person uses why a value is not the number that a setting takes. Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
