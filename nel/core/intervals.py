"""Intervals of time that may overlap."""

from __future__ import annotations

from collections.abc import Iterable


def union_length(intervals: Iterable[tuple[float, float]]) -> float:
    """Return how long intervals are together, where they overlap once.

    >>> union_length([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0)])
    4.0
    """
    total, end = 0.0, float("-inf")
    for start, stop in sorted(intervals):
        # In the order of their starts, only what lies after the latest end so far is new.
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total
