"""The interval of a mean over questions: the only place where one is chosen. Depends on
`nel.metrics` alone.

A headline, every other metric of a scorer, every reducer and every category has its interval from
here, so that all of them know of clusters, and of how the questions of the run were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from nel.errors import UndefinedMetric
from nel.metrics.clusters import cluster_interval
from nel.metrics.intervals import LEVEL, Interval, mean_interval, no_interval, wilson_interval
from nel.metrics.late_numpy import np
from nel.metrics.quantiles import student_quantile
from nel.metrics.series import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRATIFIED: Final = "stratified"
"""The method of an interval of the whole benchmark, of a run that asked a sample of it."""
_FEWEST: Final = 2
"""Questions of a stratum from which its spread can be estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionStratum:
    """Values of the questions that were drawn from one stratum."""

    values: NDArray[np.float64]
    size: int
    """Questions of the benchmark in it; at least as many as there are values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What an interval has to know of the questions beside their values."""

    groups: Mapping[int, str] = field(default_factory=dict)
    """The cluster of each question that is in one."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Of a sample: how many questions of the benchmark each stratum has, in the order of the
    draw.
    """
    strata: Mapping[int, str] = field(default_factory=dict)
    """Of a sample: the stratum of each question."""
    fixed: Interval | None = None
    """What stands in the place of every interval: of a run for which none of those here holds."""


def question_interval(series: Series, design: Design) -> Interval:
    """Return the interval of a mean: of the whole benchmark where its questions are a sample, else
    of new questions.

    Args:
        series: The values, with at least one.
        design: How the questions were drawn.
    """
    if design.fixed is not None and series.n:
        return design.fixed
    if not design.sizes or not series.n:
        return new_questions_interval(series, design.groups)
    drawn: dict[str, list[float]] = {}
    for question, value in zip(series.questions, series.question_means(), strict=True):
        drawn.setdefault(design.strata[question], []).append(value)
    strata = [
        QuestionStratum(values=np.array(drawn.get(name, []), dtype=np.float64), size=size)
        for name, size in design.sizes.items()
    ]
    # A sample says no less of the questions that it was drawn from than of new ones. Where it is
    # small, its spread is estimated badly, and the interval for new questions can be the narrower.
    interval = min(
        stratified_interval(strata, is_proportion=_is_proportion(series)),
        new_questions_interval(series, design.groups),
        key=_width,
    )
    return replace(
        interval, covers=f"all {sum(design.sizes.values()):,} questions of the benchmark"
    )


def new_questions_interval(series: Series, groups: Mapping[int, str]) -> Interval:
    """Return the interval of a mean as an estimate for new questions of the same kind.

    Args:
        series: The values.
        groups: The cluster of each question that is in one.
    """
    if series.n == 0:
        return no_interval("nothing was scored")
    means = series.question_means()
    clusters = [groups.get(question, question) for question in series.questions] if groups else []
    if len(set(clusters)) < len(clusters):  # at least one cluster has two questions
        try:
            return cluster_interval(list(means), clusters)
        except (UndefinedMetric, OverflowError) as error:
            return no_interval(str(error), "new clusters")
    if _is_proportion(series):
        return wilson_interval(math.fsum(means), len(means))
    return mean_interval(np.array(means))


def stratified_interval(
    strata: list[QuestionStratum], *, is_proportion: bool, level: float = LEVEL
) -> Interval:
    """Return the interval of the mean of a finite population of which a stratified sample was
    drawn.

    The variance is ``sum (m_h/m)^2 (1 - m_h/N_h) s_h^2 / m_h`` (Cochran 1977, chapter 5) with a
    Student quantile of ``m - H`` degrees of freedom; m_h of N_h questions of stratum h have a
    value. Every question has the same chance to be drawn, so that the plain mean is the estimate.
    Strata with fewer than two values are joined with the next ones. A proportion has Wilson's
    interval of the effective number of questions instead (Korn and Graubard 1998), which has a
    width where all values are equal.

    Args:
        strata: In the order of the draw.
        is_proportion: Whether all values are 0 or 1.
        level: Strictly between 0 and 1.

    >>> drawn = [np.array([1, 1, 0, 1.0]), np.array([0, 0, 1, 0.0])]
    >>> strata = [QuestionStratum(values=values, size=40) for values in drawn]
    >>> interval = stratified_interval(strata, is_proportion=True)
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.182794, 0.817206)
    """
    joined = _join_strata(strata)
    values = np.concatenate([stratum.values for stratum in joined]) if joined else np.array([])
    m = len(values)
    if m < _FEWEST:
        return no_interval("fewer than two questions", "")
    mean = math.fsum(values.tolist()) / m
    variance = math.fsum(_variance(stratum, m) for stratum in joined)
    if variance <= 0:  # no spread inside any stratum: as if there were none
        whole = QuestionStratum(values=values, size=sum(stratum.size for stratum in joined))
        joined, variance = [whole], _variance(whole, m)
    t = student_quantile(max(1, m - len(joined)), 0.5 + level / 2)
    if is_proportion:
        size = sum(stratum.size for stratum in joined)
        n = mean * (1 - mean) / variance if variance > 0 else m * (size - 1) / max(1, size - m)
        n = max(1.0, n * (NormalDist().inv_cdf(0.5 + level / 2) / t) ** 2)
        return replace(wilson_interval(mean * n, n, level=level), method=STRATIFIED, covers="")
    if variance <= 0:
        return no_interval("all questions have the same value", "")
    half = t * math.sqrt(variance)
    return Interval(lower=mean - half, upper=mean + half, method=STRATIFIED, covers="")


def _width(interval: Interval) -> float:
    """Return the width of an interval, infinite where there is none."""
    if interval.lower is None or interval.upper is None:
        return math.inf
    return interval.upper - interval.lower


def _is_proportion(series: Series) -> bool:
    """Return whether every question is right or wrong as a whole, or all are equally often
    right.
    """
    means = set(series.question_means())
    return series.binary and (len(means) <= 1 or means <= {0.0, 1.0})


def _join_strata(strata: list[QuestionStratum]) -> list[QuestionStratum]:
    """Return the strata with at least two values each, neighbours joined."""
    joined: list[QuestionStratum] = []
    values: NDArray[np.float64] = np.array([])
    size = 0
    for stratum in strata:
        values, size = np.concatenate((values, stratum.values)), size + stratum.size
        if len(values) >= _FEWEST:
            joined.append(QuestionStratum(values=values, size=size))
            values, size = np.array([]), 0
    if size:
        last = joined.pop() if joined else QuestionStratum(values=np.array([]), size=0)
        values = np.concatenate((last.values, values))
        joined.append(QuestionStratum(values=values, size=last.size + size))
    return joined


def _variance(stratum: QuestionStratum, m: int) -> float:
    """Return what a stratum adds to the variance of a mean of m values."""
    n = len(stratum.values)
    if n < _FEWEST:
        return 0.0
    spread = float(stratum.values.var(ddof=1))
    return (n / m) ** 2 * max(0.0, 1 - n / stratum.size) * spread / n
