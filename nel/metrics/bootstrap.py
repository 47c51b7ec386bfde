"""Bootstrap intervals of a mean over questions, as NeMo Evaluator's `bootstrap_ci` gives them.

nel decides on no number from here. The bootstrap only sees the scores that it has: where all are
equal its interval has no width, and for a handful of 0/1 scores it is too narrow: 19 right of 20
gives [0.85, 1.00], Wilson's interval [0.76, 0.99].

With few distinct values, how often each occurs in a resample is one multinomial draw; otherwise
indices are drawn, in chunks of bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL
from nel.metrics.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CHUNK: Final = 1 << 18
"""Indices drawn at a time: 2 MiB, which fits in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapInterval:
    """A mean with its bootstrap interval, and the arguments that reproduce it."""

    value: float
    """The mean of the scores."""
    ci_lower: float
    ci_upper: float
    level: float
    n: int
    """Scores."""
    n_resamples: int
    seed: int
    degenerate: bool = False
    """Whether the scores have no spread: the interval then has no width, and proves nothing."""


def bootstrap_ci(
    scores: Sequence[float] | Floats,
    *,
    level: float = LEVEL,
    n_resamples: int = 10_000,
    seed: int = 42,
) -> BootstrapInterval:
    """Return the percentile bootstrap interval of the mean (Efron and Tibshirani 1993, chapter 13).

    Each resample has as many scores as there are, drawn with replacement. When the scores have few
    distinct values, the mean of a resample is one multinomial draw of how often each occurs, which
    has exactly the same distribution as drawing scores one by one. Memory is a few MiB, never
    n_resamples x n.

    Note: scores that are all equal give an interval of no width with `degenerate` set. Do not
    report it; use `added_question_ends`, or Wilson's interval for single answers of 0 and 1.

    Args:
        scores: Finite numbers, one per question; their order does not matter.
        level: Strictly between 0 and 1.
        n_resamples: At least 1; an end of the interval has a simulation error of about 3 % of the
            standard error with 10 000.
        seed: Seeds a generator of its own.

    Raises:
        UndefinedMetric: There are no scores.
        ValueError: A score is NaN or infinite, or an argument is out of range.

    >>> interval = bootstrap_ci([1.0] * 19 + [0.0])
    >>> interval.value, interval.ci_lower, interval.ci_upper
    (0.95, 0.85, 1.0)
    >>> bootstrap_ci([1.0, 1.0, 1.0]).degenerate
    True
    """
    if not 0 < level < 1 or n_resamples < 1:
        raise ValueError(f"no interval at level {level} of {n_resamples} resamples")
    values = _order(scores)
    value = math.fsum(values.tolist()) / len(values)
    degenerate = float(values[0]) == float(values[-1])
    lower = upper = value
    if not degenerate:
        means = bootstrap_means(values, n_resamples=n_resamples, seed=seed)
        lower, upper = np.quantile(means, ((1 - level) / 2, (1 + level) / 2)).tolist()
    return BootstrapInterval(
        value=value,
        ci_lower=lower,
        ci_upper=upper,
        level=level,
        n=len(values),
        n_resamples=n_resamples,
        seed=seed,
        degenerate=degenerate,
    )


def bootstrap_means(scores: Sequence[float] | Floats, *, n_resamples: int, seed: int) -> Floats:
    """Return the mean of each resample of the scores.

    Args:
        scores: Finite numbers, one per question; their order does not matter.
        n_resamples: At least 1.
        seed: Seeds a generator of its own.

    Raises:
        UndefinedMetric: There are no scores.
        ValueError: A score is NaN or infinite.

    >>> bootstrap_means([0.5, 0.5], n_resamples=2, seed=0).tolist()
    [0.5, 0.5]
    """
    ordered, rng = _order(scores), np.random.default_rng(seed)
    n = len(ordered)
    levels = _levels(ordered)
    if levels is None:
        means = np.empty(n_resamples)
        step = max(1, _CHUNK // n)
        for start in range(0, n_resamples, step):
            indices = rng.integers(0, n, size=(min(step, n_resamples - start), n))
            means[start : start + len(indices)] = ordered.take(indices).sum(axis=1) / n
        return means
    # Where each distinct value begins among the sorted scores; the gaps are how often each occurs.
    edges = np.append(np.searchsorted(ordered, levels), n)
    counts = rng.multinomial(n, np.diff(edges) / n, size=n_resamples)
    return np.asarray((counts * levels).sum(axis=1) / n)


def _order(scores: Sequence[float] | Floats) -> Floats:
    values = np.sort(np.asarray(scores, dtype=np.float64))
    if values.ndim != 1:
        raise ValueError(
            f"scores must be one row of numbers, not an array of {values.ndim} dimensions"
        )
    if not len(values):
        raise UndefinedMetric("nothing was scored")
    if not np.isfinite(values).all():
        raise ValueError("a score is NaN or infinite; leave out what was not scored")
    return values


def _levels(ordered: Floats) -> Floats | None:
    """Return the distinct values where they are so few that counting them is fastest, else None."""
    few = max(2, min(16, len(ordered) // 16))
    levels = ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf))]
    return levels if len(levels) <= few else None
