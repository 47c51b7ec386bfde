"""Estimates the mean of people's scores from a judge's scores of all answers and people's labels of
a few.

Three estimators, all computed from sums over answers. The labels alone need no judge; they are what
the others are compared with. Rogan and Gladen correct a share of "right" by the judge's sensitivity
and specificity, which may come from another run; prediction-powered inference (PPI) corrects the
judge's mean by its mean error on the labelled answers. Neither can correct a judge that does not
distinguish right from wrong: the first is refused then, and the second falls back to the labels
alone. Depends on the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final, TypeAlias

from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL, wilson_interval

Bounds: TypeAlias = tuple[float, float]
"""The smallest and the largest possible score."""

_Rate: TypeAlias = tuple[float, float]
"""A share, and the number of answers that it is estimated from."""

YOUDEN_MIN: Final = 0.1
"""Sensitivity plus specificity must exceed 1 by more than this; else the correction divides by
almost zero.
"""
_ROUNDING: Final = 1e-12
_Z: Final = NormalDist().inv_cdf(0.5 + LEVEL / 2)
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A corrected mean with its interval."""

    value: float
    stderr: float
    lower: float
    upper: float
    method: str
    """``rogan_gladen_adjusted``, ``ppi++`` or ``labels``; ends at the level 0.95."""


@dataclass(slots=True)
class Moments:
    """Number, sum and sum of squares of values that are added one at a time."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float, count: int = 1) -> None:
        """Add a finite value `count` times."""
        self.n += count
        self.total += value * count
        self.squares += value * value * count

    @property
    def mean(self) -> float:
        """Return the mean; 0 of nothing."""
        return self.total / self.n if self.n else 0.0

    @property
    def variance(self) -> float:
        """Return the population variance, at least 0."""
        return max(self.squares / self.n - self.mean**2, 0.0) if self.n else 0.0


@dataclass(slots=True)
class Labelled:
    """Sums over answers that have a person's label beside the judge's score."""

    labels: Moments = field(default_factory=Moments)
    judged: Moments = field(default_factory=Moments)
    products: float = 0.0

    def add(self, label: float, judged: float, count: int = 1) -> None:
        """Add an answer's label and judge score `count` times."""
        self.labels.add(label, count)
        self.judged.add(judged, count)
        self.products += label * judged * count

    @property
    def n(self) -> int:
        """Return how many answers have a label."""
        return self.labels.n

    @property
    def covariance(self) -> float:
        """Return the population covariance of labels and scores."""
        return self.products / self.n - self.labels.mean * self.judged.mean if self.n else 0.0

    def error_variance(self, tuning: float) -> float:
        """Return the population variance of label minus tuning times score, at least 0."""
        spread = (
            self.labels.variance - 2 * tuning * self.covariance + tuning**2 * self.judged.variance
        )
        return spread if spread > _ROUNDING * self.labels.variance else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """A part of the answers, such as those of one grade, from which labels were sampled
    separately.
    """

    labelled: Labelled
    unlabelled: Moments
    """The judge's scores of the answers without a label."""

    @property
    def n(self) -> int:
        """Return how many answers there are."""
        return self.labelled.n + self.unlabelled.n


def rogan_gladen(
    share: float,
    n: float,
    *,
    sensitivity: float,
    n_positive: float,
    specificity: float,
    n_negative: float,
) -> Estimate:
    """Return the share of right answers, corrected for a judge's errors (Rogan and Gladen 1978).

    ``theta = (p + q0 - 1) / (q0 + q1 - 1)``, cut to [0, 1], with variance ``[p(1-p)/n + (1-theta)^2
    q0(1-q0)/m0 + theta^2 q1(1-q1)/m1] / (q0 + q1 - 1)^2``; as in Lee et al. 2025 (arXiv 2511.21140)
    for judges of language models. The interval of that error is too narrow for few labels and has
    no width for a judge never seen to err; the one here is from adjusted counts (Lang and Reiczigel
    2014, Prev. Vet. Med. 113): ``z^2`` answers are added to p, half of them right, as Agresti and
    Coull do; two labels to each of q0 and q1, one of them right; and the centre moves by ``2 z^2
    [theta q1(1-q1)/m1 - (1-theta) q0(1-q0)/m0]``.

    Args:
        share: The share of answers that the judge calls right, p.
        n: Number of answers; the effective number where they are not independent.
        sensitivity: How often the judge calls right what is right, q1.
        n_positive: Right answers that it is estimated from, m1.
        specificity: How often it calls wrong what is wrong, q0.
        n_negative: Wrong answers that it is estimated from, m0.

    Raises:
        UndefinedMetric: Sensitivity and specificity sum to 1.1 or less: the judge hardly tells
            right from wrong.

    >>> share = rogan_gladen(0.72, 1000, sensitivity=0.9, n_positive=100, specificity=0.85, n_negative=100)
    >>> round(share.value, 6), round(share.stderr, 6)
    (0.76, 0.037591)
    """
    excess = sensitivity + specificity - 1
    if excess <= YOUDEN_MIN + _ROUNDING:
        raise UndefinedMetric(
            f"sensitivity {sensitivity:.3f} and specificity {specificity:.3f} sum to"
            f" {1 + excess:.3f}, not above {1 + YOUDEN_MIN}: the judge hardly tells right from"
            " wrong, and no correction can"
        )
    value = min(max((share - (1 - specificity)) / excess, 0.0), 1.0)
    rates = (share, n), (sensitivity, n_positive), (specificity, n_negative)
    centre, half = _lang_reiczigel(*rates)
    return Estimate(
        value=value,
        stderr=_rogan_gladen_stderr(value, *rates),
        lower=min(max(centre - half, 0.0), value),
        upper=max(min(centre + half, 1.0), value),
        method="rogan_gladen_adjusted",
    )


def _rogan_gladen_stderr(
    theta: float, share: _Rate, sensitivity: _Rate, specificity: _Rate
) -> float:
    """Return the error of a corrected share."""
    of_share, of_sensitivity, of_specificity = (
        rate * (1 - rate) / size for rate, size in (share, sensitivity, specificity)
    )
    spread = of_share + (1 - theta) ** 2 * of_specificity + theta**2 * of_sensitivity
    return math.sqrt(spread / (sensitivity[0] + specificity[0] - 1) ** 2)


def _lang_reiczigel(share: _Rate, sensitivity: _Rate, specificity: _Rate) -> tuple[float, float]:
    """Return centre and half width of the interval from adjusted counts."""
    n, n_positive, n_negative = share[1] + _Z * _Z, sensitivity[1] + 2, specificity[1] + 2
    p = (share[1] * share[0] + _Z * _Z / 2) / n
    q1 = (sensitivity[1] * sensitivity[0] + 1) / n_positive
    q0 = (specificity[1] * specificity[0] + 1) / n_negative
    excess = max(q1 + q0 - 1, YOUDEN_MIN / 2)
    theta = min(max((p + q0 - 1) / excess, 0.0), 1.0)
    moved = theta * q1 * (1 - q1) / n_positive
    moved -= (1 - theta) * q0 * (1 - q0) / n_negative
    stderr = _rogan_gladen_stderr(theta, (p, n), (q1, n_positive), (q0, n_negative))
    return theta + 2 * _Z * _Z * moved, _Z * stderr


def labels_mean(strata: Sequence[Stratum], *, bounds: Bounds) -> Estimate:
    """Return the mean of the labels alone, each weighted by how many answers it stands for (Hájek
    1971).

    ``theta = sum w_i y_i / sum w_i`` with ``w = N_h / n_h``, and ``SE^2 = n/(n-1) sum w_i^2 (y_i -
    theta)^2 / (sum w_i)^2``, as for answers drawn one by one with these chances: what the judge
    says of an answer has decided how likely it was to be labelled, and nothing else. Labels of 0
    and 1 have Wilson's interval with the number of labels that would give this error; others the
    normal one, cut to the bounds.

    Args:
        strata: Each with at least two labels.
        bounds: The smallest and the largest label there is.

    Raises:
        UndefinedMetric: There are no strata, or one has fewer than two labels.
    """
    if not strata or min(stratum.labelled.n for stratum in strata) < _FEWEST:
        raise UndefinedMetric("a stratum has fewer than two labels")
    total = sum(stratum.n for stratum in strata)
    n = sum(stratum.labelled.n for stratum in strata)
    value = math.fsum(stratum.n / total * stratum.labelled.labels.mean for stratum in strata)
    squares_about = 0.0  # about the mean, each label with the square of its weight
    for stratum in strata:
        labels = stratum.labelled.labels
        weight = stratum.n / labels.n / total
        squares_about += weight**2 * labels.n * (labels.variance + (labels.mean - value) ** 2)
    variance = squares_about * n / (n - 1)
    squares = math.fsum(stratum.labelled.labels.squares for stratum in strata)
    is_binary = bounds == (0.0, 1.0) and squares == math.fsum(
        stratum.labelled.labels.total for stratum in strata
    )
    if not is_binary:
        return _estimate(value, variance, method="labels", bounds=bounds)
    n_effective = value * (1 - value) / variance if variance > _ROUNDING else n
    interval = wilson_interval(value * n_effective, n_effective)
    lower, upper = interval.lower, interval.upper
    assert lower is not None and upper is not None  # noqa: S101, PT018 - there are labels
    return Estimate(
        value=value,
        stderr=math.sqrt(variance),
        lower=lower,
        upper=upper,
        method="labels",
    )


def stratified_ppi_mean(
    strata: Sequence[Stratum],
    *,
    bounds: Bounds,
    known: Moments | None = None,
    per_question: float = 1.0,
) -> Estimate:
    """Return the mean by PPI++ within strata, weighted by how many answers each has (Fisch et al.
    2024, 2406.04291).

    Within a stratum (Angelopoulos et al. 2023, arXiv 2311.01453): ``theta_h = lam *
    mean(Yhat_unlabelled) + mean(Y - lam * Yhat)`` and ``SE_h^2 = lam^2 Var(Yhat_unlabelled) / N_h +
    Var(Y - lam * Yhat) / n_h``, with ``lam = Cov(Y, Yhat) / ((1 + n_h/N_h) Var(Yhat))`` cut to [0,
    1]: the numbers of ``ppi_py.ppi_mean_ci`` but for n_h - 1 in the last term.

    ``theta = sum W_h theta_h`` and ``SE^2 = sum W_h^2 SE_h^2 + sum W_h (theta_h - theta)^2 / N``,
    the second part because the sizes of the strata are those of this run, and another's would
    differ (double sampling, Cochran 1977, 12.2). Strata that are the judge's own grades have
    nothing left for ``lam`` to tune: the estimate is the mean label of each grade, weighted by how
    often the judge gave it. Variances within have n - 1. Where all labels of a stratum lie at one
    bound, theirs is not 0 but that of a share of ``1 / (n + 2)``: few labels without an error are
    not proof.

    Args:
        strata: Each with at least two labels.
        bounds: The smallest and the largest label there is; value and ends are cut to it.
        known: Scores of answers that need no label, such as those that could not be judged and
            count 0.
        per_question: Answers to the same question, on average; they are not independent.

    Raises:
        UndefinedMetric: There are no strata, or one has fewer than two labels.
    """
    known = known or Moments()
    total = sum(stratum.n for stratum in strata) + known.n
    if not strata or min(stratum.labelled.n for stratum in strata) < _FEWEST:
        raise UndefinedMetric("a stratum has fewer than two labels")
    parts = [
        (stratum.n / total, *_stratum_mean(stratum, bounds, per_question)) for stratum in strata
    ]
    if known.n:
        parts.append((known.n / total, known.mean, known.variance * per_question / known.n))
        bounds = (min(bounds[0], known.mean), max(bounds[1], known.mean))
    value = math.fsum(share * mean for share, mean, _ in parts)
    within = math.fsum(share**2 * variance for share, _, variance in parts)
    between = (
        math.fsum(share * (mean - value) ** 2 for share, mean, _ in parts) * per_question / total
    )
    return _estimate(value, within + between, method="ppi++", bounds=bounds)


def _stratum_mean(stratum: Stratum, bounds: Bounds, per_question: float) -> tuple[float, float]:
    labelled, unlabelled = stratum.labelled, stratum.unlabelled
    tuning = _tuning(labelled, unlabelled) if unlabelled.n else 0.0
    value = tuning * unlabelled.mean + labelled.labels.mean - tuning * labelled.judged.mean
    n = labelled.n
    error = labelled.error_variance(tuning) * n / (n - 1)
    if labelled.labels.variance <= _ROUNDING and labelled.labels.mean in bounds:
        rare = 1 / (n + 2)
        error = (bounds[1] - bounds[0]) ** 2 * rare * (1 - rare)
    judged = unlabelled.variance * per_question / unlabelled.n if unlabelled.n else 0.0
    return value, tuning**2 * judged + error / n


def _tuning(labelled: Labelled, unlabelled: Moments) -> float:
    n, more = labelled.n, unlabelled.n
    both = Moments(
        n + more,
        labelled.judged.total + unlabelled.total,
        labelled.judged.squares + unlabelled.squares,
    )
    spread = both.variance * both.n / (both.n - 1)
    if spread <= _ROUNDING * max(both.squares / both.n, 1e-300):
        return 0.0
    return min(max(labelled.covariance / ((1 + n / more) * spread), 0.0), 1.0)


def _estimate(value: float, variance: float, *, method: str, bounds: Bounds) -> Estimate:
    lowest, highest = bounds
    stderr = math.sqrt(variance)
    value, lower, upper = (
        min(max(number, lowest), highest)
        for number in (value, value - _Z * stderr, value + _Z * stderr)
    )
    return Estimate(value=value, stderr=stderr, lower=lower, upper=upper, method=method)
