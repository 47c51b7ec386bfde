"""pass@k: the chance that at least one of k attempts is right."""

from __future__ import annotations

from math import comb


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate ``1 - C(n-c, k) / C(n, k)`` (Chen et al. 2021, arXiv 2107.03374).

    Args:
        n: Attempts made.
        c: Attempts that were right, 0 to n.
        k: Attempts counted, 1 to n.

    Raises:
        ValueError: c or k is out of range.
    """
    if not 0 <= c <= n:
        raise ValueError(f"c must be between 0 and n={n}, not {c}")
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and n={n}, not {k}")
    return 1.0 - comb(n - c, k) / comb(n, k)
