"""One metric of paired questions: what was scored, and the ends between which each question lies.

Arrays of two sides, without a verdict, which `nel.comparison.measures` reaches. Does no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from nel.comparison.lines import UNSCORED, Columns, Floats, Ints
from nel.comparison.pairing import Pairing
from nel.comparison.questions import Questions, Values, cluster_ids, metric_values
from nel.core.scaling import mean_of
from nel.decide.paired import PairedDesign

_SHARES: Final = (-1.0, 1.0)
"""Between what differences of scores from 0 to 1 lie."""
_UNBOUNDED: Final = (-math.inf, math.inf)
_WHOLE_MAX: Final = 2.0**52
"""Whole numbers whose sum is less are exact, and so is their sum in any order."""


class Headline(Enum):
    """Stands where else the key of a metric does; a scorer's own number may be called reward."""

    REWARD = "reward"


REWARD: Final = Headline.REWARD
"""What every line has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The benchmarks that scores are of, where these are of a mean over several."""

    codes: Ints
    """Of each pair, which of them it is of."""
    weights: Sequence[float]
    """Of each; what they lack of 1 is missing on a side."""

    def split(self, values: Floats) -> list[Floats]:
        """Return the values of each benchmark."""
        return [values[self.codes == code] for code in range(len(self.weights))]

    @property
    def are_complete(self) -> bool:
        """Return whether nothing is missing, and each has a pair."""
        counts = np.bincount(self.codes, minlength=len(self.weights))
        return bool(counts.all()) and math.isclose(math.fsum(self.weights), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One metric of paired questions: what was scored, and within which ends each could lie."""

    baseline: Floats
    """NaN where nothing was scored, as with the candidate."""
    candidate: Floats
    baseline_ends: tuple[Floats, Floats]
    """Lowest and highest mean of each question had every repeat been scored."""
    candidate_ends: tuple[Floats, Floats]
    clusters: Ints | None
    design: PairedDesign
    """Of the whole benchmark, whichever pairs these are."""
    questions: Ints
    """The number of each pair's question in the baseline."""
    members: Members | None = None
    """None where they are of one benchmark."""
    is_lower_better: bool = False

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        """Return which pairs have a score on both sides."""
        is_scored: npt.NDArray[np.bool_] = ~(np.isnan(self.baseline) | np.isnan(self.candidate))
        return is_scored

    @property
    def is_open(self) -> bool:
        """Return whether a sample of any pair is unscored."""
        ends = (self.baseline_ends, self.candidate_ends)
        return any(bool((low != high).any()) for low, high in ends)

    @property
    def unit(self) -> Literal["rate", "number"]:
        """Return ``rate`` where every score of the benchmark on both sides is from 0 to 1."""
        return "rate" if self.design.bounds != _UNBOUNDED else "number"

    def mean(self, values: Floats) -> float | None:
        """Return the mean of the baseline's or the candidate's scores; None where there is none."""
        if self.members is not None:
            weights = self.members.weights
            if not self.members.are_complete:
                return None
            means = map(exact_mean, self.members.split(values))
            return math.fsum(share * mean for share, mean in zip(weights, means, strict=True))
        return exact_mean(values) if len(values) else None

    def only(self, pairs: npt.NDArray[np.bool_]) -> Scores:
        """Return the scores of some pairs."""
        members = self.members and replace(self.members, codes=self.members.codes[pairs])
        return replace(
            self,
            members=members,
            questions=self.questions[pairs],
            baseline=self.baseline[pairs],
            candidate=self.candidate[pairs],
            baseline_ends=(self.baseline_ends[0][pairs], self.baseline_ends[1][pairs]),
            candidate_ends=(self.candidate_ends[0][pairs], self.candidate_ends[1][pairs]),
            clusters=None if self.clusters is None else self.clusters[pairs],
        )

    def negate(self) -> Scores:
        """Return the scores with their sign turned, so that the other way is better."""
        return replace(
            self,
            is_lower_better=not self.is_lower_better,
            baseline=-self.baseline,
            candidate=-self.candidate,
            baseline_ends=(-self.baseline_ends[1], -self.baseline_ends[0]),
            candidate_ends=(-self.candidate_ends[1], -self.candidate_ends[0]),
        )

    def scale_baseline(self, factor: float) -> Scores:
        """Return the scores with those of the baseline times a number above 0."""
        bounds = self.design.bounds
        if bounds == _SHARES:
            # From 0 - factor to 1 - 0; of scores with their sign turned, -1 - 0 to 0 + factor.
            is_turned = bool((self.baseline < 0).any() or (self.candidate < 0).any())
            bounds = (-1.0, factor) if is_turned else (-factor, 1.0)
        return replace(
            self,
            baseline=self.baseline * factor,
            baseline_ends=(self.baseline_ends[0] * factor, self.baseline_ends[1] * factor),
            design=replace(self.design, bounds=bounds),
        )


def scores_of(pairing: Pairing, metric: str | Headline, *, is_lower_better: bool = False) -> Scores:
    """Return one metric of the pairs, without pairs that lack it or were not asked on a side.

    Args:
        pairing: Of two sides.
        metric: `REWARD`, or the key of a metric that both sides have.
        is_lower_better: Whether less of it is better.
    """
    before = line_values(pairing.baseline.columns, metric)
    after = line_values(pairing.candidate.columns, metric)
    scale = _scale([before, after])
    baseline, baseline_ends = question_ends(pairing.baseline, before, pairing.left, scale)
    candidate, candidate_ends = question_ends(pairing.candidate, after, pairing.right, scale)
    scores = Scores(
        baseline=baseline,
        candidate=candidate,
        baseline_ends=baseline_ends,
        candidate_ends=candidate_ends,
        clusters=clusters_of(pairing),
        design=_design_of(pairing, scale),
        questions=pairing.left,
        is_lower_better=is_lower_better,
    )
    return scores.only(~(np.isnan(baseline_ends[0]) | np.isnan(candidate_ends[0])))


def line_values(columns: Columns, metric: str | Headline) -> Floats:
    """Return `REWARD`, or the metric of a key, of each line; NaN where it has none."""
    if isinstance(metric, Headline):
        return columns.numbers(metric.value)
    return metric_values(columns, metric)


def clusters_of(pairing: Pairing) -> Ints | None:
    """Return the cluster of each pair, None where no question is in one."""
    sides = ((pairing.baseline, pairing.left), (pairing.candidate, pairing.right))
    for questions, positions in sides:
        codes = questions.codes_of("group")[positions]
        if (codes >= 0).any():
            return cluster_ids(codes)
    return None


def _design_of(pairing: Pairing, scale: tuple[float, float]) -> PairedDesign:
    """Return how the questions were asked and what all their answers can score."""
    n_repeats = np.concatenate([pairing.baseline.n_repeats, pairing.candidate.n_repeats])
    bounds = _SHARES if scale == (0.0, 1.0) else _UNBOUNDED
    return PairedDesign(repeats=int(n_repeats.max()), bounds=bounds)


def _scale(lines: Sequence[Floats]) -> tuple[float, float]:
    """Return the lowest and highest score there can be: 0 and 1, else those that there are."""
    scores = np.concatenate([values[~np.isnan(values)] for values in lines])
    if ((scores >= 0) & (scores <= 1)).all():
        return 0.0, 1.0
    return float(scores.min()), float(scores.max())


def question_ends(
    questions: Questions, values: Floats, positions: Ints, scale: tuple[float, float]
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return the means of some questions, and the least and most they are if all is scored."""
    means: Values = questions.values(values)
    mean, n_scored = means.mean[positions], means.n_scored[positions]
    is_unscored = (questions.columns.states == UNSCORED).astype(np.int64)
    n_unscored = questions.sums(is_unscored[questions.order])[positions]
    if not n_unscored.any():
        return mean, (mean, mean)
    n_planned = n_scored + n_unscored
    scored_mean = np.where(n_scored > 0, mean, 0.0)
    # Of questions without a line to score n_planned is 0; their mean, and so their ends, are NaN.
    with np.errstate(invalid="ignore", divide="ignore"):
        scored_part = scored_mean * (n_scored / n_planned)
        unscored_share = n_unscored / n_planned
        low, high = (scored_part + end * unscored_share for end in scale)
    # The weighted mean rounds, so where all is scored the mean itself stays.
    is_complete = n_unscored == 0
    return mean, (np.where(is_complete, mean, low), np.where(is_complete, mean, high))


def exact_mean(values: Floats) -> float:
    """Return the mean of finite numbers, at least one, the same to the last bit in any order.

    >>> exact_mean(np.array([1.0, 0.0, 1.0, 1.0])), exact_mean(np.array([0.1, 0.2]))
    (0.75, 0.15000000000000002)
    """
    is_small = float(np.abs(values).max()) * len(values) < _WHOLE_MAX
    if is_small and (np.floor(values) == values).all():  # these add up without rounding
        return float(values.sum()) / len(values)
    return mean_of(values.tolist())
