"""The difference of one metric over paired questions: interval, test, verdict and bounds.

The statistics are in `nel.decide`; here arrays of two sides become its arguments. Does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from nel.comparison.lines import Floats, Ints
from nel.comparison.scores import Scores
from nel.decide.macro import macro_difference
from nel.decide.paired import PairedDifference, paired_difference
from nel.decide.verdict import Verdict, verdict, verdict_within_bounds
from nel.errors import UndefinedMetric
from nel.metrics.intervals import LEVEL
from nel.metrics.question_intervals import disjoint_parts

_FEWEST: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How differences are judged."""

    margin: float = 0.0
    """The largest difference that does not matter."""
    level: float = LEVEL
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The difference of one metric, candidate minus baseline."""

    metric: str
    n_pairs: int
    n_scored: int
    """Pairs with a score on both sides."""
    baseline: float | None
    candidate: float | None
    tested: PairedDifference | None
    """None where the scores do not define it; the reason says why."""
    bounds: tuple[PairedDifference, PairedDifference] | None
    """Every unscored sample counted against the candidate, and for it; None if all are scored."""
    verdict: Verdict
    reason: str
    unit: Literal["rate", "number"] = "number"
    """``rate`` where every score of both sides lies between 0 and 1."""
    p_adjusted: float | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def p_value(self) -> float | None:
        """Return the p-value that is not adjusted."""
        return None if self.tested is None else self.tested.p_value

    def negate(self) -> Measure:
        """Return the measure of the scores with their sign turned; its verdict stays."""
        ends = self.bounds
        return replace(
            self,
            baseline=None if self.baseline is None else -self.baseline,
            candidate=None if self.candidate is None else -self.candidate,
            tested=None if self.tested is None else self.tested.negate(),
            bounds=None if ends is None else (ends[1].negate(), ends[0].negate()),
        )

    def adjust(self, p_value: float, *, alpha: float, family: str) -> Measure:
        """Return the measure with its p-value in a family, which can make it inconclusive.

        Args:
            p_value: Adjusted.
            alpha: The highest that decides.
            family: The adjustment, empty for one test alone.
        """
        if self.verdict not in (Verdict.BETTER, Verdict.WORSE) or p_value <= alpha:
            return replace(self, p_adjusted=p_value)
        reason = f"{self.verdict} by the interval, and not by the test"
        if family:
            reason = f"{self.verdict} taken alone, but not after {family}"
        return replace(
            self,
            p_adjusted=p_value,
            verdict=Verdict.INCONCLUSIVE,
            reason=f"{reason} (p = {p_value:.4g})",
        )


def measure(scores: Scores, metric: str, settings: Settings, *, is_bounded: bool = True) -> Measure:
    """Return the difference of a metric with its verdict.

    Args:
        scores: Of the pairs.
        metric: Its name.
        settings: How the difference is judged.
        is_bounded: Whether unscored samples are considered; else only scored pairs are.
    """
    # Everything below takes more as better: turned before, and turned back after.
    if scores.is_lower_better:
        turned = measure(scores.negate(), metric, settings, is_bounded=is_bounded).negate()
        return replace(turned, notes=(f"less is better of {metric}", *turned.notes))
    scored = scores.scored
    scored_alone = scores.only(scored)
    undefined = Measure(
        metric=metric,
        n_pairs=len(scored),
        n_scored=int(scored.sum()),
        baseline=scored_alone.mean(scored_alone.baseline),
        candidate=scored_alone.mean(scored_alone.candidate),
        tested=None,
        bounds=None,
        verdict=Verdict.INCONCLUSIVE,
        reason="no pair has a score on both sides",
        unit=scores.unit,
    )
    # A mean of which a benchmark is missing, or has no pair that is scored on both sides.
    is_partial = scored_alone.members is not None and not scored_alone.members.are_complete
    if undefined.n_scored == 0 and not is_partial:
        return undefined
    if undefined.n_scored < _FEWEST and not is_partial:
        return replace(undefined, reason="one pair alone has a score on both sides")
    all_pairs = scores if is_bounded and scores.is_open else None
    try:
        if is_partial:  # a mean that lacks a member is not known; only its ends are
            against, in_favour = _ends(scores, settings, settings.level)
            reason = "some of what it is a mean of has no value"
            return replace(undefined, bounds=(against, in_favour), reason=reason)
        tested, *ends = _differences(scored_alone, all_pairs, settings, settings.level)
        decided, reason = _verdict(scored_alone, all_pairs, [tested, *ends], settings)
    except UndefinedMetric as error:
        return replace(undefined, reason=str(error))
    return replace(
        undefined,
        tested=tested,
        bounds=(ends[0], ends[1]) if ends else None,
        verdict=decided,
        reason=reason,
        notes=_notes(tested, settings),
    )


def _verdict(
    scored_alone: Scores,
    all_pairs: Scores | None,
    differences: Sequence[PairedDifference],
    settings: Settings,
) -> tuple[Verdict, str]:
    """Return the verdict over all intervals, and why it is inconclusive where it is."""
    spans = narrow_spans = [(difference.lower, difference.upper) for difference in differences]
    if settings.margin > 0:
        # Equivalence is two one-sided tests, so its interval spends the error on each end alone.
        narrow = _differences(scored_alone, all_pairs, settings, 2 * settings.level - 1)
        narrow_spans = [(difference.lower, difference.upper) for difference in narrow]
    decided = verdict_within_bounds(spans, margin=settings.margin, equivalence=narrow_spans)
    alone = verdict(*spans[0], margin=settings.margin, equivalence=narrow_spans[0])
    if decided is not Verdict.INCONCLUSIVE:
        return decided, ""
    if alone is not Verdict.INCONCLUSIVE:
        return decided, f"{alone} among what was scored, but the unscored samples could change it"
    return decided, "the interval holds both harm and gain"


def _differences(
    scored_alone: Scores, all_pairs: Scores | None, settings: Settings, level: float
) -> list[PairedDifference]:
    """Return the difference of what was scored, then those of all pairs, where these are given.

    Of all pairs: every unscored sample counted against the candidate, then every one for it.
    """
    values = scored_alone.baseline, scored_alone.candidate
    ends = [] if all_pairs is None else _ends(all_pairs, settings, level)
    return [_difference(scored_alone, *values, settings, level), *ends]


def _ends(scores: Scores, settings: Settings, level: float) -> list[PairedDifference]:
    """Return the difference with all that is open counted against the candidate, and for it."""
    (low, high), (candidate_low, candidate_high) = scores.baseline_ends, scores.candidate_ends
    return [
        _difference(scores, high, candidate_low, settings, level, absent=-1.0),
        _difference(scores, low, candidate_high, settings, level, absent=1.0),
    ]


def _difference(
    scores: Scores,
    baseline: Floats,
    candidate: Floats,
    settings: Settings,
    level: float,
    *,
    absent: float = 0.0,
) -> PairedDifference:
    """Return the difference of some values of the pairs, each in the place of the scores."""
    clusters = shared_clusters(scores.clusters)
    if scores.members is None:
        return paired_difference(
            baseline,
            candidate,
            design=scores.design,
            clusters=clusters,
            level=level,
            seed=settings.seed,
        )
    if clusters is not None or scores.unit != "rate":
        raise UndefinedMetric("not each benchmark has single questions with scores from 0 to 1")
    codes, weights = scores.members.codes, scores.members.weights
    questions = [scores.questions[codes == code] for code in range(len(weights))]
    befores, shares = disjoint_parts(scores.members.split(baseline), questions, weights)
    afters, _ = disjoint_parts(scores.members.split(candidate), questions, weights)
    return macro_difference(
        befores,
        afters,
        weights=shares,
        absent=absent,
        level=level,
        seed=settings.seed,
    )


def shared_clusters(clusters: Ints | None) -> list[int] | None:
    """Return the clusters of questions, None where no two questions share one."""
    if clusters is None or len(np.unique(clusters)) == len(clusters):
        return None
    codes: list[int] = clusters.tolist()
    return codes


def _notes(difference: PairedDifference, settings: Settings) -> tuple[str, ...]:
    """Return a note where the clusters change what the questions alone would say."""
    if difference.naive_lower is None or difference.naive_upper is None:
        return ()
    clustered = verdict(difference.lower, difference.upper, margin=settings.margin)
    naive = verdict(difference.naive_lower, difference.naive_upper, margin=settings.margin)
    if clustered is naive:
        return ()
    note = (
        f"questions in {difference.n_clusters:,} clusters: {clustered}; as if they were independent"
        f" it would be {naive}"
    )
    return (note,)
