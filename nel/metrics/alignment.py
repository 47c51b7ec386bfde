"""Pairs the items of two lists so that the sum of their scores is largest. Standard library
alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

_FREE: Final = -1


def best_pairs(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return ``(row, column)`` pairs, each row and column at most once, whose scores sum to the
    most.

    The linear sum assignment by shortest augmenting paths (Crouse 2016, "On implementing 2D
    rectangular assignment algorithms"), in cubic time. Of several best assignments it takes the one
    that SciPy's `linear_sum_assignment` takes.

    Args:
        scores: One finite number for each row and column; rows of one length.

    Returns:
        As many pairs as the shorter side has items, in the order of the rows.

    >>> best_pairs([[0.5, 0.9], [0.1, 0.8]])
    [(0, 0), (1, 1)]
    """
    if not scores or not scores[0]:
        return []
    costs = [[-float(score) for score in row] for row in scores]
    if len(costs) <= len(costs[0]):
        return list(enumerate(_column_of_each_row(costs)))
    columns = [list(column) for column in zip(*costs, strict=True)]
    return sorted((row, column) for column, row in enumerate(_column_of_each_row(columns)))


def _column_of_each_row(costs: Sequence[Sequence[float]]) -> list[int]:
    """Return the assignment of least cost; there are at least as many columns as rows."""
    n_columns = len(costs[0])
    row_prices, column_prices = [0.0] * len(costs), [0.0] * n_columns
    row_of, column_of = [_FREE] * n_columns, [_FREE] * len(costs)
    for start in range(len(costs)):
        # Dijkstra's search over reduced costs, from a row to the nearest column that is free.
        distances, previous = [math.inf] * n_columns, [_FREE] * n_columns
        remaining = list(range(n_columns - 1, -1, -1))
        columns: list[int] = []
        row, reached = start, 0.0
        while row != _FREE:
            for column in remaining:
                distance = reached + costs[row][column] - row_prices[row] - column_prices[column]
                if distance < distances[column]:
                    distances[column], previous[column] = distance, row
            nearest = _nearest(remaining, distances, row_of)
            column = remaining[nearest]
            reached = distances[column]
            columns.append(column)
            row = row_of[column]
            remaining[nearest] = remaining[-1]
            del remaining[-1]
        row_prices[start] += reached
        for column in columns:
            if row_of[column] != _FREE:
                row_prices[row_of[column]] += reached - distances[column]
            column_prices[column] -= reached - distances[column]
        _assign(columns[-1], previous, row_of, column_of)
    return column_of


def _assign(column: int, previous: list[int], row_of: list[int], column_of: list[int]) -> None:
    """Give each row of a path the column that the next row gives up."""
    while column != _FREE:
        row = previous[column]
        row_of[column], column_of[row], column = row, column, column_of[row]


def _nearest(remaining: list[int], distances: list[float], row_of: list[int]) -> int:
    """Return the position of the nearest column; the last of the free ones ends the search, so it
    goes before an equally near one that is taken.
    """

    def order(position: int) -> tuple[float, bool, int]:
        column = remaining[position]
        is_taken = row_of[column] != _FREE
        return distances[column], is_taken, position if is_taken else -position

    return min(range(len(remaining)), key=order)
