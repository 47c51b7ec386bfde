"""The interval from the data and one question more, against values worked out beforehand."""

from __future__ import annotations

import pytest

from nel.metrics.added_question import added_question_ends

MEANS = [
    ([1.0] * 30, 0.885678, 1.0),
    ([1.0] * 29 + [0.75], 0.876895, 1.0),
    ([1.0] * 28 + [0.75] * 2, 0.868282, 0.998566),
    ([1.0] * 29 + [0.0], 0.828768, 1.0),
    ([0.5] * 30, 0.442839, 0.557161),
    ([1.0] * 15 + [0.0] * 15, 0.311651, 0.688349),
    ([0.0, 0.25, 0.5, 0.75, 1.0], 0.153097, 0.846903),
    ([1.0] * 5, 0.488716, 1.0),
    ([0.0] * 10, 0.0, 0.302521),
    ([1.0] * 9 + [0.5], 0.648221, 1.0),
    ([1.0] * 90 + [0.5] * 6 + [0.0] * 4, 0.867668, 0.966924),
    ([1.0] * 150 + [0.75] * 10 + [0.0] * 4, 0.922924, 0.980429),
    ([0.0, 0.25, 0.75], 0.017924, 0.846476),
    ([0.62, 0.71, 0.55, 0.9, 0.8, 0.77], 0.393095, 0.865911),
]
DIFFERENCES = [
    ([0.0] * 30, -0.114322, 0.114322),
    ([0.0] * 29 + [-0.25], -0.123105, 0.107889),
    ([0.0] * 29 + [-1.0], -0.171232, 0.088005),
    ([0.25] * 10 + [-0.25] * 5 + [0.0] * 85, -0.028539, 0.053100),
    ([-1.0, -0.5, 0.0, 0.5], -0.837362, 0.565793),
]


@pytest.mark.parametrize(("values", "lower", "upper"), MEANS)
def test_golden_values_of_means(values: list[float], lower: float, upper: float) -> None:
    """Ends of means over repeats, graded scores and scores of 0 and 1."""
    assert added_question_ends(values) == pytest.approx((lower, upper), abs=6e-7)


@pytest.mark.parametrize(("values", "lower", "upper"), DIFFERENCES)
def test_golden_values_of_differences(values: list[float], lower: float, upper: float) -> None:
    """Ends of differences of question means, which lie in -1 to 1."""
    assert added_question_ends(values, low=-1.0) == pytest.approx((lower, upper), abs=6e-7)
