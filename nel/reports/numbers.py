"""Formats numbers for people, on terminals, pages and in messages, such as ``12,032``.

A missing number is a dash: no function here may turn None into a figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from nel.core.texts import cost_text

THIN: Final = "\u202f"
"""Narrow no-break space, before a unit."""
MISSING: Final = "–"
MINUS: Final = "−"
_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
_HUNDRED: Final = 100
_DECIMALS: Final = 2
_DECIMALS_MAX: Final = 12
_PLAIN_MAX: Final = 1e6
"""Larger numbers have four significant digits."""
_TENTHS_MAX: Final = 1e3
"""Larger rates are whole numbers."""
_P_SHOWN: Final = 0.001
"""Smaller p-values have two significant digits instead of three decimals."""
_LONG_MILLISECONDS: Final = 0.1
"""Longer durations have whole milliseconds, which are three digits."""


def count(value: object) -> str:
    """Return a whole number with a comma between thousands."""
    return MISSING if value is None else f"{value:,}"


def decimals(lower: Any, upper: Any) -> int:
    """Return the decimals of percentages in an interval: two, or enough to show its width.

    The width is at least ten units of the last decimal, so that the ends differ from what is between.

    >>> decimals(0.43, 0.45), decimals(-4e-6, 4e-6), decimals(None, None)
    (2, 5, 2)
    """
    if lower is None or upper is None or lower == upper:
        return _DECIMALS
    # A width of w points is ten units of the last decimal d where w = 10 * 10**-d.
    width = abs(upper - lower) * _HUNDRED
    needed = math.ceil(1 - math.log10(width))
    return min(max(_DECIMALS, needed), _DECIMALS_MAX)


def percent(value: Any, *, unit: bool = True, places: int = 2) -> str:
    """Return a share as a percentage."""
    if value is None:
        return MISSING
    text = f"{_round(value * _HUNDRED, places):.{places}f}"
    return f"{text}{THIN}%" if unit else text


def points(value: Any, *, signed: bool = False, places: int = 2) -> str:
    """Return a difference of shares in percentage points."""
    if value is None:
        return MISSING
    sign = "+" if signed else ""
    text = f"{_round(value * _HUNDRED, places):{sign}.{places}f}"
    return _with_minus(text)


def in_unit(value: Any, unit: str, *, lower: Any = None, upper: Any = None) -> str:
    """Return a number in its unit: ``rate``, ``points``, ``whole``, ``coefficient`` or ``number``.

    A rate has as many decimals as the ends of its interval.
    """
    if value is None:
        return MISSING
    match unit:
        case "rate":
            return percent(value, places=decimals(lower, upper))
        case "points":
            return f"{points(value)}{THIN}points"
        case "whole":
            return count(round(value))
        case "coefficient":
            return _with_minus(f"{value:.3f}")
        case _:
            return plain(value)


def difference(
    value: Any, unit: str, *, lower: Any = None, upper: Any = None, signed: bool = True
) -> str:
    """Return a difference of two scores; one of rates is in points.

    Points have as many decimals as the ends of the interval.
    """
    if value is None:
        return MISSING
    if unit == "rate":
        return points(value, signed=signed, places=decimals(lower, upper))
    sign = "+" if signed else ""
    return _with_minus(f"{_without_negative_zero(value):{sign}.4g}")


def p_value(value: Any) -> str:
    """Return a p-value; never 0, whatever it is rounded to."""
    if value is None:
        return MISSING
    if value == 0:  # an underflow: the least positive float is about 1e-308
        return "below 1e-300"
    return f"{value:.2g}" if value < _P_SHOWN else f"{value:.3f}"


def plain(value: Any) -> str:
    """Return a number of unknown scale with up to four decimals."""
    if value is None:
        return MISSING
    if abs(value) < _PLAIN_MAX:
        text = f"{_round(value, 4):,.4f}"
    else:
        text = f"{value:.4g}"
    # Trailing zeros go, unless they are digits of a whole number or of an exponent.
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return _with_minus(text)


def cost(value: Any) -> str:
    """Return a cost."""
    return MISSING if value is None else cost_text(value)


def rate(value: Any) -> str:
    """Return a number of things a second, with one decimal at most."""
    if value is None:
        return MISSING
    if value < _TENTHS_MAX:
        return plain(round(value, 1))
    return plain(round(value))


def interval(lower: Any, upper: Any, unit: str) -> str:
    """Return ``lower – upper`` in a unit, or a dash when there is no interval."""
    if lower is None or upper is None:
        return MISSING
    if unit == "rate":
        places = decimals(lower, upper)
        return f"{percent(lower, unit=False, places=places)} – {percent(upper, places=places)}"
    return f"{in_unit(lower, unit)} – {in_unit(upper, unit)}"


def counts(counts_by_name: Mapping[str, int]) -> str:
    """Return ``name n, …``, most frequent first."""
    ordered = sorted(counts_by_name.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count(n)}" for name, n in ordered)


def seconds(value: Any) -> str:
    """Return a duration as milliseconds, seconds, minutes or hours, by its size."""
    if value is None:
        return MISSING
    if value < _LONG_MILLISECONDS:
        return f"{value * 1000:.3g}{THIN}ms"
    if value < 1:
        return f"{value * 1000:.0f}{THIN}ms"
    if value < _MINUTE:
        return f"{value:.2f}{THIN}s"
    minutes, rest = divmod(value, _MINUTE)
    if value < _HOUR:
        return f"{int(minutes)}{THIN}min {int(rest)}{THIN}s"
    hours = int(value // _HOUR)
    return f"{count(hours)}{THIN}h {int(minutes) % 60}{THIN}min"


def _round(value: float, places: int) -> float:
    return _without_negative_zero(round(value, places))


def _without_negative_zero(value: float) -> float:
    return value + 0.0  # -0.0 + 0.0 is 0.0


def _with_minus(text: str) -> str:
    return text.replace("-", MINUS)
