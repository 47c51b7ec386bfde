"""Standard error and interval for questions that come in clusters."""

from __future__ import annotations

import math

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from nel.errors import UndefinedMetric
from nel.metrics import cluster_interval, clustered_stderr

VALUES = [1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1]
CLUSTERS = "aaaabbbbcccc"


def test_golden_value() -> None:
    """CR1 of three clusters of four, and not the naive 0.148647, Miller's 0.142688 or CR0's 0.136083."""
    assert clustered_stderr(VALUES, CLUSTERS) == pytest.approx(0.166667, abs=5e-7)


@given(st.permutations(list(zip(VALUES, CLUSTERS, strict=True))))
def test_order_does_not_matter(pairs: list[tuple[int, str]]) -> None:
    """The same questions in another order give the same interval, to the last bit."""
    values, clusters = zip(*pairs, strict=True)
    assert cluster_interval(values, clusters) == cluster_interval(VALUES, CLUSTERS)


def test_interval_uses_t_with_one_degree_less_than_clusters() -> None:
    """The half width is t(G - 1) times the standard error."""
    interval = cluster_interval(VALUES, CLUSTERS, level=0.9)
    half = scipy.stats.t.ppf(0.95, 2) * clustered_stderr(VALUES, CLUSTERS)
    assert (interval.lower, interval.upper) == pytest.approx((7 / 12 - half, 7 / 12 + half))
    assert (interval.method, interval.covers) == ("t_cluster", "new clusters")


@pytest.mark.parametrize("function", [clustered_stderr, cluster_interval])
@pytest.mark.parametrize(
    ("values", "clusters", "error", "message"),
    [
        ([], [], UndefinedMetric, "nothing was scored"),
        ([1, 0], "aa", UndefinedMetric, "fewer than two clusters"),
        ([1, 0], "a", ValueError, "2 values have 1 cluster ids"),
        ([1, 0], ["a", None], ValueError, "value 1 has no cluster id"),
        ([1, 0], [math.nan, "a"], ValueError, "value 0 has no cluster id"),
        ([1, math.nan], "ab", ValueError, "value 1 is not finite"),
    ],
)
def test_errors(function, values, clusters, error, message) -> None:
    """What has no clustered standard error says why."""
    with pytest.raises(error, match=message):
        function(values, clusters)


@pytest.mark.parametrize(
    ("values", "message"),
    [([0.1] * 4, "all questions have the same value"), ([0.1, 0.7, 0.7, 0.1], "clusters have no spread")],
)
def test_no_spread_means_no_interval(values: list[float], message: str) -> None:
    """An interval of zero width is never returned."""
    with pytest.raises(UndefinedMetric, match=message):
        cluster_interval(values, "aabb")
