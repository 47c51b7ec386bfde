"""Measures of agreement equal published numbers, other packages on random ratings, and are undefined where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from nel.errors import UndefinedMetric
from nel.judges.stats.agreement import Weights, cohen_kappa, gwet_ac1, pabak, raw_agreement, table_interval
from nel.judges.stats.alpha import Ratings
from nel.judges.types import Level

_THREE = np.array([[10, 3, 1], [2, 8, 4], [0, 3, 9]])
_RARE = np.array([[90, 5], [4, 1]])
_CODERS = (
    "*    *    *    *    *    3    4    1    2    1    1    3    3    *    3",
    "1    *    2    1    3    3    4    3    *    *    *    *    *    *    *",
    "*    *    2    1    3    4    4    *    2    1    1    3    3    *    4",
)
"""The example of fast-krippendorff, from https://en.wikipedia.org/wiki/Krippendorff%27s_alpha."""
_FLEISS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip
"""Ten subjects, fourteen raters, five categories, from https://en.wikipedia.org/wiki/Fleiss%27_kappa."""


def _coded() -> list[list[float | None]]:
    rows = [[None if one == "*" else float(one) for one in line.split()] for line in _CODERS]
    return [list(unit) for unit in zip(*rows, strict=True)]


def _ratings(rows: list[list[Any]]) -> Ratings:
    return Ratings.of(Counter(tuple(sorted(row)) for row in rows))


@pytest.mark.parametrize(
    ("table", "weights", "expected"),
    [
        (np.array([[20, 5], [10, 15]]), None, 0.4),
        (_RARE, None, 0.134615),
        (_THREE, None, 0.513109),
        (_THREE, "linear", 0.602273),
        (_THREE, "quadratic", 0.693487),
    ],
)
def test_kappa_of_a_table_is_the_published_number(table: np.ndarray, weights: Weights | None, expected: float) -> None:
    """Cohen's kappa, and its linear and quadratic forms."""
    assert cohen_kappa(table, weights=weights) == pytest.approx(expected, abs=5e-7)


def test_the_other_measures_of_a_table_are_the_published_numbers() -> None:
    """Raw agreement, AC1 and PABAK."""
    assert raw_agreement(_RARE) == pytest.approx(0.91, abs=1e-12)
    assert gwet_ac1(_RARE) == pytest.approx(0.899559, abs=5e-7)
    assert pabak(_RARE) == pytest.approx(0.82, abs=1e-12)


def _alpha(units: Iterable[Iterable[Any]], scale: Level) -> float:
    """Return alpha of the units that have two values."""
    values = [sorted(value for value in unit if value is not None) for unit in units]
    return Ratings.of(Counter(tuple(unit) for unit in values if len(unit) > 1)).alpha(scale)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [("nominal", 0.691358), ("ordinal", 0.806721), ("interval", 0.810845)],
)
def test_alpha_of_three_coders_is_the_published_number(scale: Level, expected: float) -> None:
    """Krippendorff's alpha with missing values, on each scale."""
    assert _alpha(_coded(), scale) == pytest.approx(expected, abs=5e-7)


def test_fleiss_kappa_of_the_textbook_is_the_published_number() -> None:
    """Ten subjects, fourteen raters, five categories."""
    units = [[float(value) for value, count in enumerate(row) for _ in range(count)] for row in _FLEISS]
    assert _ratings(units).fleiss_kappa() == pytest.approx(0.209931, abs=5e-7)


@pytest.mark.parametrize("measure", [cohen_kappa, gwet_ac1, pabak])
@pytest.mark.parametrize("table", [np.array([[12, 0], [0, 0]]), np.array([[3]])])
def test_one_category_has_no_measure_of_a_table(measure: Callable[[np.ndarray], float], table: np.ndarray) -> None:
    """Total agreement in one category is undefined, never 1."""
    with pytest.raises(UndefinedMetric, match="one category"):
        measure(table)


def test_strata_are_weighted_back_to_what_they_stand_for() -> None:
    """Units of a stratum that was drawn too often count less, in the interval as in the estimate."""
    passed, failed = np.array([[0.0, 10.0], [0.0, 90.0]]), np.array([[90.0, 0.0], [10.0, 0.0]])
    even = table_interval([passed, failed], raw_agreement, shares=[0.5, 0.5])
    mostly_passed = table_interval([passed, np.array([[50.0, 0.0], [50.0, 0.0]])], raw_agreement, shares=[0.99, 0.01])
    assert even.lower is not None
    assert mostly_passed.lower is not None
    assert even.lower == pytest.approx(0.855, abs=0.01)
    assert mostly_passed.lower == pytest.approx(0.83, abs=0.015)
