"""Means and scales of numbers of any finite magnitude. Pure functions.

Sums and squares of finite numbers can overflow where their mean and spread do not. Such numbers are
scaled to about 1 by a power of two, which is exact. Numbers of ordinary magnitude are not scaled,
so that results stay the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, Protocol

ROUNDING: Final = 1e-12
"""Share of the largest number by which two results of one calculation may differ, as where a sum was
made in another order."""
_ORDINARY_EXPONENT: Final = 400
"""Sums of squares and cubes of numbers up to 2**400 stay between 2**-1074 and 2**1024."""


def exponent_of(values: Numbers) -> int:
    """Return the exponent of the power of two to divide values by; 0 for ordinary magnitudes.

    Args:
        values: Finite numbers.

    >>> exponent_of([0.25, 1.0]), exponent_of([0.25, 1e308]), exponent_of([5e-324])
    (0, 1024, -1073)
    """
    largest = max(map(abs, values), default=0.0)
    exponent = math.frexp(largest)[1]
    return exponent if largest and abs(exponent) > _ORDINARY_EXPONENT else 0


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
    exponent = exponent_of(values)
    if not exponent:
        return math.fsum(values) / len(values)
    total = math.fsum(math.ldexp(value, -exponent) for value in values)
    return unscale(total / len(values), exponent)
