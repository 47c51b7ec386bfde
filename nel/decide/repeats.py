"""Splits the variance of scores into between questions and within, and says which to reduce."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nel.decide.pairs import Floats, Integers, checked_scores
from nel.errors import UndefinedMetric
from nel.metrics.intervals import FEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceParts:
    """The variance of one answer's score: between questions, and within answers to one."""

    between: float
    """Variance of the questions' true means; 0 where the estimate is below."""
    within: float
    """Mean over questions of the variance of their answers."""
    n_questions: int
    repeats: float
    """Answers to a question; the harmonic mean where they differ."""


def variance_parts_of_sums(counts: Integers, totals: Floats, squares: Floats) -> VarianceParts:
    """Return unbiased estimates of both variances (Miller 2024, arXiv 2411.00640, section 3), from
    sums over the answers to each question.

    ``within`` is the mean of the questions' sample variances, ``between`` the variance of their
    means less ``within / K``. Answers of one question are never pooled with those of others.

    Args:
        counts: Answers to each question, at least one.
        totals: Sum of their scores.
        squares: Sum of the squares of their scores.

    Raises:
        UndefinedMetric: There are fewer than two questions, or none has two answers.
        ValueError: A sum is not finite.

    >>> parts = variance_parts_of_sums(np.array([2, 2, 2, 2]), np.array([2.0, 0, 1, 0]), np.array([2.0, 0, 1, 0]))
    >>> round(parts.within, 6), round(parts.between, 6)
    (0.125, 0.166667)
    """
    # Of each question, K = counts answers x: sum (x - mean)² = sum x² - total * mean, which can
    # come out below 0 by rounding.
    means = checked_scores(totals, "the sums") / counts
    spread = np.maximum(checked_scores(squares, "the squares") - totals * means, 0.0)
    if len(means) < FEWEST:
        raise UndefinedMetric(
            "one question has no variance between questions: at least two are needed"
        )
    repeated = counts >= FEWEST
    if not repeated.any():
        raise UndefinedMetric(
            "no question was asked twice: repeats are needed to see how answers vary"
        )
    within = float((spread / np.maximum(counts - 1, 1))[repeated].mean())
    # The variance of the questions' means holds `within / K` of their answers' own; less that, the
    # estimate can be negative by chance.
    reciprocal = float((1 / counts).mean())
    between = max(float(means.var(ddof=1)) - within * reciprocal, 0.0)
    return VarianceParts(
        between=between, within=within, n_questions=len(means), repeats=1 / reciprocal
    )


def _standard_error(between: float, within: float, questions: float, repeats: float) -> float:
    """Return the standard error of a mean, ``sqrt((between + within / K) / n)``."""
    return math.sqrt((between + within / repeats) / questions)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalGain:
    """What the next answers buy: as one more repeat of every question, or as new questions."""

    standard_error: float
    """As it is now."""
    with_one_more_repeat: float
    """After one more answer to each question."""
    with_more_questions: float
    """After as many answers more, each batch of K to a new question."""
    with_one_more_question: float

    @property
    def buys_more(self) -> str:
        """Return what lowers the standard error more: ``questions`` or ``repeats``.

        New questions never buy less while there are any; repeats are for benchmarks that have no
        more.
        """
        return "repeats" if self.with_one_more_repeat < self.with_more_questions else "questions"


def marginal_gain(between: float, within: float, *, questions: int, repeats: float) -> MarginalGain:
    """Return the standard errors after one more repeat, and after as many answers to new questions.

    >>> gain = marginal_gain(0.15, 0.1, questions=200, repeats=1)
    >>> round(gain.with_one_more_repeat, 6), round(gain.with_more_questions, 6)
    (0.031623, 0.025)
    """
    n_questions = questions * (1 + 1 / repeats)
    return MarginalGain(
        standard_error=_standard_error(between, within, questions, repeats),
        with_one_more_repeat=_standard_error(between, within, questions, repeats + 1),
        with_more_questions=_standard_error(between, within, n_questions, repeats),
        with_one_more_question=_standard_error(between, within, questions + 1, repeats),
    )
