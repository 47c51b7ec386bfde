"""The interval of the mean of a benchmark of which a run asked a stratified sample.

`nel.metrics.question_intervals` says which runs have it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from nel.metrics.added_question import ADDED, added_question_ends
from nel.metrics.intervals import (
    FEWEST,
    LEVEL,
    Interval,
    no_interval,
    single_answers_interval,
    wilson_interval,
)
from nel.metrics.late_numpy import np
from nel.metrics.quantiles import student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STRATIFIED: Final = "stratified"
"""The method of an interval of the whole benchmark, of a run that asked a sample of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionStratum:
    """Values of the questions that were drawn from one stratum."""

    values: NDArray[np.float64]
    size: int
    """Questions of the benchmark in it; at least as many as there are values."""


def stratified_interval(
    strata: list[QuestionStratum], *, is_single: bool, level: float = LEVEL
) -> Interval:
    """Return the interval of the mean of a finite population, by a stratified sample of it.

    The variance is ``sum (m_h/m)^2 (1 - m_h/N_h) s_h^2 / m_h`` (Cochran 1977, chapter 5); m_h of
    N_h questions of stratum h have a value. Every question has the same chance to be drawn, so that
    the plain mean is the estimate. Strata with fewer than two values are joined with the next ones.
    Single answers that are right or wrong have Wilson's interval of the effective number of
    questions (Korn and Graubard 1998) with a Student quantile of ``m - H`` degrees of freedom; other
    values have that of one question more.

    Args:
        strata: In the order of the draw.
        is_single: Whether each question was asked once.
        level: Strictly between 0 and 1.

    >>> drawn = [np.array([1, 1, 0, 1.0]), np.array([0, 0, 1, 0.0])]
    >>> strata = [QuestionStratum(values=values, size=40) for values in drawn]
    >>> interval = stratified_interval(strata, is_single=True)
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.182794, 0.817206)
    """
    blocks = _join_strata(strata)
    m = sum(len(stratum.values) for stratum in blocks)  # as in the formula above
    if m < FEWEST:
        return no_interval("fewer than two questions", "")
    if not is_single:
        return _added_in_sample(blocks, m, level)
    values = np.concatenate([stratum.values for stratum in blocks])
    return single_answers_interval(
        values,
        lambda scores: _wilson_in_sample(blocks, scores, level),
        lambda: _added_in_sample(blocks, m, level),
    )


def _wilson_in_sample(strata: list[QuestionStratum], scores: Floats, level: float) -> Interval:
    """Return Wilson's interval of an effective number of questions, whose variance is estimated."""
    m = len(scores)
    size = sum(stratum.size for stratum in strata)
    parts = []
    n_before = 0
    for stratum in strata:
        n_after = n_before + len(stratum.values)
        parts.append(QuestionStratum(values=scores[n_before:n_after], size=stratum.size))
        n_before = n_after
    variance = math.fsum(_variance(stratum, m) for stratum in parts)
    if variance <= 0:  # no spread inside any stratum: as if there were none
        parts = [QuestionStratum(values=scores, size=size)]
        variance = _variance(parts[0], m)
    mean = float(scores.sum()) / m
    # The number of independent answers that would have this variance; of answers that are all
    # alike, m questions with the correction for a finite population, (N - m) / (N - 1).
    if variance > 0:
        n = mean * (1 - mean) / variance
    else:
        n = m * (size - 1) / max(1, size - m)
    # Few questions spread the variance itself: fewer of them, by the ratio of t to z.
    probability = 0.5 + level / 2
    t = student_quantile(max(1, m - len(parts)), probability)
    z = NormalDist().inv_cdf(probability)
    n = max(1.0, n * (z / t) ** 2)
    return replace(wilson_interval(mean * n, n, level=level), method=STRATIFIED, covers="")


def _added_in_sample(strata: list[QuestionStratum], m: int, level: float) -> Interval:
    """Return the interval of one question more, with the spread of the stratified mean."""
    size = sum(stratum.size for stratum in strata)
    method = f"{ADDED}_{STRATIFIED}"
    mean = math.fsum(float(stratum.values.sum()) for stratum in strata) / m
    if m >= size:  # every question was asked
        return Interval(lower=mean, upper=mean, method=method, covers="")
    # The values about the mean of all, stretched so that their spread is that of the formula of
    # Cochran: n - 1 for n, and in each stratum the share of it that was not asked.
    scaled = []
    for stratum in strata:
        n = len(stratum.values)
        remainder = max(0.0, 1 - n / stratum.size) / (1 - m / size)
        scale = math.sqrt(n / (n - 1) * remainder)
        residuals = stratum.values - float(stratum.values.mean())
        scaled.append(mean + residuals * scale)
    lower, upper = added_question_ends(
        np.concatenate(scaled),
        # Without replacement m of N questions say as much as m (N - 1) / (N - m) do with it.
        weights=(size - 1) / (size - m),
        level=level,
        is_monotone=False,
    )
    return Interval(lower=lower, upper=upper, method=method, covers="")


def _join_strata(strata: list[QuestionStratum]) -> list[QuestionStratum]:
    """Return the strata with at least two values each, neighbours joined."""
    blocks: list[QuestionStratum] = []
    for stratum in strata:
        if blocks and len(blocks[-1].values) < FEWEST:
            blocks[-1] = _union(blocks[-1], stratum)
        else:
            blocks.append(stratum)
    if len(blocks) > 1 and len(blocks[-1].values) < FEWEST:
        blocks[-2:] = [_union(*blocks[-2:])]
    return blocks


def _union(stratum: QuestionStratum, neighbour: QuestionStratum) -> QuestionStratum:
    values = np.concatenate((stratum.values, neighbour.values))
    return QuestionStratum(values=values, size=stratum.size + neighbour.size)


def _variance(stratum: QuestionStratum, m: int) -> float:
    """Return what a stratum adds to the variance of a mean of m values."""
    n = len(stratum.values)
    if n < FEWEST:
        return 0.0
    spread = float(stratum.values.var(ddof=1))
    return (n / m) ** 2 * max(0.0, 1 - n / stratum.size) * spread / n
