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
    """Expected over its comparisons from the strengths alone; at equal lengths under length
    control.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The ranking of all models from a set of comparisons."""

    standings: dict[str, Standing]
    """Of the models that can be ranked together."""
    reasons: dict[str, str]
    """Model to the reason why it has no strength."""
    length: IntervalEstimate | None
    """The effect of one standard deviation of the length difference on the log odds, under length
    control.
    """
    reason: str | None
    """Why there is no interval, or no strength at all."""


def rank_models(
    compared: Comparisons,
    *,
    length_control: bool = False,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Return strengths and ranks with percentile intervals from resampled questions (Chiang et al.
    2024, 2403.04132).

    Models that wins and ties do not connect both ways have no finite relative strength. The largest
    connected group is ranked by the comparisons within it, the limit of the strengths as a prior
    fades; the others have a reason.

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
    inside = compared.among(groups.members[0])
    try:
        start = fit(inside, length_control=length_control)
    except UndefinedMetric as error:
        return _nothing(compared.models, reasons, str(error))
    drawn, reason = _resamples(inside, start, n_resamples, seed, length_control=length_control)
    return Ranking(
        standings=_standings(inside, start, drawn),
        reasons=reasons,
        length=(
            _estimate(float(start.length), None if drawn is None else drawn.length)
            if length_control
            else None
        ),
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
    inside: Comparisons, start: Fit, n_resamples: int, seed: int, *, length_control: bool
) -> tuple[Fit | None, str | None]:
    """Return the resamples with finite strengths, and why no interval can be made of them."""
    if not n_resamples:
        return None, "no resamples were asked for"
    if inside.n_questions < _FEWEST_QUESTIONS:
        return None, "there is one question only"
    drawn = resampled_fits(
        inside, start, n_resamples=n_resamples, seed=seed, length_control=length_control
    )
    converged = drawn.converged
    finite = Fit(
        strengths=drawn.strengths[converged],
        length=drawn.length[converged],
        converged=converged[converged],
    )
    n_unbounded = n_resamples - int(converged.sum())
    # So many that an end of the interval would be unbounded, too.
    reason = (
        _no_spread(finite)
        if n_unbounded <= (1 - LEVEL) / 2 * n_resamples
        else f"{n_unbounded} of {n_resamples} resamples have no finite strengths: there are too few"
        " upsets for an interval; judge more questions"
    )
    return None if reason else finite, reason


def _no_spread(drawn: Fit) -> str | None:
    """Return why there is no interval: if all questions agree, resampling them cannot estimate the
    variation.
    """
    if max(np.ptp(drawn.strengths, axis=0).max(), np.ptp(drawn.length)) > _ROUNDING:
        return None
    return (
        "every question says the same, so resampling cannot estimate the variation between"
        " questions"
    )


def _standings(inside: Comparisons, start: Fit, drawn: Fit | None) -> dict[str, Standing]:
    strengths = start.strengths[None]
    resampled = None if drawn is None else drawn.strengths
    ranks, rates = _ranks(strengths)[0], _rates(inside, strengths)[0]
    drawn_ranks = None if resampled is None else _ranks(resampled)
    drawn_rates = None if resampled is None else _rates(inside, resampled)
    standings = {}
    for column, name in enumerate(inside.models):
        strength = _estimate(
            float(strengths[0, column]), None if resampled is None else resampled[:, column]
        )
        lowest, highest = _ends(None if drawn_ranks is None else drawn_ranks[:, column], whole=True)
        standings[name] = Standing(
            strength=strength,
            elo=_elo(strength),
            rank=int(ranks[column]),
            rank_lower=None if lowest is None else int(lowest),
            rank_upper=None if highest is None else int(highest),
            expected_win_rate=_estimate(
                float(rates[column]), None if drawn_rates is None else drawn_rates[:, column]
            ),
        )
    return standings


def _ranks(strengths: Floats) -> Integers:
    """Return 1 plus the number of stronger models; differences within rounding are ties."""
    stronger = strengths[:, None, :] - strengths[:, :, None] > _ROUNDING
    ranks: Integers = 1 + stronger.sum(axis=2)
    return ranks


def _rates(inside: Comparisons, strengths: Floats) -> Floats:
    """Return the mean expected score of each model over the comparisons it has, shape (rows,
    models).
    """
    met = np.zeros((len(inside.models),) * 2)
    np.add.at(met, (inside.left, inside.right), 1.0)
    met += met.T
    chance = logistic(strengths[:, :, None] - strengths[:, None, :])
    rates: Floats = (met * chance).sum(axis=2) / met.sum(axis=1)
    return rates


def _elo(strength: IntervalEstimate) -> IntervalEstimate:
    lower, upper = (
        None if end is None else ELO_CENTRE + ELO_PER_STRENGTH * end
        for end in (strength.ci_lower, strength.ci_upper)
    )
    value = ELO_CENTRE + ELO_PER_STRENGTH * strength.value
    return IntervalEstimate(value=value, ci_lower=lower, ci_upper=upper)


def _estimate(value: float, drawn: Floats | None) -> IntervalEstimate:
    lower, upper = _ends(drawn)
    return IntervalEstimate(value=value, ci_lower=lower, ci_upper=upper)


def _ends(
    drawn: Floats | Integers | None, *, whole: bool = False
) -> tuple[float | None, float | None]:
    """Return the percentiles that enclose the middle share; for integers those at or beyond them.

    A number that is equal in all resamples has none, e.g. between a model that always wins and one
    that always loses.
    """
    if drawn is None or not (whole or np.ptp(drawn) > _ROUNDING):
        return None, None
    tail = (1 - LEVEL) / 2
    lower = np.quantile(drawn, tail, method="lower" if whole else "linear")
    upper = np.quantile(drawn, 1 - tail, method="higher" if whole else "linear")
    return float(lower), float(upper)
