"""Checks arrays of paired scores before any statistic is computed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nel.errors import UndefinedMetric

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def checked_scores(scores: Sequence[float] | Floats, name: str) -> Floats:
    """Return scores as an array.

    Args:
        scores: Finite numbers, at least one.
        name: What they are, for the message.

    Raises:
        UndefinedMetric: There are none.
        ValueError: One is missing, not a number or infinite, or they are not one row of numbers.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: a score is not a number ({error}); leave out what was not scored"
        ) from error
    if values.ndim != 1:
        raise ValueError(
            f"{name}: the scores must be one row of numbers, not an array of {values.ndim}"
            " dimensions"
        )
    if not len(values):
        raise UndefinedMetric(f"{name}: nothing was scored")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"{name}: score {int(bad[0])} is {values[bad[0]]} ({len(bad)} in all); leave out what"
            " was not scored"
        )
    return values
