"""Statistics of pairwise comparisons: win rates, the win matrix and position bias.

Models and questions are numbers here. Strengths are in `nel.apps.leaderboard.bradley_terry`.
Comparisons on one question are not independent, so questions are the sampling unit of every
interval. Depends on numpy and `nel.metrics`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nel.decide.pairs import Floats, Integers
from nel.metrics.intervals import Interval, no_interval, wilson_interval
from nel.metrics.question_intervals import values_interval

WON: Final = 1.0
TIED: Final = 0.5
LOST: Final = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """Pairs of answers of two models to the same question, and which was better."""

    models: tuple[str, ...]
    left: Integers
    """Of each comparison, the position of one model in `models`."""
    right: Integers
    """The position of the other."""
    score: Floats
    """Score of the left one: 1 won, 0.5 tied, 0 lost; a panel's mean may lie between."""
    question: Integers
    """Of each comparison the question's number, from 0 without gaps: the cluster."""
    length: Floats
    """`length_difference` of the answers, left less right; 0 where lengths are unknown."""

    @property
    def n(self) -> int:
        """Return how many comparisons there are."""
        return len(self.left)

    @property
    def n_questions(self) -> int:
        """Return how many questions they are on."""
        return len(np.unique(self.question))

    def of(self, model: int) -> tuple[Floats, Integers]:
        """Return the scores of one model and the question of each."""
        return self._scores(self.left == model, self.right == model)

    def between(self, model: int, rival: int) -> tuple[Floats, Integers]:
        """Return the scores of one model against another and the question of each."""
        on_left = (self.left == model) & (self.right == rival)
        on_right = (self.left == rival) & (self.right == model)
        return self._scores(on_left, on_right)

    def _scores(
        self, on_left: NDArray[np.bool_], on_right: NDArray[np.bool_]
    ) -> tuple[Floats, Integers]:
        scores = np.concatenate([self.score[on_left], 1 - self.score[on_right]])
        return scores, np.concatenate([self.question[on_left], self.question[on_right]])

    def among(self, group: Sequence[int]) -> Comparisons:
        """Return the comparisons within a group of models, renumbered in the given order."""
        number_of = np.full(len(self.models), -1)
        number_of[list(group)] = np.arange(len(group))
        is_among = (number_of[self.left] >= 0) & (number_of[self.right] >= 0)
        _, question = np.unique(self.question[is_among], return_inverse=True)
        return Comparisons(
            models=tuple(self.models[model] for model in group),
            left=number_of[self.left[is_among]],
            right=number_of[self.right[is_among]],
            score=self.score[is_among],
            question=question.astype(np.int64).reshape(-1),
            length=self.length[is_among],
        )


def comparisons(
    models: Sequence[str],
    rows: Sequence[tuple[int, int, float, int]],
    length: Sequence[float] | None = None,
) -> Comparisons:
    """Return comparisons from rows of ``(left, right, score of the left one, question)``.

    Args:
        models: Their names.
        rows: Models by position, scores from 0 to 1, questions by any number from 0.
        length: Of each row `length_difference` of the two answers; None where length is not used.
    """
    left, right, score, question = zip(*rows, strict=True) if rows else ((), (), (), ())
    # Questions by any number become 0, 1, 2 and so on.
    _, question_codes = np.unique(np.array(question, dtype=np.int64), return_inverse=True)
    return Comparisons(
        models=tuple(models),
        left=np.array(left, dtype=np.int64),
        right=np.array(right, dtype=np.int64),
        score=np.array(score, dtype=np.float64),
        question=question_codes.astype(np.int64).reshape(-1),
        length=np.zeros(len(rows)) if length is None else np.array(length, dtype=np.float64),
    )


def length_difference(left: int, right: int) -> float:
    """Return the difference of two lengths over their sum, from -1 to 1; 0 for two empty answers.

    The form that Chatbot Arena's style control uses (Chiang et al. 2024, arXiv 2403.04132, and its
    code).

    >>> length_difference(300, 100), length_difference(0, 0)
    (0.5, 0.0)
    """
    return 0.0 if left + right == 0 else (left - right) / (left + right)


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """How often a model was preferred; a tie is half a win."""

    value: float | None
    """None for no scores."""
    ci_lower: float | None
    ci_upper: float | None
    ci_method: str
    n: int
    n_questions: int
    wins: int
    ties: int
    losses: int
    """Scores above, at and below a half."""


def win_rate(scores: Floats, questions: Integers, *, has_ties: bool = True) -> WinRate:
    """Return the mean of scores with an interval over questions.

    The interval is that of one comparison more at each bound, and where a question has several they
    are a group; single comparisons that cannot be ties have Wilson's.

    Args:
        scores: From 0 to 1; 0.5 is a tie.
        questions: The question of each score.
        has_ties: Whether a comparison can end between 0 and 1.

    >>> rate = win_rate(np.array([1.0, 1.0, 0.5, 0.0]), np.array([0, 1, 2, 3]))
    >>> rate.value, rate.wins, rate.ties, rate.losses, rate.ci_method
    (0.625, 2, 1, 1, 'added_question')
    """
    n = len(scores)
    value, interval = None, no_interval("")
    if n:
        value = math.fsum(scores.tolist()) / n
        interval = _rate_interval(scores, questions, has_ties=has_ties)
    wins, ties = int((scores > TIED).sum()), int((scores == TIED).sum())
    return WinRate(
        value=value,
        ci_lower=interval.lower,
        ci_upper=interval.upper,
        ci_method=interval.method,
        n=n,
        n_questions=len(np.unique(questions)),
        wins=wins,
        ties=ties,
        losses=n - wins - ties,
    )


def _rate_interval(scores: Floats, questions: Integers, *, has_ties: bool) -> Interval:
    _, codes, counts = np.unique(questions, return_inverse=True, return_counts=True)
    if int(counts.max()) > 1:
        return values_interval(scores, codes=codes.reshape(-1).astype(np.int64))
    if has_ties:
        return values_interval(scores)
    return wilson_interval(float(scores.sum()), len(scores))


def win_matrix(compared: Comparisons) -> Floats:
    """Return W: W[i, j] counts the wins of model i over model j, a tie as half a win for each.

    >>> win_matrix(comparisons(["a", "b"], [(0, 1, 1.0, 0), (1, 0, 0.5, 1)])).tolist()
    [[0.0, 1.5], [0.5, 0.0]]
    """
    size = len(compared.models)
    wins = np.zeros((size, size))
    np.add.at(wins, (compared.left, compared.right), compared.score)
    np.add.at(wins, (compared.right, compared.left), 1 - compared.score)
    return wins


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """How verdicts depend on the order in which two answers are shown."""

    n_pairs: int
    """Pairs that were judged in both orders."""
    n_flipped: int
    """Pairs with another verdict in the other order."""
    flips: WinRate
    """Share of pairs whose verdict is not the same in both orders."""
    first: WinRate
    """Share of the verdicts of both orders for the answer shown first; 0.5 without a bias."""


def position_bias(both: NDArray[np.float64], questions: Integers) -> PositionBias:
    """Return how far verdicts depend on the order of the answers (Zheng et al., arXiv 2306.05685).

    Args:
        both: Shape (pairs, 2): the score of one answer when it was shown first, and when it was
            shown second.
        questions: The question of each pair, shape (pairs,).

    >>> always_the_first = position_bias(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> always_the_first.flips.value, always_the_first.first.value
    (1.0, 1.0)
    """
    when_first, when_second = both[:, 0], both[:, 1]
    is_flipped = when_first != when_second
    return PositionBias(
        n_pairs=len(both),
        n_flipped=int(is_flipped.sum()),
        flips=win_rate(is_flipped.astype(np.float64), questions, has_ties=False),
        # Shown second, the first answer is the other one, which gets what is left of 1.
        first=win_rate((when_first + 1 - when_second) / 2, questions),
    )
