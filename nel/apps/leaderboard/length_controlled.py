"""The length-controlled win rate of AlpacaEval 2, by its own formula (Dubois et al. 2024, arXiv
2404.04475).

    logit P(m is preferred to the baseline on x) = theta + phi tanh(d_x / sd(d))

d is the difference of the two answers' lengths in characters. The win rate is 1 / (1 + exp(-theta)):
what the model would win if every answer were as long as the baseline's. Preferences may be
probabilities. The coefficients are those of the largest likelihood. The authors' package adds the
difficulty of each question, which only AlpacaEval's own 805 have, an L1 penalty, chosen by
cross-validation, and answers of a verbose and a concise baseline as further rows. Depends on numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from nel.apps.leaderboard.bradley_terry import logistic
from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL
from nel.metrics.resampling import Floats

_STEPS_MAX: Final = 100
_STEP_MAX: Final = 1e-9
_REACH_MAX: Final = 30.0
"""Coefficients beyond this mean that the likelihood has no maximum."""
_FEWEST: Final = 10
"""Preferences below which nothing is fitted: there are up to three coefficients."""
RESAMPLES: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControlledRate:
    """The length-controlled win rate of a model against a baseline."""

    value: float
    ci_lower: float | None
    ci_upper: float | None
    strength: float
    """theta: the log odds at equal lengths."""
    length: float
    """phi: the effect of the length."""
    n: int
    reason: str | None = None
    """Why there is no interval."""


def length_controlled_rate(
    preferences: Sequence[float],
    lengths: Sequence[float],
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> LengthControlledRate:
    """Return the win rate at equal lengths, with a percentile interval over resampled questions.

    Args:
        preferences: For the model on each question, from 0 to 1.
        lengths: The model's answer less the baseline's, in characters.
        n_resamples: 0 for no interval.
        seed: Seeds the resampling.

    Raises:
        UndefinedMetric: There are fewer than ten preferences, or the likelihood has no maximum: all
            are 0, or all 1, or the lengths separate them.
        ValueError: The columns differ in length, or a preference is not from 0 to 1.
    """
    wins, apart = np.array(preferences, dtype=np.float64), np.array(lengths, dtype=np.float64)
    if len(wins) < _FEWEST:
        raise UndefinedMetric(f"there are {len(wins)} preferences, fewer than {_FEWEST}")
    strength, length = _fitted(wins, apart)
    lower, upper, reason = _interval(wins, apart, n_resamples, seed)
    return LengthControlledRate(
        value=_rate(strength),
        ci_lower=lower,
        ci_upper=upper,
        strength=strength,
        length=length,
        n=len(wins),
        reason=reason,
    )


def _interval(
    wins: Floats, apart: Floats, n_resamples: int, seed: int
) -> tuple[float | None, float | None, str | None]:
    """Return the percentiles of the resampled rates, or why there are none."""
    if not n_resamples:
        return None, None, "no resamples were asked for"
    rng = np.random.default_rng(seed)
    rates = []
    for _ in range(n_resamples):
        chosen = rng.integers(0, len(wins), len(wins))
        with suppress(UndefinedMetric):
            rates.append(_rate(_fitted(wins[chosen], apart[chosen])[0]))
    tail = (1 - LEVEL) / 2
    if len(rates) < (1 - tail) * n_resamples:
        n_lost = n_resamples - len(rates)
        return None, None, f"{n_lost} of {n_resamples} resamples have no largest likelihood"
    return float(np.quantile(rates, tail)), float(np.quantile(rates, 1 - tail)), None


def _rate(strength: float) -> float:
    return float(logistic(np.array(strength)))


def _fitted(wins: Floats, apart: Floats) -> tuple[float, float]:
    """Return theta and phi."""
    spread = float(apart.std(ddof=1))
    columns = [np.ones(len(wins)), *([np.tanh(apart / spread)] if spread > 0 else [])]
    theta, *rest = _largest_likelihood(np.column_stack(columns), wins).tolist()
    return theta, rest[0] if rest else 0.0


def _largest_likelihood(rows: Floats, wins: Floats) -> Floats:
    """Return the coefficients of a logistic regression whose outcomes may be shares, by Newton's
    method.
    """
    coefficients = np.zeros(rows.shape[1])
    best = _log_likelihood(rows, wins, coefficients)
    for _ in range(_STEPS_MAX):
        chance = logistic(rows @ coefficients)
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows
        try:
            step = np.linalg.solve(curvature, rows.T @ (wins - chance))
        except np.linalg.LinAlgError:
            break
        size = float(np.abs(step).max())
        if size < _STEP_MAX:
            return coefficients
        factor = 1.0
        while (
            factor > _STEP_MAX and _log_likelihood(rows, wins, coefficients + factor * step) < best
        ):
            factor /= 2
        coefficients = coefficients + factor * step
        best = _log_likelihood(rows, wins, coefficients)
        if np.abs(coefficients).max() > _REACH_MAX:
            break
    raise UndefinedMetric(
        "the likelihood has no maximum: the preferences are all the same, or lengths separate them"
    )


def _log_likelihood(rows: Floats, wins: Floats, coefficients: Floats) -> float:
    odds = rows @ coefficients
    return float(wins @ odds - np.logaddexp(0, odds).sum())
