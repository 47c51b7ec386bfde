"""Standard errors for questions that come in clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.errors import UndefinedMetric
from nel.metrics import clustered_stderr
from nel.metrics.clusters import grouped_variance

VALUES = [1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1]
CLUSTERS = "aaaabbbbcccc"


def test_golden_value() -> None:
    """CR1 of three clusters of four, and not the naive 0.148647, Miller's 0.142688 or CR0's 0.136083."""
    assert clustered_stderr(VALUES, CLUSTERS) == pytest.approx(0.166667, abs=5e-7)


@given(st.permutations(list(zip(VALUES, CLUSTERS, strict=True))))
def test_order_does_not_matter(pairs: list[tuple[int, str]]) -> None:
    """The same questions in another order give the same error, to the last bit."""
    values, clusters = zip(*pairs, strict=True)
    assert clustered_stderr(values, clusters) == clustered_stderr(VALUES, CLUSTERS)


def test_cr2_and_satterthwaite_golden_values() -> None:
    """Variance and degrees of freedom of three groups of four, whose error is larger than that of CR1."""
    values = np.array([1, 1, 0.75, 0.5, 1, 1, 0, 0.25, 1, 1, 1, 0.5])
    variance, degrees = grouped_variance(values, np.repeat([0, 1, 2], 4))
    assert (math.sqrt(variance), degrees) == pytest.approx((0.095470, 2.0), abs=6e-7)


def test_groups_of_one_question_are_no_groups() -> None:
    """The variance is that of a mean, and one degree less than there are questions is left."""
    values = np.array([0.0, 0.5, 1.0, 1.0, 0.25])
    variance, degrees = grouped_variance(values, np.arange(5))
    assert (variance, degrees) == pytest.approx((values.var(ddof=1) / 5, 4.0))


@pytest.mark.parametrize(
    ("values", "clusters", "error", "message"),
    [
        ([], [], UndefinedMetric, "nothing was scored"),
        ([1, 0], "aa", UndefinedMetric, "fewer than two clusters"),
        ([1, 0], "a", ValueError, "2 values have 1 cluster ids"),
        ([1, 0], ["a", None], ValueError, "question 1 has no cluster id"),
        ([1, 0], [math.nan, "a"], ValueError, "question 0 has no cluster id"),
        ([1, math.nan], "ab", ValueError, "value 1 is not finite"),
    ],
)
def test_errors(values, clusters, error, message) -> None:
    """What has no clustered standard error says why."""
    with pytest.raises(error, match=message):
        clustered_stderr(values, clusters)
