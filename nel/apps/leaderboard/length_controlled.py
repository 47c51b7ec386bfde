"""The length-controlled win rate of AlpacaEval 2 (Dubois et al. 2024, arXiv 2404.04475).

Its own formula is:

    logit P(m is preferred to the baseline on x) = theta + phi tanh(d_x / sd(d))

d is the difference of the two answers' lengths in characters. The win rate is 1 / (1 +
exp(-theta)): what the model would win if every answer were as long as the baseline's. Preferences
may be probabilities. The coefficients are those of the largest likelihood. The authors' package
adds the difficulty of each question, which only AlpacaEval's own 805 have, an L1 penalty, chosen by
cross-validation, and answers of a verbose and a concise baseline as further rows. It is the ranking
of two models at equal lengths, so it depends on `nel.apps.leaderboard.ranking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nel.apps.leaderboard.pairwise import comparisons
from nel.apps.leaderboard.ranking import rank_models
from nel.errors import UndefinedMetric

_FEWEST: Final = 10
"""Preferences below which nothing is fitted: there are up to three coefficients."""
RESAMPLES: Final = 500
_MODELS: Final = ("model", "baseline")


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
        ValueError: The columns differ in length.
    """
    if len(preferences) < _FEWEST:
        raise UndefinedMetric(f"there are {len(preferences)} preferences, fewer than {_FEWEST}")
    # sd(d), with n - 1; 0 if all lengths differ alike, which is then no reason for a preference.
    spread = float(np.std(lengths, ddof=1))
    effects = np.tanh(np.array(lengths) / spread) if spread else np.zeros(len(lengths))
    rows = [(0, 1, preference, question) for question, preference in enumerate(preferences)]
    ranking = rank_models(
        comparisons(_MODELS, rows, effects.tolist()),
        length_control=spread > 0,
        n_resamples=n_resamples,
        seed=seed,
    )
    standing = ranking.standings.get(_MODELS[0])
    if standing is None:
        raise UndefinedMetric(
            "the likelihood has no maximum: the preferences are all the same, or lengths separate"
            " them"
        )
    rate, length = standing.expected_win_rate, ranking.length
    return LengthControlledRate(
        value=rate.value,
        ci_lower=rate.ci_lower,
        ci_upper=rate.ci_upper,
        # The mean of both strengths is 0.
        strength=2 * standing.strength.value,
        # The ranking's coefficient is of the root mean square of the effects.
        length=0.0 if length is None else length.value / float(np.sqrt((effects**2).mean())),
        n=len(preferences),
        reason=ranking.reason,
    )
