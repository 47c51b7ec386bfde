"""Pairs the items of two lists so that the sum of their scores is largest. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def best_pairs(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return ``(row, column)`` pairs, each row and column at most once, whose scores sum to the most.

    Source: the linear sum assignment of SciPy. There are as many pairs as the shorter side has items.

    >>> best_pairs([[0.5, 0.9], [0.1, 0.8]])
    [(0, 0), (1, 1)]
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - 0.2 s that only this needs

    rows, columns = linear_sum_assignment(scores, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
