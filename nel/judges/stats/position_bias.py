"""Position bias: how a judge's verdict on a pair depends on the order of the answers.

A verdict that changes with the order favours a position: the answer shown first wins both times, or
once with a tie the other time, or the second does (Zheng et al. 2023, arXiv 2306.05685). An
unbiased judge's verdicts change too: only the shares of the positions among the changed verdicts
distinguish bias from noise. Depends on `nel.metrics.intervals`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from typing_extensions import TypedDict

from nel.core.strict_json import Count, Rate, Text
from nel.metrics.intervals import LEVEL, Interval, no_interval, wilson_interval
from nel.metrics.quantiles import student_quantile

Position: TypeAlias = Literal["first", "second", "tie"]
_ROUNDING: Final = 1e-12
_FAVOURED: Final[dict[Position, int]] = {"first": 1, "second": -1, "tie": 0}


class ShareJson(TypedDict):
    """A share with its interval, or the reason why it has none."""

    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_level: Rate
    ci_method: Text
    reason: str | None


class PositionBiasJson(TypedDict):
    """Counts of pairs by how their verdict depends on the order, and shares."""

    n_pairs: Count
    n_consistent: Count
    n_first: Count
    n_second: Count
    consistency: ShareJson
    first_share: ShareJson


@dataclass(slots=True)
class PositionBiasCounts:
    """Counts pairs that one judge saw in both orders; those of one question must be added
    consecutively.
    """

    n_pairs: int = 0
    n_first: int = 0
    """Pairs whose verdict changed with the order, in favour of the answer shown first."""
    n_second: int = 0
    """The same in favour of the answer shown second."""
    _questions: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    """Pairs of a question, those that favoured the first and the second position, to the number of
    such questions.
    """
    _question: int | None = None
    _open: tuple[int, int, int] = (0, 0, 0)

    def add(self, before: Position, after: Position, *, question: int | None = None) -> None:
        """Count a pair, given the position that won in each order; without a question it is one of
        its own.
        """
        # A judge that prefers one of the answers names opposite positions, which cancel out, as two
        # ties do.
        leaning = _FAVOURED[before] + _FAVOURED[after]
        self.n_pairs += 1
        self.n_first += leaning > 0
        self.n_second += leaning < 0
        if question is None or question != self._question:
            self._close()
            self._question = question
        n, first, second = self._open
        self._open = n + 1, first + (leaning > 0), second + (leaning < 0)

    def as_json(self) -> PositionBiasJson:
        """Return counts and shares; with several pairs to a question, intervals are clustered by
        question.
        """
        self._close()
        changed = self.n_first + self.n_second
        consistent = self.n_pairs - changed
        by_question = self._questions.items()
        return {
            "n_pairs": self.n_pairs,
            "n_consistent": consistent,
            "n_first": self.n_first,
            "n_second": self.n_second,
            "consistency": _share(
                [(n - first - second, n, count) for (n, first, second), count in by_question],
                "no pair was seen in both orders",
            ),
            "first_share": _share(
                [
                    (first, first + second, count)
                    for (_, first, second), count in by_question
                    if first + second
                ],
                "no verdict changed with the order",
            ),
        }

    def _close(self) -> None:
        if self._open[0]:
            self._questions[self._open] += 1
        self._open = (0, 0, 0)


def _share(questions: Sequence[tuple[int, int, int]], reason: str) -> ShareJson:
    """Return a share of pairs from (part, pairs, number of such questions)."""
    total = sum(value * count for value, _, count in questions)
    whole = sum(pairs * count for _, pairs, count in questions)
    interval = _interval(questions, total, whole) if whole else no_interval(reason)
    return {
        "value": total / whole if whole else None,
        "ci_lower": interval.lower,
        "ci_upper": interval.upper,
        "ci_level": LEVEL,
        "ci_method": interval.method,
        "reason": interval.reason,
    }


def _interval(questions: Sequence[tuple[int, int, int]], total: int, whole: int) -> Interval:
    """Return Wilson's interval, or Student's t with errors clustered by question where one has
    several pairs.

    The error is CR1 of `nel.metrics.clusters`. Where the questions have no spread to estimate it
    from, Wilson's interval has one trial per question.
    """
    n_questions = sum(count for _, _, count in questions)
    mean = total / whole
    squares = sum(count * (value - mean * pairs) ** 2 for value, pairs, count in questions)
    if n_questions == whole:
        return wilson_interval(total, whole)
    if n_questions < 2 or squares <= _ROUNDING:  # noqa: PLR2004 - a spread needs two
        return wilson_interval(mean * n_questions, n_questions)
    half = math.sqrt(n_questions / (n_questions - 1) * squares) / whole
    half *= student_quantile(n_questions - 1, 0.5 + LEVEL / 2)
    return Interval(
        lower=max(mean - half, 0.0),
        upper=min(mean + half, 1.0),
        method="t_cluster",
        covers="new clusters",
    )
