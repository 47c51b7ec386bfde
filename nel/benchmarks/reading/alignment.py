"""Pairs the items of two lists so that the sum of their scores is largest. Standard library
alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def largest_sum(scores: Sequence[Sequence[float]]) -> float:
    """Return the largest sum of scores where each row and each column is in one pair at most.

    The linear sum assignment by shortest augmenting paths (Kuhn 1955; Jonker and Volgenant 1987),
    in cubic time at most: the square of the shorter side by the longer one.

    Args:
        scores: One finite number for each row and column; rows of one length.

    >>> largest_sum([[0.5, 0.9], [0.1, 0.8]])
    1.3
    """
    if not scores or not scores[0]:
        return 0.0
    is_wide = len(scores) <= len(scores[0])
    rows: Sequence[Sequence[float]] = scores if is_wide else list(zip(*scores, strict=True))
    row_of = [0] * (len(rows[0]) + 1)  # of each column, counted from 1; 0 is free
    row_prices, column_prices = [0.0] * (len(rows) + 1), [0.0] * len(row_of)
    for row in range(1, len(rows) + 1):
        row_of[0] = row
        column, previous = _free_column(rows, row_of, row_prices, column_prices)
        while column:
            row_of[column], column = row_of[previous[column]], previous[column]
    return math.fsum(rows[row - 1][column] for column, row in enumerate(row_of[1:]) if row)


def _free_column(
    rows: Sequence[Sequence[float]],
    row_of: list[int],
    row_prices: list[float],
    column_prices: list[float],
) -> tuple[int, list[int]]:
    """Return the nearest free column from that of 0, and the column before each one on its path."""
    column, reached = 0, list[int]()
    distances, previous = [math.inf] * len(row_of), [0] * len(row_of)
    while row_of[column]:
        reached.append(column)
        row = row_of[column]
        left = [other for other in range(1, len(row_of)) if other not in reached]
        for other in left:
            distance = -rows[row - 1][other - 1] - row_prices[row] - column_prices[other]
            if distance < distances[other]:
                distances[other], previous[other] = distance, column
        nearest = min(left, key=distances.__getitem__)
        step = distances[nearest]
        for other in reached:
            row_prices[row_of[other]] += step
            column_prices[other] -= step
        distances = [distance - step for distance in distances]
        column = nearest
    return column, previous
