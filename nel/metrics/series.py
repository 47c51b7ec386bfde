"""The values of one metric in question order: one mean per question is kept. Depends on
`nel.core.scaling` alone, and on numpy for many values at once.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final, Self

from nel.core.scaling import mean_of
from nel.metrics.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ZERO_AND_ONE: Final = (0.0, 1.0)


class Series:
    """Values of one metric in question order: a mean per question, and whether all are 0 or 1."""

    __slots__ = (
        "_means",
        "_question",
        "_values",
        "binary",
        "n",
        "n_scored",
        "questions",
        "repeats",
        "total",
        "unit",
    )

    def __init__(self) -> None:
        self._means = array("d")
        # The last question and its values so far, which `_flush` adds to what is kept.
        self._question = -1
        self._values: list[float] = []
        # The number of each question, in step with the means.
        self.questions = array("q")
        self.n = 0
        self.n_scored = 0
        # The most values that one question has.
        self.repeats = 0
        # The sum of all values, without those of the last question until `mean` is asked for.
        self.total = 0.0
        # Whether each value is 0 or 1, and whether each is from 0 to 1.
        self.binary = True
        self.unit = True

    @classmethod
    def of(
        cls,
        questions: NDArray[np.int64] | array[int],
        values: NDArray[np.float64] | array[float],
    ) -> Self:
        """Return the series of many values at once, equal to adding each but for rounding.

        Args:
            questions: Of each value, in any order.
            values: As many.
        """
        series = cls()
        order = np.argsort(questions, kind="stable")
        questions, values = np.asarray(questions)[order], np.asarray(values)[order]
        # Values of one question stand together: `reduceat` sums those from one start to the next.
        distinct, starts, counts = np.unique(questions, return_index=True, return_counts=True)
        if len(values):
            with np.errstate(over="ignore", invalid="ignore"):
                means = np.add.reduceat(values, starts) / counts
                series.total = float(values.sum())
            if not np.isfinite(means).all():
                # Sums of the largest numbers overflow, their mean does not.
                means = np.add.reduceat(values / np.repeat(counts, counts), starts)
            series._means = array("d", means.tobytes())
            series.repeats = int(counts.max())
        series.questions = array("q", distinct.astype(np.int64).tobytes())
        series.n = series.n_scored = len(values)
        series.binary = bool(((values == 0.0) | (values == 1.0)).all())
        series.unit = bool(((values >= 0.0) & (values <= 1.0)).all())
        return series

    def add(self, question: int, value: float, *, scored: bool) -> None:
        """Add one value; questions come in order."""
        if question != self._question:
            self._flush()
            self._question = question
        self._values.append(value)
        self.n += 1
        self.n_scored += scored
        if value not in _ZERO_AND_ONE:
            self.binary = False
            self.unit = self.unit and 0.0 < value < 1.0

    def question_means(self) -> array[float]:
        """Return the mean of each question; no value may be added afterwards to the last one."""
        self._flush()
        return self._means

    def mean(self) -> float | None:
        """Return the mean over the questions, None without values."""
        means = self.question_means()
        return mean_of(means) if len(means) else None

    def _flush(self) -> None:
        if self._values:
            total, count = sum(self._values), len(self._values)
            # Sums of the largest numbers overflow, their mean does not.
            self._means.append(total / count if math.isfinite(total) else mean_of(self._values))
            self.questions.append(self._question)
            self.total += total
            self.repeats = max(self.repeats, count)
            self._values = []
