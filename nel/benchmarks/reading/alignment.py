"""Pairs the items of two lists so that the sum of their scores is largest."""

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
    # Every row gets a column of its own, so that there must be no fewer columns than rows.
    is_wide = len(scores) <= len(scores[0])
    rows: Sequence[Sequence[float]] = scores if is_wide else list(zip(*scores, strict=True))
    row_of = [0] * (len(rows[0]) + 1)  # of each column, counted from 1; 0 is free
    row_prices, column_prices = [0.0] * (len(rows) + 1), [0.0] * len(row_of)
    for row in range(1, len(rows) + 1):
        # Column 0 is where each row starts. Along the path to a free column every row moves on to
        # the next column, which leaves the first one of the path to this row.
        row_of[0] = row
        column, previous = _free_column(rows, row_of, row_prices, column_prices)
        while column:
            row_of[column], column = row_of[previous[column]], previous[column]
    # Rows and columns are counted from 1 above, and a row of 0 is none.
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
        frontier = [target for target in range(1, len(row_of)) if target not in reached]
        for target in frontier:
            # The largest sum of scores is the smallest of costs, which are negative scores.
            distance = -rows[row - 1][target - 1] - row_prices[row] - column_prices[target]
            if distance < distances[target]:
                distances[target], previous[target] = distance, column
        nearest = min(frontier, key=distances.__getitem__)
        step = distances[nearest]
        # The prices keep all distances at or above zero, as Dijkstra's search asks.
        for visited in reached:
            row_prices[row_of[visited]] += step
            column_prices[visited] -= step
        distances = [distance - step for distance in distances]
        column = nearest
    return column, previous
