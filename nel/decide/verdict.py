"""Turns an interval of a difference into a verdict. Harm is decided first; nothing is random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

_POINTS: Final = 100


class Verdict(StrEnum):
    """What a comparison says of the candidate."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


class GateDecision(StrEnum):
    """What a gate says of the candidate."""

    GO = "go"
    NO_GO = "no_go"
    INCONCLUSIVE = "inconclusive"


def verdict(
    lower: float,
    upper: float,
    *,
    margin: float = 0.0,
    equivalence: tuple[float, float] | None = None,
) -> Verdict:
    """Return the verdict of an interval of a difference, candidate minus baseline.

    1. Worse where the whole interval is below 0, however small the harm and however few the
       questions.
    2. Better where it is above 0.
    3. Equivalent where the interval of ``equivalence`` lies inside ``(-margin, margin)``: two
       one-sided tests (Schuirmann 1987) at level alpha are the interval of level ``1 - 2 alpha``.
       With a margin of 0 nothing is.
    4. Else inconclusive: more questions are needed, and no statement is made about the candidate.

    A gate that tolerates a small harm is `non_inferiority`.

    Args:
        lower: Lower end of the interval of level ``1 - alpha``.
        upper: Upper end.
        margin: The largest difference that does not matter, at least 0, in the unit of the
            difference.
        equivalence: The interval of level ``1 - 2 alpha``; by default the other, which makes step 3
            a test at alpha / 2.

    Raises:
        ValueError: An end is NaN, the ends are the wrong way around, or the margin is negative.

    >>> verdict(-0.31, -0.26), verdict(-0.01, 0.02)
    (<Verdict.WORSE: 'worse'>, <Verdict.INCONCLUSIVE: 'inconclusive'>)
    >>> verdict(-0.01, 0.02, margin=0.03)
    <Verdict.EQUIVALENT: 'equivalent'>
    """
    _check(lower, upper, margin)
    # Harm first: with a margin an interval can be both below 0 and inside the margin.
    if upper < 0:
        return Verdict.WORSE
    if lower > 0:
        return Verdict.BETTER
    within = (lower, upper) if equivalence is None else equivalence
    _check(*within, margin)
    if -margin < within[0] and within[1] < margin:
        return Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def verdict_within_bounds(
    intervals: Sequence[tuple[float, float]],
    *,
    margin: float = 0.0,
    equivalence: Sequence[tuple[float, float]] | None = None,
) -> Verdict:
    """Return the verdict that holds whatever the unscored samples were, else inconclusive.

    Args:
        intervals: The interval of the scored pairs, that of all pairs with every unscored sample
            counted against the candidate, and that with every one counted for it; in any order, at
            least one.
        margin: As for `verdict`.
        equivalence: An interval of level ``1 - 2 alpha`` for each of them.

    Raises:
        ValueError: There is no interval, or one is not an interval.

    >>> verdict_within_bounds([(0.01, 0.05), (-0.02, 0.02), (0.04, 0.08)])
    <Verdict.INCONCLUSIVE: 'inconclusive'>
    """
    if not intervals:
        raise ValueError("a verdict needs an interval")
    equivalences = list(intervals) if equivalence is None else list(equivalence)
    verdicts = {
        verdict(*ends, margin=margin, equivalence=narrower)
        for ends, narrower in zip(intervals, equivalences, strict=True)
    }
    return verdicts.pop() if len(verdicts) == 1 else Verdict.INCONCLUSIVE


def non_inferiority(lower: float, upper: float, *, margin: float) -> GateDecision:
    """Return whether an interval shows that the candidate is at most a margin worse.

    GO where the whole interval is above ``-margin``, NO_GO where it is below, and else
    INCONCLUSIVE: not measured well enough. A point estimate inside the margin is never enough.

    Args:
        lower: Lower end of the interval of the difference, candidate minus baseline.
        upper: Upper end.
        margin: The largest harm that is tolerated, at least 0; with 0 only a proven gain is GO.

    Raises:
        ValueError: An end is NaN, the ends are the wrong way around, or the margin is negative.

    >>> non_inferiority(-0.004, 0.012, margin=0.01), non_inferiority(-0.02, 0.012, margin=0.01)
    (<GateDecision.GO: 'go'>, <GateDecision.INCONCLUSIVE: 'inconclusive'>)
    """
    _check(lower, upper, margin)
    if upper < -margin:
        return GateDecision.NO_GO
    return GateDecision.GO if lower > -margin else GateDecision.INCONCLUSIVE


def _check(lower: float, upper: float, margin: float) -> None:
    if math.isnan(lower) or math.isnan(upper) or lower > upper:
        raise ValueError(f"{lower} to {upper} is not an interval of a difference")
    if not 0 <= margin < math.inf:
        raise ValueError(f"the margin must be a number of at least 0, not {margin}")


def meaningless_margin(margin: float, *, are_shares: bool) -> str | None:
    """Return what is wrong with a margin that no difference of the scores can exceed, or None.

    A margin of 2 that means two points would make everything equivalent, and let any candidate
    pass.

    Args:
        margin: At least 0.
        are_shares: Whether all scores lie between 0 and 1.
    """
    if margin < 1 or not are_shares:
        return None
    meant = "one point is 0.01" if margin == 1 else f"{margin / _POINTS:g} is {margin:g} points"
    return f"scores from 0 to 1 cannot differ by more than 1, so {margin:g} says nothing; {meant}"
