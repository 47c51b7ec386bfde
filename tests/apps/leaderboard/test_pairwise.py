"""Win rates and position bias of compared pairs, by hand and by independent tools."""

from __future__ import annotations

import numpy as np
import pytest

from nel.apps.leaderboard.pairwise import comparisons, position_bias, win_matrix, win_rate
from nel.metrics.intervals import wilson_interval
from nel.metrics.question_intervals import values_interval

THREE = [(0, 1, 1.0, 0), (2, 0, 0.5, 0), (1, 2, 0.0, 1), (1, 0, 0.0, 1), (0, 2, 1.0, 2)]


def test_wins_and_ties_of_a_small_tournament_by_hand() -> None:
    """a beats b twice, ties c once and beats it once; c beats b: each cell of the matrix is counted on paper."""
    found = comparisons(["a", "b", "c"], THREE)
    assert win_matrix(found).tolist() == [[0, 2, 1.5], [0, 0, 0], [0.5, 1, 0]]
    rate = win_rate(*found.of(0))
    assert (rate.value, rate.n, rate.n_questions) == (3.5 / 4, 4, 3)
    assert (rate.wins, rate.ties, rate.losses) == (3, 1, 0)
    between = win_rate(*found.between(2, 0))
    assert (between.value, between.wins, between.ties, between.losses) == (0.25, 0, 1, 1)


def test_a_win_rate_over_questions_with_several_comparisons_is_clustered() -> None:
    """Three opponents on one question are not three questions."""
    scores = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.5, 1.0, 0.5, 0.5])
    questions = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    rate = win_rate(scores, questions)
    expected = values_interval(scores, codes=questions)
    assert rate.ci_method == "added_question_groups"
    assert (rate.ci_lower, rate.ci_upper) == (expected.lower, expected.upper)
    assert win_rate(scores[::3], questions[::3]).ci_method == "added_question"


def test_a_judge_that_prefers_the_first_seat_is_seen_through() -> None:
    """Every pair flips, and the first seat wins all."""
    found = position_bias(np.tile([1.0, 0.0], (12, 1)), np.arange(12))
    assert (found.n_pairs, found.n_flipped) == (12, 12)
    expected = wilson_interval(12, 12)
    assert [found.flips.value, found.first.value] == [1.0, 1.0]
    assert (found.flips.ci_lower, found.flips.ci_upper) == (expected.lower, expected.upper)


def test_position_bias_by_hand() -> None:
    """Of four pairs one flips to the second seat, one wavers, two hold; the first seat has 0 + 3/4 + 1/2 + 1/2 of 4."""
    both = np.array([[0.0, 1.0], [1.0, 0.5], [1.0, 1.0], [0.5, 0.5]])
    found = position_bias(both, np.arange(4))
    assert (found.n_flipped, found.flips.value) == (2, 0.5)
    assert found.first.value == pytest.approx((0 + 0.75 + 0.5 + 0.5) / 4)


def test_a_group_keeps_only_what_its_members_played() -> None:
    """Models and questions are numbered again."""
    inside = comparisons(["a", "b", "c"], THREE).among([2, 0])
    assert inside.models == ("c", "a")
    assert inside.left.tolist() == [0, 1]
    assert inside.right.tolist() == [1, 0]
    assert inside.score.tolist() == [0.5, 1.0]
    assert inside.question.tolist() == [0, 1]
