"""Converts the values that scorers return to numbers. Depends on `nel.types`.

A value without a number is an error and never 0. Only NaN passes: it marks an unscored sample,
which metrics and reducers leave out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, SupportsFloat, TypeAlias, TypeGuard

from nel.core.texts import shorten
from nel.errors import UndefinedMetric
from nel.metrics.late_numpy import np
from nel.types import CORRECT, INCORRECT, NOANSWER, PARTIAL, Value

ValueToFloat: TypeAlias = Callable[[Value], float]

_SHOWN_MAX: Final = 60
_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def value_to_float(
    correct: Value = CORRECT,
    incorrect: Value = INCORRECT,
    partial: Value = PARTIAL,
    noanswer: Value = NOANSWER,
) -> ValueToFloat:
    """Return a function that converts a score's value to a number.

    A grade is 1 (`correct`), 0.5 (`partial`) or 0 (`incorrect`, `noanswer`); one that is a number
    equals bools too. Any other number or bool is itself. Text is ``yes``/``true`` (1),
    ``no``/``false`` (0), in any case, or a finite number. The order is that of inspect_ai, which
    returns 0 for all other values.

    Args:
        correct: The value that counts 1.
        incorrect: A value that counts 0.
        partial: The value that counts 0.5.
        noanswer: Another value that counts 0.

    Returns:
        The function; NaN stays NaN. It raises UndefinedMetric for a value that has no number: None,
        a list, a mapping, any other text (``"correct"``, ``"nan"``) and an integer beyond the range
        of a float.

    >>> to_float = value_to_float()
    >>> [to_float(value) for value in ("C", "P", "N", True, "Yes", " 0.25 ")]
    [1.0, 0.5, 0.0, 1.0, 1.0, 0.25]
    >>> value_to_float(correct="pass")("pass"), value_to_float(correct=2, partial=1)(1)
    (1.0, 0.5)
    """
    grades = ((correct, 1.0), (partial, 0.5), (incorrect, 0.0), (noanswer, 0.0))
    numeric = [(grade, number) for grade, number in grades if isinstance(grade, (bool, int, float))]

    def to_float(value: Value) -> float:
        if isinstance(value, (bool, int, float)) or _is_of_numpy(value):
            # Before the value itself: with `correct=2` a 2 counts 1.
            for numeric_grade, number in numeric:
                if value == numeric_grade:
                    return number
            return _as_number(value)
        for grade, number in grades:
            if type(value) is type(grade) and value == grade:
                return number
        if isinstance(value, str):
            return _of_text(value)
        raise UndefinedMetric(
            f"a value of type {type(value).__name__} has no number:"
            f" {shorten(repr(value), _SHOWN_MAX)}"
        )

    return to_float


def _is_of_numpy(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of numpy, without importing numpy to find out."""
    return type(value).__module__ == "numpy" and isinstance(value, (np.number, np.bool_))


def _as_number(value: SupportsFloat) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise UndefinedMetric("an integer beyond the range of a float has no number") from error


def _of_text(text: str) -> float:
    word = _WORDS.get(text.lower())
    if word is not None:
        return word
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    # `float` takes "nan", "inf" and "1e999", too.
    if not math.isfinite(number):
        raise UndefinedMetric(f"the text {shorten(repr(text), _SHOWN_MAX)} has no number")
    return number


DEFAULT_TO_FLOAT: Final = value_to_float()
"""The mapping of the grades ``C``, ``I``, ``P`` and ``N``."""
