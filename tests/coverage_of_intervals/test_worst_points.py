"""Intervals hold where Student's t misses most: a short version of `make coverage`."""

from __future__ import annotations

import pytest

from tests.coverage_of_intervals.simulation import measure, students_t, worst_points

DRAWS = 700


def test_no_end_misses_more_often_than_it_may() -> None:
    """At the twelve worst designs each end misses at most 3 % of draws, and the noise of so few."""
    wrong = [figures for figures in (measure(point, DRAWS, 5) for point in worst_points()) if not figures.is_within]
    assert not wrong


@pytest.mark.slow
def test_the_simulation_finds_that_students_t_misses() -> None:
    """With t in its place nearly all of these designs fail, so that the test above can."""
    wrong = [point for point in worst_points(students_t) if not measure(point, DRAWS, 5).is_within]
    assert len(wrong) >= 10
