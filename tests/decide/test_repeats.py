"""Variance between and within questions against golden values and simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nel.decide import VarianceParts, marginal_gain, variance_parts_of_sums
from nel.errors import UndefinedMetric


def variance_parts(scores: Sequence[Sequence[float]]) -> VarianceParts:
    """Return the parts of the scores of each question's answers."""
    rows = [np.array(row, dtype=np.float64) for row in scores]
    counts = np.array([len(row) for row in rows])
    totals, squares = (np.array([(row**power).sum() for row in rows]) for power in (1, 2))
    return variance_parts_of_sums(counts, totals, squares)


def test_golden_standard_errors() -> None:
    """Published values: sixteen repeats of 200 questions buy little."""
    errors = [marginal_gain(0.15, 0.1, questions=200, repeats=k).standard_error for k in (1, 4, 16)]
    assert errors == pytest.approx([0.035355, 0.029580, 0.027951], abs=5e-7)


def test_parts_are_unbiased() -> None:
    """Over many drawn matrices the estimates average the variances they were drawn with."""
    rng = np.random.default_rng(3)
    estimates = []
    for _ in range(400):
        scores = rng.normal(size=(50, 1)) * 0.5 + rng.normal(size=(50, 4)) * 0.4
        parts = variance_parts(scores.tolist())
        estimates.append((parts.between, parts.within))
    assert np.mean(estimates, axis=0) == pytest.approx([0.25, 0.16], abs=0.01)


def test_a_question_that_was_asked_once_counts_between() -> None:
    """Repeats may differ; the mean of them is harmonic."""
    ragged = variance_parts([[1, 0], [1], [0, 0, 0, 0]])
    assert ragged.within == pytest.approx(0.25)
    assert ragged.repeats == pytest.approx(3 / (0.5 + 1 + 0.25))


def test_what_has_no_parts_is_an_error() -> None:
    """One question, or one answer each, cannot be split."""
    with pytest.raises(UndefinedMetric, match="at least two"):
        variance_parts([[1, 0]])
    with pytest.raises(UndefinedMetric, match="asked twice"):
        variance_parts([[1], [0]])
    with pytest.raises(ValueError, match="score 1 is nan"):
        variance_parts([[1, 0], [float("nan"), 1]])
