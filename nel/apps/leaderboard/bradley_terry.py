"""Strengths of models from comparisons: Bradley-Terry by maximum likelihood.

    P(i is preferred to j) = 1 / (1 + exp(-(b_i - b_j + g * x)))

b are the strengths (Bradley and Terry 1952). Under length control x is the standardised difference
of the answers' lengths and g its coefficient; else there is no such term. A tie is half a win for
each.

The likelihood has a maximum only where every model can be reached from every other by wins and ties
(Ford 1957; Hunter 2004, assumption 1). Where that does not hold no numbers are invented: the
largest groups for which it holds are found, and models outside have a reason. A weak prior would
make every number finite, but the extreme ones would then reflect the prior, not the models.

Depends on numpy and `nel.apps.leaderboard.pairwise`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nel.apps.leaderboard.pairwise import Comparisons, win_matrix
from nel.decide.pairs import Floats, Integers
from nel.errors import UndefinedMetric

ELO_PER_STRENGTH: Final = 400 / math.log(10)
"""A difference of 400 points means odds of ten to one."""
ELO_CENTRE: Final = 1000.0
"""Elo of the mean of the models."""
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
"""Share of the largest curvature that is added to the diagonal: a step is finite without any."""
_FLAT: Final = 1e-10
"""A direction with less than this share of the largest curvature is flat: it has no maximum."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Which models can be ranked together."""

    members: tuple[tuple[int, ...], ...]
    """Groups within which strengths are finite: larger ones first, then those that won more."""
    reasons: dict[int, str]
    """Model to the reason why it has no strength relative to the first group."""


def groups_of(wins: Floats, models: Sequence[str]) -> Groups:
    """Return the groups of models with finite strengths, and why the others are outside.

    These are the strongly connected parts of the graph of wins (Hunter 2004, section 2).

    Args:
        wins: W of `win_matrix`, shape (models, models).
        models: Their names, for the reasons.

    >>> wins = np.array([[0.0, 3.0, 2.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> groups = groups_of(wins, ["a", "b", "c"])
    >>> groups.members, groups.reasons
    (((1, 2), (0,)), {0: 'it lost to none of b, c, and did not tie either'})
    """
    reach = _reach(wins > 0)
    mutual = reach & reach.T
    n_wins = wins.sum(axis=1)
    # A model's row of `mutual` is its group, so that models of one group have equal rows.
    groups = sorted(
        {tuple(np.flatnonzero(row).tolist()) for row in mutual},
        key=lambda group: (-len(group), -n_wins[list(group)].sum(), group),
    )
    main_group = groups[0]
    names = ", ".join(models[member] for member in main_group)
    reasons = {}
    for model in set(range(len(models))) - set(main_group):
        if reach[model, main_group[0]]:
            reasons[model] = f"it lost to none of {names}, and did not tie either"
        elif reach[main_group[0], model]:
            reasons[model] = f"it won against none of {names}, and did not tie either"
        else:
            reasons[model] = f"no wins and ties connect it with {names}"
    return Groups(members=tuple(groups), reasons=reasons)


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
    """g, the effect of one standard deviation of length differences; 0 without length control."""
    converged: Flags
    """Whether there is a maximum, and it was found."""


def fit(compared: Comparisons, *, length_control: bool = False) -> Fit:
    """Return the strengths of all models.

    Newton's method with halved steps on the concave log likelihood; a maximum is accepted once a
    full step is below 1e-9. The mean of the strengths is 0.

    Args:
        compared: Comparisons that connect all models, see `groups_of`.
        length_control: Estimate the effect of length too, and give strengths at equal lengths.

    Raises:
        UndefinedMetric: The likelihood has no maximum.

    >>> from nel.apps.leaderboard.pairwise import comparisons
    >>> rows = [(0, 1, 1.0, 0), (0, 1, 1.0, 1), (0, 1, 1.0, 2), (0, 1, 0.0, 3)]
    >>> [round(strength, 6) for strength in fit(comparisons(["a", "b"], rows)).strengths.tolist()]
    [0.549306, -0.549306]
    """
    fitted = _fit(compared, np.ones((1, compared.n)), length_control, None)
    if not fitted.converged[0]:
        raise UndefinedMetric(_no_maximum(compared, length_control))
    return Fit(
        strengths=fitted.strengths[0], length=fitted.length[0], converged=fitted.converged[0]
    )


def _no_maximum(compared: Comparisons, length_control: bool) -> str:
    reasons = groups_of(win_matrix(compared), compared.models).reasons
    if reasons:
        return "; ".join(f"{compared.models[model]}: {why}" for model, why in reasons.items())
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
    length_control: bool = False,
) -> Fit:
    """Return the strengths of resamples of the questions, each with all its comparisons.

    Args:
        compared: As in `fit`.
        start: The starting point, the fit of the comparisons themselves.
        n_resamples: At least 1.
        seed: Seeds a generator of its own.
        length_control: As in `fit`.

    Returns:
        Strengths of shape (n_resamples, models); a resample without a maximum has ``converged``
        False, and its numbers mean nothing.
    """
    rng = np.random.default_rng(seed)
    n_questions = int(compared.question.max()) + 1
    chances = np.full(n_questions, 1 / n_questions)
    # As many resamples at once as the largest working array may hold.
    block = max(1, _CELLS_MAX // max(compared.n, n_questions))
    fits = []
    for n_done in range(0, n_resamples, block):
        draws = rng.multinomial(n_questions, chances, size=min(block, n_resamples - n_done))
        weights = draws[:, compared.question].astype(np.float64)
        fits.append(_fit(compared, weights, length_control, start))
    return Fit(
        strengths=np.concatenate([block_fit.strengths for block_fit in fits]),
        length=np.concatenate([block_fit.length for block_fit in fits]),
        converged=np.concatenate([block_fit.converged for block_fit in fits]),
    )


def standardised_lengths(compared: Comparisons) -> Floats:
    """Return the length differences over their root mean square; zeros where all are 0.

    They are not centred, so that swapping the sides of a comparison only changes the sign.
    """
    scale = math.sqrt(float((compared.length**2).mean())) if compared.n else 0.0
    return compared.length / scale if scale > 0 else np.zeros(compared.n)


def _fit(compared: Comparisons, weights: Floats, length_control: bool, start: Fit | None) -> Fit:
    size = len(compared.models)
    problem = _Likelihood(compared, weights, length_control)
    origin = np.zeros(size + length_control)
    if start is not None:
        origin[:size] = start.strengths
        origin[size:] = start.length
    # A resample in which some model cannot be reached has no maximum, and is not searched.
    is_connected = _reach(problem.wins() > 0).all(axis=(1, 2))
    origins = np.tile(origin, (len(weights), 1))
    values, converged = _maximize(problem, origins, np.flatnonzero(is_connected))
    if length_control:
        converged &= _is_curved(problem, values)
    strengths = values[:, :size] - values[:, :size].mean(axis=1, keepdims=True)
    length = values[:, size] if length_control else np.zeros(len(weights))
    return Fit(strengths=strengths, length=length, converged=converged)


def _maximize(problem: _Likelihood, values: Floats, active: Integers) -> tuple[Floats, Flags]:
    """Return the maximum of the likelihood for each resample, and whether it was found."""
    # `active` has the numbers of the resamples that are still searched; each step is taken for all
    # of them at once. values: (resamples, parameters); slope: (active, parameters); curvature:
    # (active, parameters, parameters).
    converged = np.zeros(len(values), dtype=bool)
    height = np.zeros(len(values))
    height[active] = problem.likelihood(values[active], active)
    for _ in range(_STEPS_MAX):
        if len(active) == 0:
            break
        slope, curvature = problem.slopes(values[active], active)
        diagonal = np.arange(curvature.shape[-1])
        # Strengths are known up to a constant, so without a ridge there is no single step.
        curvature[:, diagonal, diagonal] += (
            _RIDGE * curvature.max(axis=(1, 2))[:, None] + np.finfo(float).tiny
        )
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        factor = np.ones(len(active))
        # A step that falls is too long: the likelihood is concave, so that a part of it rises.
        for _ in range(_HALVINGS_MAX):
            candidates = values[active] + factor[:, None] * step
            heights = problem.likelihood(candidates, active)
            is_fall = heights < height[active] - _RISE * np.abs(height[active])
            if not is_fall.any():
                break
            factor[is_fall] /= 2
        values[active], height[active] = candidates, heights
        # Convergence needs a full step: a halved one may be short only because the search is in
        # difficulty.
        is_done = (np.abs(step).max(axis=1) <= _STEP_MAX) & (factor == 1)
        converged[active[is_done]] = True
        active = active[~is_done & (problem.reach(values[active]) < _REACH_MAX)]
    return values, converged


def _is_curved(problem: _Likelihood, values: Floats) -> Flags:
    """Return whether the maximum is unique, so that length and strengths can be told apart."""
    _, curvature = problem.slopes(values, np.arange(len(values)))
    eigenvalues = np.linalg.eigvalsh(curvature)  # in ascending order
    is_curved: Flags = eigenvalues[:, 0] > _FLAT * eigenvalues[:, -1]
    return is_curved


class _Likelihood:
    """The log likelihood of strengths and, as the last parameter, of the effect of length if any.

    Comparisons that are equal but for their question are one, with the sum of their weights.
    """

    def __init__(self, compared: Comparisons, weights: Floats, length_control: bool) -> None:
        """Sum the weights of each resample, shape (resamples, comparisons)."""
        self.size = len(compared.models)
        lengths = standardised_lengths(compared) if length_control else np.zeros(compared.n)
        # Comparisons that are alike in all that the likelihood sees are one row, with the sum of
        # their weights.
        columns = np.stack([compared.left, compared.right, compared.score, lengths], axis=1)
        rows, row_numbers = np.unique(columns, axis=0, return_inverse=True)
        row_numbers = row_numbers.reshape(-1)
        order = np.argsort(row_numbers, kind="stable")
        starts = np.searchsorted(row_numbers[order], np.arange(len(rows)))
        self.weights = np.add.reduceat(weights[:, order], starts, axis=1)
        self.left, self.right = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
        self.score = rows[:, 2]
        self.covariates = rows[:, 3:].T if length_control else np.zeros((0, len(rows)))
        # Rows are sorted by pair, so that the sums of pairs are those of ranges.
        self.kinds, self.starts = np.unique(self.left * self.size + self.right, return_index=True)

    def _by_pair(self, values: Floats) -> Floats:
        """Return sums over the comparisons of each ordered pair: (resamples, models, models)."""
        sums = np.zeros((len(values), self.size * self.size))
        sums[:, self.kinds] = np.add.reduceat(values, self.starts, axis=1)
        return sums.reshape(len(values), self.size, self.size)

    def wins(self) -> Floats:
        """Return the win matrix of each resample."""
        losses = self._by_pair(self.weights * (1 - self.score))
        return self._by_pair(self.weights * self.score) + losses.transpose(0, 2, 1)

    def _odds(self, values: Floats) -> Floats:
        # b_i - b_j + g x of each row: shape (resamples, rows).
        odds: Floats = values[:, self.left] - values[:, self.right]
        odds += values[:, self.size :] @ self.covariates
        return odds

    def reach(self, values: Floats) -> Floats:
        """Return the largest log odds of any comparison."""
        largest: Floats = np.abs(self._odds(values)).max(axis=1)
        return largest

    def likelihood(self, values: Floats, rows: Integers) -> Floats:
        odds = self._odds(values)
        # -log(p^s (1-p)^(1-s)) with p the logistic of the odds, which would overflow.
        costs = np.logaddexp(0, odds) - self.score * odds
        total: Floats = -(costs * self.weights[rows]).sum(axis=1)
        return total

    def slopes(self, values: Floats, rows: Integers) -> tuple[Floats, Floats]:
        """Return the gradient, and the matrix that a step solves: minus the second derivatives."""
        size, weights = self.size, self.weights[rows]
        chance = logistic(self._odds(values))
        residuals = weights * (self.score - chance)
        # A strength counts positive where its model is left, negative where it is right.
        by_pair = self._by_pair(residuals)
        of_strengths = by_pair.sum(axis=2) - by_pair.sum(axis=1)
        slope = np.concatenate([of_strengths, residuals @ self.covariates.T], axis=1)
        variance = weights * chance * (1 - chance)
        curvature = np.zeros((*slope.shape, slope.shape[1]))
        curvature[:, :size, :size] = self._laplacian(variance)
        for column, length in enumerate(self.covariates, start=size):
            by_pair = self._by_pair(variance * length)
            mixed = by_pair.sum(axis=2) - by_pair.sum(axis=1)
            curvature[:, :size, column] = curvature[:, column, :size] = mixed
            curvature[:, column, column] = variance @ length**2
        return slope, curvature

    def _laplacian(self, variance: Floats) -> Floats:
        """Return the curvature in the strengths: the Laplacian of the graph of comparisons."""
        by_pair = self._by_pair(variance)
        by_pair += by_pair.transpose(0, 2, 1)
        curvature = -by_pair
        diagonal = np.arange(self.size)
        curvature[:, diagonal, diagonal] = by_pair.sum(axis=2)
        # It is flat along equal changes of all strengths, since only differences matter; a constant
        # pins their sum.
        curvature += by_pair.sum(axis=(1, 2))[:, None, None] / self.size**2
        return curvature


def logistic(odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-odds)), the probability of log odds, without overflow."""
    chance: Floats = 0.5 * (1 + np.tanh(odds / 2))  # the same function, and tanh cannot overflow
    return chance
