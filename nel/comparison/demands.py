"""One test of a gate's policy: that scores are at most a margin below the baseline's.

Decides by the ends of intervals alone, as `nel.decide.verdict` says; the policy is read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nel.comparison.decision import DecisionCheck, would_pass
from nel.comparison.measures import Measure, Settings, measure, shared_clusters
from nel.comparison.scores import Scores
from nel.decide.paired import PairedDifference, pairs_until
from nel.decide.verdict import GateDecision, non_inferiority
from nel.metrics.intervals import ANYTIME, LEVEL
from nel.metrics.question_intervals import FEW, T_OF_FEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One test: that scores are at most a margin below the baseline's."""

    kind: str
    limit: float
    scores: Scores
    margin: float
    settings: Settings
    is_stopped: bool = False
    """Whether a stop rule ended a side early: then only an interval that holds at any time does."""
    anytime: tuple[float, float] | None = None
    """That interval, where there is one."""

    @property
    def method(self) -> str | None:
        """Return that of its interval."""
        if self.is_stopped:
            return ANYTIME
        measured = self.measure(self.settings.level)
        if measured.tested is not None:
            return measured.tested.interval_method
        return measured.bounds[0].interval_method if measured.bounds else None

    def measure(self, level: float) -> Measure:
        """Return the difference with an interval of a level."""
        return measure(self.scores, self.kind, replace(self.settings, level=level))

    def span(self, level: float) -> tuple[float, float] | None:
        """Return the ends of all intervals together, None where nothing is defined."""
        # A stop rule has its interval at one level, which holds at any lower one.
        if self.is_stopped:
            return self.anytime if level <= LEVEL else None
        measured = self.measure(level)
        intervals = [*filter(None, [measured.tested]), *(measured.bounds or ())]
        if not intervals or any(map(rests_on_few, intervals)):
            return None
        lower = min(interval.lower for interval in intervals)
        return lower, max(interval.upper for interval in intervals)

    def caution(self, level: float) -> str | None:
        """Return what should be known of the interval, however it decides."""
        tested = None if self.is_stopped else self.measure(level).tested
        return None if tested is None else tested.caution

    def questions_to_pass(self, level: float) -> str:
        """Return with how many questions the candidate, as it is, would pass.

        Each unscored sample counts against it. Empty where there is no such number.
        """
        scores = self.scores
        if scores.members is not None:  # more questions of which of them, is open
            return ""
        questions = pairs_until(
            scores.baseline_ends[1],  # unscored samples at their best
            scores.candidate_ends[0],  # and at their worst
            -self.margin,
            design=scores.design,
            clusters=shared_clusters(scores.clusters),
            level=level,
        )
        return would_pass(questions)

    def is_breached(self, level: float) -> bool:
        """Return whether the harm is beyond the margin at a level."""
        span = self.span(level)
        return span is not None and non_inferiority(*span, margin=self.margin) is GateDecision.NO_GO


def rests_on_few(difference: PairedDifference) -> bool:
    """Return whether Student's t of few questions is all there is, on which nothing may rest."""
    return difference.interval_method == "t" and difference.n < FEW


def check_demand(
    demand: Demand,
    level: float,
    *,
    breach_level: float | None,
    is_gated: bool,
    is_blocked: bool,
) -> DecisionCheck:
    """Return how a test came out at a level.

    Args:
        breach_level: Of the interval that shows the breach after Holm's adjustment; None without one.
        is_gated: Whether the benchmark has a say in the decision.
        is_blocked: Whether it cannot pass for another reason, with however many questions.
    """
    span = demand.span(level)
    reason = ""
    status = GateDecision.INCONCLUSIVE
    lower, upper, interval_level, method = None, None, None, None
    if span is not None:
        lower, upper = span
        interval_level, method = level, demand.method
        status = non_inferiority(*span, margin=demand.margin)
        # Among many tests one breach is likely by chance: Holm's adjustment has the last word.
        if is_gated and status is GateDecision.NO_GO and breach_level is None:
            status = GateDecision.INCONCLUSIVE
            reason = "a breach taken alone, but not after Holm's adjustment over the policy"
        elif status is GateDecision.INCONCLUSIVE and not (demand.is_stopped or is_blocked):
            reason = demand.questions_to_pass(level)
    elif demand.is_stopped:
        reason = "a stop rule ended a run, and there is no interval of this that holds at any time"
    else:
        measured = demand.measure(level)
        reason = measured.reason
        if measured.tested is not None:
            reason = T_OF_FEW.format(measured.tested.n)
    return DecisionCheck(
        kind=demand.kind,
        limit=demand.limit,
        status=status,
        reason="; ".join(filter(None, [reason, demand.caution(level)])),
        lower=lower,
        upper=upper,
        level=interval_level,
        method=method,
        breach_level=breach_level,
    )
