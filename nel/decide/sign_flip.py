"""The sign-flip test of paired differences, exact or in bounded memory. Depends on numpy and
`nel.decide.mcnemar`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from nel.decide.mcnemar import mcnemar_exact
from nel.decide.pairs import Floats, Integers, checked_differences, cluster_codes, cluster_totals

EXACT_MAX: Final = 20
"""Up to so many differences (or clusters) that are not 0, all sign patterns are counted."""
DRAWS: Final = 10_000
_BLOCKS: Final = 4096
"""Differences of many sizes are flipped in so many random blocks at most."""
_LEVELS_MAX: Final = 256
"""Up to so many distinct sizes, the signs of each are drawn as one binomial number."""
_ROUNDING: Final = 1e-12
_CHUNK: Final = 1 << 20


def sign_flip(
    differences: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> float:
    """Return the two-sided p-value of the sign-flip test: that each difference could as well have
    the other sign.

    The statistic is the absolute sum (Fisher 1935; scipy's
    ``permutation_test(permutation_type="samples")``). With at most 20 differences other than 0 (or
    clusters, whose differences are flipped together) all patterns are counted. Differences of one
    size make it McNemar's exact test, at any number. Otherwise the p-value is ``(hits + 1) / (draws
    + 1)``. Beyond 4,096 differences of more than 256 sizes, random blocks of them are flipped
    together, which is as valid a test (any subgroup of the flips is, Hemerik and Goeman 2018) in
    bounded memory.

    Args:
        differences: Finite numbers, at least one.
        clusters: The cluster id of each difference; at least two.
        seed: Of the random draws; the p-value is the same for the same seed.
        draws: Number of random sign patterns, at least 1.

    Returns:
        Above 0, at most 1.

    Raises:
        UndefinedMetric: There are no differences, or fewer than two clusters.
        ValueError: A difference is not finite, lengths differ, or an argument is out of range.

    >>> sign_flip([0, 1, 0, 1, 0, 0, 1, 0, 0, 0])
    0.25
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    values, _ = checked_differences(differences)
    if clusters is not None:
        codes, count = cluster_codes(clusters, len(values))
        values = cluster_totals(codes, count, values)
    return flip_test(values, np.random.default_rng(seed), draws)[0]


def flip_test(values: Floats, rng: np.random.Generator, draws: int) -> tuple[float, str]:
    """Return the p-value of independent flips of these values, and ``sign_flip_exact`` or
    ``sign_flip_monte_carlo``.
    """
    tolerance = _ROUNDING * max(float(np.abs(values).max()), 1e-300)
    values = values[np.abs(values) > tolerance]
    if not len(values):
        return 1.0, "sign_flip_exact"
    sizes, size_counts = _levels(values)
    if len(sizes) == 1:
        positive = int(np.count_nonzero(values > 0))
        return mcnemar_exact(positive, len(values) - positive), "sign_flip_exact"
    least = abs(math.fsum(values.tolist())) - _ROUNDING * float(np.abs(values).sum())
    if len(values) <= EXACT_MAX:
        return (
            float(np.count_nonzero(np.abs(_all_sums(values)) >= least)) / 2 ** len(values),
            "sign_flip_exact",
        )
    hits = 0
    for sums in _drawn_sums(values, sizes, size_counts, rng, draws):
        hits += int(np.count_nonzero(np.abs(sums) >= least))
    return (hits + 1) / (draws + 1), "sign_flip_monte_carlo"


def _levels(values: Floats) -> tuple[Floats, Integers]:
    """Return the distinct sizes, those that differ by rounding alone taken as one, and how often
    each occurs.
    """
    ordered = np.sort(np.abs(values))
    new = np.concatenate([[True], np.diff(ordered) > _ROUNDING * ordered[-1]])
    starts = np.flatnonzero(new)
    return ordered[starts], np.diff(starts, append=len(ordered))


def _all_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn_sums(
    values: Floats, sizes: Floats, counts: Integers, rng: np.random.Generator, draws: int
) -> list[Floats]:
    if len(sizes) <= min(_LEVELS_MAX, len(values) // 2):
        step = max(1, _CHUNK // len(sizes))
        parts = [min(step, draws - first) for first in range(0, draws, step)]
        return [
            (2.0 * rng.binomial(counts, 0.5, size=(rows, len(sizes))) - counts) @ sizes
            for rows in parts
        ]
    if len(values) > _BLOCKS:
        blocks = rng.permutation(len(values)) % _BLOCKS
        values = cluster_totals(blocks, _BLOCKS, values)
    step = max(1, _CHUNK // len(values))
    parts = [min(step, draws - first) for first in range(0, draws, step)]
    return [2.0 * (_random_bits(rng, rows, len(values)) @ values) - values.sum() for rows in parts]


def _random_bits(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    packed = rng.integers(0, 256, size=(rows, -(-columns // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=columns).astype(np.float64)
