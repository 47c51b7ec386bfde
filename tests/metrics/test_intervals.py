"""Intervals and pass@k against golden values."""

from __future__ import annotations

import pytest

from nel.metrics import pass_at_k, wilson_interval


@pytest.mark.parametrize(
    ("right", "n", "lower", "upper"),
    [
        (0, 10, 0.0, 0.277533),
        (8, 10, 0.490162, 0.943318),
        (27, 30, 0.743789, 0.965400),
        (138, 164, 0.777842, 0.889454),
        (0, 300, 0.0, 0.012643),
    ],
)
def test_wilson_golden_values(right: int, n: int, lower: float, upper: float) -> None:
    interval = wilson_interval(right, n)
    assert interval.lower == pytest.approx(lower, abs=5e-7)
    assert interval.upper == pytest.approx(upper, abs=5e-7)


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"), [(8, 3, 1, 0.375), (8, 3, 4, 0.928571), (200, 50, 10, 0.947906), (200, 1, 100, 0.5)]
)
def test_pass_at_k_golden_values(n: int, c: int, k: int, expected: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0)])
def test_pass_at_k_out_of_range(n: int, c: int, k: int) -> None:
    """Impossible counts are errors, not numbers."""
    with pytest.raises(ValueError, match="must be between"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize(("right", "n", "level"), [(-1, 3, 0.95), (4, 3, 0.95), (0, 0, 0.95), (1, 3, 1.0), (1, 3, 0)])
def test_impossible_counts(right: int, n: int, level: float) -> None:
    with pytest.raises(ValueError, match="no interval for"):
        wilson_interval(right, n, level=level)
