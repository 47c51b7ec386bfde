"""How many answers people should label, and a judge grade, for a corrected score of a wanted
precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """How many answers people label and how many a judge grades, for the least cost."""

    labels: int
    judged: int
    """All answers that the judge grades, the labelled ones too."""
    standard_error: float
    cost: float


def label_plan(
    standard_error: float,
    *,
    label_variance: float,
    correlation: float,
    answers: int,
    label_cost: float = 1.0,
    judge_cost: float = 0.0,
) -> LabelPlan:
    """Return the cheapest numbers of labels and judged answers for a standard error by PPI++ (arXiv
    2311.01453).

    With the best tuning ``SE² = v ((1 - r²) / n + r² / T)`` for n labels among T judged answers,
    where v is the variance of the labels and r their correlation with the judge. The cost ``n cY +
    T cJ`` is least where ``n / T = sqrt((1 - r²) cJ / (r² cY))``.

    Args:
        standard_error: That the corrected mean shall have; above 0.
        label_variance: v; ``p (1 - p)`` for right and wrong.
        correlation: r, 0 to 1; for right and wrong the judge's kappa is a rough stand-in.
        answers: How many there are to be judged.
        label_cost: Of one label.
        judge_cost: Of one judged answer, in the same unit; 0 where the judging is done.

    Raises:
        ValueError: A number is out of range, or labels for all answers would not suffice.

    >>> plan = label_plan(0.02, label_variance=0.24, correlation=0.7, answers=2000)
    >>> plan.labels, plan.judged, label_plan(0.02, label_variance=0.24, correlation=0.0, answers=2000).labels
    (359, 2000, 600)
    """
    _check(standard_error, label_variance, correlation)
    _check_costs(label_cost, judge_cost, answers)
    wanted = standard_error**2 / label_variance
    if 1 / wanted > answers * (1 + 1e-9):
        raise ValueError(
            f"labels for all {answers} answers leave an error of"
            f" {math.sqrt(label_variance / answers):.4f}, not {standard_error}: take more answers"
        )
    own, shared = 1 - correlation**2, correlation**2
    judged = float(answers)
    if judge_cost:
        scale = (math.sqrt(own * label_cost) + math.sqrt(shared * judge_cost)) / wanted
        judged = min(judged, scale * math.sqrt(shared / judge_cost))
    room = wanted - shared / judged if judged else 0.0
    labels = own / room if room > 0 else math.inf
    if labels > judged:
        labels = judged = 1 / wanted  # every judged answer is labelled: the judge adds nothing
    n = max(1, math.ceil(labels * (1 - 1e-9)))
    graded = min(answers, max(n, math.ceil(judged * (1 - 1e-9))))
    error = math.sqrt(label_variance * (own / n + shared / graded))
    return LabelPlan(
        labels=n, judged=graded, standard_error=error, cost=n * label_cost + graded * judge_cost
    )


def _check(standard_error: float, label_variance: float, correlation: float) -> None:
    if not (
        0 < standard_error < math.inf and 0 < label_variance < math.inf and 0 <= correlation <= 1
    ):
        raise ValueError(
            f"no plan for error {standard_error}, variance {label_variance}, correlation"
            f" {correlation}"
        )


def _check_costs(label_cost: float, judge_cost: float, answers: int) -> None:
    if not 0 < label_cost < math.inf or not 0 <= judge_cost < math.inf or answers < 1:
        raise ValueError(f"no plan for costs {label_cost} and {judge_cost} of {answers} answers")
