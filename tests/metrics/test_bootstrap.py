"""The bootstrap interval against golden values, scipy and a plain drawing of every resample."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy

from nel.errors import UndefinedMetric
from nel.metrics import bootstrap_ci

RNG = np.random.default_rng(11)
SCORES = {
    "binary": (RNG.random(500) < 0.7).astype(float),
    "few continuous": RNG.random(200),
    "many continuous": RNG.random(2000),
    "skewed": np.exp(2 * RNG.normal(size=1500)),
    "zeros and more": np.concatenate([np.zeros(1500), RNG.random(500)]),
    "an outlier": np.concatenate([RNG.random(1500), [50.0]]),
}


@pytest.mark.parametrize(("right", "lower", "upper"), [(19, 0.85, 1.0), (17, 0.70, 1.0)])
def test_golden_values(right: int, lower: float, upper: float) -> None:
    """Twenty questions: the ends lie on the lattice of twentieths."""
    interval = bootstrap_ci([1.0] * right + [0.0] * (20 - right))
    assert (interval.ci_lower, interval.ci_upper) == pytest.approx((lower, upper), abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_agrees_with_scipy(name: str) -> None:
    """Both ends are scipy's, within six standard errors of the difference of two simulations."""
    scores, size = SCORES[name], 4000
    ours = bootstrap_ci(scores, n_resamples=size)
    theirs = scipy.stats.bootstrap(
        (scores,), np.mean, n_resamples=size, batch=100, method="percentile", rng=3
    ).confidence_interval
    error = scores.std() / math.sqrt(len(scores)) * math.sqrt(0.025 * 0.975 / size) / scipy.stats.norm.pdf(1.96)
    lattice = 1 / len(scores) if name == "binary" else 0
    tolerance = 6 * math.sqrt(2) * error * (3 if name == "skewed" else 1) + lattice
    assert ours.ci_lower == pytest.approx(theirs.low, abs=tolerance, rel=0)
    assert ours.ci_upper == pytest.approx(theirs.high, abs=tolerance, rel=0)


def test_seed_decides() -> None:
    """One seed gives one interval, another seed another; the global generator has no part in it."""
    scores = SCORES["few continuous"]
    before = np.random.get_state()[1].tolist()
    first, again, other = (bootstrap_ci(scores, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.ci_lower != other.ci_lower
    assert np.random.get_state()[1].tolist() == before


@pytest.mark.parametrize(
    ("scores", "settings", "error", "message"),
    [
        ([], {}, UndefinedMetric, "nothing was scored"),
        ([1.0, math.nan], {}, ValueError, "NaN or infinite"),
        ([[1.0, 0.0]], {}, ValueError, "one row of numbers"),
        ([1.0, 0.0], {"level": 1.0}, ValueError, "level 1.0"),
        ([1.0, 0.0], {"n_resamples": 0}, ValueError, "0 resamples"),
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
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 48e6
