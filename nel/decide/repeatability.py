"""How often an endpoint differs from itself, and what that does to a score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nel.metrics.intervals import LEVEL, wilson_interval
from nel.metrics.quantiles import interval_quantile

_Z: Final = interval_quantile(LEVEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """What asking the same questions again does to a score.

    Half-widths of 95 % intervals, in units of the score.
    """

    within: float
    """Variance of the scores of one question's answers."""
    half_width: float
    """How far the score of another run over these questions may lie from this run's expected one.
    """
    half_width_lower: float | None
    """By the interval of the rate of verdicts that differ; None if scores are not 0 and 1."""
    half_width_upper: float | None


def rerun_of(first: Sequence[float], second: Sequence[float], *, n_answers: int) -> Rerun:
    """Return how far a score moves when the same questions are asked again.

    Half the mean squared difference of two answers estimates the variance within questions without
    bias (Miller 2024, arXiv 2411.00640, section 3, for two answers); the variance of a mean over
    ``n_answers`` is that divided by them.

    Args:
        first: The score of each first answer; finite, at least one.
        second: The score of the second answer to the same question.
        n_answers: Answers that the score is the mean of, repeats included; at least one.

    >>> rerun = rerun_of([1, 1, 0, 0], [1, 0, 0, 0], n_answers=100)
    >>> rerun.within, round(rerun.half_width, 4)
    (0.125, 0.0693)
    """
    before, after = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    within = float(((before - after) ** 2).mean() / 2)
    lower = upper = None
    if np.isin([before, after], (0.0, 1.0)).all():
        rate = wilson_interval(int((before != after).sum()), len(before))
        lower, upper = (
            None if end is None else _half_width(end / 2, n_answers)
            for end in (rate.lower, rate.upper)
        )
    return Rerun(
        within=within,
        half_width=_half_width(within, n_answers),
        half_width_lower=lower,
        half_width_upper=upper,
    )


def added_half_width(half_width: float, rerun: float) -> float:
    """Return how much of the width of an interval comes from an endpoint that varies.

    The two parts of the variance add up, so the half-widths add up as squares do.

    Args:
        half_width: Of the score's interval, which covers new questions and new answers together.
        rerun: Of `Rerun`.

    >>> round(added_half_width(0.05, 0.03), 4)
    0.01
    """
    return half_width - math.sqrt(max(0.0, half_width**2 - rerun**2))


def _half_width(within: float, n_answers: int) -> float:
    return _Z * math.sqrt(within / n_answers)
