"""``spread`` of metrics.json: where the doubt of a headline comes from, between questions and within,
and what more answers would buy.
"""

from __future__ import annotations

from array import array
from typing import Any

from nel.errors import UndefinedMetric
from nel.metrics.added_question import ADDED
from nel.metrics.late_numpy import np
from nel.types import JsonObject


class Spread:
    """Sums over the answers to each question, three numbers a question."""

    def __init__(self) -> None:
        self._question = -1
        # Of each question in order: the count of its rewards, their sum and the sum of squares.
        self._sums = array("d")

    def add(self, question: int, reward: float) -> None:
        """Take in a reward; those of one question come one after the other."""
        if question != self._question:
            self._question = question
            self._sums.extend((1.0, reward, reward * reward))
            return
        self._sums[-3] += 1
        self._sums[-2] += reward
        self._sums[-1] += reward * reward

    def as_json(self, headline: JsonObject) -> dict[str, Any] | None:
        """Return the object; None where the headline's interval is not by the spread of questions.

        Args:
            headline: The row of metrics.json.
        """
        if not str(headline["ci_method"]).startswith(ADDED):
            return None
        from nel.decide.repeats import (  # noqa: PLC0415 - of runs with repeats or partial credit
            marginal_gain,
            variance_parts_of_sums,
        )

        counts, totals, squares = np.array(self._sums).reshape(-1, 3).T
        # Questions with the commonest mean, often 1, show no spread among themselves.
        _, alike = np.unique(totals / counts, return_counts=True)
        n = len(counts)
        spread = {"n_questions": n, "n_informative": n - int(alike.max()), "repeats": None}
        try:
            parts = variance_parts_of_sums(counts.astype(np.int64), totals, squares)
        except UndefinedMetric:
            return spread  # no question has two answers with a score
        gain = marginal_gain(parts.between, parts.within, questions=n, repeats=parts.repeats)
        # Of groups and of samples of a benchmark the standard error is another one.
        is_plain = headline["ci_method"] == ADDED
        names = ("standard_error", "with_one_more_repeat", "with_more_questions")
        return spread | {
            "repeats": {
                **{name: getattr(parts, name) for name in ("between", "within", "repeats")},
                **{name: getattr(gain, name) if is_plain else None for name in names},
            }
        }
