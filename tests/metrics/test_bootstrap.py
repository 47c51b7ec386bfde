"""The bootstrap interval against golden values, scipy and a plain drawing of every resample."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from nel.errors import UndefinedMetric
from nel.metrics import bootstrap_ci
from nel.metrics.bootstrap import _bca_shares
from nel.metrics.resampling import resample_ratios

RNG = np.random.default_rng(11)
SCORES = {
    "binary": (RNG.random(500) < 0.7).astype(float),
    "few continuous": RNG.random(200),
    "many continuous": RNG.random(2000),
    "skewed": np.exp(2 * RNG.normal(size=1500)),
    "zeros and more": np.concatenate([np.zeros(1500), RNG.random(500)]),
    "an outlier": np.concatenate([RNG.random(1500), [50.0]]),
}


@pytest.mark.parametrize(
    ("right", "method", "lower", "upper"),
    [(19, "percentile", 0.85, 1.0), (17, "percentile", 0.70, 1.0), (17, "bca", 0.65, 0.95)],
)
def test_golden_values(right: int, method, lower: float, upper: float) -> None:
    """Twenty questions: the ends lie on the lattice of twentieths."""
    interval = bootstrap_ci([1.0] * right + [0.0] * (20 - right), method=method)
    assert (interval.ci_lower, interval.ci_upper) == pytest.approx((lower, upper), abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_agrees_with_scipy(name: str, method) -> None:
    """Both ends are scipy's, within six standard errors of the difference of two simulations."""
    scores, size = SCORES[name], 4000
    ours = bootstrap_ci(scores, method=method, n_resamples=size)
    theirs = scipy.stats.bootstrap(
        (scores,), np.mean, n_resamples=size, batch=100, method=method, rng=3
    ).confidence_interval
    error = scores.std() / math.sqrt(len(scores)) * math.sqrt(0.025 * 0.975 / size) / scipy.stats.norm.pdf(1.96)
    lattice = 1 / len(scores) if name == "binary" else 0
    tolerance = 6 * math.sqrt(2) * error * (3 if method == "bca" or name == "skewed" else 1) + lattice
    assert ours.ci_lower == pytest.approx(theirs.low, abs=tolerance, rel=0)
    assert ours.ci_upper == pytest.approx(theirs.high, abs=tolerance, rel=0)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_order_does_not_matter(scores: list[float], random) -> None:
    """The same scores in another order give the same interval, to the last bit."""
    shuffled = random.sample(scores, len(scores))
    assert bootstrap_ci(scores, n_resamples=50) == bootstrap_ci(shuffled, n_resamples=50)


def test_seed_decides() -> None:
    """One seed gives one interval, another seed another; the global generator has no part in it."""
    scores = SCORES["few continuous"]
    before = np.random.get_state()[1].tolist()
    first, again, other = (bootstrap_ci(scores, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.ci_lower != other.ci_lower
    assert np.random.get_state()[1].tolist() == before


def test_basic_mirrors_percentile() -> None:
    """The basic interval is the percentile interval mirrored at the mean."""
    scores = SCORES["skewed"]
    plain, basic = (bootstrap_ci(scores, method=method) for method in ("percentile", "basic"))
    assert basic.ci_lower == pytest.approx(2 * plain.value - plain.ci_upper)
    assert basic.ci_upper == pytest.approx(2 * plain.value - plain.ci_lower)


@pytest.mark.parametrize(("bias", "acceleration"), [(0.5, 0.0), (0.6, 0.0), (0.4, 0.1), (0.55, -0.05)])
def test_bca_shares_are_efrons(bias: float, acceleration: float) -> None:
    """Phi(z0 + (z0 + z) / (1 - a (z0 + z))), by scipy's normal; without bias and skewness the percentiles."""
    shift = scipy.stats.norm.ppf(bias)
    moved = shift + scipy.stats.norm.ppf([0.025, 0.975])
    expected = scipy.stats.norm.cdf(shift + moved / (1 - acceleration * moved))
    assert _bca_shares(0.025, bias, acceleration) == pytest.approx(expected.tolist())
    if (bias, acceleration) == (0.5, 0.0):
        assert expected.tolist() == pytest.approx([0.025, 0.975])


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=40).filter(lambda scores: len(set(scores)) > 1),
    st.sampled_from(["percentile", "bca"]),
)
def test_ends_are_means_of_scores(scores: list[float], method) -> None:
    """Percentiles of means lie between the least and the largest score, in order."""
    interval = bootstrap_ci(scores, method=method, n_resamples=400)
    assert min(scores) <= interval.ci_lower <= interval.ci_upper <= max(scores)
    assert not interval.degenerate


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_clusters_of_different_sizes(method) -> None:
    """A resample's mean is the sum over its clusters divided by their size, as in a plain loop."""
    rng = np.random.default_rng(2)
    ids = rng.integers(0, 30, size=200).tolist()
    scores = [float(rng.random() < 0.3 + 0.02 * cluster) for cluster in ids]
    groups = [[score for score, one in zip(scores, ids, strict=True) if one == cluster] for cluster in set(ids)]
    resamples = []
    for _ in range(4000):
        drawn = [groups[index] for index in rng.integers(0, len(groups), size=len(groups))]
        resamples.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    interval = bootstrap_ci(scores, clusters=ids, method=method, n_resamples=4000)
    expected = np.quantile(resamples, [0.025, 0.975])
    assert (interval.ci_lower, interval.ci_upper) == pytest.approx(expected.tolist(), abs=0.02)


@pytest.mark.parametrize(
    ("scores", "settings", "error", "message"),
    [
        ([], {}, UndefinedMetric, "nothing was scored"),
        ([1.0, math.nan], {}, ValueError, "NaN or infinite"),
        ([[1.0, 0.0]], {}, ValueError, "one row of numbers"),
        ([1.0, 0.0], {"level": 1.0}, ValueError, "level 1.0"),
        ([1.0, 0.0], {"n_resamples": 0}, ValueError, "0 resamples"),
        ([1.0, 0.0], {"method": "BCa"}, ValueError, '"BCa"'),
        ([1.0, 0.0], {"clusters": "aa"}, UndefinedMetric, "fewer than two clusters"),
        ([1.0, 0.0], {"clusters": ["a", None]}, ValueError, "no cluster id"),
        ([1.0, 0.0], {"clusters": "a"}, ValueError, "2 values have 1 cluster ids"),
        ([0.1, 0.26, 0.37, 0.93, 0.41], {"method": "bca", "n_resamples": 1}, UndefinedMetric, "no BCa interval"),
    ],
)
def test_errors(scores, settings, error, message) -> None:
    """What has no interval says why."""
    with pytest.raises(error, match=message):
        bootstrap_ci(scores, **settings)


def test_memory_is_bounded() -> None:
    """Ten thousand resamples of 12 032 scores would be 963 MB at once; 48 MB are enough."""
    scores = np.random.default_rng(1).random(12_032)
    tracemalloc.start()
    try:
        bootstrap_ci(scores)
        resample_ratios(scores, scores, 100, np.random.default_rng(1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 48e6
