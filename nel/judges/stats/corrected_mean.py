"""Estimates the mean of people's scores from a judge's scores and labels of a few answers.

Three estimators. The labels alone need no judge; they are what the others are compared with. Rogan
and Gladen correct a share of "right" by the judge's sensitivity and specificity, which may come
from another run; prediction-powered inference (PPI) corrects the judge's mean by its mean error on
the labelled answers. Neither can correct a judge that does not distinguish right from wrong: the
first is refused then, and the second falls back to the labels alone. Intervals of labels and of PPI
are those of the data and one question (or one label) more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nel.core.scaling import ROUNDING
from nel.errors import UndefinedMetric
from nel.metrics.added_question import added_question_ends, lower_quantile
from nel.metrics.intervals import FEWEST, LEVEL
from nel.metrics.quantiles import interval_quantile
from nel.metrics.question_intervals import weight_in_groups

Floats: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[float, float]
"""The smallest and the largest possible score."""

_Rate: TypeAlias = tuple[float, float]
"""A share, and the number of answers that it is estimated from."""

NO_LABEL_NEEDED: Final = -1
"""The stratum of answers whose score is not a judge's."""
YOUDEN_MIN: Final = 0.1
"""Sensitivity plus specificity must exceed 1 by more; else the correction divides by nearly 0."""
_Z: Final = interval_quantile(LEVEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A corrected mean with its interval."""

    value: float
    lower: float
    upper: float
    method: str
    """``rogan_gladen_adjusted``, ``ppi++`` or ``added_label``; ends at the level 0.95."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswers:
    """All answers of a run, of which a few have a person's label; parallel arrays."""

    scores: Floats
    """Of the judge, or where no label is needed of the scorer."""
    labels: Floats
    """NaN where there is none."""
    strata: NDArray[np.int64]
    """The parts from which labels were sampled separately, such as the answers of one grade, or
    `NO_LABEL_NEEDED`: model failures, which count 0, and what a scorer decided alone.
    """
    clusters: Floats
    """What was drawn together: numbers of questions, or of the groups that they are in."""
    bounds: Bounds
    """Of scores and labels; values and ends are cut to them."""
    share_asked: float = 0.0
    """How much of a finite benchmark was asked, where the mean of all of it is estimated."""

    @property
    def needs_label(self) -> NDArray[np.bool_]:
        """Return which answers are in a stratum."""
        is_in_stratum: NDArray[np.bool_] = self.strata != NO_LABEL_NEEDED
        return is_in_stratum

    def parts(self) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Return each stratum, as which answers are in it and which of them have a label.

        Raises:
            UndefinedMetric: There are no strata, or one has fewer than two labels.
        """
        has_label = ~np.isnan(self.labels)
        parts = []
        for code in np.unique(self.strata[self.needs_label]):
            members = self.strata == code
            parts.append((members, members & has_label))
        if min((labelled.sum() for _, labelled in parts), default=0) < FEWEST:
            raise UndefinedMetric("a stratum has fewer than two labels")
        return parts

    def sums_of_clusters(self, parts: Floats) -> Floats:
        """Return what each question or group has of a number of each answer.

        Raises:
            UndefinedMetric: There are fewer than two clusters.
        """
        return np.bincount(_codes_of(self.clusters), weights=parts).astype(np.float64)


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
    >>> round(share.value, 6), round(share.lower, 6), round(share.upper, 6)
    (0.76, 0.691377, 0.844463)
    """
    excess = sensitivity + specificity - 1
    if excess <= YOUDEN_MIN + ROUNDING:
        raise UndefinedMetric(
            f"sensitivity {sensitivity:.3f} and specificity {specificity:.3f} sum to"
            f" {1 + excess:.3f}, not above {1 + YOUDEN_MIN}: the judge hardly tells right from"
            " wrong, and no correction can"
        )
    value = min(max((share - (1 - specificity)) / excess, 0.0), 1.0)
    centre, half = _lang_reiczigel((share, n), (sensitivity, n_positive), (specificity, n_negative))
    return Estimate(
        value=value,
        lower=min(max(centre - half, 0.0), value),
        upper=max(min(centre + half, 1.0), value),
        method="rogan_gladen_adjusted",
    )


def _lang_reiczigel(share: _Rate, sensitivity: _Rate, specificity: _Rate) -> tuple[float, float]:
    """Return centre and half width of the interval from adjusted counts."""
    # Adjusted counts: the share gets z² answers, half of them right; each rate gets two, one right.
    z_square = _Z * _Z
    p, n = _add_answers(share, z_square)
    q1, n_positive = _add_answers(sensitivity, 2)
    q0, n_negative = _add_answers(specificity, 2)
    # Few labels of one kind pull their rate to 1/2, so that this can come near to 0 or below it,
    # though `rogan_gladen` has refused a small one: the interval is then all there is.
    youden = q1 + q0 - 1
    theta = (p + q0 - 1) / max(youden, YOUDEN_MIN / 2)
    theta = min(max(theta, 0.0), 1.0)
    # What the labels of right and of wrong answers leave open of the two rates.
    of_right = theta * q1 * (1 - q1) / n_positive
    of_wrong = (1 - theta) * q0 * (1 - q0) / n_negative
    # Var(theta) = [p(1-p)/n + theta² q1(1-q1)/m1 + (1-theta)² q0(1-q0)/m0] / (q0 + q1 - 1)²
    spread = p * (1 - p) / n + theta * of_right + (1 - theta) * of_wrong
    stderr = math.sqrt(spread) / abs(youden)
    # The second term moves the centre, because the two rates divide the estimate.
    centre = theta + 2 * z_square * (of_right - of_wrong)
    return centre, _Z * stderr


def _add_answers(rate: _Rate, n_added: float) -> _Rate:
    """Return a rate with some more answers, half of them counted."""
    share, n = rate
    n_all = n + n_added
    return (n * share + n_added / 2) / n_all, n_all


def labels_mean(answers: LabelledAnswers) -> Estimate:
    """Return the mean of the labels alone, each weighted by the answers that it stands for.

    ``theta = sum w_i y_i / sum w_i`` with ``w = N_h / n_h`` (Hájek 1971), as for answers drawn one
    by one with these chances: what the judge says of an answer has decided how likely it was to be
    labelled, and nothing else. The interval is that of the labels and one more of the largest
    weight. The labels count as their effective number (Kish 1965), which is smaller where those of
    one question or group are alike. Answers that need no label are then combined with it, the
    variances added on each side (Zou and Donner 2008).

    Raises:
        UndefinedMetric: There are no strata, or one has fewer than two labels.
    """
    weights = np.zeros(len(answers.labels))
    for members, labelled in answers.parts():
        weights[labelled] = members.sum() / labelled.sum()
    has_weight = weights > 0
    labels = answers.labels[has_weight]
    weights = weights[has_weight]
    total = float(weights.sum())
    value = float(weights @ labels) / total
    # Kish: labels of unlike weights say as much as (sum w)² / sum w² of equal ones; scaled so, the
    # weights sum to that number.
    scaled = weights * (total / float(weights @ weights))
    of_each = _weight_in_clusters(labels, answers.clusters[has_weight], answers.bounds)
    low, high = answers.bounds
    lower, upper = added_question_ends(
        labels, low=low, high=high, weights=scaled * of_each, added_weight=float(scaled.max())
    )
    estimate = Estimate(value=value, lower=lower, upper=upper, method="added_label")
    return _with_decided(answers, estimate)


def _weight_in_clusters(values: Floats, clusters: Floats, bounds: Bounds) -> float:
    """Return how many answers an answer counts as, since those of a question or group are alike."""
    codes = _codes_of(clusters)
    if codes.max() + 1 == len(codes):  # each is alone
        return 1.0
    return weight_in_groups(values, codes, LEVEL, bounds)


def _codes_of(clusters: Floats) -> NDArray[np.int64]:
    """Return the number of each answer's question or group, from 0 without gaps.

    Raises:
        UndefinedMetric: There are fewer than two, so that nothing says how they vary.
    """
    distinct, codes = np.unique(clusters, return_inverse=True)
    if len(distinct) < FEWEST:
        raise UndefinedMetric("all answers are to one question, or in one group")
    return codes.astype(np.int64)


def ppi_mean(answers: LabelledAnswers) -> Estimate:
    """Return the mean by PPI++ within strata, weighted by their answers (Fisch et al. 2024).

    Within a stratum (Angelopoulos et al. 2023, arXiv 2311.01453): ``theta_h = lam *
    mean(Yhat_unlabelled) + mean(Y - lam * Yhat)``, with ``lam = Cov(Y, Yhat) / ((1 + n_h/N_h)
    Var(Yhat))`` cut to [0, 1]: the numbers of ``ppi_py.ppi_mean_ci``. ``theta = sum W_h theta_h``.
    Strata that are the judge's own grades have nothing left for ``lam`` to tune: the estimate is
    the mean label of each grade, weighted by how often the judge gave it.

    The interval is made from the influence of whole questions or groups, so that repeats and groups
    are in it: an answer's is ``(theta_h - theta) / N``, because the sizes of the strata are those
    of this run, and that of a labelled one also what its label says beyond the others of its
    stratum, times the answers that it stands for (their variance with n - 1). Few labels without an
    error are not proof: the added question counts as the label that stands for most answers, and
    each other stratum whose labels all lie at one bound has the variance of a share of
    ``1 / (n + 2)``.

    Raises:
        UndefinedMetric: There are no strata, one has fewer than two labels, or all answers are to
            one question.
    """
    size = len(answers.scores)
    centres = answers.scores.copy()
    # Influence on the mean, times `size`, beyond that of belonging to a stratum.
    beyond = np.zeros(size)
    strata = []
    for members, labelled in answers.parts():
        unlabelled = members & ~labelled
        stratum = _stratum_of(answers, labelled, unlabelled)
        centres[members] = stratum.mean
        beyond[labelled] = stratum.of_labelled
        beyond[unlabelled] = stratum.of_unlabelled
        share = members.sum() / size
        strata.append((stratum.weight, stratum.unseen * share**2))
    value = float(centres.mean())
    # Of a finite benchmark only what was not asked is open: the variance shrinks by that share.
    influence = math.sqrt(1 - answers.share_asked) * (centres - value) + beyond
    sums = answers.sums_of_clusters(influence / size)
    # The added question stands for the heaviest stratum, whose unseen variance it brings along.
    weight_max, unseen_of_heaviest = max(strata)
    ends = _ends(
        answers.bounds,
        value,
        len(sums) * sums,
        weight=max(1.0, len(sums) * weight_max / size),
        unseen=math.fsum(unseen for _, unseen in strata) - unseen_of_heaviest,
    )
    return _within(answers.bounds, value, ends, "ppi++")


@dataclass(frozen=True, slots=True, kw_only=True)
class _StratumMean:
    """The mean of a stratum by PPI++, and what it owes to single answers."""

    mean: float
    of_labelled: Floats
    """How far each labelled answer moves the mean, times the answers of the stratum."""
    of_unlabelled: Floats
    """The same of each answer without a label."""
    weight: float
    """Answers that a label stands for."""
    unseen: float
    """A variance of the mean that no label shows."""


def _stratum_of(
    answers: LabelledAnswers, labelled: NDArray[np.bool_], unlabelled: NDArray[np.bool_]
) -> _StratumMean:
    labels = answers.labels[labelled]
    n, n_unlabelled = len(labels), int(unlabelled.sum())
    if not n_unlabelled:  # nothing is estimated: the mean is that of the labels
        return _StratumMean(
            mean=float(labels.mean()),
            of_labelled=labels - labels.mean(),
            of_unlabelled=np.zeros(0),
            weight=1.0,
            unseen=0.0,
        )
    tuning = _tuning(answers, labelled, unlabelled)
    errors = labels - tuning * answers.scores[labelled]
    predictions = tuning * answers.scores[unlabelled]
    prediction_mean = float(predictions.mean())
    n_all = n + n_unlabelled
    weight = n_all / n
    # Labels that all lie at one bound have no spread: one of n + 2 may yet lie at the other.
    low, high = answers.bounds
    is_unanimous = labels.min() == high or labels.max() == low
    rare = 1 / (n + 2) if is_unanimous else 0.0
    return _StratumMean(
        mean=prediction_mean + float(errors.mean()),
        # The variance of the labels is that with n - 1.
        of_labelled=(errors - errors.mean()) * weight * math.sqrt(n / (n - 1)),
        of_unlabelled=(predictions - prediction_mean) * (n_all / n_unlabelled),
        weight=weight,
        unseen=(high - low) ** 2 * rare * (1 - rare) / n,
    )


def _ends(
    bounds: Bounds, value: float, influence: Floats, *, weight: float, unseen: float
) -> tuple[float, float]:
    """Return both ends of a mean, as `_lower_end` has it of one within 0 and 1."""
    low, high = bounds
    width = high - low
    # On the scale from 0 to 1, on which the upper end is the lower one of what is missing to 1.
    height = (value - low) / width
    influence = influence / width
    unseen /= width**2
    lower = _lower_end(height, influence, weight=weight, unseen=unseen)
    upper = 1 - _lower_end(1 - height, -influence, weight=weight, unseen=unseen)
    return low + width * lower, low + width * upper


def _lower_end(height: float, influence: Floats, *, weight: float, unseen: float) -> float:
    """Return the lower end of a mean in [0, 1], where the added question counts as several.

    The questions share what the added one leaves, as Dirichlet weights have it; its own weight is
    that of one label among as many as there would be if all stood for as many answers, a Beta
    variable. (Were it that of `weight` questions that vary singly, 20 labels without an error would
    pass for 600.)

    Args:
        height: The mean.
        influence: How far each question moves it, times their number; sums to 0.
        weight: How many questions the added one counts as, at least 1.
        unseen: A variance of the mean that no label shows.
    """
    count = len(influence)
    # The weight of the added question is Beta(1, others): mean, variance, third central moment.
    others = count / weight
    share = 1 / (others + 1)
    complement = 1 - share
    square = share**2 * others / (others + 2)
    cube = 2 * share**3 * others * (others - 1) / ((others + 2) * (others + 3))
    # The mean of the questions under Dirichlet weights: variance and third central moment.
    spread = float((influence**2).mean()) / (count + 1) + unseen
    moment = 2 * float((influence**3).mean()) / ((count + 1) * (count + 2))
    # Their product, in which the added question itself is 0.
    variance = spread * (complement**2 + square) + height**2 * square
    third = moment * (complement**3 + 3 * complement * square - cube)
    third += 3 * height * spread * (2 * complement * square - cube) - height**3 * cube
    mean, spreads, thirds = np.array([[height * complement], [variance], [third]])
    return float(lower_quantile(mean, spreads, thirds, _Z)[0])


def rogan_gladen_mean(
    answers: LabelledAnswers, *, sensitivity: _Rate, specificity: _Rate
) -> Estimate:
    """Return `rogan_gladen` of all answers, the rest combined with it as in `labels_mean`.

    Args:
        answers: Of which no label is used.
        sensitivity: With the number of answers that it is estimated from.
        specificity: The same.
    """
    needs_label = answers.needs_label
    scores = answers.scores[needs_label]
    weight = _weight_in_clusters(scores, answers.clusters[needs_label], answers.bounds)
    q1, n_positive = sensitivity
    q0, n_negative = specificity
    estimate = rogan_gladen(
        min(float(scores.mean()), 1.0),
        len(scores) * weight,
        sensitivity=q1,
        n_positive=n_positive,
        specificity=q0,
        n_negative=n_negative,
    )
    return _with_decided(answers, estimate)


def _with_decided(answers: LabelledAnswers, estimate: Estimate) -> Estimate:
    """Return an estimate of the answers that need a label combined with all others."""
    needs_label = answers.needs_label
    if needs_label.all():
        return estimate
    centres = np.where(needs_label, estimate.value, answers.scores)
    value = float(centres.mean())
    share = float(needs_label.mean())
    sums = answers.sums_of_clusters((centres - value) / len(centres))
    # That of a sum of clusters, with n - 1, of which a sample of the benchmark leaves a part open.
    variance = (1 - answers.share_asked) * len(sums) / (len(sums) - 1) * float(sums @ sums)
    half = _Z * math.sqrt(variance)
    # On each side the two doubts add up as squares (Zou and Donner 2008).
    below = math.hypot(share * (estimate.value - estimate.lower), half)
    above = math.hypot(share * (estimate.value - estimate.upper), half)
    return _within(answers.bounds, value, (value - below, value + above), estimate.method)


def _tuning(
    answers: LabelledAnswers, labelled: NDArray[np.bool_], unlabelled: NDArray[np.bool_]
) -> float:
    """Return how much of the judge's scores an estimate takes over, from 0 to 1."""
    scores, labels = answers.scores[labelled], answers.labels[labelled]
    all_scores = answers.scores[labelled | unlabelled]
    # Scores that are all alike, but for rounding, say nothing of the labels.
    spread = float(all_scores.var(ddof=1))
    if spread <= ROUNDING * max(float((all_scores**2).mean()), 1e-300):
        return 0.0
    # The factor of the scores with the least variance of the mean, as in PPI++.
    covariance = float(((scores - scores.mean()) * (labels - labels.mean())).mean())
    labelled_share = len(scores) / float(unlabelled.sum())
    tuning = covariance / ((1 + labelled_share) * spread)
    return min(max(tuning, 0.0), 1.0)


def _within(bounds: Bounds, value: float, ends: Bounds, method: str) -> Estimate:
    value, lower, upper = np.clip((value, *ends), *bounds).tolist()
    return Estimate(value=value, lower=lower, upper=upper, method=method)
