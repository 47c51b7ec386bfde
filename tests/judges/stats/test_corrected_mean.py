"""Corrected means equal published numbers and ppi_py, cover the truth, and are refused where no correction helps."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from nel.errors import UndefinedMetric
from nel.judges.stats.corrected_mean import (
    Labelled,
    Moments,
    Stratum,
    rogan_gladen,
    stratified_ppi_mean,
)


@pytest.fixture(scope="module")
def ppi_py() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ppi_py", reason="pip install ppi-python")


def _golden() -> tuple[Labelled, Moments]:
    """Return n = 200 with 121 right labels, 112 right verdicts and 101 of both; N = 2000 with 1193 right verdicts."""
    pairs = Labelled()
    for label, judged, count in ((1, 1, 101), (1, 0, 20), (0, 1, 11), (0, 0, 68)):
        pairs.add(label, judged, count)
    return pairs, Moments(2000, 1193, 1193)


def _sums(labels: np.ndarray, judged: np.ndarray, rest: np.ndarray) -> tuple[Labelled, Moments]:
    pairs, others = Labelled(), Moments()
    for label, score in zip(labels.tolist(), judged.tolist(), strict=True):
        pairs.add(label, score)
    for score in rest.tolist():
        others.add(score)
    return pairs, others


def test_rogan_gladen_is_the_published_number() -> None:
    """p = 0.72 of 1000, q0 = 0.85 and q1 = 0.90 of 100 each."""
    found = rogan_gladen(0.72, 1000, sensitivity=0.9, n_positive=100, specificity=0.85, n_negative=100)
    assert found.value == pytest.approx(0.76, abs=1e-12)
    assert found.stderr == pytest.approx(0.037591, abs=5e-7)


def test_ppi_is_the_published_number() -> None:
    """One stratum is PPI++, but that the variance of the error has n - 1."""
    pairs, rest = _golden()
    found = stratified_ppi_mean([Stratum(labelled=pairs, unlabelled=rest)], bounds=(0, 1))
    published_half = (0.679118 - 0.576568) / 2
    error = pairs.error_variance(0.625825)
    assert found.value == pytest.approx(0.627843, abs=6e-7)
    assert found.stderr**2 == pytest.approx((published_half / 1.959964) ** 2 + error / 199 - error / 200, abs=1e-8)


def test_strata_of_one_grade_each_are_the_weighted_labels() -> None:
    """Where a stratum is a grade, its mean label counts as often as the judge gave that grade."""
    right, wrong = Labelled(), Labelled()
    right.add(1, 1, 45), right.add(0, 1, 5)
    wrong.add(1, 0, 20), wrong.add(0, 0, 80)
    strata = [
        Stratum(labelled=right, unlabelled=Moments(850, 850, 850)),
        Stratum(labelled=wrong, unlabelled=Moments(0, 0, 0)),
    ]
    found = stratified_ppi_mean(strata, bounds=(0, 1))
    assert found.value == pytest.approx(0.9 * 0.9 + 0.1 * 0.2, abs=1e-12)
    within = 0.9**2 * 0.09 / 49 + 0.1**2 * 0.16 / 99
    between = (0.9 * (0.9 - 0.83) ** 2 + 0.1 * (0.2 - 0.83) ** 2) / 1000
    assert found.stderr**2 == pytest.approx(within + between, abs=1e-12)
    twice = stratified_ppi_mean(strata, bounds=(0, 1), per_question=2)
    assert twice.stderr**2 == pytest.approx(within + 2 * between, abs=1e-12)


def test_answers_that_need_no_label_count_as_they_are() -> None:
    """Failures of the model count 0 beside the corrected ones; all labelled, the estimate is that of the labels."""
    pairs = Labelled()
    pairs.add(1, 1, 60), pairs.add(0, 1, 20), pairs.add(1, 0, 10), pairs.add(0, 0, 10)
    stratum = Stratum(labelled=pairs, unlabelled=Moments())
    alone = stratified_ppi_mean([stratum], bounds=(0, 1))
    found = stratified_ppi_mean([stratum], bounds=(0, 1), known=Moments(100, 0.0, 0.0))
    assert (alone.value, found.value) == pytest.approx((0.7, 0.35), abs=1e-12)
    assert found.stderr == pytest.approx(math.sqrt(0.35 * 0.65 / 200), rel=0.01)


def test_labels_without_an_error_are_no_proof() -> None:
    """Where every label of every grade is the judge's, the interval still has the width of few labels."""
    right, wrong = Labelled(), Labelled()
    right.add(1, 1, 20), wrong.add(0, 0, 20)
    strata = [
        Stratum(labelled=right, unlabelled=Moments(480, 480, 480)),
        Stratum(labelled=wrong, unlabelled=Moments(480, 0, 0)),
    ]
    found = stratified_ppi_mean(strata, bounds=(0, 1))
    sampling_alone = math.sqrt(0.25 / 1000)
    assert found.value == 0.5
    assert found.stderr > 1.5 * sampling_alone


def test_estimates_stay_within_the_scale() -> None:
    """A share beyond what the judge's errors explain is cut to the nearest there can be, and so are the ends."""
    low = rogan_gladen(0.02, 50, sensitivity=0.9, n_positive=20, specificity=0.9, n_negative=20)
    high = rogan_gladen(0.99, 50, sensitivity=0.9, n_positive=20, specificity=0.9, n_negative=20)
    assert (low.value, low.lower) == (0.0, 0.0)
    assert (high.value, high.upper) == (1.0, 1.0)
    assert low.upper > 0
    pairs = Labelled()
    pairs.add(1, 0.5, 10)
    pairs.add(0.9, 0.5, 1)
    found = stratified_ppi_mean([Stratum(labelled=pairs, unlabelled=Moments(10, 5, 2.5))], bounds=(0.0, 1.0))
    assert found.upper == 1.0


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.6, 0.5), (0.2, 0.3), (1.0, 0.1)])
def test_a_judge_that_guesses_is_refused(sensitivity: float, specificity: float) -> None:
    """With sensitivity and specificity of 1.1 or less together the correction divides by next to nothing."""
    with pytest.raises(UndefinedMetric, match="hardly tells right from wrong"):
        rogan_gladen(0.6, 100, sensitivity=sensitivity, n_positive=50, specificity=specificity, n_negative=50)


def test_bad_input_is_refused() -> None:
    """A stratum of one label, and no stratum."""
    _, rest = _golden()
    single = Labelled()
    single.add(1, 1)
    with pytest.raises(UndefinedMetric, match="fewer than two labels"):
        stratified_ppi_mean([Stratum(labelled=single, unlabelled=rest)], bounds=(0, 1))
    with pytest.raises(UndefinedMetric, match="fewer than two labels"):
        stratified_ppi_mean([], bounds=(0, 1))


def _verdicts(rng: np.random.Generator, truth: np.ndarray, sensitivity: float, specificity: float) -> np.ndarray:
    chance = rng.random(len(truth))
    return np.where(truth, chance < sensitivity, chance >= specificity)
