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
_MINUTE: Final = 60.0
_HUNDRED: Final = 100
_DECIMALS: Final = 2
_HOUR: Final = 3600.0


def count(value: object) -> str:
    """Return a whole number with a comma between thousands."""
    return MISSING if value is None else f"{value:,}"


def decimals(lower: Any, upper: Any) -> int:
    """Return how many decimals of a percentage show an interval: two, or so many that its width is
    ten units of the last one, and its ends differ from what lies between them.

    >>> decimals(0.43, 0.45), decimals(-4e-6, 4e-6), decimals(None, None)
    (2, 5, 2)
    """
    width = 0.0 if lower is None or upper is None else abs(upper - lower) * _HUNDRED
    return _DECIMALS if width <= 0 else min(max(_DECIMALS, math.ceil(1 - math.log10(width))), 12)


def percent(value: Any, *, unit: bool = True, places: int = 2) -> str:
    """Return a share as a percentage with two decimals, or as many as are asked for."""
    if value is None:
        return MISSING
    text = f"{_round(value * 100, places):.{places}f}"
    return f"{text}{THIN}%" if unit else text


def points(value: Any, *, signed: bool = False, places: int = 2) -> str:
    """Return a difference of shares in points, hundredths of the whole, with two decimals, or as
    many as are asked for.
    """
    if value is None:
        return MISSING
    sign = "+" if signed else ""
    return f"{_round(value * 100, places):{sign}.{places}f}".replace("-", "−")


def in_unit(value: Any, unit: str, *, lower: Any = None, upper: Any = None) -> str:
    """Return a number in its unit: a ``rate`` with as many decimals as the ends of its interval,
    ``points``, a ``whole`` number, a ``coefficient`` or any ``number``.
    """
    if unit == "points" and value is not None:
        return f"{points(value)}{THIN}points"
    if unit == "whole" and value is not None:
        return count(round(value))
    if unit == "coefficient" and value is not None:
        return f"{value:.3f}".replace("-", "−")
    return percent(value, places=decimals(lower, upper)) if unit == "rate" else plain(value)


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
    return f"{value + 0.0:{'+' if signed else ''}.4g}".replace("-", "−")


def p_value(value: Any) -> str:
    """Return a p-value; never 0, whatever it is rounded to."""
    if value is None:
        return MISSING
    if value == 0:  # smaller than the least number that a float holds
        return "below 1e-300"
    return f"{value:.2g}" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - from here on three decimals show it


def _round(value: float, places: int) -> float:
    """Return a rounded number that is not a negative zero."""
    return round(value, places) + 0.0


def plain(value: Any) -> str:
    """Return a number of unknown scale with up to four decimals."""
    if value is None:
        return MISSING
    text = f"{round(value, 4) + 0.0:,.4f}" if abs(value) < 1e6 else f"{value:.4g}"  # noqa: PLR2004 - beyond it digits mislead
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return text.replace("-", "−")


def rate(value: Any) -> str:
    """Return a number of things a second, with one decimal at most."""
    return MISSING if value is None else plain(round(value, 1) if value < 1e3 else round(value))  # noqa: PLR2004


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
    if value < 1:
        return f"{value * 1000:.3g}{THIN}ms" if value < 0.1 else f"{value * 1000:.0f}{THIN}ms"  # noqa: PLR2004
    if value < _MINUTE:
        return f"{value:.2f}{THIN}s"
    if value < _HOUR:
        return f"{int(value // _MINUTE)}{THIN}min {int(value % _MINUTE)}{THIN}s"
    return f"{count(int(value // _HOUR))}{THIN}h {int(value % _HOUR // _MINUTE)}{THIN}min"
