"""Variance between and within questions against golden values and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from nel.decide import mean_standard_error, variance_parts
from nel.errors import UndefinedMetric


def test_golden_standard_errors() -> None:
    """Published values: sixteen repeats of 200 questions buy little."""
    found = [mean_standard_error(0.15, 0.1, questions=200, repeats=repeats) for repeats in (1, 4, 16)]
    assert found == pytest.approx([0.035355, 0.029580, 0.027951], abs=5e-7)


def test_parts_are_unbiased() -> None:
    """Over many drawn matrices the estimates average the variances they were drawn with."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(400):
        scores = rng.normal(size=(50, 1)) * 0.5 + rng.normal(size=(50, 4)) * 0.4
        parts = variance_parts(scores)
        found.append((parts.between, parts.within))
    assert np.mean(found, axis=0) == pytest.approx([0.25, 0.16], abs=0.01)


def test_unequal_repeats_are_the_same_as_equal_ones_where_they_are() -> None:
    """Lists and a matrix give the same; a question that was asked once still counts between."""
    matrix = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    assert variance_parts(matrix) == variance_parts(matrix.tolist())
    ragged = variance_parts([[1, 0], [1], [0, 0, 0, 0]])
    assert ragged.within == pytest.approx(0.25)
    assert ragged.repeats == pytest.approx(3 / (0.5 + 1 + 0.25))


def test_what_has_no_parts_is_an_error() -> None:
    """One question, or one answer each, cannot be split."""
    with pytest.raises(UndefinedMetric, match="at least two"):
        variance_parts([[1, 0]])
    with pytest.raises(UndefinedMetric, match="asked twice"):
        variance_parts([[1], [0]])
    with pytest.raises(ValueError, match="question 1: score 0 is nan"):
        variance_parts([[1, 0], [float("nan"), 1]])
