"""pass@k and pass^k: the probability that at least one of k attempts is right, and that all k are.

Estimated from counts; `nel.metrics.reducers` applies them to scores. An attempt that could not be
scored is not a failure: it lowers n.
"""

from __future__ import annotations

from math import comb


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the estimate ``1 - C(n-c, k) / C(n, k)``, unbiased (Chen et al. 2021).

    Args:
        n: Attempts made.
        c: Attempts that were right, 0 to n.
        k: Attempts counted, 1 to n.

    Returns:
        A probability, 0 to 1.

    Raises:
        ValueError: c or k is out of range.

    >>> pass_at_k(8, 3, 1), round(pass_at_k(8, 3, 4), 6)
    (0.375, 0.928571)
    """
    _check(n, c, k)
    # Whole numbers of any size, so nothing overflows; `comb` is 0 where fewer than k are wrong.
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate ``C(c, k) / C(n, k)`` of the chance that k attempts are right.

    Known as pass^k (Yao et al. 2024, arXiv 2406.12045): it measures reliability, where pass@k
    measures ability.

    Args:
        n: Attempts made.
        c: Attempts that were right, 0 to n.
        k: Attempts counted, 1 to n.

    Returns:
        A probability, 0 to 1, never above `pass_at_k`.

    Raises:
        ValueError: c or k is out of range.

    >>> round(pass_hat_k(8, 3, 2), 6), round(pass_hat_k(8, 6, 4), 6)
    (0.107143, 0.214286)
    """
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"c must be between 0 and n={n}, not {c}")
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and n={n}, not {k}")
