"""Ranks models from their comparisons: strengths, ranks and their intervals.

Depends on `nel.apps.leaderboard.bradley_terry` for the fits. The interval of a strength covers
other questions; it says nothing on whether the judge is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nel.apps.leaderboard.bradley_terry import (
    ELO_CENTRE,
    ELO_PER_STRENGTH,
    Fit,
    fit,
    groups_of,
    logistic,
    resampled_fits,
)
from nel.apps.leaderboard.pairwise import Comparisons, win_matrix
from nel.decide.pairs import Floats, Integers
from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL

_FEWEST_QUESTIONS: Final = 2
_ROUNDING: Final = 1e-9
"""Strengths that differ by less are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalEstimate:
    """A number, with its interval where it has one."""

    value: float
    ci_lower: float | None = None
    ci_upper: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The position of a model among those it can be ranked with."""

    strength: IntervalEstimate
    """Natural-log odds; 0 is the mean of the models."""
    elo: IntervalEstimate
    """The same as ``1000 + 400 / ln 10 * strength``."""
    rank: int
    """1 plus the number of models with a greater strength."""
    rank_lower: int | None
    rank_upper: int | None
    expected_win_rate: IntervalEstimate
    """Over its comparisons, from the strengths alone; at equal lengths under length control."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The ranking of all models from a set of comparisons."""

    standings: dict[str, Standing]
    """Of the models that can be ranked together."""
    reasons: dict[str, str]
    """Model to the reason why it has no strength."""
    length: IntervalEstimate | None
    """Under length control: what one standard deviation of length differences adds in log odds."""
    reason: str | None
    """Why there is no interval, or no strength at all."""


def rank_models(
    compared: Comparisons,
    *,
    length_control: bool = False,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Return strengths and ranks, with percentile intervals from resampled questions.

    This is the method of Chatbot Arena (Chiang et al. 2024, arXiv 2403.04132). Models that wins and
    ties do not connect both ways have no finite relative strength. The largest connected group is
    ranked by the comparisons within it, the limit of the strengths as a prior fades; the others
    have a reason.

    Args:
        compared: The comparisons.
        length_control: Estimate the effect of the length difference and rank at equal lengths, as
            the style control of Chatbot Arena does.
        n_resamples: 0 for no intervals.
        seed: Seeds the resampling.
    """
    if not compared.n:
        return _nothing(compared.models, {}, "nothing was compared")
    groups = groups_of(win_matrix(compared), compared.models)
    reasons = {compared.models[at]: why for at, why in groups.reasons.items()}
    if len(groups.members[0]) == 1:
        return _nothing(compared.models, reasons, "no two models can be ranked together")
    comparisons = compared.among(groups.members[0])
    try:
        start = fit(comparisons, length_control=length_control)
    except UndefinedMetric as error:
        return _nothing(compared.models, reasons, str(error))
    resamples, reason = _resamples(
        comparisons, start, n_resamples, seed, length_control=length_control
    )
    length = None
    if length_control:
        length = _estimate(float(start.length), None if resamples is None else resamples.length)
    return Ranking(
        standings=_standings(comparisons, start, resamples),
        reasons=reasons,
        length=length,
        reason=reason,
    )


def _nothing(models: Sequence[str], reasons: dict[str, str], why: str) -> Ranking:
    return Ranking(
        standings={},
        reasons={model: reasons.get(model, why) for model in models},
        length=None,
        reason=why,
    )


def _resamples(
    comparisons: Comparisons, start: Fit, n_resamples: int, seed: int, *, length_control: bool
) -> tuple[Fit | None, str | None]:
    """Return the resamples with finite strengths, and why no interval can be made of them."""
    if not n_resamples:
        return None, "no resamples were asked for"
    if comparisons.n_questions < _FEWEST_QUESTIONS:
        return None, "there is one question only"
    fits = resampled_fits(
        comparisons, start, n_resamples=n_resamples, seed=seed, length_control=length_control
    )
    converged = fits.converged
    n_unbounded = n_resamples - int(converged.sum())
    # With more of them an end of the interval would be unbounded, too.
    if n_unbounded > (1 - LEVEL) / 2 * n_resamples:
        return None, (
            f"{n_unbounded} of {n_resamples} resamples have no finite strengths: there are too few"
            " upsets for an interval; judge more questions"
        )
    finite = Fit(
        strengths=fits.strengths[converged],
        length=fits.length[converged],
        converged=converged[converged],
    )
    if max(np.ptp(finite.strengths, axis=0).max(), np.ptp(finite.length)) <= _ROUNDING:
        return None, (
            "every question says the same, so resampling cannot estimate the variation between"
            " questions"
        )
    return finite, None


def _standings(comparisons: Comparisons, start: Fit, resamples: Fit | None) -> dict[str, Standing]:
    strengths = start.strengths[None]
    ranks, rates = _ranks(strengths)[0], _rates(comparisons, strengths)[0]
    resampled = np.empty((0, len(comparisons.models)))  # `_ends` finds none without rows
    if resamples is not None:
        resampled = resamples.strengths
    resampled_ranks, resampled_rates = _ranks(resampled), _rates(comparisons, resampled)
    standings = {}
    for column, name in enumerate(comparisons.models):
        strength = _estimate(float(strengths[0, column]), resampled[:, column])
        rank_ends = _ends(resampled_ranks[:, column], is_rank=True)
        rank_lower, rank_upper = (None if end is None else int(end) for end in rank_ends)
        standings[name] = Standing(
            strength=strength,
            elo=_elo(strength),
            rank=int(ranks[column]),
            rank_lower=rank_lower,
            rank_upper=rank_upper,
            expected_win_rate=_estimate(float(rates[column]), resampled_rates[:, column]),
        )
    return standings


def _ranks(strengths: Floats) -> Integers:
    """Return 1 plus the number of stronger models; differences within rounding are ties."""
    # Row, model, rival: whether the rival is stronger than the model.
    is_stronger = strengths[:, None, :] - strengths[:, :, None] > _ROUNDING
    ranks: Integers = 1 + is_stronger.sum(axis=2)
    return ranks


def _rates(comparisons: Comparisons, strengths: Floats) -> Floats:
    """Return each model's mean expected score over its comparisons, shape (rows, models)."""
    # How often each model met each other one, whichever of them was on the left.
    n_models = len(comparisons.models)
    n_meetings = np.zeros((n_models, n_models))
    np.add.at(n_meetings, (comparisons.left, comparisons.right), 1.0)
    n_meetings += n_meetings.T
    # The chance that a model (second axis) wins against another (third axis), in each row.
    chance = logistic(strengths[:, :, None] - strengths[:, None, :])
    n_expected = (n_meetings * chance).sum(axis=2)
    rates: Floats = n_expected / n_meetings.sum(axis=1)
    return rates


def _elo(strength: IntervalEstimate) -> IntervalEstimate:
    def elo(strength: float) -> float:
        return ELO_CENTRE + ELO_PER_STRENGTH * strength

    ends = strength.ci_lower, strength.ci_upper
    ci_lower, ci_upper = (None if end is None else elo(end) for end in ends)
    return IntervalEstimate(value=elo(strength.value), ci_lower=ci_lower, ci_upper=ci_upper)


def _estimate(value: float, resampled: Floats | None) -> IntervalEstimate:
    lower, upper = (None, None) if resampled is None else _ends(resampled)
    return IntervalEstimate(value=value, ci_lower=lower, ci_upper=upper)


def _ends(
    resampled: Floats | Integers, *, is_rank: bool = False
) -> tuple[float | None, float | None]:
    """Return the percentiles that enclose the middle share; of ranks those at or beyond them.

    A number that is equal in all resamples has none, e.g. between a model that always wins and one
    that always loses; a rank has them, since it may be certain.
    """
    if not len(resampled) or not (is_rank or np.ptp(resampled) > _ROUNDING):
        return None, None
    tail = (1 - LEVEL) / 2
    if is_rank:  # whole numbers, between which no percentile may fall
        lower = np.quantile(resampled, tail, method="lower")
        upper = np.quantile(resampled, 1 - tail, method="higher")
    else:
        lower, upper = np.quantile(resampled, (tail, 1 - tail))
    return float(lower), float(upper)
