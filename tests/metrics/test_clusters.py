"""Variances of questions that come in clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nel.metrics.clusters import cluster_codes, grouped_variance


def test_cr2_and_satterthwaite_golden_values() -> None:
    """Variance and degrees of freedom of three groups of four, whose error is larger than that of CR1."""
    values = np.array([1, 1, 0.75, 0.5, 1, 1, 0, 0.25, 1, 1, 1, 0.5])
    variance, degrees = grouped_variance(values, np.repeat([0, 1, 2], 4))
    assert (math.sqrt(variance), degrees) == pytest.approx((0.095470, 2.0), abs=6e-7)


@pytest.mark.parametrize("clusters", [["a", None], ["a", math.nan]])
def test_what_names_no_cluster_is_an_error(clusters: list[object]) -> None:
    """None and NaN are no cluster, and the message counts the question."""
    with pytest.raises(ValueError, match="question 1 has no cluster id"):
        cluster_codes(clusters)
