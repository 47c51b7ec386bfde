"""What holds for any scores: neither the order of questions, nor names of clusters, nor which side is which matters."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from nel.decide import mcnemar_exact, paired_difference, tango_interval
from nel.errors import UndefinedMetric


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=2, max_size=15))
def test_any_finite_scores_end_in_finite_numbers_or_a_reason(scores: list[float]) -> None:
    """No magnitude gives NaN, infinity or a warning; what is larger than a float can be says so."""
    try:
        found = paired_difference(scores, list(reversed(scores)))
    except UndefinedMetric:
        return
    assert all(math.isfinite(one) for one in (found.estimate, found.lower, found.upper, found.p_value))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 100))
def test_test_and_interval_of_pairs_tell_the_same_story(wins: int, losses: int, ties: int) -> None:
    """The exact test never rejects where Tango's interval holds 0: it is the more cautious of the two."""
    n = wins + losses + ties
    if not n:
        return
    lower, upper = tango_interval(wins, losses, n)
    if mcnemar_exact(wins, losses) < 0.05:
        assert lower > 0 or upper < 0
    narrow = tango_interval(wins, losses, n, level=0.8)
    assert lower <= narrow[0] <= narrow[1] <= upper
