"""An interval gets no worse by a better answer, wherever the values lie and through every door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from nel.decide.paired import PairedDesign, paired_difference
from nel.metrics.question_intervals import Design, question_interval
from nel.metrics.series import Series

ROUNDING = 1e-9
REPEATED = PairedDesign(repeats=8)


def ends_of_mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends through the public door of means over planned repeats."""
    series = Series.of(np.arange(len(values)), np.array(values, dtype=np.float64))
    interval = question_interval(series, Design(repeats=8))
    assert interval.lower is not None
    assert interval.upper is not None
    return interval.lower, interval.upper


def ends_of_difference(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of differences through the public door of comparisons of runs with repeats."""
    after = np.array(values, dtype=np.float64)
    found = paired_difference(np.maximum(-after, 0), np.maximum(after, 0), design=REPEATED)
    return found.lower, found.upper


def ends_of_single_answers(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of one answer a question, right or wrong or with part credit."""
    interval = question_interval(Series.of(np.arange(len(values)), np.array(values, dtype=np.float64)), Design())
    assert interval.lower is not None
    assert interval.upper is not None
    return interval.lower, interval.upper


def ends_of_single_differences(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of differences of two runs that answered each question once."""
    after = np.array(values, dtype=np.float64)
    found = paired_difference(np.maximum(-after, 0), np.maximum(after, 0))
    return found.lower, found.upper


DOORS = [
    (ends_of_mean, 0.0),
    (ends_of_difference, -1.0),
    (ends_of_single_answers, 0.0),
    (ends_of_single_differences, -1.0),
]


@lru_cache(maxsize=10_000)
def _ends_of(ends, values: tuple[float, ...]) -> tuple[float, float]:
    return ends(values)


def check_step(ends, before: Sequence[float], after: Sequence[float]) -> None:
    """Assert that values of which one rose have no lower end, and that the estimate is inside."""
    (low, high), (lower, upper) = (_ends_of(ends, tuple(values)) for values in (before, after))
    assert lower >= low - ROUNDING
    assert upper >= high - ROUNDING
    assert low - ROUNDING <= np.mean(before) <= high + ROUNDING


def small_steps(low: float, size: int, answers: int) -> Iterator[tuple[list[float], list[float]]]:
    """Yield all small sets of questions, with each rise of one of them by one answer."""
    levels = np.linspace(low, 1.0, answers + 1).tolist()
    for chosen in combinations_with_replacement(range(answers + 1), size):
        for position in {chosen.index(level) for level in chosen if level < answers}:
            after = [level + (place == position) for place, level in enumerate(chosen)]
            yield [levels[level] for level in chosen], [levels[level] for level in after]


@pytest.mark.parametrize(("ends", "low"), DOORS)
@pytest.mark.parametrize(("size", "answers"), [(2, 8), (3, 4), (4, 4), (6, 2)])
def test_one_more_right_answer_never_lowers_an_end_of_few_questions(ends, low: float, size: int, answers: int) -> None:
    """Every set of so many questions and answers, and each step up from it."""
    for before, after in small_steps(low, size, answers):
        check_step(ends, before, after)


@pytest.mark.parametrize(("ends", "low"), DOORS)
@pytest.mark.parametrize("runs", [15, pytest.param(5000, marks=pytest.mark.slow)])
def test_one_more_right_answer_never_lowers_an_end(ends, low: float, runs: int) -> None:
    """Random questions with equal and unequal numbers of answers and with graded scores, 2 to 500 of them."""
    rng = np.random.default_rng(17)
    for _ in range(runs):
        n = int(10 ** rng.uniform(0.31, 2.7))
        answers = rng.integers(1, 9, n) if rng.random() < 0.5 else np.full(n, rng.integers(1, 9))
        chances = rng.beta(*10 ** rng.uniform(-1, 1.5, 2), n)
        shares = rng.beta(2, 0.3, n) if rng.random() < 0.2 else rng.binomial(answers, chances) / answers
        before = low + (1 - low) * shares
        position = int(rng.integers(n))
        after = before.copy()
        after[position] = min(1.0, after[position] + (1 - low) / answers[position])
        check_step(ends, before, after)
