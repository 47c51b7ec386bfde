"""What is known of a benchmark of which a random part was asked, in whole clusters.

Both statistics here may be looked at after every cluster, and a run may stop at any look: the
interval and the decision hold at all looks together. An unscored question counts with its lowest
and with its highest score, and an end of an interval is that of the worse of both. Depends on
`nel.decide.sequential`.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from nel.decide.sequential import ConfidenceSequence, StopReason
from nel.metrics.intervals import LEVEL

ROUNDING: Final = 1e-9
"""Means closer than this are equal: sums of scores are off by rounding, and towards the last
cluster an interval is so narrow that the rounding alone would put the truth outside it."""
STOP_RULE: Final = "stop_rule"
"""The test of a comparison that a stop rule decided; its p-value is the error of that rule."""
NO_INTERVAL: Final = "none"
"""The test and the interval of a comparison whose number of samples a stop rule chose, where none
holds at any time.
"""
_MIDDLE: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDraw:
    """The design of a draw: whole clusters of a finite benchmark, without replacement."""

    n_clusters: int
    n_questions: int
    size_max: int
    """Questions of the largest cluster."""

    @property
    def scale(self) -> float:
        """Return the factor to a mean of questions from one of cluster totals.

        Those are in units of the largest cluster.
        """
        return self.n_clusters * self.size_max / self.n_questions


class _Extremes:
    """Two confidence sequences, of the lowest and of the highest that each value can be; one object
    as long as both are equal.
    """

    def __init__(self, sequence: ConfidenceSequence) -> None:
        self._low = self._high = sequence

    def add(self, low: float, high: float) -> None:
        if low != high and self._high is self._low:
            self._high = deepcopy(self._low)
        self._low.add(low)
        if self._high is not self._low:
            self._high.add(high)

    @property
    def lower(self) -> float:
        return self._low.lower

    @property
    def upper(self) -> float:
        return self._high.upper


class DrawnMean:
    """A confidence sequence of the mean score that all questions of a benchmark would have given.

    Of a cluster of ``m`` questions with a total of ``t`` it sees ``1/2 + (t - m/2) / size_max``.
    The mean of that over all clusters gives the mean over all questions whatever the clusters'
    sizes are, and is the plain score where each cluster is one question.
    """

    def __init__(self, draw: ClusterDraw, *, level: float = LEVEL) -> None:
        """Start with all that is possible."""
        self._draw = draw
        self._extremes = _Extremes(ConfidenceSequence(level=level, population=draw.n_clusters))
        self._n = 0
        self._totals = [0.0, 0.0]

    def add(self, size: int, low: float, high: float) -> None:
        """Take the next cluster: its questions, and the lowest and highest total of scores."""
        self._extremes.add(self._share(size, low), self._share(size, high))
        self._n += size
        self._totals = [self._totals[0] + low, self._totals[1] + high]

    def _share(self, size: int, total: float) -> float:
        # From 0 to 1, as 0 <= total <= size <= size_max, but for rounding.
        return min(max(_MIDDLE + (total - size * _MIDDLE) / self._draw.size_max, 0.0), 1.0)

    @property
    def lower(self) -> float:
        """Return the lower end now."""
        # `certain` is the mean if all that was not drawn yet were wrong. The scale turns a mean of
        # the clusters' shares, which lie about 1/2, into one of questions.
        certain = self._totals[0] / self._draw.n_questions
        bound = max(_MIDDLE + (self._extremes.lower - _MIDDLE) * self._draw.scale, certain)
        return min(max(bound - ROUNDING, 0.0), 1.0)

    @property
    def upper(self) -> float:
        """Return the upper end now."""
        certain = (self._totals[1] + self._draw.n_questions - self._n) / self._draw.n_questions
        bound = min(_MIDDLE + (self._extremes.upper - _MIDDLE) * self._draw.scale, certain)
        return max(min(bound + ROUNDING, 1.0), 0.0)


class PairedBets:
    """An e-process against both runs having equal means, fed with differences in -1 to 1.

    Each difference ``d`` multiplies it by ``1 + (W - L) / (W + L + 2) d``, where ``W`` and ``L``
    are the sums of the gains and losses before it. For differences of -1, 0 and 1 it is exactly the
    e-value of discordant pairs, ``2^(W+L) B(W+1, L+1)`` (Robbins 1970; Grünwald et al. 2024).
    Without replacement it stays valid: the more one run leads, the more the rest must favour the
    other one.
    """

    def __init__(self, *, level: float = LEVEL) -> None:
        """Start at 1."""
        self._log_limit = math.log(1 / (1 - level))
        self._gains = self._losses = 0.0
        self.log_e = 0.0
        self.decided: StopReason | None = None
        """``better`` or ``worse`` once the e-process has reached ``1 / (1 - level)``."""

    def add(self, difference: float) -> None:
        """Take the next difference, candidate minus baseline."""
        # The bet uses earlier differences alone, which keeps the product an e-process.
        bet = (self._gains - self._losses) / (self._gains + self._losses + 2)
        self.log_e += math.log1p(bet * difference)
        self._gains += max(difference, 0.0)
        self._losses += max(-difference, 0.0)
        if self.decided is None and self.log_e >= self._log_limit:
            self.decided = StopReason.BETTER if self._gains > self._losses else StopReason.WORSE


class PairedDirection:
    """Whether a candidate's mean over all questions lies above or below the baseline's."""

    def __init__(
        self,
        draw: ClusterDraw,
        baseline: tuple[float, float],
        *,
        is_binary: bool,
        level: float = LEVEL,
    ) -> None:
        """Start undecided.

        Args:
            draw: How questions are drawn.
            baseline: The lowest and highest total of the baseline's scores over all questions.
            is_binary: Whether each cluster is one question and scores are 0 or 1, which must be
                known beforehand: the e-process of pairs then decides, which is sooner than the
                interval of the difference.
            level: The direction is wrong in at most ``1 - level`` of runs.
        """
        self._draw = draw
        # What the baseline's scores of the questions not drawn yet add up to, at least and at most.
        self._remainder = list(baseline)
        self._extremes = _Extremes(
            ConfidenceSequence(level=level, low=-1.0, population=draw.n_clusters)
        )
        self._bets = [PairedBets(level=level), PairedBets(level=level)]
        self._is_binary = is_binary
        self._totals = [0.0, 0.0]
        self._n = 0

    def add(self, size: int, candidate: tuple[float, float], baseline: tuple[float, float]) -> None:
        """Take the next cluster: its questions and the lowest and highest totals of both runs."""
        # The candidate at its lowest against the baseline at its highest, and the reverse.
        low, high = candidate[0] - baseline[1], candidate[1] - baseline[0]
        shares = [min(max(total / self._draw.size_max, -1.0), 1.0) for total in (low, high)]
        self._extremes.add(*shares)
        for bets, share in zip(self._bets, shares, strict=True):
            bets.add(share)
        self._totals = [self._totals[0] + low, self._totals[1] + high]
        self._remainder = [self._remainder[0] - baseline[0], self._remainder[1] - baseline[1]]
        self._n += size

    @property
    def _certain(self) -> tuple[float, float]:
        """Return the least and the largest sum of all differences that what was seen allows."""
        n_unseen = self._draw.n_questions - self._n
        return self._totals[0] - self._remainder[1], self._totals[1] + n_unseen - self._remainder[0]

    @property
    def lower(self) -> float:
        """Return the lower end of the difference of the means, candidate minus baseline."""
        certain = self._certain[0] / self._draw.n_questions
        return min(max(self._extremes.lower * self._draw.scale, certain) - ROUNDING, 1.0)

    @property
    def upper(self) -> float:
        """Return its upper end."""
        certain = self._certain[1] / self._draw.n_questions
        return max(min(self._extremes.upper * self._draw.scale, certain) + ROUNDING, -1.0)

    @property
    def decided(self) -> StopReason | None:
        """Return ``better`` or ``worse`` where no end of the unscored questions could change it."""
        (lower_sum, upper_sum), rounding = self._certain, ROUNDING * self._draw.n_questions
        if upper_sum < -rounding:
            return StopReason.WORSE
        if lower_sum > rounding:
            return StopReason.BETTER
        if self._is_binary:
            # Unscored questions at their worst, and at their best, must agree.
            decisions = {bet.decided for bet in self._bets}
            return decisions.pop() if len(decisions) == 1 else None
        if self._extremes.upper < -ROUNDING:
            return StopReason.WORSE
        return StopReason.BETTER if self._extremes.lower > ROUNDING else None
