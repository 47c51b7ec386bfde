"""Position bias: how a judge's verdict on a pair depends on the order of the answers.

A verdict that changes with the order favours a position: the answer shown first wins both times, or
once with a tie the other time, or the second does (Zheng et al. 2023, arXiv 2306.05685). An
unbiased judge's verdicts change too: only the shares of the positions among the changed verdicts
distinguish bias from noise. Depends on `nel.metrics`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from typing_extensions import TypedDict

from nel.core.strict_json import Count, Rate, Text
from nel.metrics.intervals import LEVEL, Interval, no_interval, wilson_interval
from nel.metrics.late_numpy import np
from nel.metrics.question_intervals import values_interval

Position: TypeAlias = Literal["first", "second", "tie"]
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
    """Counts pairs that one judge saw in both orders; those of one question come together."""

    n_pairs: int = 0
    n_first: int = 0
    """Pairs whose verdict changed with the order, in favour of the answer shown first."""
    n_second: int = 0
    """The same in favour of the answer shown second."""
    _questions: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    """Questions by their number of pairs, and how many favoured the first and second position."""
    _question: int | None = None
    _open: tuple[int, int, int] = (0, 0, 0)

    def add(self, before: Position, after: Position, *, question: int | None = None) -> None:
        """Count a pair by the position that won in each order; a question is optional."""
        # A judge that prefers one of the answers names opposite positions, which cancel out, as two
        # ties do.
        leaning = _FAVOURED[before] + _FAVOURED[after]
        self.n_pairs += 1
        self.n_first += leaning > 0
        self.n_second += leaning < 0
        if question is None or question != self._question:
            self._close()
            self._question = question
        n, n_first, n_second = self._open
        self._open = n + 1, n_first + (leaning > 0), n_second + (leaning < 0)

    def as_json(self) -> PositionBiasJson:
        """Return counts and shares, with intervals clustered by question."""
        self._close()
        changed = self.n_first + self.n_second
        consistent = self.n_pairs - changed
        # The share of pairs whose verdict stayed; and among those that changed, of the first place.
        unchanged, favouring_first = [], []
        for (n, n_first, n_second), count in self._questions.items():
            n_changed = n_first + n_second
            unchanged.append((n - n_changed, n, count))
            if n_changed:
                favouring_first.append((n_first, n_changed, count))
        return {
            "n_pairs": self.n_pairs,
            "n_consistent": consistent,
            "n_first": self.n_first,
            "n_second": self.n_second,
            "consistency": _share(unchanged, "no pair was seen in both orders"),
            "first_share": _share(favouring_first, "no verdict changed with the order"),
        }

    def _close(self) -> None:
        if self._open[0]:
            self._questions[self._open] += 1
        self._open = (0, 0, 0)


def _share(questions: Sequence[tuple[int, int, int]], reason: str) -> ShareJson:
    """Return a share of pairs from (part, pairs, number of such questions)."""
    total = sum(value * count for value, _, count in questions)
    n_pairs = sum(pairs * count for _, pairs, count in questions)
    interval = _interval(questions, total, n_pairs) if n_pairs else no_interval(reason)
    return {
        "value": total / n_pairs if n_pairs else None,
        "ci_lower": interval.lower,
        "ci_upper": interval.upper,
        "ci_level": LEVEL,
        "ci_method": interval.method,
        "reason": interval.reason,
    }


def _interval(questions: Sequence[tuple[int, int, int]], total: int, n_pairs: int) -> Interval:
    n_questions = sum(count for _, _, count in questions)
    if n_questions == n_pairs:  # each question has one pair
        return wilson_interval(total, n_pairs)
    # The counts written out again as pairs, with the number of the question of each.
    values: list[float] = []
    codes: list[int] = []
    code = 0
    for n_counted, n, count in questions:
        for _ in range(count):
            values += [1.0] * n_counted + [0.0] * (n - n_counted)
            codes += [code] * n
            code += 1
    return values_interval(np.array(values), codes=np.array(codes))
