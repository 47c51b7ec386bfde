"""Confidence sequences: errors over all looks of many streams, and finite benchmarks."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np
import pytest

from nel.decide import ConfidenceSequence


@pytest.mark.parametrize("streams", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_the_truth_is_excluded_in_at_most_alpha_of_streams(streams: int, mean: float) -> None:
    """Over all looks together the true mean is outside in at most 5 % of streams, and the ends never move apart."""
    rng, missed = np.random.default_rng(4), 0
    members = (np.arange(100) < mean * 100).astype(float)
    for _ in range(streams):
        sequence, ends = ConfidenceSequence(population=100), []
        for value in rng.permutation(members):
            sequence.add(float(value))
            ends.append((sequence.lower, sequence.upper))
        lower, upper = np.array(ends).T
        if ((lower > mean + 1e-9) | (mean - 1e-9 > upper)).any():
            missed += 1
            continue
        assert (np.diff(lower) >= -1e-12).all()
        assert (np.diff(upper) <= 1e-12).all()
    assert missed <= 0.05 * streams


def test_a_bet_is_made_before_the_value_is_seen() -> None:
    """Over a value that is fair for the mean, the wealth after it is on average the wealth before it."""
    sequence = ConfidenceSequence(population=200)
    for value in [0.25, 0.75] * 50:
        sequence.add(value)
    expected = 0.0
    for chance, value in ((2 / 3, 0.25), (1 / 3, 1.0)):  # not equally far from the mean, as a bet that peeks would see
        after = deepcopy(sequence)
        after.add(value)
        expected += chance * dict(zip(after._means.tolist(), after._up.tolist(), strict=True))[0.5]
    before = dict(zip(sequence._means.tolist(), sequence._up.tolist(), strict=True))[0.5]
    assert expected == pytest.approx(before, rel=1e-9)


def test_a_finite_benchmark_closes_the_interval() -> None:
    """Half way the interval is narrow and holds the mean; with all questions asked it is the mean."""
    values = np.random.default_rng(7).permutation(np.arange(1000) < 620).astype(float)
    sequence = ConfidenceSequence(population=1000)
    for number, value in enumerate(values):
        sequence.add(float(value))
        if number == 700:
            assert sequence.upper - sequence.lower < 0.11
            assert sequence.lower <= 0.62 <= sequence.upper
    assert (sequence.lower, sequence.upper) == pytest.approx((0.62, 0.62))


def test_differences_have_the_interval_of_their_shares() -> None:
    """Values in -1 to 1 are those in 0 to 1 on another scale."""
    values = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], size=100)
    differences, shares = ConfidenceSequence(population=100, low=-1.0), ConfidenceSequence(population=100)
    for value in values:
        differences.add(float(value))
        shares.add(float(value + 1) / 2)
    assert (differences.lower, differences.upper) == pytest.approx((2 * shares.lower - 1, 2 * shares.upper - 1))


@pytest.mark.parametrize("value", [math.nan, -1.0, 1.5])
def test_what_is_no_score_is_an_error(value: float) -> None:
    """NaN and values outside the range are refused with their place."""
    sequence = ConfidenceSequence(population=2)
    sequence.add(0.5)
    with pytest.raises(ValueError, match=r"value 1 is .*not between"):
        sequence.add(value)


def test_more_values_than_the_benchmark_has_are_an_error() -> None:
    sequence = ConfidenceSequence(population=1)
    sequence.add(1.0)
    with pytest.raises(ValueError, match="2 values of a population of 1"):
        sequence.add(1.0)
