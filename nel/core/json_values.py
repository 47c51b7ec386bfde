"""What a value of decoded JSON is. To Python true and false are integers too; here they are not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number.

    >>> is_number(1), is_number(0.5), is_number(True), is_number("1")
    (True, True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def finite(value: object) -> float | None:
    """Return a finite number, None for anything else, such as an integer too large for a float.

    >>> finite(2), finite(10**400), finite(float("nan"))
    (2.0, None, None)
    """
    if not is_number(value):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def present(fields: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields that have a value.

    >>> present({"seed": 0, "stop": None})
    {'seed': 0}
    """
    return {name: value for name, value in fields.items() if value is not None}


def inner(value: object, name: str) -> dict[str, Any]:
    """Return an object inside another; empty where there is none."""
    item = value.get(name) if isinstance(value, dict) else None
    return item if isinstance(item, dict) else {}
