"""The length-controlled win rate of AlpacaEval 2, by its own formula (Dubois et al. 2024, arXiv
2404.04475).

    logit P(m is preferred to the baseline on x) = theta + phi tanh(d_x / sd(d)) + psi gamma_x

d is the difference of the two answers' lengths in characters, gamma the difficulty of the question,
which is left out where it is not known. The win rate is the mean of 1 / (1 + exp(-(theta + psi
gamma_x))): what the model would win if every answer were as long as the baseline's. Preferences may
be probabilities. The coefficients are those of the largest likelihood; the authors' package adds an
L1 penalty, chosen by cross-validation, and answers of a verbose and a concise baseline as further
rows, which can be given. Depends on numpy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    lower: float | None
    upper: float | None
    strength: float
    """theta: the log odds at equal lengths, of a question of difficulty 0."""
    length: float
    """phi: the effect of the length."""
    difficulty: float | None
    """psi; None where the difficulty is not known."""
    n: int
    reason: str | None = None
    """Why there is no interval."""


def length_controlled_rate(
    preferences: Sequence[float],
    lengths: Sequence[float],
    *,
    difficulty: Sequence[float] | None = None,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> LengthControlledRate:
    """Return the win rate at equal lengths, with a percentile interval over resampled questions.

    Args:
        preferences: For the model on each question, from 0 to 1.
        lengths: The model's answer less the baseline's, in characters.
        difficulty: gamma of each question; None where it is not known.
        n_resamples: 0 for no interval.
        seed: Seeds the resampling.
        level: Strictly between 0 and 1.

    Raises:
        UndefinedMetric: There are fewer than ten preferences, or the likelihood has no maximum: all
            are 0, or all 1, or the lengths separate them.
        ValueError: The columns differ in length, or a preference is not from 0 to 1.
    """
    wins, apart = np.array(preferences, dtype=np.float64), np.array(lengths, dtype=np.float64)
    gamma = None if difficulty is None else np.array(difficulty, dtype=np.float64)
    if wins.shape != apart.shape or (gamma is not None and gamma.shape != wins.shape):
        raise ValueError("preferences, lengths and difficulties are of different questions")
    if not ((wins >= 0) & (wins <= 1)).all():
        raise ValueError("a preference is outside [0, 1]")
    if len(wins) < _FEWEST:
        raise UndefinedMetric(f"there are {len(wins)} preferences, fewer than {_FEWEST}")
    coefficients, value = _fitted(wins, apart, gamma)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(n_resamples):
        chosen = rng.integers(0, len(wins), len(wins))
        try:
            drawn.append(
                _fitted(wins[chosen], apart[chosen], None if gamma is None else gamma[chosen])[1]
            )
        except UndefinedMetric:
            continue
    reason = "no resamples were asked for" if not n_resamples else None
    lower = upper = None
    if n_resamples and len(drawn) < (1 - (1 - level) / 2) * n_resamples:
        reason = f"{n_resamples - len(drawn)} of {n_resamples} resamples have no largest likelihood"
    elif n_resamples:
        lower, upper = (
            float(np.quantile(drawn, end)) for end in ((1 - level) / 2, (1 + level) / 2)
        )
    return LengthControlledRate(
        value=value,
        lower=lower,
        upper=upper,
        strength=float(coefficients[0]),
        length=float(coefficients[1]),
        difficulty=None if gamma is None else float(coefficients[2]),
        n=len(wins),
        reason=reason,
    )


def _fitted(wins: Floats, apart: Floats, gamma: Floats | None) -> tuple[Floats, float]:
    """Return theta, phi and psi, and the win rate at equal lengths."""
    spread = float(apart.std(ddof=1))
    scaled = np.tanh(apart / spread) if spread > 0 else np.zeros(len(apart))
    ones = np.ones(len(wins))
    used = [ones, *([scaled] if spread > 0 else []), *([gamma] if gamma is not None else [])]
    found = _largest_likelihood(np.column_stack(used), wins)
    theta, rest = found[0], list(found[1:])
    phi = rest.pop(0) if spread > 0 else 0.0
    psi = rest.pop(0) if gamma is not None else 0.0
    at_equal_length = logistic(theta + psi * (gamma if gamma is not None else np.zeros(len(wins))))
    return np.array([theta, phi, psi]), math.fsum(at_equal_length.tolist()) / len(wins)


def _largest_likelihood(rows: Floats, wins: Floats) -> Floats:
    """Return the coefficients of a logistic regression whose outcomes may be shares, by Newton's
    method.
    """
    found = np.zeros(rows.shape[1])
    best = _log_likelihood(rows, wins, found)
    for _ in range(_STEPS_MAX):
        chance = logistic(rows @ found)
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows
        try:
            step = np.linalg.solve(curvature, rows.T @ (wins - chance))
        except np.linalg.LinAlgError:
            break
        size = float(np.abs(step).max())
        if size < _STEP_MAX:
            return found
        factor = 1.0
        while factor > _STEP_MAX and _log_likelihood(rows, wins, found + factor * step) < best:
            factor /= 2
        found = found + factor * step
        best = _log_likelihood(rows, wins, found)
        if np.abs(found).max() > _REACH_MAX:
            break
    raise UndefinedMetric(
        "the likelihood has no maximum: the preferences are all the same, or lengths separate them"
    )


def _log_likelihood(rows: Floats, wins: Floats, found: Floats) -> float:
    odds = rows @ found
    return float(wins @ odds - np.logaddexp(0, odds).sum())
