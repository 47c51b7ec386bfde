"""The best pairing of two lists against SciPy's linear sum assignment, ties included."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from nel.metrics.alignment import best_pairs


def by_scipy(scores: np.ndarray) -> list[tuple[int, int]]:
    rows, columns = scipy.optimize.linear_sum_assignment(scores, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]


@pytest.mark.parametrize("kind", ["continuous", "small-integers", "one-decimal", "equal"])
def test_the_pairs_are_scipys(kind: str) -> None:
    """Rows and columns of one to eight, in all shapes: the same pairs, also where several pairings are best."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        shape = tuple(rng.integers(1, 9, 2))
        scores = {
            "continuous": rng.random(shape),
            "small-integers": rng.integers(0, 3, shape).astype(float),
            "one-decimal": np.round(rng.random(shape), 1),
            "equal": np.ones(shape),
        }[kind]
        assert best_pairs(scores.tolist()) == by_scipy(scores), scores


@pytest.mark.parametrize("scores", [[], [[]]])
def test_nothing_to_pair(scores: list[list[float]]) -> None:
    """An empty side has no pairs."""
    assert best_pairs(scores) == []
