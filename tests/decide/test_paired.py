"""Comparisons of paired scores against golden values, scipy and statsmodels, and everything that is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy

from nel.decide import Verdict, flip_test, paired_difference, verdict
from nel.decide.paired import PairedDesign
from nel.errors import UndefinedMetric
from nel.metrics.question_intervals import values_interval

CANDIDATE = [int(bit) for bit in "1111011011"]
BASELINE = [int(bit) for bit in "1010010011"]
DIFFERENCES = [after - before for before, after in zip(BASELINE, CANDIDATE, strict=True)]


def flipped(values: Sequence[float] | np.ndarray, seed: int = 0) -> float:
    """Return the p-value of flipping the signs of values."""
    return flip_test(np.asarray(values, dtype=np.float64), np.random.default_rng(seed))[0]


def test_golden_pair() -> None:
    """The published example: delta, standard error, t, its p-value, and the exact p-value of flipping signs."""
    assert flipped(DIFFERENCES) == 0.25
    binary = paired_difference(BASELINE, CANDIDATE)
    assert (binary.estimate, binary.p_value, binary.test_method, binary.interval_method) == (
        pytest.approx(0.3),
        0.25,
        "mcnemar_exact",
        "tango",
    )
    assert (binary.wins, binary.losses, binary.ties, binary.n, binary.n_clusters) == (3, 0, 7, 10, None)
    assert (binary.naive_lower, binary.naive_upper) == (None, None)
    assert (binary.estimate, binary.standard_error) == pytest.approx((0.3, 0.152753), abs=5e-7)


@pytest.mark.parametrize("runs", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_paired_t_equals_scipy(runs: int) -> None:
    """Random scores of every size and scale, without known bounds, have scipy's interval."""
    unbounded = PairedDesign(bounds=(-math.inf, math.inf))
    rng = np.random.default_rng(11)
    for _ in range(runs):
        n = int(10 ** rng.uniform(0.4, 3))
        before, after = rng.normal(size=(2, n)) * 10 ** rng.uniform(-3, 3) + rng.normal() * 0.1
        expected = scipy.stats.ttest_rel(after, before)
        ends = expected.confidence_interval(0.9)
        difference = paired_difference(before, after, design=unbounded, level=0.9)
        assert (difference.lower, difference.upper, difference.interval_method) == (
            pytest.approx(ends.low, rel=1e-9),
            pytest.approx(ends.high, rel=1e-9),
            "t",
        )


@pytest.mark.parametrize("runs", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_exact_sign_flips_equal_scipy(runs: int) -> None:
    """Up to ten differences, with ties and zeros, have the p-value of scipy's exact permutation test."""
    rng = np.random.default_rng(5)
    for _ in range(runs):
        values = rng.integers(-3, 4, size=int(rng.integers(2, 10))) / 4
        expected = scipy.stats.permutation_test(
            (values, np.zeros(len(values))), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
        )
        assert flipped(values) == pytest.approx(min(1.0, expected.pvalue), rel=1e-9)


def test_few_clusters_have_the_exact_p_value_of_flipping_them() -> None:
    """Four clusters that all agree have two of sixteen patterns at least as extreme."""
    found = paired_difference([0] * 8, [1, 1, 1, 0, 1, 1, 1, 1], clusters="aabbccdd")
    assert (found.p_value, found.test_method, found.n_clusters) == (2 / 16, "sign_flip_exact", 4)
    assert found.interval_method == "added_question_groups"
    assert (found.naive_lower, found.naive_upper) != (None, None)


def test_clustering_can_change_the_verdict() -> None:
    """Four passages of a hundred questions are four units, not four hundred; both intervals are given."""
    clusters = [number // 100 for number in range(400)]
    after = [1 if number < 180 or 200 <= number < 240 else 0 for number in range(400)]
    found = paired_difference([0] * 400, after, clusters=clusters)
    assert found.naive_lower is not None
    assert found.naive_upper is not None
    assert verdict(found.naive_lower, found.naive_upper) is Verdict.BETTER
    assert verdict(found.lower, found.upper) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 1]])
def test_a_run_against_itself_is_no_certainty(clusters: list[int] | None) -> None:
    """Without any spread the interval still has a width on both sides of 0."""
    scores = [0.25, 0.5, 0.75, 0.5]
    found = paired_difference(scores, scores, clusters=clusters)
    assert found.estimate == 0
    assert found.lower < 0 < found.upper
    assert (found.p_value, found.ties) == (1.0, 4)
    assert found.smallest_detectable == pytest.approx(1.0, abs=0.01)


def test_planned_repeats_and_not_the_values_choose_the_interval() -> None:
    """Of two runs with repeats the one with every question wholly right or wrong has no narrower interval."""
    repeated = PairedDesign(repeats=4)
    whole = paired_difference([1.0] * 30, [*[1.0] * 29, 0.0], design=repeated)
    parts = paired_difference([1.0] * 30, [*[1.0] * 29, 0.75], design=repeated)
    assert (whole.lower, whole.upper) == pytest.approx((-0.171232, 0.088005), abs=6e-7)
    assert (parts.lower, parts.upper) == pytest.approx((-0.123105, 0.107889), abs=6e-7)
    assert {whole.interval_method, parts.interval_method} == {"added_question"}
    assert paired_difference([1.0] * 30, [*[1.0] * 29, 0.0]).interval_method == "tango"


def test_what_is_detectable_is_detected() -> None:
    """A candidate that wholly wins so many questions is found in 80 of 100 draws, with repeats too."""
    repeated = PairedDesign(repeats=4)
    detectable = paired_difference([0.0] * 60, [0.0] * 60, design=repeated).smallest_detectable
    rng = np.random.default_rng(3)
    drawn = (values_interval(won.astype(float), bounds=(-1, 1)) for won in rng.random((400, 60)) < detectable)
    assert sum((interval.lower or -1) > 0 for interval in drawn) >= 0.78 * 400


def test_smallest_detectable_is_on_the_scale_of_the_score() -> None:
    """McNemar's form: 1,742 questions of which 20 % are discordant detect three points."""
    discordant = 348
    before = [0] * (discordant // 2) + [1] * (discordant // 2) + [1] * (1742 - discordant)
    after = [1] * (discordant // 2) + [0] * (discordant // 2) + [1] * (1742 - discordant)
    assert paired_difference(before, after).smallest_detectable == pytest.approx(0.03, abs=2e-4)


def test_smallest_detectable_is_never_zero_nor_above_what_can_be() -> None:
    """Without a discordant pair the least effect is that of wins alone; three questions detect nothing below 1."""
    assert paired_difference([1] * 1000, [1] * 1000).smallest_detectable == pytest.approx(0.0078, abs=2e-4)
    assert paired_difference([1, 0, 1], [1, 0, 0]).smallest_detectable == 1.0


def test_monte_carlo_flips_are_seeded_and_near_the_t_test() -> None:
    """More sizes than can be counted are drawn: the same seed gives the same p-value, near that of the t-test."""
    rng = np.random.default_rng(8)
    values = rng.normal(0.12, 1, size=400)
    assert flipped(values, seed=3) == flipped(values, seed=3)
    assert flipped(values, seed=3) == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue, abs=0.01)
    assert flipped(values + 10) == 1 / 10_001
    found = paired_difference(np.zeros(400), values)
    assert found.test_method == "sign_flip_monte_carlo"


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "x"])
def test_what_is_no_number_is_an_error(bad: float) -> None:
    """NaN, infinity and missing scores never reach a statistic; the message says which score."""
    with pytest.raises(ValueError, match=r"the candidate: .*leave out what was not scored"):
        paired_difference([1.0, 0.0, 1.0], [1.0, bad, 0.0])


def test_what_cannot_be_compared_is_an_error() -> None:
    """Unequal lengths, nothing, one question, one cluster and missing cluster ids are refused, each with its reason."""
    with pytest.raises(ValueError, match="3 questions and the candidate 2"):
        paired_difference([1, 0, 1], [1, 0])
    with pytest.raises(UndefinedMetric, match="nothing was scored"):
        paired_difference([], [])
    with pytest.raises(UndefinedMetric, match="at least two"):
        paired_difference([1], [0])
    with pytest.raises(UndefinedMetric, match="one cluster"):
        paired_difference([1, 0], [0, 1], clusters=["a", "a"])
    with pytest.raises(ValueError, match="2 questions have 1 cluster ids"):
        paired_difference([1, 0], [0, 1], clusters=["a"])
    with pytest.raises(ValueError, match="question 1 has no cluster id, but None"):
        paired_difference([1, 0], [0, 1], clusters=["a", None])
    with pytest.raises(ValueError, match="level"):
        paired_difference([1, 0], [0, 1], level=95)
    with pytest.raises(UndefinedMetric, match="by the same number"):
        paired_difference([5.0, 5.0], [5.0, 5.0])
