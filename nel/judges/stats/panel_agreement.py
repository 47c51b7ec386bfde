"""Agreement of judges with each other and with themselves, from counted patterns of grades.

The measures are in `nel.judges.stats.agreement` and `nel.judges.stats.alpha`. Intervals resample
the samples, each with all its repeats and cases. An undefined measure is null with its reason, e.g.
where judges only ever give one grade.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nel.errors import UndefinedMetric
from nel.judges.stats.agreement import Table, cohen_kappa, raw_agreement
from nel.judges.stats.alpha import Ratings, bootstrap_statistic
from nel.judges.stats.grade_patterns import GradePatterns, Pattern
from nel.judges.types import Level
from nel.metrics.intervals import LEVEL, Interval, no_interval, wilson_interval

RESAMPLES: Final = 1_000
_GRADES_MAX: Final = 50
"""Distinct grades at most for a kappa: the table of two judges is nearly empty with more."""
_TOO_MANY: Final = "there are too many different grades to count them"
_TWO: Final = 2
_SEED: Final = 42

Counts: TypeAlias = NDArray[np.float64]
"""Number of cases with each pattern; differs between resamples."""
Statistic: TypeAlias = Callable[[Counts], float]


def agreement_json(
    judges: Mapping[int, str], level: Level, patterns: GradePatterns, *, n_missing: int = 0
) -> dict[str, Any]:
    """Return the agreement of the members of a panel.

    Args:
        judges: Position in a pattern and name of each.
        level: ``nominal`` for labels; else grades are numbers.
        patterns: The grades of each case.
        n_missing: Cases in which a member that was asked gave no grade.
    """
    sampled = _Sampled(patterns, level)
    pairs = list(combinations(judges, _TWO))
    is_panel = len(judges) > _TWO
    kappa = sampled.measure(lambda counts: sampled.kappa(counts, pairs))
    fleiss_kappa = None
    if is_panel and level == "nominal":
        fleiss_kappa = sampled.measure(lambda counts: sampled.fleiss(counts, len(judges)))
    return {
        "level": level,
        "n_units": sampled.n_units,
        "n_unanimous": sampled.n_unanimous,
        "n_missing": n_missing,
        "raw": sampled.measure(sampled.raw, share=not is_panel),
        "kappa": {
            **kappa,
            "method": "mean of pairs" if is_panel else "cohen",
            "weights": None if level == "nominal" else "quadratic",
        },
        "fleiss_kappa": fleiss_kappa,
        "alpha": sampled.measure(sampled.alpha),
        "pairs": [
            {"judges": [judges[judge], judges[second_judge]], **sampled.pair(judge, second_judge)}
            for judge, second_judge in pairs
        ],
    }


def repeats_json(level: Level, patterns: GradePatterns) -> dict[str, Any]:
    """Return the agreement of one judge with itself over repeats.

    Args:
        level: ``nominal`` for labels; else grades are numbers.
        patterns: The grades of the repeats of each case.
    """
    sampled = _Sampled(patterns, level)
    return {
        "level": level,
        "n_units": sampled.n_units,
        "n_unanimous": sampled.n_unanimous,
        "unanimous": sampled.measure(sampled.unanimous, share=True),
        "raw": sampled.measure(sampled.raw),
        "alpha": sampled.measure(sampled.alpha),
    }


class _Sampled:
    """The patterns of a panel or of one judge's repeats, and statistics of their counts."""

    def __init__(self, patterns: GradePatterns, level: Level) -> None:
        self._level: Level = level
        pattern_counts = patterns.cases()
        self._patterns = [pattern for pattern, _ in pattern_counts]
        self._counts: Counts = np.array([n for _, n in pattern_counts], dtype=np.float64)
        self._samples = patterns.samples()
        self._is_full = patterns.is_full
        self._is_unanimous = np.array(
            [len(set(_known_grades(row))) == 1 for row in self._patterns], dtype=np.float64
        )
        self._grades = sorted({grade for row in self._patterns for grade in _known_grades(row)})
        # Of each pair of judges, as `_cells_of` has it: made once, used by every resample.
        self._cells: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._ratings, self._row = _ratings(self._patterns)
        self.n_units = int(self._counts.sum())
        self.n_unanimous = int(self._is_unanimous @ self._counts)

    def measure(self, statistic: Statistic, *, share: bool = False) -> dict[str, Any]:
        """Return a statistic with its interval, or the reason why it has none.

        Args:
            statistic: A function of the number of cases with each pattern.
            share: Whether it is a share of the cases; it has Wilson's interval where no sample has
                several cases.
        """
        value, interval = None, no_interval(_TOO_MANY)
        if not self._is_full:
            try:
                value = statistic(self._counts)
            except UndefinedMetric as error:
                interval = no_interval(str(error))
            else:
                interval = self._interval(value, statistic, share=share)
        return {"value": value, "ci_level": LEVEL, **interval.as_json()}

    def unanimous(self, counts: Counts) -> float:
        """Return the share of cases whose grades are all the same."""
        return float(self._is_unanimous @ counts) / _total(counts)

    def raw(self, counts: Counts) -> float:
        """Return the mean over cases of the share of pairs of grades that are the same."""
        return self._of(counts).raw_agreement()

    def alpha(self, counts: Counts) -> float:
        """Return Krippendorff's alpha at the level of the grades."""
        return self._of(counts).alpha(self._level)

    def fleiss(self, counts: Counts, n_raters: int) -> float:
        """Return Fleiss' kappa over the cases that all raters graded."""
        is_complete = np.array(
            [len(_known_grades(pattern)) == n_raters for pattern in self._patterns]
        )
        return self._of(np.where(is_complete, counts, 0.0)).fleiss_kappa()

    def kappa(self, counts: Counts, pairs: Sequence[tuple[int, int]]) -> float:
        """Return the mean of Cohen's kappa over pairs of raters; quadratic for numeric grades."""
        _total(counts)
        kappas = []
        for first, second in pairs:
            table = self._table(counts, first, second)
            # Two members of a panel may never have graded the same case.
            if table.any():
                kappas.append(self._pair_kappa(table))
        return float(np.mean(kappas))

    def pair(self, first: int, second: int) -> dict[str, Any]:
        """Return the agreement of two raters."""
        fields: dict[str, Any] = {"n": 0, "raw": None, "kappa": None, "reason": None}
        if self._is_full:
            return {**fields, "reason": _TOO_MANY}
        try:
            table = self._table(self._counts, first, second)
            fields |= {"n": int(table.sum()), "raw": raw_agreement(table)}
            fields["kappa"] = self._pair_kappa(table)
        except UndefinedMetric as error:
            fields["reason"] = str(error)
        return fields

    def _pair_kappa(self, table: Table) -> float:
        if self._level == "nominal":
            return cohen_kappa(table)
        return cohen_kappa(
            table, weights="quadratic", scale=[float(grade) for grade in self._grades]
        )

    def _table(self, counts: Counts, first: int, second: int) -> Table:
        """Return how often each grade of one rater occurs with each of the other."""
        size = len(self._grades)
        if size > _GRADES_MAX:
            raise UndefinedMetric(
                f"more than {_GRADES_MAX} different grades; alpha measures their distances"
            )
        if (first, second) not in self._cells:
            self._cells[first, second] = self._cells_of(first, second)
        cells, is_met = self._cells[first, second]
        cell_counts = np.bincount(cells, weights=counts[is_met], minlength=size**2)
        return np.asarray(cell_counts.reshape(size, size), dtype=np.float64)

    def _cells_of(self, first: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells of patterns that both raters graded, and which patterns those are."""
        numbers = {grade: number for number, grade in enumerate(self._grades)}
        rows, cells = [], []
        for row, pattern in enumerate(self._patterns):
            # Missing grades at the end of a pattern are not stored.
            if len(pattern) <= max(first, second) or None in (pattern[first], pattern[second]):
                continue
            rows.append(row)
            cells.append(numbers[pattern[first]] * len(numbers) + numbers[pattern[second]])
        return np.array(cells, dtype=np.int64), np.array(rows, dtype=np.int64)

    def _of(self, counts: Counts) -> Ratings:
        _total(counts)
        assert self._ratings is not None  # noqa: S101 - there are cases, so there are patterns
        units = np.bincount(self._row, weights=counts, minlength=len(self._ratings.size))
        return replace(self._ratings, units=np.asarray(units, dtype=np.float64))

    def _interval(self, value: float, statistic: Statistic, *, share: bool) -> Interval:
        if self._samples is None:
            return no_interval(
                "there are too many different patterns of grades to draw samples again"
            )
        n_samples = sum(n for _, n in self._samples)
        if share and n_samples == self.n_units:
            return wilson_interval(value * self.n_units, self.n_units)
        if n_samples < _TWO:
            return no_interval("fewer than two samples")
        # Equal samples are one row; a resample draws how often each row occurs, with all its cases.
        # Case i of all rows, one after another, is of sample rows[i] and has pattern columns[i].
        columns_of = {pattern: index for index, pattern in enumerate(self._patterns)}
        rows, columns = [], []
        for row, (cases, _) in enumerate(self._samples):
            rows += [row] * len(cases)
            columns += [columns_of[case] for case in cases]
        shares = np.array([n for _, n in self._samples], dtype=np.float64) / n_samples
        rng = np.random.default_rng(_SEED)

        def draw() -> Counts:
            n_drawn = rng.multinomial(n_samples, shares)[rows]
            counts = np.bincount(columns, weights=n_drawn, minlength=len(self._patterns))
            return np.asarray(counts, dtype=np.float64)

        return bootstrap_statistic(draw, statistic, n_resamples=RESAMPLES)


def _ratings(patterns: Sequence[Pattern]) -> tuple[Ratings | None, NDArray[np.int64]]:
    """Return the ratings of patterns in any order of raters, and the row of each pattern."""
    keys = [tuple(sorted(_known_grades(pattern))) for pattern in patterns]
    rows = {key: row for row, key in enumerate(sorted(set(keys)))}
    ratings = Ratings.of(Counter(keys)) if keys else None
    return ratings, np.array([rows[key] for key in keys], dtype=np.int64)


def _known_grades(pattern: Pattern) -> list[Any]:
    return [grade for grade in pattern if grade is not None]


def _total(counts: Counts) -> float:
    total = float(counts.sum())
    if not total:
        raise UndefinedMetric("no case has two grades")
    return total
