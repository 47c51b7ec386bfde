"""Win rates corrected by people's labels of a few of the judged pairs, by PPI++. Does no I/O.

Pairs were drawn for labelling by the score of their response, so a model's pairs form strata by
that score and by its side: within one, labels are a simple sample. Depends on
`nel.judges.stats.corrected_mean`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from nel.apps.leaderboard.pair_results import PairResult
from nel.errors import UndefinedMetric
from nel.judges.stats.corrected_mean import NO_LABEL_NEEDED, LabelledAnswers, ppi_mean

_LABELS_MIN: Final = 2
"""Labels that a stratum needs; one with fewer joins the others that have too few."""


def corrected_rate(
    label: str, judged: Sequence[PairResult], settled: Sequence[PairResult]
) -> dict[str, Any] | None:
    """Return a model's win rate as people would have it, as JSON values; None where no pair has a
    label.

    Args:
        label: The model.
        judged: Its pairs that the judge decided.
        settled: Its pairs without a judge, which count as they are.
    """
    n_labelled = _n_labelled(judged)
    if not n_labelled:
        return None
    strata = _strata(label, judged)
    pairs: list[PairResult] = []
    codes: list[int] = []
    for code, stratum in enumerate(strata):
        pairs += stratum
        codes += [code] * len(stratum)
    pairs += settled
    codes += [NO_LABEL_NEEDED] * len(settled)
    _, questions = np.unique([pair.question for pair in pairs], return_inverse=True)
    answers = LabelledAnswers(
        scores=np.array([_of_model(label, pair, pair.score) for pair in pairs]),
        labels=np.array([_of_model(label, pair, pair.label) for pair in pairs]),
        strata=np.array(codes),
        clusters=questions.astype(np.float64),
        bounds=(0.0, 1.0),
    )
    try:
        estimate = ppi_mean(answers)
    except UndefinedMetric as error:
        numbers = dict.fromkeys(("value", "ci_lower", "ci_upper"))
        return {**numbers, "n_labelled": n_labelled, "reason": str(error)}
    return {
        "value": estimate.value,
        "ci_lower": estimate.lower,
        "ci_upper": estimate.upper,
        "n_labelled": n_labelled,
        "reason": None,
    }


def _of_model(label: str, pair: PairResult, score: float | None) -> float:
    """Return a score of the left answer as one of the model's; NaN where there is none."""
    if score is None:
        return math.nan
    return score if pair.left == label else 1.0 - score


def _strata(label: str, judged: Sequence[PairResult]) -> list[list[PairResult]]:
    """Return a model's pairs by side and score, those of too few labels put together."""
    groups: dict[tuple[bool, float], list[PairResult]] = {}
    for pair in judged:
        groups.setdefault((pair.left == label, pair.score), []).append(pair)
    strata: list[list[PairResult]] = []
    remainder: list[PairResult] = []
    for _, pairs in sorted(groups.items()):
        if _n_labelled(pairs) >= _LABELS_MIN:
            strata.append(pairs)
        else:
            remainder += pairs
    if remainder and (_n_labelled(remainder) >= _LABELS_MIN or not strata):
        strata.append(remainder)
    elif remainder:  # too few even together: they join the largest stratum
        max(strata, key=len).extend(remainder)
    return strata


def _n_labelled(pairs: Sequence[PairResult]) -> int:
    return sum(pair.label is not None for pair in pairs)
