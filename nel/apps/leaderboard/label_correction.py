"""Win rates corrected by people's labels of a few of the judged pairs, by PPI++. Does no I/O.

Pairs were drawn for labelling by the score of their response, so a model's pairs form strata by
that score and by its
side: within one, labels are a simple sample. Depends on `nel.judges.stats.corrected_mean`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from nel.apps.leaderboard.pair_results import PairResult
from nel.errors import UndefinedMetric
from nel.judges.stats.corrected_mean import Labelled, Moments, Stratum, stratified_ppi_mean

_FEWEST: Final = 2
"""Labels that a stratum needs; one with fewer joins the others that have too few."""


def corrected_rate(
    label: str, judged: Sequence[PairResult], settled: Sequence[float]
) -> dict[str, Any] | None:
    """Return a model's win rate as people would have it, as JSON values; None where no pair has a
    label.

    Args:
        label: The model.
        judged: Its pairs that the judge decided.
        settled: Its scores in pairs without a judge, which count as they are.
    """
    n_labelled = sum(pair.label is not None for pair in judged)
    if not any(pair.label is not None for pair in judged):
        return None
    known = Moments()
    for score in settled:
        known.add(score)
    n_questions = len({pair.question for pair in judged})
    try:
        estimate = stratified_ppi_mean(
            _strata(label, judged),
            bounds=(0.0, 1.0),
            known=known,
            per_question=len(judged) / n_questions,
        )
    except UndefinedMetric as error:
        none = dict.fromkeys(("value", "ci_lower", "ci_upper"))
        return {**none, "n_labelled": n_labelled, "reason": str(error)}
    return {
        "value": estimate.value,
        "ci_lower": estimate.lower,
        "ci_upper": estimate.upper,
        "n_labelled": n_labelled,
        "reason": None,
    }


def _strata(label: str, judged: Sequence[PairResult]) -> list[Stratum]:
    """Return a model's pairs by side and score; those with too few labels together, or with the
    largest.
    """
    parts: dict[tuple[bool, float], list[PairResult]] = {}
    for pair in judged:
        parts.setdefault((pair.left == label, pair.score), []).append(pair)
    strata: list[list[PairResult]] = []
    rest: list[PairResult] = []
    for _, pairs in sorted(parts.items()):
        if _n_labelled(pairs) >= _FEWEST:
            strata.append(pairs)
        else:
            rest += pairs
    if rest and (_n_labelled(rest) >= _FEWEST or not strata):
        strata.append(rest)
    elif rest:
        max(strata, key=len).extend(rest)
    return [_stratum(label, pairs) for pairs in strata]


def _stratum(label: str, pairs: Sequence[PairResult]) -> Stratum:
    labelled, unlabelled = Labelled(), Moments()
    for pair in pairs:
        score = pair.score if pair.left == label else 1.0 - pair.score
        if pair.label is None:
            unlabelled.add(score)
        else:
            labelled.add(pair.label if pair.left == label else 1.0 - pair.label, score)
    return Stratum(labelled=labelled, unlabelled=unlabelled)


def _n_labelled(pairs: Sequence[PairResult]) -> int:
    return sum(pair.label is not None for pair in pairs)
