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
    text = reference if isinstance(reference, str) else "\n".join(reference)
    try:
        answers = json.loads(text)
    except json.JSONDecodeError:
        answers = text
    if not isinstance(answers, list):
        # A year is JSON as well, and is the text that it was.
        answers = [answers if isinstance(answers, str) else text]
    best = 0.0
    folded = _fold(prediction)
    for answer in map(_fold, answers):
        length = max(len(answer), len(folded))
        edits = levenshtein_distance(answer, folded)
        likeness = 1 - edits / length if length else 1.0  # two empty texts are equal
        best = max(best, likeness)
    return best if best >= thresh_hold else 0.0


def _fold(text: str) -> str:
    return " ".join(text.lower().split())


def exact_match(gold: str, pred: str) -> float:
    """Return whether a prediction is the answer, outer spaces apart; an empty one never is."""
    return float(bool(pred) and gold.strip() == pred.strip())


def simple_f1_score(scores: Sequence[Sequence[float]]) -> float:
    """Return the harmonic mean of the means of two lists of numbers."""
    mean, other_mean = (fmean(numbers) if len(numbers) else 0.0 for numbers in scores[:2])
    if not mean and not other_mean:
        return 0.0
    return 2 * mean * other_mean / (mean + other_mean)
