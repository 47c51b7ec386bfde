"""The variance of a mean of questions in clusters, e.g. several on one passage.

A subject category is a stratum, not a cluster: every run has the same categories, whereas clusters
are sampled and another sample would have others.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from nel.metrics.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def grouped_variance(values: Floats, codes: Integers) -> tuple[float, float]:
    """Return the variance of a mean of questions in groups, and its degrees of freedom.

    CR2, ``sum r_g^2 / (1 - h_g) / N^2`` for the sum r_g of the residuals of group g and its share
    h_g of all questions, with Satterthwaite's degrees for a mean (Bell and McCaffrey 2002;
    Pustejovsky and Tipton 2018): right for few groups and for groups of unlike sizes.

    Args:
        values: One finite number per question.
        codes: The number of each question's group, from 0 without gaps; at least two groups.

    >>> variance, degrees = grouped_variance(np.array([1.0, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 2]))
    >>> round(variance, 6), round(degrees, 6)
    (0.146667, 1.8)
    """
    n = len(values)
    sizes = np.bincount(codes).astype(np.float64)
    shares = sizes / n
    sums = np.bincount(codes, weights=values - values.mean())
    variance = float((sums**2 / (1 - shares)).sum()) / n**2
    # The degrees are (tr M)² / tr M², where M is the covariance of the r_g / sqrt(1 - h_g) if all
    # questions were independent with variance 1: tr M = n, and with n_g questions in group g and
    # q_g = n_g h_g / (1 - h_g), tr M² = sum n_g² + sum over g != k of q_g q_k.
    q = sizes * shares / (1 - shares)
    trace_of_square = (sizes**2).sum() + q.sum() ** 2 - (q**2).sum()
    return variance, n**2 / float(trace_of_square)


def cluster_codes(clusters: Sequence[Hashable]) -> tuple[Integers, int]:
    """Return the number of each question's cluster, from 0, and how many clusters there are.

    Raises:
        ValueError: An id is None or NaN.

    >>> cluster_codes(["b", "a", "b"])[0].tolist()
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    codes = np.empty(len(clusters), dtype=np.int64)
    for position, cluster in enumerate(clusters):
        if not is_cluster_id(cluster):
            raise ValueError(f"question {position} has no cluster id, but {cluster!r}")
        codes[position] = numbers.setdefault(cluster, len(numbers))
    return codes, len(numbers)


def is_cluster_id(value: object) -> bool:
    """Return whether a value can name a cluster: anything hashable but None and NaN.

    >>> [is_cluster_id(value) for value in ("passage 1", 7, None, float("nan"), [])]
    [True, True, False, False, False]
    """
    try:
        hash(value)
    except TypeError:
        return False
    return value is not None and not (isinstance(value, float) and math.isnan(value))
