"""The best pairing of two lists against SciPy's linear sum assignment."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from nel.benchmarks.reading.alignment import largest_sum


def by_scipy(scores: np.ndarray) -> float:
    return float(scores[scipy.optimize.linear_sum_assignment(scores, maximize=True)].sum())


@pytest.mark.parametrize("kind", ["continuous", "small-integers", "one-decimal", "equal"])
def test_the_sum_is_scipys(kind: str) -> None:
    """Rows and columns of one to eight, in all shapes."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        shape = tuple(rng.integers(1, 9, 2))
        scores = {
            "continuous": rng.random(shape),
            "small-integers": rng.integers(0, 3, shape).astype(float),
            "one-decimal": np.round(rng.random(shape), 1),
            "equal": np.ones(shape),
        }[kind]
        assert largest_sum(scores.tolist()) == pytest.approx(by_scipy(scores), abs=1e-12), scores
