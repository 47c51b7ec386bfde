"""One style of numbers: rates in per cent with two digits, differences in points, everything else as it is."""

from __future__ import annotations

import pytest

from nel.reports import numbers
from nel.reports.corrected import measure_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1 / 3, "rate", "33.33\u202f%"),
        (1.0, "rate", "100.00\u202f%"),
        (0.0287, "points", "2.87\u202fpoints"),
        (1234.5, "number", "1,234.5"),
        (None, "rate", "–"),
    ],
)
def test_a_number_is_shown_in_its_unit(value: float | None, unit: str, text: str) -> None:
    """The unit is in the data, so that every output shows a number alike."""
    assert numbers.in_unit(value, unit) == text


def test_a_difference_of_rates_is_in_points() -> None:
    """30 points lower, with the sign that belongs to a difference."""
    assert numbers.difference(-0.3, "rate") == "−30.00"


def test_agreement_of_judges_is_in_per_cent_and_kappa_is_not() -> None:
    """Rates and coefficients stand in one table, each in its unit."""
    measure = {"value": 0.75, "ci_lower": 0.5, "ci_upper": 0.9}
    assert measure_text(measure) == "75.00\u202f% (50.00 – 90.00\u202f%)"
    assert measure_text(measure, "coefficient") == "0.750 (0.500 – 0.900)"
