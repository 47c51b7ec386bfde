"""McNemar's exact test and Tango's interval against golden values, scipy, statsmodels and enumeration."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy

from nel.decide import mcnemar_exact, mcnemar_log_p, tango_interval, tango_z
from tests.support.tiers import first_rows


@pytest.mark.parametrize(
    ("wins", "losses", "p_value"), [(3, 0, 0.25), (10, 2, 0.038574), (2, 10, 0.038574), (0, 0, 1.0), (4, 5, 1.0)]
)
def test_mcnemar_golden_values(wins: int, losses: int, p_value: float) -> None:
    """Published values to six digits."""
    assert mcnemar_exact(wins, losses) == pytest.approx(p_value, abs=5e-7)


def test_mcnemar_at_millions_of_discordant_pairs() -> None:
    """The p-value has its digits at a million pairs, and its logarithm where it is below every float."""
    assert mcnemar_exact(501_000, 499_000) == pytest.approx(scipy.stats.binomtest(499_000, 10**6).pvalue, rel=1e-9)
    assert mcnemar_log_p(10**6, 0) == pytest.approx((1 - 10**6) * math.log(2), rel=1e-12)
    few, many = 3 * 10**8, 7 * 10**8
    largest = mpmath.loggamma(10**9 + 1) - mpmath.loggamma(few + 1) - mpmath.loggamma(many + 1) - 10**9 * mpmath.log(2)
    # The terms of the tail fall by 3 / 7 each.
    assert mcnemar_log_p(many, few) == pytest.approx(float(largest + mpmath.log(2 / (1 - few / many))), rel=1e-12)
    assert mcnemar_exact(500_000, 500_000) == 1.0


def test_tango_golden_values() -> None:
    """Published values to six digits, and their mirror image."""
    assert tango_interval(10, 2, 100) == pytest.approx((0.014296, 0.158040), abs=5e-7)
    assert tango_interval(2, 10, 100) == pytest.approx((-0.158040, -0.014296), abs=5e-7)


@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_tango_ends_are_where_the_score_test_rejects(n: int) -> None:
    """At the ends the statistic of a numerically maximized likelihood is the normal quantile."""
    rng = np.random.default_rng(3)
    z = scipy.stats.norm.ppf(0.975)
    for magnitude in 10 ** rng.uniform(0.5, 5, size=n):
        size = int(magnitude)
        wins, losses, _ = (int(count) for count in rng.multinomial(size, rng.dirichlet([1, 1, 2])))
        lower, upper = tango_interval(wins, losses, size)
        assert -1 <= lower <= (wins - losses) / size <= upper <= 1
        for end, sign in ((lower, 1), (upper, -1)):
            if abs(end) < 1:
                assert _numeric_z(wins, losses, size, end) == pytest.approx(sign * z, rel=2e-4)
                assert tango_z(wins, losses, size, end) == pytest.approx(sign * z, rel=1e-6)


def _numeric_z(wins: int, losses: int, n: int, difference: float) -> float:
    def less_likely(share: float) -> float:
        parts = (share + difference, share, 1 - 2 * share - difference)
        return -sum(
            count * math.log(max(part, 1e-300))
            for count, part in zip((wins, losses, n - wins - losses), parts, strict=True)
        )

    low, high = max(0.0, -difference), (1 - difference) / 2
    share = scipy.optimize.minimize_scalar(
        less_likely, bounds=(low, high), method="bounded", options={"xatol": 1e-12 * max(high, 1e-12)}
    ).x
    variance = 2 * share + difference - difference**2
    return (wins - losses - n * difference) / math.sqrt(n * variance)


def _coverage(n: int, candidate: float, gap: float) -> float:
    """Return the exact coverage where wins have a share of ``candidate`` and losses of ``candidate - gap``."""
    shares = (candidate, candidate - gap, 1 - 2 * candidate + gap)
    logs = [math.log(share) if share > 0 else -math.inf for share in shares]
    covered = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            counts = (wins, losses, n - wins - losses)
            if any(count and log == -math.inf for count, log in zip(counts, logs, strict=True)):
                continue
            lower, upper = _interval(wins, losses, n)
            if lower - 1e-12 <= gap <= upper + 1e-12:
                log = math.lgamma(n + 1) - sum(math.lgamma(count + 1) for count in counts)
                covered += math.exp(log + sum(count * log_ for count, log_ in zip(counts, logs, strict=True) if count))
    return covered


_KNOWN: dict[tuple[int, int, int], tuple[float, float]] = {}


def _interval(wins: int, losses: int, n: int) -> tuple[float, float]:
    key = (wins, losses, n)
    if key not in _KNOWN:
        _KNOWN[key] = tango_interval(wins, losses, n)
    return _KNOWN[key]


@pytest.mark.parametrize(
    ("n", "mean", "least"),
    first_rows(3, [(5, 0.9775, 0.9283), (10, 0.9678, 0.9395), (30, 0.9540, 0.9298), (100, 0.9486, 0.9364)]),
)
def test_tango_coverage_by_enumeration(n: int, mean: float, least: float) -> None:
    """Over 24 pairs of shares of wins and losses, the exact mean coverage and its minimum are those of the docs."""
    grid = [
        _coverage(n, candidate, gap)
        for candidate in (0.1, 0.2, 0.3, 0.4, 0.5)
        for gap in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
        if candidate - gap >= 0 and 2 * candidate - gap <= 1
    ]
    assert len(grid) == 24
    assert (sum(grid) / len(grid), min(grid)) == pytest.approx((mean, least), abs=1e-4)
