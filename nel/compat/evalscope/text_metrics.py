"""Metrics of EvalScope over texts and lists of numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean

from nel.scoring.tokens import edit_distance as levenshtein_distance

__all__ = ["anls", "exact_match", "levenshtein_distance", "simple_f1_score"]


def anls(prediction: str, reference: str | Sequence[str], *, thresh_hold: float = 0.5) -> float:
    """Return the best similarity to an answer by edits, 0 where it is too small.

    >>> anls("Paris", '["paris", "Lutetia"]'), anls("Parts", "Paris"), anls("Rome", "Paris")
    (1.0, 0.8, 0.0)
    """
    answers = reference if isinstance(reference, str) else "\n".join(reference)
    try:
        answer_list = json.loads(answers)
    except json.JSONDecodeError:
        answer_list = answers
    distances = []
    for answer in [answer_list] if isinstance(answer_list, str) else answer_list:
        gold, response = (" ".join(text.strip().lower().split()) for text in (answer, prediction))
        length = max(len(answer.upper()), len(prediction.upper()))
        distances.append(levenshtein_distance(gold, response) / length if length else 0.0)
    similarity = 1 - min(distances, default=1.0)
    return similarity if similarity >= thresh_hold else 0.0


def exact_match(gold: str, pred: str) -> float:
    """Return whether a prediction is the answer, outer spaces apart; an empty one never is."""
    return float(bool(pred) and gold.strip() == pred.strip())


def simple_f1_score(scores: Sequence[Sequence[float]]) -> float:
    """Return the harmonic mean of the means of two lists of numbers."""
    mean, other_mean = (fmean(numbers) if len(numbers) else 0.0 for numbers in scores[:2])
    return 2 * mean * other_mean / (mean + other_mean) if mean or other_mean else 0.0
