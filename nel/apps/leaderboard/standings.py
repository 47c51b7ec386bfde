"""The content of leaderboard.json, computed from the results of all pairs. Does no I/O.

The numbers of a model that cannot be ranked are null with a reason; they are never 0 and never
omitted. Depends on `nel.apps.leaderboard.pair_results` and `nel.apps.leaderboard.ranking`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, product
from typing import Any, Final

from nel.apps.leaderboard.label_correction import corrected_rate
from nel.apps.leaderboard.length_controlled import length_controlled_rate
from nel.apps.leaderboard.pair_results import (
    PairResult,
    PairResults,
    as_comparisons,
    position_bias_of,
)
from nel.apps.leaderboard.pairing import left_out_json
from nel.apps.leaderboard.pairwise import Comparisons, win_rate
from nel.apps.leaderboard.ranking import Ranking, Standing, rank_models
from nel.errors import UndefinedMetric
from nel.judges.model_family import same_family
from nel.metrics.intervals import LEVEL
from nel.types import JsonObject

FORMAT: Final = 1
FORMULAS: Final = {
    "win_rate": (
        "mean score over a model's pairs, a tie 0.5; the ends are those of one question more, with"
        " the design effect of questions that have several pairs"
    ),
    "strength": (
        "P(i over j) = 1/(1+exp(-(b_i-b_j))), maximum likelihood, a tie half a win for each"
        " (Bradley and Terry 1952, Hunter 2004)"
    ),
    "elo": "1000 + 400/ln(10) * strength; the mean of the models has 1000",
    "length_controlled": (
        "the same with + g*x: x = (characters of i - of j)/(of both), over its root mean square, 0"
        " for a pair without a judge; strengths and win rates at x = 0 (Chiang et al. 2024, arXiv"
        " 2403.04132, and the style control of Chatbot Arena)"
    ),
    "alpaca_eval_2": (
        "against the baseline: logit P = theta + phi*tanh(d/sd(d)), d the difference of the lengths"
        " in characters, over judged pairs; mean of 1/(1+exp(-theta)) (Dubois et al. 2024, arXiv"
        " 2404.04475, without the difficulty of questions, the penalty and the gamed baselines of"
        " its package)"
    ),
    "label_corrected": (
        "win rate by PPI++ within strata of side and score (Angelopoulos et al. 2023, arXiv "
        "2311.01453), from people's labels of some pairs; pairs without a judge count as they are"
    ),
    "intervals": (
        "95 %; strengths, Elo, ranks and length-controlled win rates: percentiles over resampled"
        " questions, each with all its pairs"
    ),
    "flips": "share of pairs, judged in both orders, whose verdict is not the same in both",
    "first": "share that the answer shown first won over both orders, a tie 0.5",
    "failed_answers": (
        "an answer that failed (truncated, empty, refusal, content_filter, context_exceeded) loses "
        "without a judge, two that failed tie; no length counts in such a pair"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingsSettings:
    """Settings of the statistics."""

    baseline: str | None = None
    length_control: bool = False
    n_resamples: int = 1000
    seed: int = 0


def standings_json(
    results: PairResults, entries: Sequence[JsonObject], settings: StandingsSettings
) -> dict[str, Any]:
    """Return the leaderboard's numbers.

    Args:
        results: The results of all pairs.
        entries: ``label``, ``model``, ``run_id`` and ``identity`` of each.
        settings: Of the statistics.
    """
    labels = [entry["label"] for entry in entries]
    pairs = list(results.pairs())
    compared = as_comparisons(pairs, labels)
    uncontrolled = _rank(compared, settings, length_control=False)
    controlled = _rank(compared, settings, length_control=True) if settings.length_control else None
    rows = [
        _model_json(entry, results, compared, uncontrolled, controlled, settings)
        for entry in entries
    ]
    return {
        "models": sorted(rows, key=lambda row: _sort_key(row, controlled is not None)),
        "pairs": [
            {
                "left": labels[left],
                "right": labels[right],
                "win_rate": asdict(win_rate(*compared.between(left, right))),
            }
            for left, right in combinations(range(len(labels)), 2)
        ],
        "ranked_by": _ranked_by(uncontrolled, controlled),
        "bradley_terry": _ranking_json(uncontrolled),
        "length_control": None if controlled is None else _ranking_json(controlled),
        "position": asdict(position_bias_of(results.judged)),
        "same_family": _same_family(results.plan.get("judge"), entries),
        "counts": {
            "pairs": len(pairs) + sum(results.left_out.values()),
            "judged": len(results.judged),
            "forfeits": len(results.forfeits),
            "left_out": sum(results.left_out.values()),
            "questions": compared.n_questions,
        },
        "left_out": left_out_json(results.left_out),
        "complete": results.complete,
        "statistics": {**asdict(settings), "level": LEVEL},
        "formulas": FORMULAS,
    }


def _same_family(judge: JsonObject | None, entries: Sequence[JsonObject]) -> list[dict[str, str]]:
    """Return which judges judged models of their own family, as far as names show it."""
    panel = (judge or {}).get("panel") or []
    return [
        {"judge": member["name"], "model": entry["label"]}
        for member, entry in product(panel, entries)
        if entry["model"] and same_family(member["model"], entry["model"])
    ]


def _rank(compared: Comparisons, settings: StandingsSettings, *, length_control: bool) -> Ranking:
    return rank_models(
        compared,
        length_control=length_control,
        n_resamples=settings.n_resamples,
        seed=settings.seed,
    )


def _sort_key(row: JsonObject, is_controlled: bool) -> tuple[float, float, str]:
    """Return the sort key of a row: its Elo, at equal length where that was requested."""
    rating = row["elo"]
    if is_controlled and row["length_controlled"]:
        rating = row["length_controlled"]["elo"]
    rate = row["win_rate"]["value"]
    # The best comes first; models without a rating come last, by their win rates.
    return (
        float("inf") if rating is None else -rating["value"],
        1.0 if rate is None else -rate,
        row["label"],
    )


def _ranked_by(uncontrolled: Ranking, controlled: Ranking | None) -> str:
    if controlled is not None and controlled.standings:
        return "length-controlled Elo"
    return "Elo" if uncontrolled.standings else "win rate"


def _model_json(
    entry: JsonObject,
    results: PairResults,
    compared: Comparisons,
    uncontrolled: Ranking,
    controlled: Ranking | None,
    settings: StandingsSettings,
) -> dict[str, Any]:
    label = entry["label"]
    number = compared.models.index(label)
    pairs = [pair for pair in results.judged if label in (pair.left, pair.right)]
    failures: Counter[str] = Counter()
    for forfeit in results.forfeits:
        if forfeit.left == label and forfeit.left_failure:
            failures[forfeit.left_failure] += 1
        if forfeit.right == label and forfeit.right_failure:
            failures[forfeit.right_failure] += 1
    length_controlled = None
    if controlled is not None:
        length_controlled = {
            **_standing_json(controlled.standings.get(label)),
            "reason": controlled.reasons.get(label),
        }
    n_left_out = sum(
        n for (left, right, *_), n in results.left_out.items() if label in (left, right)
    )
    return {
        **{name: entry[name] for name in ("label", "model", "run_id", "identity")},
        "win_rate": asdict(win_rate(*compared.of(number))),
        **_standing_json(uncontrolled.standings.get(label)),
        "reason": uncontrolled.reasons.get(label),
        "length_controlled": length_controlled,
        **_alpaca_eval(label, pairs, settings),
        **_label_corrected(label, pairs, results),
        "judged": len(pairs),
        "flips": position_bias_of(pairs).n_flipped,
        "failed": dict(sorted(failures.items())),
        "left_out": n_left_out,
    }


def _label_corrected(
    label: str, judged: Sequence[PairResult], results: PairResults
) -> dict[str, Any]:
    """Return a model's win rate as corrected by people's labels, where there are any."""
    settled = [pair for pair in results.without_judge() if label in (pair.left, pair.right)]
    corrected = corrected_rate(label, judged, settled)
    return {} if corrected is None else {"label_corrected": corrected}


def _alpaca_eval(
    label: str, judged: Sequence[PairResult], settings: StandingsSettings
) -> dict[str, Any]:
    """Return the win rate of AlpacaEval 2, where there is a baseline and lengths are controlled."""
    if settings.baseline is None or not settings.length_control or label == settings.baseline:
        return {}
    preferences: list[float] = []
    lengths: list[float] = []
    for pair in judged:
        if settings.baseline in (pair.left, pair.right) and pair.characters is not None:
            # The score, and the first number of characters, are those of the left answer.
            is_left = pair.left == label
            excess = pair.characters[0] - pair.characters[1]
            preferences.append(pair.score if is_left else 1 - pair.score)
            lengths.append(excess if is_left else -excess)
    try:
        rate = length_controlled_rate(
            preferences, lengths, n_resamples=settings.n_resamples, seed=settings.seed
        )
    except UndefinedMetric as error:
        numbers = dict.fromkeys(("value", "ci_lower", "ci_upper", "strength", "length"))
        return {"alpaca_eval_2": {**numbers, "n": len(preferences), "reason": str(error)}}
    return {"alpaca_eval_2": asdict(rate)}


def _standing_json(standing: Standing | None) -> dict[str, Any]:
    names = [column.name for column in fields(Standing)]
    return dict.fromkeys(names) if standing is None else asdict(standing)


def _ranking_json(ranking: Ranking) -> dict[str, Any]:
    return {
        "length_coefficient": None if ranking.length is None else asdict(ranking.length),
        "reason": ranking.reason,
    }
