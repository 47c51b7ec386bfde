"""Splits the variance of scores into between questions and within, and says which of the two to buy
less of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nel.decide.pairs import FEWEST, Floats, Integers, checked_scores
from nel.errors import UndefinedMetric


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceParts:
    """The variance of one answer's score: between questions, and within the answers to one
    question.
    """

    between: float
    """Variance of the questions' true means; 0 where the estimate is below."""
    within: float
    """Mean over questions of the variance of their answers."""
    n_questions: int
    repeats: float
    """Answers to a question; the harmonic mean where they differ."""


def variance_parts(scores: Sequence[Sequence[float]] | Floats) -> VarianceParts:
    """Return unbiased estimates of both variances (Miller 2024, arXiv 2411.00640, section 3).

    ``within`` is the mean of the questions' sample variances, ``between`` the variance of their
    means less ``within / K``. Answers of one question are never pooled with those of others.

    Args:
        scores: The scores of each question's answers, at least two for some question; a matrix with
            a row per question where all have equally many.

    Raises:
        UndefinedMetric: There are fewer than two questions, or none has two answers.
        ValueError: A score is not finite.

    >>> found = variance_parts([[1, 1], [0, 0], [1, 0], [0, 0]])
    >>> round(found.within, 6), round(found.between, 6)
    (0.125, 0.166667)
    """
    return _parts(*_question_moments(scores))


def variance_parts_of_sums(counts: Integers, totals: Floats, squares: Floats) -> VarianceParts:
    """Return the same from sums over the answers to each question, in no more memory than these
    take.

    Args:
        counts: Answers to each question, at least one.
        totals: Sum of their scores.
        squares: Sum of the squares of their scores.

    Raises:
        UndefinedMetric: There are fewer than two questions, or none has two answers.
        ValueError: A sum is not finite, or a question has no answer.

    >>> found = variance_parts_of_sums(np.array([2, 2, 2, 2]), np.array([2.0, 0, 1, 0]), np.array([2.0, 0, 1, 0]))
    >>> round(found.within, 6), round(found.between, 6)
    (0.125, 0.166667)
    """
    if len(counts) and int(counts.min()) < 1:
        raise ValueError("a question without an answer has no variance; leave it out")
    means = checked_scores(totals, "the sums") / counts
    spread = np.maximum(checked_scores(squares, "the squares") - totals * means, 0.0)
    return _parts(means, spread / np.maximum(counts - 1, 1), counts.astype(np.float64))


def _parts(means: Floats, variances: Floats, counts: Floats) -> VarianceParts:
    if len(means) < FEWEST:
        raise UndefinedMetric(
            "one question has no variance between questions: at least two are needed"
        )
    repeated = counts >= FEWEST
    if not repeated.any():
        raise UndefinedMetric(
            "no question was asked twice: repeats are needed to see how answers vary"
        )
    within = float(variances[repeated].mean())
    reciprocal = float((1 / counts).mean())
    between = max(float(means.var(ddof=1)) - within * reciprocal, 0.0)
    return VarianceParts(
        between=between, within=within, n_questions=len(means), repeats=1 / reciprocal
    )


def mean_standard_error(
    between: float, within: float, *, questions: float, repeats: float
) -> float:
    """Return the standard error of a mean, ``sqrt((between + within / K) / n)``.

    Raises:
        ValueError: A variance is negative, or there is no question or no repeat.

    >>> [round(mean_standard_error(0.15, 0.1, questions=200, repeats=k), 6) for k in (1, 4, 16)]
    [0.035355, 0.02958, 0.027951]
    """
    if between < 0 or within < 0 or questions <= 0 or repeats <= 0:
        raise ValueError(
            f"no standard error for variances {between}, {within}, {questions} questions, {repeats}"
            " repeats"
        )
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
        """Return ``questions`` or ``repeats``: which makes the standard error smaller for the same
        number of answers.

        New questions never buy less while there are any; repeats are for benchmarks that have no
        more.
        """
        return "repeats" if self.with_one_more_repeat < self.with_more_questions else "questions"


def marginal_gain(between: float, within: float, *, questions: int, repeats: float) -> MarginalGain:
    """Return the standard errors after one more repeat and after as many more answers to new
    questions.

    Raises:
        ValueError: A variance is negative, or there is no question or no repeat.

    >>> found = marginal_gain(0.15, 0.1, questions=200, repeats=1)
    >>> round(found.with_one_more_repeat, 6), round(found.with_more_questions, 6)
    (0.031623, 0.025)
    """
    return MarginalGain(
        standard_error=mean_standard_error(between, within, questions=questions, repeats=repeats),
        with_one_more_repeat=mean_standard_error(
            between, within, questions=questions, repeats=repeats + 1
        ),
        with_more_questions=mean_standard_error(
            between, within, questions=questions * (1 + 1 / repeats), repeats=repeats
        ),
        with_one_more_question=mean_standard_error(
            between, within, questions=questions + 1, repeats=repeats
        ),
    )


def _question_moments(scores: Sequence[Sequence[float]] | Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean, sample variance (0 of one answer) and number of answers of each question."""
    if isinstance(scores, np.ndarray):
        if scores.ndim != 2 or not scores.shape[1]:  # noqa: PLR2004 - questions and repeats
            raise ValueError(
                f"scores must be a matrix of questions and repeats, not of shape {scores.shape}"
            )
        checked_scores(scores.ravel(), "the repeats")
        counts = np.full(len(scores), float(scores.shape[1]))
        spread = scores.var(axis=1, ddof=1) if scores.shape[1] >= FEWEST else np.zeros(len(scores))
        return scores.mean(axis=1), spread, counts
    rows = [checked_scores(row, f"question {position}") for position, row in enumerate(scores)]
    means = np.array([row.mean() for row in rows])
    spread = np.array([row.var(ddof=1) if len(row) >= FEWEST else 0.0 for row in rows])
    return means, spread, np.array([float(len(row)) for row in rows])
