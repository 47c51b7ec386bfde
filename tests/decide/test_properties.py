"""What holds for any scores: neither the order of questions, nor names of clusters, nor which side is which matters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nel.decide import mcnemar_exact, paired_difference, tango_interval
from nel.errors import UndefinedMetric

SCORES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=2, max_size=30
)
COIN_PAIRS = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=2, max_size=60)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.one_of(SCORES, COIN_PAIRS))
def test_swapping_the_sides_mirrors_everything(pairs: list[tuple[float, float]]) -> None:
    """Candidate for baseline: the mirrored interval, the same p-value and the same least effect."""
    before, after = zip(*pairs, strict=True)
    there = paired_difference(before, after)
    back = paired_difference(after, before)
    assert (back.estimate, back.lower, back.upper) == pytest.approx((-there.estimate, -there.upper, -there.lower))
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    assert back.smallest_detectable == pytest.approx(there.smallest_detectable)
    if there.test_method != "sign_flip_monte_carlo":
        assert back.p_value == pytest.approx(there.p_value)
    assert there.lower <= there.estimate <= there.upper
    assert there.lower < there.upper
    assert 0 < there.p_value <= 1


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.one_of(SCORES, COIN_PAIRS))
def test_the_order_of_questions_changes_nothing(pairs: list[tuple[float, float]]) -> None:
    """Shuffled together, with clusters or without, the questions give the same comparison."""
    order = np.random.default_rng(len(pairs)).permutation(len(pairs))
    before, after = (np.array(side) for side in zip(*pairs, strict=True))
    clusters = np.arange(len(pairs)) // 2 % 7
    for groups in (None, clusters if len(set(clusters.tolist())) > 1 else None):
        given_groups = None if groups is None else groups.tolist()
        moved = None if groups is None else [f"c{code}" for code in groups[order]]
        one = paired_difference(before, after, clusters=given_groups)
        other = paired_difference(before[order], after[order], clusters=moved)
        assert (one.lower, one.upper, one.estimate) == pytest.approx((other.lower, other.upper, other.estimate))


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
