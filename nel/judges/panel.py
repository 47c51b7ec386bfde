"""Makes one grade of several: of a judge's repeats, and of a panel's opinions. Pure.

The order of judges never matters. Trap: two labels with equally many votes, equally near to the mean score, are no
majority; the answer is then unscored rather than decided by chance or by half a point that nobody gave.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Final

from nel.errors import JudgeError
from nel.judges.types import Aggregate, Grade, Opinion

_NEAR: Final = 1e-9


def settle_panel(opinions: Sequence[Opinion], aggregate: Aggregate, quorum: int) -> Grade:
    """Return what a panel came to.

    ``majority`` is the label that most gave; of labels with equally many votes, the one whose score is nearest to the
    mean score of all. The others are of the scores.

    Args:
        opinions: Of each member, also of those that came to none.
        aggregate: How opinions become one.
        quorum: So many must have come to a grade, at least 1.

    Raises:
        JudgeError: ``no_quorum``: too few did; the message names who did not and why. ``tie``: there is no majority.
    """
    given = [opinion for opinion in opinions if opinion.grade is not None]
    if len(given) < max(quorum, 1):
        missing = sorted((one for one in opinions if one.grade is None), key=lambda one: one.judge)
        names = ", ".join(f"{one.judge} ({one.fault or 'no grade'})" for one in missing)
        raise JudgeError(
            f"{max(quorum, 1)} of {len(opinions)} judges must come to a grade and {len(given)} did"
            + (f"; none from {names}" if names else ""),
            kind="no_quorum",
            reply=next((one.reply for one in missing if one.reply), ""),
        )
    ordered = sorted(given, key=lambda one: one.judge)
    return _settle([one.grade for one in ordered if one.grade is not None], aggregate)


def settle_opinions(grades: Sequence[Grade | None], aggregate: Aggregate = "majority") -> Grade:
    """Return what one judge came to that was asked the same several times.

    Args:
        grades: Of each repeat, None where it gave none.
        aggregate: As for a panel.

    Raises:
        JudgeError: ``no_verdict``: no more than half of the repeats have a grade. ``tie``: there is no majority.
    """
    given = [grade for grade in grades if grade is not None]
    if len(given) * 2 <= len(grades):
        raise JudgeError(f"the judge came to a grade in {len(given)} of {len(grades)} repeats", kind="no_verdict")
    return _settle(given, aggregate)


def _settle(grades: Sequence[Grade], aggregate: Aggregate) -> Grade:
    if len(grades) == 1:
        return grades[0]
    scores = [grade.score for grade in grades]
    if aggregate == "majority":
        label = _majority(grades)
        return _of_those([grade for grade in grades if grade.label == label])
    if aggregate == "mean":
        return _number(grades, math.fsum(scores) / len(scores))
    if aggregate == "median":
        return _number(grades, statistics.median(scores))
    return _number(grades, min(scores) if aggregate == "min" else max(scores))


def _majority(grades: Sequence[Grade]) -> str:
    counts = Counter(grade.label for grade in grades)
    most = max(counts.values())
    tied = sorted(label for label, count in counts.items() if count == most)
    if len(tied) == 1:
        return tied[0]
    mean = math.fsum(grade.score for grade in grades) / len(grades)
    distance = {label: abs(_mean_score(grades, label) - mean) for label in tied}
    nearest = [label for label in tied if distance[label] <= min(distance.values()) + _NEAR]
    if len(nearest) > 1:
        said = ", ".join(f"{label} {counts[label]}" for label in tied)
        raise JudgeError(
            f"there is no majority ({said}); use an odd number of judges, or the mean as aggregate", kind="tie"
        )
    return nearest[0]


def _mean_score(grades: Sequence[Grade], label: str) -> float:
    scores = [grade.score for grade in grades if grade.label == label]
    return math.fsum(scores) / len(scores)


def _number(grades: Sequence[Grade], score: float) -> Grade:
    """Return the grade that has a score: that of those who gave it, or one of nobody."""
    same = [grade for grade in grades if abs(grade.score - score) <= _NEAR]
    labels = {grade.label for grade in same}
    if len(labels) == 1:
        return _of_those(same)
    return Grade(label=f"{score:.4g}", score=score, explanation=grades[0].explanation, metrics=_metrics(grades))


def _of_those(grades: Sequence[Grade]) -> Grade:
    return Grade(
        label=grades[0].label,
        score=_mean_score(grades, grades[0].label),
        explanation=grades[0].explanation,
        metrics=_metrics(grades),
    )


def _metrics(grades: Sequence[Grade]) -> dict[str, float]:
    """Return the mean of each metric over those that have it."""
    names = sorted({name for grade in grades for name in grade.metrics})
    return {name: statistics.fmean(one.metrics[name] for one in grades if name in one.metrics) for name in names}
