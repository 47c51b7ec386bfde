"""Strengths of models from comparisons: Bradley-Terry by maximum likelihood, with and without
length control.

    P(i is preferred to j) = 1 / (1 + exp(-(b_i - b_j + g * x)))

b are the strengths (Bradley and Terry 1952); x is the standardised difference of the answers'
lengths and g its coefficient, or there is no such term. A tie is half a win for each. The
likelihood has a maximum only where every model can be reached from every other by wins and ties
(Ford 1957; Hunter 2004, assumption 1). Where that does not hold
no numbers are invented: the largest groups for which it holds are found, and models outside have a
reason. A weak prior would make every number finite, but the extreme ones would then reflect the
prior, not the models; it is used only on request. Depends on numpy and
`nel.apps.leaderboard.pairwise`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nel.apps.leaderboard.pairwise import TIED, Comparisons, win_matrix
from nel.errors import UndefinedMetric
from nel.metrics.resampling import Floats, Integers

ELO_PER_STRENGTH: Final = 400 / math.log(10)
"""A difference of 400 points means odds of ten to one."""
ELO_CENTRE: Final = 1000.0
"""Elo of the anchor, or of the mean of the models."""
_STEP_MAX: Final = 1e-9
"""A full Newton step below this ends the search: its error is then near this squared."""
_REACH_MAX: Final = 30.0
"""Log odds beyond this mean that the likelihood has no maximum: one in 10^13."""
_STEPS_MAX: Final = 200
_HALVINGS_MAX: Final = 30
_RISE: Final = 1e-12
"""A fall of the likelihood below this share of it is rounding."""
_CELLS_MAX: Final = 1 << 20
"""Numbers in one working array: 8 MiB."""
_RIDGE: Final = 1e-13
"""Share of the largest curvature that is added to the diagonal, so that a step is finite without
any curvature.
"""
_FLAT: Final = 1e-10
"""A direction with less than this share of the largest curvature is flat: it has no maximum of its
own.
"""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Which models can be ranked together."""

    members: tuple[tuple[int, ...], ...]
    """Groups within which strengths are finite, the largest first, then the one that has won
    more.
    """
    reasons: dict[int, str]
    """Model to the reason why it has no strength relative to the first group."""


def groups_of(wins: Floats, models: Sequence[str]) -> Groups:
    """Return the groups of models with finite strengths, and why the others are outside (Hunter
    2004, section 2).

    Args:
        wins: W of `win_matrix`, shape (models, models).
        models: Their names, for the reasons.

    >>> found = groups_of(np.array([[0.0, 3.0, 2.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), ["a", "b", "c"])
    >>> found.members, found.reasons
    (((1, 2), (0,)), {0: 'it lost to none of b, c, and did not tie either'})
    """
    reach = _reach(wins > 0)
    mutual = reach & reach.T
    share = wins.sum(axis=1)
    distinct = {tuple(np.flatnonzero(row).tolist()) for row in mutual}
    members = sorted(
        distinct, key=lambda group: (-len(group), -sum(share[member] for member in group), group)
    )
    if not members:
        return Groups(members=(), reasons={})
    main = members[0]
    names = ", ".join(models[member] for member in main)
    met = wins + wins.T > 0
    reasons = {}
    for model in range(len(models)):
        if model in main:
            continue
        above, below = bool(reach[model, main[0]]), bool(reach[main[0], model])
        direct = bool(met[model][list(main)].any())
        if not met[model].any():
            reasons[model] = "it was compared with none"
        elif above:
            reasons[model] = (
                f"it lost to none of {names}, and did not tie either"
                if direct
                else f"no wins lead from {names} to it"
            )
        elif below:
            reasons[model] = (
                f"it won against none of {names}, and did not tie either"
                if direct
                else f"no wins lead from it to {names}"
            )
        else:
            reasons[model] = f"no comparisons connect it with {names}"
    return Groups(members=tuple(members), reasons=reasons)


def _reach(edges: Flags) -> Flags:
    """Return which model leads to which by wins, itself included; any leading axes."""
    size = edges.shape[-1]
    reach = (edges | np.eye(size, dtype=bool)).astype(np.float32)
    # Each squaring doubles the length of the paths covered; log2(size) of them give the transitive
    # closure.
    for _ in range(max(1, math.ceil(math.log2(max(size, 2))))):
        reach = (reach @ reach > 0).astype(np.float32)
    connected: Flags = reach > 0
    return connected


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Strengths with the largest likelihood."""

    strengths: Floats
    """Natural-log odds, their mean 0; shape (models,) or (resamples, models)."""
    length: Floats
    """g, the effect of one standard deviation of the length difference on the log odds; 0 without
    length control.
    """
    converged: Flags
    """Whether there is a maximum, and it was found."""


def fit(compared: Comparisons, *, prior: float = 0.0, length_control: bool = False) -> Fit:
    """Return the strengths of all models.

    Newton's method with halved steps on the concave log likelihood; a maximum is accepted once a
    full step is below 1e-9. The mean of the strengths is 0.

    Args:
        found: Comparisons that connect all models, see `groups_of`.
        prior: Number of ties with a model of strength 0 that are added for each model; 0 for none.
        length_control: Estimate the effect of length too, and give strengths at equal lengths.

    Raises:
        UndefinedMetric: The likelihood has no maximum.
        ValueError: The prior is below 0.

    >>> from nel.apps.leaderboard.pairwise import comparisons
    >>> found = comparisons(["a", "b"], [(0, 1, 1.0, 0), (0, 1, 1.0, 1), (0, 1, 1.0, 2), (0, 1, 0.0, 3)])
    >>> [round(strength, 6) for strength in fit(found).strengths.tolist()]
    [0.549306, -0.549306]
    """
    weights = np.ones((1, compared.n))
    fitted = _fit(compared, weights, prior, length_control, None)
    if not fitted.converged[0]:
        raise UndefinedMetric(_no_maximum(compared, prior, length_control))
    return Fit(
        strengths=fitted.strengths[0], length=fitted.length[0], converged=fitted.converged[0]
    )


def _no_maximum(compared: Comparisons, prior: float, length_control: bool) -> str:
    apart = groups_of(win_matrix(compared), compared.models).reasons if not prior else {}
    if apart:
        return "; ".join(f"{compared.models[model]}: {reason}" for model, reason in apart.items())
    if length_control:
        return (
            "the effect of length has no finite estimate: lengths do not differ, go with the model"
            " alone, or decide all"
        )
    return "the likelihood has no maximum"


def resampled_fits(
    compared: Comparisons,
    start: Fit,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
    prior: float = 0.0,
    length_control: bool = False,
) -> Fit:
    """Return the strengths of resamples of the questions, each with all its comparisons (Efron and
    Tibshirani 1993).

    Args:
        found: As in `fit`.
        start: The starting point, the fit of the comparisons themselves.
        n_resamples: At least 1.
        seed: Seeds a generator of its own.
        prior: As in `fit`.
        length_control: As in `fit`.

    Returns:
        Strengths of shape (n_resamples, models); a resample without a maximum has ``converged``
        False, and its numbers mean nothing.
    """
    rng = np.random.default_rng(seed)
    n_questions = int(compared.question.max()) + 1
    share = np.full(n_questions, 1 / n_questions)
    rows = max(1, _CELLS_MAX // max(compared.n, n_questions))
    parts = []
    for first in range(0, n_resamples, rows):
        drawn = rng.multinomial(n_questions, share, size=min(rows, n_resamples - first))
        weights = drawn[:, compared.question].astype(np.float64)
        parts.append(_fit(compared, weights, prior, length_control, start))
    return Fit(
        strengths=np.concatenate([block.strengths for block in parts]),
        length=np.concatenate([block.length for block in parts]),
        converged=np.concatenate([block.converged for block in parts]),
    )


def standardised_lengths(compared: Comparisons) -> Floats:
    """Return the length differences over their root mean square; zeros where all are 0.

    They are not centred, so that swapping the sides of a comparison only changes the sign.
    """
    scale = math.sqrt(float((compared.length**2).mean())) if compared.n else 0.0
    return compared.length / scale if scale > 0 else np.zeros(compared.n)


def _fit(
    compared: Comparisons, weights: Floats, prior: float, length_control: bool, start: Fit | None
) -> Fit:
    size = len(compared.models)
    problem = (_WithLength if length_control else _Strengths)(compared, weights, prior)
    width = size + (1 if length_control else 0)
    begin = np.zeros(width)
    if start is not None:
        begin[:size] = start.strengths
        begin[size:] = start.length
    wanted = (
        np.ones(len(weights), dtype=bool) if prior else _reach(problem.wins > 0).all(axis=(1, 2))
    )
    values, converged = _maximize(
        problem, np.tile(begin, (len(weights), 1)), np.flatnonzero(wanted)
    )
    if length_control:
        converged &= _is_curved(problem, values)
    strengths = values[:, :size] - values[:, :size].mean(axis=1, keepdims=True)
    length = values[:, size] if length_control else np.zeros(len(weights))
    return Fit(strengths=strengths, length=length, converged=converged)


def _maximize(problem: _Strengths, values: Floats, active: Integers) -> tuple[Floats, Flags]:
    """Return the maximum of the likelihood for each resample, and whether it was found."""
    converged = np.zeros(len(values), dtype=bool)
    height = np.zeros(len(values))
    height[active] = problem.likelihood(values[active], active)
    for _ in range(_STEPS_MAX):
        if len(active) == 0:
            break
        slope, curvature = problem.slopes(values[active], active)
        diagonal = np.arange(curvature.shape[-1])
        curvature[:, diagonal, diagonal] += (
            _RIDGE * curvature.max(axis=(1, 2))[:, None] + np.finfo(float).tiny
        )
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        factor = np.ones(len(active))
        for _ in range(_HALVINGS_MAX):
            tried = values[active] + factor[:, None] * step
            reached = problem.likelihood(tried, active)
            short = reached < height[active] - _RISE * np.abs(height[active])
            if not short.any():
                break
            factor[short] /= 2
        values[active], height[active] = tried, reached
        # Convergence needs a full step: a halved one may be short only because the search is in
        # difficulty.
        done = (np.abs(step).max(axis=1) <= _STEP_MAX) & (factor == 1)
        converged[active[done]] = True
        active = active[~done & (problem.reach(values[active]) < _REACH_MAX)]
    return values, converged


def _is_curved(problem: _Strengths, values: Floats) -> Flags:
    """Return whether the maximum is unique, i.e. the effect of length is separable from the
    strengths.
    """
    curvature = problem.slopes(values, np.arange(len(values)))[1]
    roots = np.linalg.eigvalsh(curvature)
    curved: Flags = roots[:, 0] > _FLAT * roots[:, -1]
    return curved


class _Strengths:
    """The log likelihood of strengths; the win matrix is sufficient for it."""

    def __init__(self, compared: Comparisons, weights: Floats, prior: float) -> None:
        """Count the wins of each resample: `wins` has shape (resamples, models, models)."""
        self.size = len(compared.models)
        self.prior = prior
        self.pairs = compared.left * self.size + compared.right
        order = np.argsort(self.pairs, kind="stable")
        self.order = order
        self.kinds, self.starts = np.unique(self.pairs[order], return_index=True)
        won = self._by_pair(weights[:, order] * compared.score[order])
        lost = self._by_pair(weights[:, order] * (1 - compared.score[order]))
        self.wins = won + lost.transpose(0, 2, 1)
        self.met = self.wins + self.wins.transpose(0, 2, 1)

    def _by_pair(self, values: Floats) -> Floats:
        """Return sums over the comparisons of each ordered pair, shape (resamples, models,
        models).
        """
        sums = np.zeros((len(values), self.size * self.size))
        if len(self.kinds):
            sums[:, self.kinds] = np.add.reduceat(values, self.starts, axis=1)
        return sums.reshape(len(values), self.size, self.size)

    def likelihood(self, values: Floats, rows: Integers) -> Floats:
        odds = values[:, :, None] - values[:, None, :]
        total: Floats = self._prior_likelihood(values) - (
            self.wins[rows] * np.logaddexp(0, -odds)
        ).sum(axis=(1, 2))
        return total

    def reach(self, values: Floats) -> Floats:
        """Return the largest log odds; 0, since the win matrix decides whether strengths are
        finite.
        """
        return np.zeros(len(values))

    def slopes(self, values: Floats, rows: Integers) -> tuple[Floats, Floats]:
        """Return the gradient, and the matrix that a step solves: minus the second derivatives."""
        odds = values[:, :, None] - values[:, None, :]
        chance = logistic(odds)
        met = self.met[rows]
        slope = (self.wins[rows] - met * chance).sum(axis=2)
        weight = met * chance * (1 - chance)
        curvature = self._laplacian(weight)
        return self._with_prior(values, slope, curvature)

    def _laplacian(self, weight: Floats) -> Floats:
        """Return the curvature in the strengths; only differences matter, so a constant term pins
        their sum.
        """
        curvature = -weight
        diagonal = np.arange(self.size)
        curvature[:, diagonal, diagonal] = weight.sum(axis=2)
        if not self.prior:
            curvature += weight.sum(axis=(1, 2))[:, None, None] / self.size**2
        return curvature

    def _prior_likelihood(self, values: Floats) -> Floats:
        if not self.prior:
            return np.zeros(len(values))
        strengths = values[:, : self.size]
        total: Floats = (
            -self.prior
            * TIED
            * (np.logaddexp(0, -strengths) + np.logaddexp(0, strengths)).sum(axis=1)
        )
        return total

    def _with_prior(
        self, values: Floats, slope: Floats, curvature: Floats
    ) -> tuple[Floats, Floats]:
        if self.prior:
            chance = logistic(values[:, : self.size])
            slope[:, : self.size] += self.prior * (TIED - chance)
            diagonal = np.arange(self.size)
            curvature[:, diagonal, diagonal] += self.prior * chance * (1 - chance)
        return slope, curvature


class _WithLength(_Strengths):
    """The log likelihood with the effect of length as the last parameter; it needs every comparison
    separately.
    """

    def __init__(self, compared: Comparisons, weights: Floats, prior: float) -> None:
        super().__init__(compared, weights, prior)
        order = self.order
        self.left, self.right = compared.left[order], compared.right[order]
        self.score, self.x = compared.score[order], standardised_lengths(compared)[order]
        self.weights = weights[:, order]

    def _odds(self, values: Floats) -> Floats:
        odds: Floats = values[:, self.left] - values[:, self.right]
        odds += values[:, self.size :] * self.x
        return odds

    def reach(self, values: Floats) -> Floats:
        """Return the largest log odds of any comparison."""
        largest: Floats = np.abs(self._odds(values)).max(axis=1)
        return largest

    def likelihood(self, values: Floats, rows: Integers) -> Floats:
        odds = self._odds(values)
        lost = np.logaddexp(0, odds)
        lost -= self.score * odds
        lost *= self.weights[rows]
        total: Floats = self._prior_likelihood(values) - lost.sum(axis=1)
        return total

    def slopes(self, values: Floats, rows: Integers) -> tuple[Floats, Floats]:
        chance = logistic(self._odds(values))
        weights = self.weights[rows]
        missed = weights * (self.score - chance)
        by_pair = self._by_pair(missed)
        slope = np.concatenate(
            [by_pair.sum(axis=2) - by_pair.sum(axis=1), (missed @ self.x)[:, None]], axis=1
        )
        chance *= 1 - chance
        chance *= weights
        weight = self._by_pair(chance)
        weight += weight.transpose(0, 2, 1)
        bent = self._by_pair(chance * self.x)
        cross = bent.sum(axis=2) - bent.sum(axis=1)
        size = self.size
        curvature = np.zeros((len(values), size + 1, size + 1))
        curvature[:, :size, :size] = self._laplacian(weight)
        curvature[:, :size, size] = curvature[:, size, :size] = cross
        curvature[:, size, size] = chance @ self.x**2
        return self._with_prior(values, slope, curvature)


def logistic(odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-odds)), the probability of log odds, without overflow."""
    chance: Floats = 0.5 * (1 + np.tanh(odds / 2))
    return chance
