"""Means and scales of numbers of any finite size. Pure; knows nothing of intervals.

Sums and squares of finite numbers may pass what a floating-point number holds though their mean and spread do not. Such
numbers are brought near 1 by a power of two, which loses nothing. Trap: ordinary numbers are left as they are, so that
results stay the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

_ORDINARY_EXPONENT: Final = 400
"""Up to 2 to this, squares and cubes can be summed without an overflow (2**1024) or an underflow (2**-1074) of all."""


def exponent_of(values: Numbers) -> int:
    """Return the exponent of the power of two that values are to be divided by; 0 for ordinary ones.

    Args:
        values: Finite numbers.

    >>> exponent_of([0.25, 1.0]), exponent_of([0.25, 1e308]), exponent_of([5e-324])
    (0, 1024, -1073)
    """
    largest = max(map(abs, values), default=0.0)
    exponent = math.frexp(largest)[1]
    return exponent if largest and abs(exponent) > _ORDINARY_EXPONENT else 0


def scaled(values: Sequence[float], exponent: int) -> Sequence[float]:
    """Return the values divided by a power of two; themselves where its exponent is 0."""
    return [math.ldexp(value, -exponent) for value in values] if exponent else values


def unscaled(value: float, exponent: int) -> float:
    """Return a value multiplied by a power of two; infinite where no floating-point number is so large."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


class Numbers(Protocol):
    """Numbers that can be counted and gone through twice."""

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
    total = math.fsum(math.ldexp(value, -exponent) for value in values) if exponent else math.fsum(values)
    return unscaled(total / len(values), exponent)
