"""Means of numbers of any finite magnitude. Pure functions.

The sum of finite numbers can overflow where their mean does not. Such numbers are scaled by a power
of two, which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, Protocol

ROUNDING: Final = 1e-12
"""Share of the largest number by which two results of one calculation may differ, as where a sum
was made in another order."""
_SUM_EXPONENT: Final = 64
"""Numbers divided by 2**64 have a finite sum, as long as there are fewer than 2**64 of them."""


def unscale(value: float, exponent: int) -> float:
    """Return a value multiplied by a power of two; infinite on overflow."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


class Numbers(Protocol):
    """Numbers that can be counted and iterated twice."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def __iter__(self) -> Iterator[float]:
        """Yield them."""
        ...


def mean_of(values: Numbers) -> float:
    """Return the arithmetic mean, finite like the values and the same to the last bit in any order.

    Args:
        values: Finite numbers, at least one.

    >>> mean_of([1e308, 1e308, -1e308]) == 1e308 / 3
    True
    """
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        total = math.fsum(math.ldexp(value, -_SUM_EXPONENT) for value in values)
        return unscale(total / len(values), _SUM_EXPONENT)
