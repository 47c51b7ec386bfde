"""The interval of a mean of values with known bounds, from the data and one question more.

Student's t takes its doubt from the spread that was drawn. Near a bound the questions that would
show the spread are the rare ones, which were not drawn. Here the lower end is that of the data and
one further question with the lowest value, the upper end that of the data and one with the highest
value, each question with a random (Dirichlet) weight. For values of 0 and 1 this is the interval of
Clopper and Pearson. Numbers alone; `nel.metrics.question_intervals` says which designs use it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nel.metrics.intervals import LEVEL
from nel.metrics.late_numpy import np
from nel.metrics.quantiles import interval_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ADDED: Final = "added_question"
"""The method of an interval from the data and one question more; a design follows after ``_``."""
_BLOCK: Final = 1 << 14
"""Values at a time, which a processor's cache holds."""
_LEAST_SKEWNESS: Final = 1e-6
"""Below it, the cube's quantile is the normal one to twelve digits, and divides by almost 0."""


def added_question_ends(
    values: Sequence[float] | Floats,
    *,
    low: float = 0.0,
    high: float = 1.0,
    weights: float | Floats = 1.0,
    added_weight: float = 1.0,
    level: float = LEVEL,
    is_monotone: bool = True,
) -> tuple[float, float]:
    """Return both ends of the interval of a mean of values in [low, high].

    A mean with Dirichlet weights and one point at the bound: Learned-Miller and Thomas 2019 (arXiv
    1905.06208); Phan, Thomas and Learned-Miller 2021. Its quantile is taken from three moments by
    the cube of Wilson and Hilferty (1931). The ends are cut to [low, high].

    Args:
        values: One finite number per question, in any order; at least one.
        low: The lowest value that a question can have; -1 of a difference of scores.
        high: The highest, above `low`.
        weights: How many questions a value counts as; above 0, one for all or one for each.
        added_weight: How many questions the added one counts as.
        level: Of both ends together, strictly between 0 and 1.
        is_monotone: Whether an end is the worst over all values that could still rise (or fall) to
            the bound, so that a better value never worsens an end. False for values that are
            transformed and can leave [low, high].

    Raises:
        ValueError: There is no value, or an argument is out of range.

    >>> [round(end, 6) for end in added_question_ends([1.0] * 29 + [0.75])]
    [0.876895, 1.0]
    >>> [round(end, 6) for end in added_question_ends([0.0] * 29 + [-1.0], low=-1.0)]
    [-0.171232, 0.088005]
    """
    # From here on in [0, 1]: 0 is the lowest value of a question, 1 the highest.
    heights = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    if not len(heights) or not low < high or not 0 < level < 1:
        raise ValueError(
            f"no interval of {len(heights)} values in {low} to {high} at level {level}"
        )
    if isinstance(weights, np.ndarray):
        order = np.lexsort((weights, heights))  # sums do not depend on the order of the questions
        heights, weights = heights[order], weights[order]
    else:
        heights = np.sort(heights)
    masses = np.broadcast_to(np.asarray(weights, dtype=np.float64), heights.shape)
    quantile = interval_quantile(level)
    from_low = _lower_end(heights, masses, added_weight, quantile, is_monotone)
    # The upper end is the lower end of the values seen from above, so both are distances.
    from_high = _lower_end(1.0 - heights[::-1], masses[::-1], added_weight, quantile, is_monotone)
    scale = high - low
    return low + scale * max(0.0, from_low), high - scale * max(0.0, from_high)


def lower_ends_of_sums(powers: Floats, total: float, quantile: float) -> Floats:
    """Return the lower ends of means of values of at least 0, from sums of their powers.

    Args:
        powers: Sums of the values, of their squares and of their cubes, each with its weight; shape
            (3, ends).
        total: The sum of all weights, the added question's too.
        quantile: Of the normal distribution, such as 1.96.
    """
    # With Dirichlet weights of parameters m_i, which sum to A = total, and moments
    # u_k = sum m_i x_i^k / A, the weighted mean has the mean u_1, the variance
    # (u_2 - u_1²) / (A + 1) and the third central moment
    # 2 (u_3 - 3 u_1 u_2 + 2 u_1³) / ((A + 1) (A + 2)): those of a beta where each x is 0 or 1.
    means, second, third = powers / total
    square = means * means
    variance = np.maximum(second - square, 0.0) / (total + 1)
    moment = third - 3 * means * second + 2 * means * square
    return lower_quantile(means, variance, 2 / ((total + 1) * (total + 2)) * moment, quantile)


def lower_quantile(mean: Floats, variance: Floats, third: Floats, quantile: float) -> Floats:
    """Return the lower quantile of sums that are nearly normal, by the cube of Wilson and Hilferty.

    Args:
        mean: Of each.
        variance: At least 0.
        third: The third central moment.
        quantile: Of the normal distribution, such as 1.96.

    >>> round(float(lower_quantile(np.array(10.0), np.array(20.0), np.array(80.0), 1.96)), 3)
    3.223
    """
    deviation = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = third / (deviation * deviation * deviation)
        skewness = np.where(np.abs(skewness) < _LEAST_SKEWNESS, _LEAST_SKEWNESS, skewness)
        # 1 - g²/36 - g z/6 for the skewness g: the cube root of a gamma variable is nearly normal.
        root = 1 - skewness * (skewness / 36 + quantile / 6)
        ends: Floats = mean + deviation * 2 / skewness * (root * root * root - 1)
    return np.where(deviation > 0, ends, mean)


def _lower_end(
    rising: Floats, masses: Floats, added_weight: float, quantile: float, is_monotone: bool
) -> float:
    """Return the lower end of the mean of sorted heights, not cut to their range."""
    # The added question lies at 0: it adds its weight to the total, and nothing to the powers.
    raised = float(masses.sum())
    total = raised + added_weight
    if not is_monotone:
        powers = np.array([(masses * rising**power).sum() for power in (1, 2, 3)])
        return float(lower_ends_of_sums(powers, total, quantile))
    # A better value can lower the end, as it adds spread. So the end is the lowest of n + 1: with
    # none of the values raised to 1, with the highest one raised, the two highest, and so on.
    lower, sums = math.inf, np.zeros(3)
    for start in range(0, len(rising), _BLOCK):
        block = slice(start, start + _BLOCK)
        terms = masses[block]
        # Entry j: the j lowest values as they are, all others raised to 1; the last is the data.
        others = np.concatenate(([raised], raised - np.cumsum(terms)))
        # Sums of the values, their squares and their cubes, carried over from the block before.
        powers = np.empty((3, len(others)))
        powers[:, 0] = sums
        for power in powers:
            terms = terms * rising[block]
            np.cumsum(terms, out=power[1:])
            power[1:] += power[0]
        raised, sums = float(others[-1]), powers[:, -1].copy()
        powers += others  # a value of 1 has powers of 1
        lower = min(lower, float(lower_ends_of_sums(powers, total, quantile).min()))
    return lower
