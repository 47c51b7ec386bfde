"""The values of one metric in question order. Depends on `nel.metrics` alone, and on numpy for many
values at once.

One mean per question is kept. Sums are taken in order, whether values come one at a time or many at
once, so that both give the same number to the last bit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from nel.core.scaling import mean_of, unscaled
from nel.metrics.compact_arrays import CompactFloats, CompactRanges
from nel.metrics.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL: Final = 2.0**-64
"""Factor of the values in a second sum, which stays finite where the sum of the values
overflows.
"""
_ZERO_AND_ONE: Final = (0.0, 1.0)


class Series:
    """Values of one metric in question order: one mean per question, and whether all values are 0
    or 1.
    """

    __slots__ = (
        "_count",
        "_means",
        "_question",
        "_scaled",
        "_total",
        "binary",
        "n",
        "n_scored",
        "questions",
        "repeats",
        "total",
        "unit",
    )

    def __init__(self) -> None:
        """Start without values."""
        self._means = CompactFloats()
        self.questions = CompactRanges()
        self._question = -1
        self._total = 0.0
        self._scaled = 0.0
        self._count = 0
        self.n = 0
        self.n_scored = 0
        self.repeats = 0
        self.total = 0.0
        self.binary = True
        self.unit = True

    def add(self, question: int, value: float, *, scored: bool) -> None:
        """Add one value; questions come in order."""
        if question != self._question:
            self._flush()
            self._question = question
        self._total += value
        self._scaled += value * SMALL
        self._count += 1
        self.n += 1
        self.n_scored += scored
        if value not in _ZERO_AND_ONE:
            self.binary = False
            self.unit = self.unit and 0.0 < value < 1.0

    def add_all(
        self, questions: NDArray[np.int64], values: NDArray[np.float64], *, n_scored: int
    ) -> None:
        """Add many values, which gives what adding each of them would.

        Args:
            questions: Of each value, in order; none that has a value already.
            values: As many.
            n_scored: How many of them are of scored samples.
        """
        if not len(values):
            return
        starts = np.flatnonzero(np.concatenate(([True], questions[1:] != questions[:-1])))
        counts = np.diff(np.append(starts, len(values)))
        totals = np.zeros(len(starts))
        with np.errstate(over="ignore", invalid="ignore"):
            for nth in range(int(counts.max())):
                those = np.flatnonzero(counts > nth)
                totals[those] += values[starts[those] + nth]
            summed = sum_in_order(self.total, totals)
        self.n_scored += n_scored
        if not np.isfinite(totals).all():
            for question, value in zip(questions.tolist(), values.tolist(), strict=True):
                self.add(question, value, scored=False)
            return
        self._flush()
        self._question = int(questions[-1])
        self._means.extend(totals / counts)
        self.questions.extend(questions[starts])
        self.total = summed
        self.repeats = max(self.repeats, int(counts.max()))
        self.n += len(values)
        other = values[(values != 0.0) & (values != 1.0)]
        if len(other):
            self.binary = False
            self.unit = self.unit and bool(((other > 0.0) & (other < 1.0)).all())

    def question_means(self) -> CompactFloats:
        """Return the mean of each question; no value may be added afterwards to the last one."""
        self._flush()
        return self._means

    def mean(self) -> float | None:
        """Return the mean over the questions, None without values."""
        means = self.question_means()
        return mean_of(means) if len(means) else None

    def _flush(self) -> None:
        if self._count:
            finite = math.isfinite(self._total)
            self._means.append(
                self._total / self._count if finite else large(self._scaled / self._count)
            )
            self.questions.append(self._question)
            self.total += self._total
            self.repeats = max(self.repeats, self._count)
            self._total, self._scaled, self._count = 0.0, 0.0, 0


def large(mean: float) -> float:
    """Return the mean of values from the mean of the values times `SMALL`."""
    return unscaled(mean, 64)


def sum_in_order(start: float, values: NDArray[np.float64]) -> float:
    """Return what adding the values one after another to a number gives; numpy's own sum adds in
    another order.
    """
    return float(np.add.accumulate(np.concatenate(([start], values)))[-1])
