"""Adjusts the p-values of several looks at the same data.

The family is what was looked at, not what turned out: every benchmark of a gate, every slice of a
table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nel.decide.pairs import Floats


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
    remaining = len(values) - np.arange(len(values))
    return _back(np.maximum.accumulate(values * remaining) if len(values) else values, order)


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
    adjusted = values * len(values) / np.arange(1, len(values) + 1)
    return _back(np.minimum.accumulate(adjusted[::-1])[::-1], order)


def _sort(
    p_values: Sequence[float] | Floats,
) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    values = np.asarray(list(p_values), dtype=np.float64)
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(bad):
        raise ValueError(
            f"p-value {int(bad[0])} is {values[bad[0]]}, not between 0 and 1: what has none is no"
            " test"
        )
    order = np.argsort(values, kind="stable")
    return values[order], order


def _back(adjusted: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> list[float]:
    restored = np.empty(len(adjusted))
    restored[order] = np.minimum(adjusted, 1.0)
    return [float(value) for value in restored]
