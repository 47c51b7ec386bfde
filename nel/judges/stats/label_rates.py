"""How often a judge agrees with labels of a stratified draw, with an interval. Does no I/O.

A rate is a function of what the labels of each stratum say. Its interval adds the squares of how
far it moves where each of those shares is at an end of its own Wilson interval (Newcombe 1998,
Donner and Zou 2012). An estimate of the variance, in its place, is 0 for a stratum whose labels all
agree: of 30 labels of each grade, nine answers in ten of one grade, the interval of raw agreement
then missed 32 % of the time, and that of specificity 46 %; these miss 6 % at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.judges.stats.tally import GradeStratum, key_of
from nel.metrics.intervals import LEVEL, Interval, no_interval, wilson_interval
from nel.metrics.quantiles import interval_quantile

METHOD: Final = "wilson_strata"
_UNKNOWN: Final = 0.5
"""The share of agreement in a stratum without a label that counts, where it can be any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What the labels of one stratum say of a rate."""

    n_answers: int
    """Of the run."""
    n: int
    """Labels."""
    n_counted: int
    """Labels that the rate is of."""
    n_equal: int
    """Those of them that the judge agrees with."""
    can_differ: tuple[bool, bool]
    """Whether other labels could have been counted, and whether other ones could have agreed."""
    counted: float
    """The share of its answers that the rate is of, as estimated or moved to an end."""
    equal: float
    """The share of agreement among these, likewise."""

    def at_ends(self) -> Iterator[tuple[_Part, _Part]]:
        """Yield the stratum with a share at the lower and at the upper end of its interval."""
        may_count, may_agree = self.can_differ
        if may_count:
            lower, upper = _ends(self.n_counted, self.n)
            yield replace(self, counted=lower), replace(self, counted=upper)
        if may_agree and self.n_counted:
            lower, upper = _ends(self.n_equal, self.n_counted)
            yield replace(self, equal=lower), replace(self, equal=upper)


def _ends(right: int, n: int) -> tuple[float, float]:
    interval = wilson_interval(right, n)
    return interval.lower or 0.0, 1.0 if interval.upper is None else interval.upper


def label_rate(
    strata: Sequence[GradeStratum], label: float | None, no_value: str
) -> dict[str, Any]:
    """Return the share of agreement among all answers, or among those with one label.

    ``n_effective`` is the number of independent answers whose Wilson interval reaches as far.

    Args:
        strata: Of all judged answers.
        label: Of the answers that count; None for all.
        no_value: The reason where no label counts.
    """
    parts = [_part(stratum, label) for stratum in strata if stratum.pairs]
    value = _ratio(parts)
    if value is None:
        return {"value": None, **no_interval(no_value).as_json(), "n_effective": None}
    interval = _interval(parts, value)
    return {
        "value": value,
        **interval.as_json(),
        "n": sum(part.n_counted for part in parts),
        "n_effective": _effective(value, interval),
    }


def _part(stratum: GradeStratum, label: float | None) -> _Part:
    counted = {pair: n for pair, n in stratum.pairs.items() if label is None or pair[0] == label}
    n_counted = sum(counted.values())
    n_equal = sum(n for (of_person, score), n in counted.items() if of_person == score)
    # Of answers with one score, whether those of one label agree is certain: it is that score or
    # another. Of a range of scores the answers without a label may have any.
    is_certain = label is not None and stratum.low == stratum.high
    equal = _UNKNOWN
    if label is not None and is_certain:
        equal = float(key_of(label) == stratum.low)
    elif n_counted:
        equal = n_equal / n_counted
    return _Part(
        n_answers=stratum.n,
        n=stratum.n_labelled,
        n_counted=n_counted,
        n_equal=n_equal,
        can_differ=(label is not None, not is_certain),
        counted=n_counted / stratum.n_labelled,
        equal=equal,
    )


def _ratio(parts: Sequence[_Part]) -> float | None:
    counted = math.fsum(part.n_answers * part.counted for part in parts)
    agreeing = math.fsum(part.n_answers * part.counted * part.equal for part in parts)
    return min(agreeing / counted, 1.0) if counted > 0 else None


def _interval(parts: Sequence[_Part], value: float) -> Interval:
    below = above = interval_quantile(LEVEL) ** 2 * _between(parts, value)
    for place, part in enumerate(parts):
        for ends in part.at_ends():
            ratios = [_ratio([*parts[:place], end, *parts[place + 1 :]]) for end in ends]
            moves = [0.0, *(ratio - value for ratio in ratios if ratio is not None)]
            below += min(moves) ** 2
            above += max(moves) ** 2
    return Interval(
        lower=max(0.0, value - math.sqrt(below)),
        upper=min(1.0, value + math.sqrt(above)),
        method=METHOD,
        covers="new questions",
    )


def _between(parts: Sequence[_Part], value: float) -> float:
    """Return the variance because another run of this size would have other shares of strata."""
    counted = math.fsum(part.n_answers * part.counted for part in parts)
    influences = [part.counted * (part.equal - value) / counted for part in parts]
    return math.fsum(
        part.n_answers * influence**2 for part, influence in zip(parts, influences, strict=True)
    )


def _effective(value: float, interval: Interval) -> float:
    """Return the number of answers whose Wilson interval reaches as far: of both ends, the harmonic
    mean.
    """
    # An end of Wilson's interval is where (value - end)² = z² end (1 - end) / n.
    z_square = interval_quantile(LEVEL) ** 2
    inverses = [
        (value - end) ** 2 / (z_square * end * (1 - end))
        for end in (interval.lower, interval.upper)
        if end is not None and end != value and 0 < end < 1
    ]
    return max(1.0, len(inverses) / math.fsum(inverses)) if inverses else 1.0
