"""The interval of a mean over questions: the only place where one is chosen.

The design of a run chooses the method (the kind of score, planned repeats, groups, a sample), never
the values that were observed: otherwise the worse of two runs could have the better interval, and a
gate could not be trusted. Headlines, other metrics, reducers, categories and differences all have
their intervals from here.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from nel.core.scaling import ROUNDING
from nel.metrics.added_question import ADDED, added_question_ends
from nel.metrics.clusters import cluster_codes, grouped_variance
from nel.metrics.intervals import (
    FEWEST,
    LEVEL,
    TOO_LARGE,
    Interval,
    no_interval,
    single_answers_interval,
    wilson_interval,
)
from nel.metrics.late_numpy import np
from nel.metrics.quantiles import interval_quantile, student_quantile
from nel.metrics.series import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

Range: TypeAlias = tuple[float, float]
"""The lowest and the highest value that a question can have."""

SHARES: Final[Range] = (0.0, 1.0)
FEW: Final = 100
"""With fewer questions no decision may rest on Student's t, nor on the upper end of Wilson's
interval where that is above 0.9.
"""
T_OF_FEW: Final = (
    "scores without known bounds have Student's t, on which no decision rests with {} questions,"
    f" fewer than {FEW}"
)
FEW_GROUPS: Final = 40
"""With fewer groups the correlation within them is estimated badly."""
UNSEEN_GROUP: Final = 0.2
"""The weight of one more group that was not drawn and is wholly wrong, or wholly right. By
simulation, with less an end misses the true mean in more than 3 % of draws (`make coverage`).
"""
_QUESTIONS_MAX: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How the questions of an interval were drawn and asked."""

    repeats: int = 1
    """Planned answers to each question, however many arrived."""
    groups: Mapping[int, str] = field(default_factory=dict)
    """The cluster of each question that is in one."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Of a sample: the questions of the benchmark in each stratum, in the order of the draw."""
    strata: Mapping[int, str] = field(default_factory=dict)
    """Of a sample: the stratum of each question."""
    fixed: Interval | None = None
    """Replaces every interval of a run in which none of those here holds, as after a stop."""


def question_interval(series: Series, design: Design, *, level: float = LEVEL) -> Interval:
    """Return the interval of a mean: for new questions, or of the benchmark that was sampled.

    Args:
        series: The values, with at least one.
        design: How the questions were drawn.
        level: Strictly between 0 and 1.
    """
    if design.fixed is not None and series.n:
        return design.fixed
    of_new = new_questions_interval(series, design, level=level)
    if not design.sizes or not series.unit or not series.n:
        return of_new
    covers = f"all {sum(design.sizes.values()):,} questions of the benchmark"
    means = series.question_means()
    if len(means) < FEWEST:  # too few to estimate a spread within strata
        return replace(of_new, covers=covers)
    from nel.metrics.strata import (  # noqa: PLC0415 - few runs ask a sample
        QuestionStratum,
        stratified_interval,
    )

    values: dict[str, list[float]] = {}
    for question, value in zip(series.questions, means, strict=True):
        values.setdefault(design.strata[question], []).append(value)
    strata = [
        QuestionStratum(values=np.array(values.get(name, []), dtype=np.float64), size=size)
        for name, size in design.sizes.items()
    ]
    # The questions of the benchmark are fewer than all possible ones, so their interval cannot be
    # the wider one. It can be in a small sample, whose spread is estimated badly: then the other is
    # valid too.
    of_sample = stratified_interval(strata, is_single=_is_single(series, design), level=level)
    return replace(min(of_sample, of_new, key=_width), covers=covers)


def new_questions_interval(series: Series, design: Design, *, level: float = LEVEL) -> Interval:
    """Return the interval of a mean as an estimate for new questions of the same kind.

    Args:
        series: The values.
        design: Its strata are ignored: they describe the benchmark, not new questions.
        level: Strictly between 0 and 1.
    """
    if series.n == 0:
        return no_interval("nothing was scored")
    means = series.question_means()
    codes = _codes_of(series, design)
    is_single = codes is None and _is_single(series, design)
    if is_single and series.binary:  # a shortcut: the same result without importing numpy
        return wilson_interval(series.total, series.n, level=level)
    values = np.frombuffer(means, dtype=np.float64)
    if is_single:
        return single_answers_interval(
            values,
            lambda scores: wilson_interval(float(scores.sum()), len(scores), level=level),
            lambda: values_interval(values, level=level),
        )
    bounds = SHARES if series.unit else None
    return values_interval(values, bounds=bounds, codes=codes, level=level)


def values_interval(
    values: Floats,
    *,
    bounds: Range | None = SHARES,
    codes: Integers | None = None,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a mean of values of questions that are not each right or wrong.

    Args:
        values: One finite number for each question: a mean over its repeats, the value of a
            reducer, a graded score, or a difference of two of these; at least one.
        bounds: The lowest and highest value of a question; None where these are not known, and then
            Student's t relies on the observed spread alone.
        codes: The number of each question's group, from 0 without gaps; None where no two questions
            are in one.
        level: Strictly between 0 and 1.

    >>> interval = values_interval(np.array([1.0] * 29 + [0.75]))
    >>> interval.method, round(interval.lower, 6), round(interval.upper, 6)
    ('added_question', 0.876895, 1.0)
    """
    covers = "new questions" if codes is None else "new clusters"
    if codes is not None and not codes.any():
        return no_interval("fewer than two clusters", covers)
    if bounds is None:
        return _student_interval(values, codes, level, covers)
    low, high = bounds
    method, weight, caution = ADDED, 1.0, None
    if codes is not None:
        method = f"{ADDED}_groups"
        weight = weight_in_groups(values, codes, level, bounds)
        caution = _caution_of_groups(values, codes)
    lower, upper = added_question_ends(values, low=low, high=high, weights=weight, level=level)
    return Interval(lower=lower, upper=upper, method=method, covers=covers, caution=caution)


def questions_until(series: Series, design: Design, target: float) -> int | None:
    """Return the fewest questions, scoring like these, whose interval would clear a target.

    None where the mean does not exceed the target, or the bounds of a score are not known.

    Args:
        series: Of the questions that were asked.
        design: How they were drawn.
        target: For the lower end, such as the least score of a gate.

    >>> right = Series.of(np.arange(30), np.ones(30))
    >>> [questions_until(right, Design(repeats=4), least) for least in (0.95, 0.97, 0.99)]
    [72, 121, 365]
    """
    mean = series.mean()
    if mean is None or not mean > target or not series.unit:
        return None
    values = np.frombuffer(series.question_means(), dtype=np.float64)
    codes = _codes_of(series, design)
    if codes is None and series.binary and _is_single(series, design):
        return fewest_questions(lambda n: (wilson_interval(mean * n, n).lower or 0.0) >= target)
    weight = 1.0 if codes is None else weight_in_groups(values, codes, LEVEL)
    return values_until(values, target, SHARES, weight, LEVEL)


def values_until(
    values: Floats, target: float, bounds: Range, weight: float, level: float
) -> int | None:
    """Return the fewest questions with such values whose lower end reaches a target.

    Args:
        values: Of the questions that were asked.
        target: Below their mean.
        bounds: The lowest and highest value of a question.
        weight: How many questions a question counts as.
        level: Of the interval.
    """
    low, high = bounds
    share = weight / len(values)

    def is_enough(n: int) -> bool:
        # The n questions have the values of those asked in the same proportions.
        ends = added_question_ends(values, low=low, high=high, weights=share * n, level=level)
        return ends[0] >= target

    return fewest_questions(is_enough)


def fewest_questions(is_enough: Callable[[int], bool]) -> int | None:
    """Return the least number of questions that is enough; None where a billion is not.

    >>> fewest_questions(lambda n: n * n > 1000)
    32
    """
    # Double until it is enough, then bisect between the last two.
    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
        if high > _QUESTIONS_MAX:
            return None
    return bisect_left(range(high), True, lo=low + 1, key=is_enough)


def macro_interval(
    parts: Sequence[Floats],
    *,
    weights: Sequence[float] | None = None,
    bounds: Range = SHARES,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a weighted mean over the means of benchmarks with distinct questions.

    Args:
        parts: The values of each benchmark's or subject's questions, within the bounds.
        weights: Of each; equal by default. If they sum to less than 1, the rest is of parts without
            values, which count as the lowest value at the lower end and the highest at the upper.
        bounds: The lowest and highest value of a question.
        level: Strictly between 0 and 1.

    >>> parts = [[1.0] * 10, [1, 0.5, 0.75, 1, 1], [0, 1, 0.5, 0.5]]
    >>> interval = macro_interval([np.array(values) for values in parts])
    >>> round(interval.lower, 6), round(interval.upper, 6)
    (0.540276, 0.93083)
    """
    if not parts or min(map(len, parts)) < FEWEST:
        return no_interval("one of the parts has fewer than two questions")
    weights = weights or [1 / len(parts)] * len(parts)
    present = math.fsum(weights)
    if math.isclose(present, 1):
        present = 1.0
    scaled, weight = _one_sample(parts, [weight / present for weight in weights])
    low, high = bounds
    lower, upper = added_question_ends(
        scaled, low=low, high=high, weights=weight, level=level, is_monotone=False
    )
    # What is missing has the lowest value at the lower end, the highest at the upper one.
    missing = 1 - present
    return Interval(
        lower=present * lower + missing * low,
        upper=present * upper + missing * high,
        method=f"{ADDED}_macro",
        covers="new questions",
    )


def _one_sample(parts: Sequence[Floats], shares: Sequence[float]) -> tuple[Floats, float]:
    """Return one sample with the weighted mean of the parts and its variance, and a weight.

    The weight is that of a question. Each part is stretched about its own mean, so that the plain
    variance of the sample's mean is the sum of share² · variance / n over the parts.
    """
    n = sum(map(len, parts))
    means = [math.fsum(part.tolist()) / len(part) for part in parts]
    mean = math.fsum(share * of_part for share, of_part in zip(shares, means, strict=True))
    factors = [n * share / len(part) for share, part in zip(shares, parts, strict=True)]
    # Questions of the part that weighs most count as one each, as the added question does.
    most = max(factors)
    scaled = []
    for part, of_part, factor in zip(parts, means, factors, strict=True):
        stretch = factor * math.sqrt(len(part) / (len(part) - 1) / most)
        scaled.append(mean + stretch * (part - of_part))
    return np.concatenate(scaled), 1 / most


def disjoint_parts(
    parts: Sequence[Floats], questions: Sequence[Integers], weights: Sequence[float]
) -> tuple[list[Floats], list[float]]:
    """Return the parts of a weighted mean divided so that no question is in two, and their weights.

    Args:
        parts: The values of each, with at least one; a question has one value in all of them.
        questions: Of each, the numbers of the questions of its values.
        weights: Of each.

    >>> both = [np.array([1.0, 0.0, 0.5]), np.array([0.0])]
    >>> parts, weights = disjoint_parts(both, [np.arange(3), np.array([1])], [0.6, 0.4])
    >>> [part.tolist() for part in parts], [round(weight, 6) for weight in weights]
    ([[1.0, 0.5], [0.0]], [0.4, 0.6])
    """
    # `positions` says of each value of all parts, one after another, which of `names` it is of.
    names, positions = np.unique(np.concatenate(questions), return_inverse=True)
    if len(names) == len(positions):
        return list(parts), list(weights)
    sizes = [len(part) for part in parts]
    # The weight of one question in each part that it is in.
    each = np.repeat([weight / size for weight, size in zip(weights, sizes, strict=True)], sizes)
    values = np.empty(len(names))
    values[positions] = np.concatenate(parts)
    # Questions in the same parts form one new part, whose weight is the sum of theirs. `is_in` has
    # the shape (questions, parts); its distinct rows are the new parts.
    is_in = np.zeros((len(names), len(parts)), dtype=bool)
    is_in[positions, np.repeat(np.arange(len(parts)), sizes)] = True
    cells, codes = np.unique(is_in, axis=0, return_inverse=True)
    shares = np.bincount(codes, np.bincount(positions, each))
    return [values[codes == code] for code in range(len(cells))], shares.tolist()


def _width(interval: Interval) -> float:
    """Return the width of an interval, infinite where there is none."""
    if interval.lower is None or interval.upper is None:
        return math.inf
    return interval.upper - interval.lower


def weight_in_groups(
    values: Floats, codes: Integers, level: float, bounds: Range = SHARES
) -> float:
    """Return the weight of a question, less than 1 where questions of one group are correlated.

    The weight is the inverse of a design effect: the ratio of the variance with groups (CR2) to
    that without, times the squared ratio of Student's to the normal quantile; at most n, at least
    1. Near a bound the groups that would show a correlation are unlikely to be drawn. So the effect
    is at least that of the data with `UNSEEN_GROUP` of a group that lies wholly at the farther
    bound, but no more than if each group were one question.

    Args:
        values: One finite number for each question.
        codes: The number of each question's group, from 0 without gaps; at least two groups.
        level: Of the interval.
        bounds: The lowest and highest value of a question.

    Returns:
        A share, at least 1 / n.
    """
    n = len(values)
    sizes = np.bincount(codes)
    mean = float(values.mean())
    variance, degrees = grouped_variance(values, codes)
    # The variance of the mean if no two questions were in one group: s² / n.
    alone = float(values.var()) / (n - 1)
    # Values that differ by rounding alone have no variance to compare with.
    largest = float(np.abs(values).max())
    ratio = 1.0
    if alone > (ROUNDING * largest) ** 2:
        ratio = max(1.0, variance / alone)
    # Few groups say little about how alike their questions are: Student's quantile for the normal.
    quantile = interval_quantile(level)
    effect = ratio * (student_quantile(degrees, 0.5 + level / 2) / quantile) ** 2
    # The mean over questions of the size of their group.
    size = float(sizes @ sizes) / n
    # The variance that a group wholly at the farther bound would add to the mean.
    farthest = max(mean - bounds[0], bounds[1] - mean)
    unseen = UNSEEN_GROUP * (size / n * farthest) ** 2
    floor = min((variance + unseen) / (alone + unseen / size), n / len(sizes))
    return max(1.0, n / max(effect, floor)) / n


def _are_alike(values: Floats, codes: Integers) -> bool:
    """Return whether the questions of every group have one value."""
    group_values = np.zeros(int(codes.max()) + 1)
    group_values[codes] = values
    return bool((group_values[codes] == values).all())


def _caution_of_groups(values: Floats, codes: Integers) -> str | None:
    """Return a caution for an interval of few groups, or of groups without spread within."""
    count = int(codes.max()) + 1
    if _are_alike(values, codes):
        return (
            f"the questions of each group came out alike, so each of {count:,} groups counts as one"
            " question"
        )
    if count < FEW_GROUPS:
        return (
            f"{count} groups are few: how alike the questions of a group are is known badly, so the"
            " interval is wide near 0 and 100 %"
        )
    return None


def _codes_of(series: Series, design: Design) -> Integers | None:
    """Return the number of each question's group, None where no two questions are in one."""
    groups = design.groups
    if not groups or not len(series.question_means()):
        return None
    codes, count = cluster_codes([groups.get(number, number) for number in series.questions])
    return codes if count < len(codes) else None


def _is_single(series: Series, design: Design) -> bool:
    """Return whether each question has one answer with a score from 0 to 1."""
    return series.unit and max(design.repeats, series.repeats) == 1


def _student_interval(
    values: Floats, codes: Integers | None, level: float, covers: str
) -> Interval:
    """Return Student's t interval, in groups with CR2 errors and Satterthwaite's degrees."""
    n = len(values)
    if n < FEWEST:
        return no_interval("fewer than two questions", covers)
    largest = float(np.abs(values).max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
        if codes is None:
            variance, degrees = float(values.var(ddof=1)) / n, n - 1.0
        else:
            variance, degrees = grouped_variance(values, codes)
        half = student_quantile(degrees, 0.5 + level / 2) * math.sqrt(variance)
    # Not by the variance, which may be a rounding error above 0.
    if float(values.min()) == float(values.max()):
        return no_interval("all questions have the same value", covers)
    if not math.isfinite(abs(mean) + half):
        return no_interval(TOO_LARGE, covers)
    if codes is not None and math.sqrt(variance) <= ROUNDING * largest:
        return no_interval("the clusters have no spread", covers)
    return Interval(lower=mean - half, upper=mean + half, method="t", covers=covers)
