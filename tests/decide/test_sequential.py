"""E-values and confidence sequences: golden values, errors over all looks of many streams, and finite benchmarks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nel.decide import (
    ConfidenceSequence,
    betting_wealth,
    paired_e_value,
    paired_log_e_process,
    paired_log_e_value,
    paired_stop_at,
)


@pytest.mark.parametrize(("wins", "losses", "value"), [(8, 0, 28.44), (10, 2, 4.774), (30, 10, 31.64), (0, 0, 1.0)])
def test_paired_e_value_golden_values(wins: int, losses: int, value: float) -> None:
    """Published values to four digits, alike for both directions."""
    assert paired_e_value(wins, losses) == pytest.approx(value, rel=2e-4)
    assert paired_e_value(losses, wins) == pytest.approx(paired_e_value(wins, losses))


def test_paired_e_value_at_a_million() -> None:
    """The logarithm is finite where the value is not, and the process equals the value at each look."""
    assert paired_e_value(10**6, 0) == math.inf
    assert paired_log_e_value(10**6, 0) == pytest.approx(10**6 * math.log(2) - math.log(10**6 + 1))
    wins, losses = np.array([0, 8, 10, 30]), np.array([0, 0, 2, 10])
    expected = [paired_log_e_value(int(b), int(c)) for b, c in zip(wins, losses, strict=True)]
    assert paired_log_e_process(wins, losses).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("streams", [1000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_paired_e_process_errs_in_at_most_alpha_of_streams(streams: int) -> None:
    """With a look after each of 1,000 questions, at most 5 % of streams without a difference ever stop."""
    rng = np.random.default_rng(3)
    stopped = 0
    for _ in range(streams // 1000):
        signs = rng.choice([-1, 0, 1], p=[0.15, 0.7, 0.15], size=(1000, 1000))
        process = paired_log_e_process(np.cumsum(signs > 0, axis=1), np.cumsum(signs < 0, axis=1))
        stopped += int(np.count_nonzero(process.max(axis=1) >= math.log(20)))
    assert stopped / streams <= 0.05


@pytest.mark.parametrize("streams", [1000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mean", [0.5, 0.9])
@pytest.mark.parametrize("population", [None, 500])
def test_betting_excludes_the_truth_in_at_most_alpha_of_streams(
    streams: int, mean: float, population: int | None
) -> None:
    """Over all looks together the true mean is excluded in at most 5 % of streams, from a finite benchmark too."""
    rng = np.random.default_rng(4)
    excluded = 0
    for _ in range(streams // 1000):
        if population is None:
            values = (rng.random((1000, 500)) < mean).astype(float)
        else:
            members = np.arange(population) < mean * population
            values = rng.permuted(np.tile(members, (1000, 1)), axis=1).astype(float)
        wealth = betting_wealth(values, mean, population=population)
        excluded += int(np.count_nonzero(wealth.max(axis=1) >= 20))
    assert excluded / streams <= 0.05


@pytest.mark.parametrize("population", [None, 300])
def test_a_bet_is_made_before_the_value_is_seen(population: int | None) -> None:
    """Over a value that is fair for the mean, the wealth after it is on average the wealth before it."""
    seen = [0.5, 1.0] * 100
    mean = 0.5 if population is None else (150 + 0.5 * 100) / 300  # leaves a half for what is left
    after = [betting_wealth(np.array([*seen, value]), mean, population=population)[-1] for value in (0.0, 1.0)]
    before = betting_wealth(np.array(seen), mean, population=population)[-1]
    assert sum(after) / 2 == pytest.approx(float(before), rel=1e-9)


def test_sequence_is_where_the_wealth_is_below_its_threshold() -> None:
    """The running interval holds exactly the means that betting has not excluded, to two steps of its grid."""
    values = np.random.default_rng(2).random(300)
    for population in (None, 400):
        lower, upper = ConfidenceSequence(population=population).extend(values)
        for place in (10, 100, 299):
            for end, inside in ((lower[place], 1), (upper[place], -1)):
                beyond, within = float(end) - inside * 3e-4, float(end) + inside * 3e-4
                if 0 < beyond < 1:
                    seen = values[: place + 1]
                    assert betting_wealth(seen, beyond, population=population).max() >= 20
                    assert betting_wealth(seen, within, population=population).max() < 20


def test_batches_do_not_change_a_sequence() -> None:
    """Taken one by one or at once, with any range, the same values give the same ends."""
    values = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], size=200)
    at_once = ConfidenceSequence(low=-1)
    lower, upper = at_once.extend(values)
    one_by_one = ConfidenceSequence(low=-1)
    ends = [one_by_one.extend([value]) for value in values]
    assert [float(end[0][0]) for end in ends] == pytest.approx(lower.tolist())
    assert [float(end[1][0]) for end in ends] == pytest.approx(upper.tolist())
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()


def test_a_finite_benchmark_closes_the_interval() -> None:
    """With all questions asked the interval is the mean; half way it is narrower than for endless questions."""
    values = np.random.default_rng(7).permutation(np.arange(1000) < 620).astype(float)
    finite, endless = ConfidenceSequence(population=1000), ConfidenceSequence()
    lower, upper = finite.extend(values)
    wide_lower, wide_upper = endless.extend(values)
    assert (lower[-1], upper[-1]) == pytest.approx((0.62, 0.62))
    assert upper[700] - lower[700] < 0.8 * (wide_upper[700] - wide_lower[700])
    assert lower[700] <= 0.62 <= upper[700]


def test_what_is_no_stream_is_an_error() -> None:
    """NaN, values outside the range, more values than the benchmark has and levels that are none are refused."""
    with pytest.raises(ValueError, match="value 1 is nan"):
        ConfidenceSequence().extend([0.5, math.nan])
    with pytest.raises(ValueError, match=r"value 0 is -1.0, not between 0.0 and 1.0"):
        ConfidenceSequence().extend([-1.0])
    with pytest.raises(ValueError, match="3 values of a population of 2"):
        ConfidenceSequence(population=2).extend([1, 0, 1])
    with pytest.raises(ValueError, match="level"):
        ConfidenceSequence(level=1.0)
    with pytest.raises(ValueError, match="have no range"):
        ConfidenceSequence(low=1.0)
    with pytest.raises(ValueError, match="-1, 0 or 1"):
        paired_stop_at([0.5])
    with pytest.raises(ValueError, match="cannot be negative"):
        paired_e_value(-1, 2)
    with pytest.raises(ValueError, match="no counts of one stream"):
        paired_log_e_process(np.array([1]), np.array([1, 2]))
    with pytest.raises(ValueError, match="strictly between"):
        betting_wealth(np.array([0.5]), 0.0)
