"""How many answers people should label, and a judge grade, for a corrected score."""

from __future__ import annotations

import math


def label_plan(
    standard_error: float, *, label_variance: float, correlation: float, answers: int
) -> tuple[int, int]:
    """Return how many answers people have to label and a judge to grade for a standard error by
    PPI++ (arXiv 2311.01453), where judging costs nothing.

    With the best tuning ``SE² = v ((1 - r²) / n + r² / T)`` for n labels among T judged answers,
    where v is the variance of the labels and r their correlation with the judge.

    Args:
        standard_error: That the corrected mean shall have; above 0.
        label_variance: v; ``p (1 - p)`` for right and wrong.
        correlation: r, 0 to 1; for right and wrong the judge's kappa is a rough stand-in.
        answers: How many there are to be judged.

    Raises:
        ValueError: Labels for all answers would not suffice.

    >>> label_plan(0.02, label_variance=0.24, correlation=0.7, answers=2000)
    (359, 2000)
    >>> label_plan(0.02, label_variance=0.24, correlation=0.0, answers=2000)
    (600, 2000)
    """
    target = standard_error**2 / label_variance
    # Below and at the end 1e-9 is for the rounding of what is a whole number.
    if 1 / target > answers * (1 + 1e-9):
        raise ValueError(
            f"labels for all {answers} answers leave an error of"
            f" {math.sqrt(label_variance / answers):.4f}, not {standard_error}: take more answers"
        )
    explained = correlation**2
    judged = float(answers)
    # The formula above, solved for n with all answers judged.
    room = target - explained / judged
    labels = (1 - explained) / room if room > 0 else math.inf
    if labels > judged:  # every judged answer is labelled: the judge adds nothing
        labels = judged = 1 / target
    n_labels = max(1, math.ceil(labels * (1 - 1e-9)))
    n_judged = max(n_labels, math.ceil(judged * (1 - 1e-9)))
    return n_labels, min(answers, n_judged)
