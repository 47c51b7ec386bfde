"""Formats numbers for people, on the terminal and in messages: 12,032 with a comma for thousands.

A missing number is a dash, never 0: no function here may turn None into a figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

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
"""Beyond it the digits after the point would mislead."""
_TENTHS_MAX: Final = 1e3
"""Up to so many things a second a tenth says something."""
_P_SHOWN: Final = 0.001
"""From here on three decimals show a p-value."""
_LONG_MILLISECONDS: Final = 0.1
"""From so many seconds on whole milliseconds have three digits."""


def count(value: object) -> str:
    """Return a whole number with a comma between thousands."""
    return MISSING if value is None else f"{value:,}"


def decimals(lower: Any, upper: Any) -> int:
    """Return how many decimals of a percentage show an interval: two, or so many that its width is
    ten units of the last one, and its ends differ from what lies between them.

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
    """Return a share as a percentage with two decimals, or as many as are asked for."""
    if value is None:
        return MISSING
    text = f"{_round(value * _HUNDRED, places):.{places}f}"
    return f"{text}{THIN}%" if unit else text


def points(value: Any, *, signed: bool = False, places: int = 2) -> str:
    """Return a difference of shares in points, hundredths of the whole, with two decimals, or as
    many as are asked for.
    """
    if value is None:
        return MISSING
    sign = "+" if signed else ""
    text = f"{_round(value * _HUNDRED, places):{sign}.{places}f}"
    return _with_minus(text)


def in_unit(value: Any, unit: str, *, lower: Any = None, upper: Any = None) -> str:
    """Return a number in its unit: a ``rate`` with as many decimals as the ends of its interval,
    ``points``, a ``whole`` number, a ``coefficient`` or any ``number``.
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
    """Return a difference of two scores: of rates in points, with as many decimals as the ends of
    its interval, else as it is.
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
    if value == 0:  # smaller than the least number that a float holds
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
    # Zeros at the end say nothing, but for those of a whole number or of an exponent.
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    return _with_minus(text)


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
    """Return a duration in the unit that suits it."""
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
    return value + 0.0  # of -0.0 and 0.0 the sum is 0.0


def _with_minus(text: str) -> str:
    """Return a number's text with a minus sign in place of the hyphen."""
    return text.replace("-", MINUS)
