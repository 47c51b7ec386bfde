"""One-sided p-values of a paired difference against a margin, for gates over several benchmarks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from nel.decide.mcnemar import tango_z
from nel.decide.paired import PairedDifference
from nel.metrics.quantiles import student_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Both one-sided tests of a difference against ``-margin``."""

    p_not_inferior: float
    """How likely such data are if the candidate is a margin worse; small shows that it is not."""
    p_inferior: float
    """The same for the other direction; small shows that it is more than a margin worse."""


def margin_test(difference: PairedDifference, *, margin: float) -> MarginTest:
    """Return one-sided p-values whose decisions at ``alpha`` are those of the interval of level ``1
    - 2 alpha``.

    Both come from the statistic that the interval inverts: Tango's score statistic, or Student's t.
    Over the benchmarks
    of a gate: all must be shown to be within their margins for a GO, which needs no adjustment (an
    intersection-union test, Berger 1982); one that is shown to be inferior is enough for a NO_GO,
    so there ``p_inferior`` goes through `holm`.

    Args:
        difference: The comparison of one benchmark.
        margin: The largest harm that is tolerated, at least 0.

    Raises:
        ValueError: The margin is negative or no number.

    >>> from nel.decide.paired import paired_difference
    >>> found = paired_difference([1] * 60 + [0] * 40, [1] * 58 + [0] * 32 + [1] * 10)
    >>> round(margin_test(found, margin=0.05).p_not_inferior, 6)
    0.00045
    """
    if not 0 <= margin < math.inf:
        raise ValueError(f"the margin must be a number of at least 0, not {margin}")
    if difference.interval_method == "tango":
        if margin >= 1:
            return MarginTest(p_not_inferior=0.0, p_inferior=1.0)
        return _normal_tails(tango_z(difference.wins, difference.losses, difference.n, -margin))
    if difference.interval_method == "no_spread":
        return _without_spread(difference, margin)
    statistic = (difference.estimate + margin) / difference.standard_error
    upper = student_tail(difference.degrees, statistic) / 2
    return MarginTest(
        p_not_inferior=upper if statistic > 0 else 1 - upper,
        p_inferior=1 - upper if statistic > 0 else upper,
    )


def _normal_tails(z: float) -> MarginTest:
    # The tail is that of the complementary error function: 1 - cdf would be 0 beyond eight standard
    # deviations.
    upper = 0.5 * math.erfc(z / math.sqrt(2))
    lower = 0.5 * math.erfc(-z / math.sqrt(2))
    return MarginTest(p_not_inferior=upper, p_inferior=lower)


def _without_spread(difference: PairedDifference, margin: float) -> MarginTest:
    """Invert ``mean - share * (width + mean)`` of `nel.decide.paired`, where ``share = z² / (n +
    z²)``.
    """
    units = difference.degrees + 1
    z_level = NormalDist().inv_cdf(0.5 + difference.level / 2)
    full = z_level * z_level / (units + z_level * z_level)
    distance = difference.estimate + margin
    reach = (
        difference.estimate - difference.lower
        if distance > 0
        else difference.upper - difference.estimate
    ) / full
    share = abs(distance) / reach
    z = math.inf if share >= 1 else math.sqrt(units * share / (1 - share))
    return _normal_tails(math.copysign(z, distance))
