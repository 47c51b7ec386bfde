"""Adjusts the p-values of several looks at the same data.

The family is what was looked at, not what turned out: every benchmark of a gate, every slice of a
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nel.decide.pairs import Floats

Order: TypeAlias = NDArray[np.intp]
"""Which p-value is the smallest, the next and so on."""


def holm(p_values: Sequence[float] | Floats) -> list[float]:
    """Return p-values adjusted by Holm 1979.

    Of those below alpha none is false, with probability 1 - alpha.

    For gates: one false alarm is too many, and the tests may depend on each other in any way.

    Args:
        p_values: 0 to 1 each, in any order.

    Returns:
        The adjusted ones, in the same order; statsmodels' ``multipletests(method="holm")``.

    Raises:
        ValueError: One is missing, NaN or outside 0 to 1.

    >>> [round(p, 6) for p in holm([0.041, 0.001, 0.039])]
    [0.078, 0.003, 0.078]
    """
    values, order = _sort(p_values)
    # Stepping down: the smallest of m counts m times, the next m - 1 times, and so on; none is
    # adjusted below a smaller one.
    n_remaining = np.arange(len(values), 0, -1)
    adjusted = np.maximum.accumulate(values * n_remaining)
    return _restore_order(adjusted, order)


def benjamini_hochberg(p_values: Sequence[float] | Floats) -> list[float]:
    """Return p-values adjusted by Benjamini and Hochberg 1995.

    Of those below alpha, a share of alpha is false.

    For exploration, such as slices, with tests that are independent or rise together.

    Args:
        p_values: 0 to 1 each, in any order.

    Returns:
        The adjusted ones, in the same order; scipy's ``false_discovery_control``.

    Raises:
        ValueError: One is missing, NaN or outside 0 to 1.

    >>> [round(p, 6) for p in benjamini_hochberg([0.041, 0.001, 0.039])]
    [0.041, 0.003, 0.041]
    """
    values, order = _sort(p_values)
    # Stepping up: the k-th smallest of m counts m / k times; none is adjusted above a larger one.
    ranks = np.arange(1, len(values) + 1)
    scaled = values * len(values) / ranks
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    return _restore_order(adjusted, order)


def _sort(p_values: Sequence[float] | Floats) -> tuple[Floats, Order]:
    values = np.asarray(list(p_values), dtype=np.float64)
    is_probability = (values >= 0) & (values <= 1)  # false for NaN
    if not is_probability.all():
        first = int(np.argmin(is_probability))
        raise ValueError(
            f"p-value {first} is {values[first]}, not between 0 and 1: what has none is no test"
        )
    order = np.argsort(values, kind="stable")
    return values[order], order


def _restore_order(adjusted: Floats, order: Order) -> list[float]:
    restored = np.empty(len(adjusted))
    restored[order] = np.minimum(adjusted, 1.0)
    values: list[float] = restored.tolist()
    return values
