"""Counts patterns of grades, so that agreement is measured in bounded memory.

A case is one pattern: a grade per rater, None where it is missing. Equal patterns are counted, and
so are equal sets of patterns of one sample, since intervals resample samples with all their cases.
More patterns than fit have no agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

Grade: TypeAlias = str | float
Pattern: TypeAlias = tuple[Grade | None, ...]

PATTERNS_MAX: Final = 20_000
"""Distinct patterns that are counted, of cases and of samples each."""


class GradePatterns:
    """How often each pattern of grades occurred, in bounded memory."""

    def __init__(self) -> None:
        self._cases: Counter[Pattern] = Counter()
        self._samples: Counter[tuple[Pattern, ...]] | None = Counter()
        self._sample = -1
        self._open: list[Pattern] = []
        self._is_full = False

    @property
    def is_full(self) -> bool:
        """Return whether there were more patterns than fit, so that the counts are incomplete."""
        return self._is_full

    def add(self, sample: int, grades: Sequence[Grade | None]) -> None:
        """Count a case; those of one sample must come one after the other.

        Args:
            sample: The number of the sample, the unit that intervals resample.
            grades: By rater, in a fixed order; raters may be appended later. A case with fewer than
                two grades carries no information on agreement and is not counted.
        """
        if sum(grade is not None for grade in grades) < 2:  # noqa: PLR2004 - agreement needs two grades
            return
        if sample != self._sample:
            self._close_sample()
            self._sample = sample
        pattern = _bare(grades)
        self._open.append(pattern)
        if self._is_full:
            return
        self._cases[pattern] += 1
        self._is_full = len(self._cases) > PATTERNS_MAX

    def cases(self) -> list[tuple[Pattern, int]]:
        """Return each pattern with how many cases had it, sorted."""
        return [(pattern, self._cases[pattern]) for pattern in sorted(self._cases, key=_rank)]

    def samples(self) -> list[tuple[tuple[Pattern, ...], int]] | None:
        """Return the patterns of cases and how many samples had each; None if too many to count."""
        self._close_sample()
        if self._samples is None:
            return None
        return sorted(
            self._samples.items(), key=lambda item: [_rank(pattern) for pattern in item[0]]
        )

    def _close_sample(self) -> None:
        if self._open and self._samples is not None:
            # The cases of a sample have no order: equal sets are one.
            self._samples[tuple(sorted(self._open, key=_rank))] += 1
            if len(self._samples) > PATTERNS_MAX:
                self._samples = None
        self._open = []


def _bare(grades: Sequence[Grade | None]) -> Pattern:
    """Return the grades without missing ones at the end, where raters may be appended later."""
    end = len(grades)
    while end and grades[end - 1] is None:
        end -= 1
    return tuple(grades[:end])


def _rank(pattern: Pattern) -> list[tuple[bool, Any]]:
    """Return the sort key of a pattern; its grades are labels alone, or numbers alone."""
    # None is not comparable: (False, None) comes before each (True, grade), and equals itself.
    return [(grade is not None, grade) for grade in pattern]
