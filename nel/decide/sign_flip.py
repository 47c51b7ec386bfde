"""The sign-flip test of paired differences, exact or in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from nel.core.scaling import ROUNDING
from nel.decide.mcnemar import mcnemar_exact
from nel.decide.pairs import Floats, Integers

EXACT_MAX: Final = 20
"""Up to so many differences (or clusters) that are not 0, all sign patterns are counted."""
DRAWS: Final = 10_000
_BLOCKS: Final = 4096
"""Differences of many sizes are flipped in so many random blocks at most."""
_LEVELS_MAX: Final = 256
"""Up to so many distinct sizes, the signs of each are drawn as one binomial number."""
_CHUNK: Final = 1 << 20
"""Signs drawn at a time: 8 MiB as floating-point numbers."""


def flip_test(values: Floats, rng: np.random.Generator) -> tuple[float, str]:
    """Return the two-sided p-value of the sign-flip test, that each value could as well have the
    other sign, and ``sign_flip_exact`` or ``sign_flip_monte_carlo``.

    The statistic is the absolute sum (Fisher 1935; scipy's
    ``permutation_test(permutation_type="samples")``). With at most 20 values other than 0 all
    patterns are counted. Values of one size make it McNemar's exact test, at any number. Otherwise
    the p-value is ``(hits + 1) / (draws + 1)``. Beyond 4,096 values of more than 256 sizes, random
    blocks of them are flipped together, which is as valid a test (any subgroup of the flips is,
    Hemerik and Goeman 2018) in bounded memory.

    >>> flip_test(np.array([0.0, 1, 0, 1, 0, 0, 1, 0, 0, 0]), np.random.default_rng(0))
    (0.25, 'sign_flip_exact')
    """
    tolerance = ROUNDING * max(float(np.abs(values).max()), 1e-300)
    values = values[np.abs(values) > tolerance]
    if not len(values):
        return 1.0, "sign_flip_exact"
    sizes, size_counts = _levels(values)
    if len(sizes) == 1:
        positive = int(np.count_nonzero(values > 0))
        return mcnemar_exact(positive, len(values) - positive), "sign_flip_exact"
    # Sums that are as extreme but for their rounding count as hits.
    rounding = ROUNDING * float(np.abs(values).sum())
    threshold = abs(math.fsum(values.tolist())) - rounding
    if len(values) <= EXACT_MAX:
        hits = int(np.count_nonzero(np.abs(_all_sums(values)) >= threshold))
        return hits / 2 ** len(values), "sign_flip_exact"
    hits = 0
    for sums in _drawn_sums(values, sizes, size_counts, rng):
        hits += int(np.count_nonzero(np.abs(sums) >= threshold))
    # The signs that were seen are one of the patterns, so no p-value is 0.
    return (hits + 1) / (DRAWS + 1), "sign_flip_monte_carlo"


def _levels(values: Floats) -> tuple[Floats, Integers]:
    """Return the distinct sizes and how often each occurs; differences of rounding do not count."""
    ordered = np.sort(np.abs(values))
    is_start = np.concatenate([[True], np.diff(ordered) > ROUNDING * ordered[-1]])
    starts = np.flatnonzero(is_start)
    return ordered[starts], np.diff(starts, append=len(ordered))


def _all_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values.tolist():  # each value doubles the patterns
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn_sums(
    values: Floats, sizes: Floats, counts: Integers, rng: np.random.Generator
) -> Iterator[Floats]:
    if len(sizes) <= min(_LEVELS_MAX, len(values) // 2):
        # Of values of one size only how many are positive matters: p of c have the sum
        # (p - (c - p)) * size. `n_positive` has the shape (patterns, sizes).
        for rows in _chunks(len(sizes)):
            n_positive = rng.binomial(counts, 0.5, size=(rows, len(sizes)))
            yield (2.0 * n_positive - counts) @ sizes
        return
    if len(values) > _BLOCKS:
        blocks = rng.permutation(len(values)) % _BLOCKS
        values = np.bincount(blocks, weights=values).astype(np.float64)
    total = values.sum()
    for rows in _chunks(len(values)):
        kept_sums = _random_bits(rng, rows, len(values)) @ values
        yield 2.0 * kept_sums - total  # those that keep their sign, less the others


def _chunks(width: int) -> Iterator[int]:
    """Yield how many patterns of a width are drawn at a time."""
    step = max(1, _CHUNK // width)
    for start in range(0, DRAWS, step):
        yield min(step, DRAWS - start)


def _random_bits(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    n_bytes = math.ceil(columns / 8)
    packed = rng.integers(0, 256, size=(rows, n_bytes), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=columns).astype(np.float64)
