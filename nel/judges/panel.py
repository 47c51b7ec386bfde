"""Aggregates several grades into one: the repeats of one judge, and the opinions of a panel.

The order of judges never matters. Two labels with equally many votes, equally near to the mean
score, are not a majority: the answer is then unscored, rather than decided by chance or by a score
that no judge gave.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from nel.errors import JudgeError
from nel.judges.types import Aggregate, Grade, Opinion

_NEAR: Final = 1e-9
"""Scores that differ by less are equal; a mean of decimal scores is off by rounding."""


def aggregate_opinions(
    opinions: Sequence[Opinion],
    aggregate: Aggregate,
    quorum: int,
    weights: Mapping[str, float] | None = None,
) -> Grade:
    """Return the grade of a panel.

    ``majority`` is the label with most votes; of labels with equally many votes, the one whose
    score is nearest to the mean score of all. The other aggregates are computed from the scores.

    Args:
        opinions: Of each member, those without a grade included.
        aggregate: How opinions become one.
        quorum: How many must have a grade, at least 1.
        weights: Votes of each judge by name, above 0, for ``majority`` and ``mean``; None: one
            each.

    Raises:
        JudgeError: ``no_quorum``: too few have one; the message names the others and why. ``tie``:
            there is no majority.
    """
    verdicts = [opinion for opinion in opinions if opinion.grade is not None]
    if len(verdicts) < max(quorum, 1):
        ungraded = [opinion for opinion in opinions if opinion.grade is None]
        ungraded.sort(key=lambda opinion: opinion.judge)
        message = (
            f"{max(quorum, 1)} of {len(opinions)} judges must give a grade and {len(verdicts)} did"
        )
        names = ", ".join(f"{item.judge} ({item.fault or 'no grade'})" for item in ungraded)
        if names:
            message += f"; none from {names}"
        first_reply = next((item.reply for item in ungraded if item.reply), "")
        raise JudgeError(message, kind="no_quorum", reply=first_reply)
    # Sorted, so that sums are the same in any order of the judges.
    opinions_by_judge = sorted(verdicts, key=lambda item: item.judge)
    votes_of = weights or {}
    votes = [votes_of.get(item.judge, 1.0) for item in opinions_by_judge]
    grades = [item.grade for item in opinions_by_judge if item.grade is not None]
    return _aggregate(grades, aggregate, votes)


def aggregate_repeats(grades: Sequence[Grade | None], aggregate: Aggregate = "majority") -> Grade:
    """Return the grade of one judge that was asked the same question several times.

    Args:
        grades: One per repeat, None where it has no grade.
        aggregate: As for a panel.

    Raises:
        JudgeError: ``no_verdict``: no more than half of the repeats have a grade. ``tie``: there is
            no majority.
    """
    verdicts = [grade for grade in grades if grade is not None]
    if len(verdicts) * 2 <= len(grades):
        raise JudgeError(
            f"the judge gave a grade in {len(verdicts)} of {len(grades)} repeats", kind="no_verdict"
        )
    return _aggregate(verdicts, aggregate, [1.0] * len(verdicts))


def _aggregate(grades: Sequence[Grade], aggregate: Aggregate, votes: Sequence[float]) -> Grade:
    if len(grades) == 1:
        return grades[0]
    if aggregate == "majority":
        label = _majority(grades, votes)
        return _merge([grade for grade in grades if grade.label == label])
    scores = [grade.score for grade in grades]
    if aggregate == "mean":
        return _grade_with(grades, _mean(scores, votes))
    if aggregate == "median":
        return _grade_with(grades, statistics.median(scores))
    if aggregate == "min":
        return _grade_with(grades, min(scores))
    return _grade_with(grades, max(scores))


def _mean(scores: Sequence[float], votes: Sequence[float]) -> float:
    weighted = (score * vote for score, vote in zip(scores, votes, strict=True))
    return math.fsum(weighted) / math.fsum(votes)


def _majority(grades: Sequence[Grade], votes: Sequence[float]) -> str:
    counts: dict[str, float] = {}
    for grade, vote in zip(grades, votes, strict=True):
        counts[grade.label] = counts.get(grade.label, 0.0) + vote
    highest = max(counts.values())
    leaders = sorted(label for label, count in counts.items() if count >= highest - _NEAR)
    if len(leaders) == 1:
        return leaders[0]
    # Of labels with equally many votes the one nearest to the mean of all scores decides.
    mean = _mean([grade.score for grade in grades], votes)
    distance = {label: abs(_mean_score(grades, label) - mean) for label in leaders}
    nearest = [label for label in leaders if distance[label] <= min(distance.values()) + _NEAR]
    if len(nearest) > 1:
        tally = ", ".join(f"{label} {counts[label]:g}" for label in leaders)
        raise JudgeError(
            f"there is no majority ({tally}); use an odd number of judges, or the mean as"
            " aggregate",
            kind="tie",
        )
    return nearest[0]


def _mean_score(grades: Sequence[Grade], label: str) -> float:
    scores = [grade.score for grade in grades if grade.label == label]
    return math.fsum(scores) / len(scores)


def _grade_with(grades: Sequence[Grade], score: float) -> Grade:
    """Return the grade with a score, which is a new one where the judges gave no such score."""
    equals = [grade for grade in grades if abs(grade.score - score) <= _NEAR]
    labels = {grade.label for grade in equals}
    if len(labels) == 1:
        return _merge(equals)
    return Grade(
        label=f"{score:.4g}",
        score=score,
        explanation=grades[0].explanation,
        metrics=_metrics(grades),
    )


def _merge(grades: Sequence[Grade]) -> Grade:
    return Grade(
        label=grades[0].label,
        score=_mean_score(grades, grades[0].label),
        explanation=grades[0].explanation,
        metrics=_metrics(grades),
    )


def _metrics(grades: Sequence[Grade]) -> dict[str, float]:
    names = sorted({name for grade in grades for name in grade.metrics})
    return {
        name: statistics.fmean(item.metrics[name] for item in grades if name in item.metrics)
        for name in names
    }
