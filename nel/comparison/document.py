"""A comparison as JSON, as ``nel compare --json`` prints it; reads the texts of its flips."""

from __future__ import annotations

from typing import Any, Final

from nel.comparison.compare import BenchmarkComparison, Candidate, Comparison
from nel.comparison.fields import other_differences
from nel.comparison.flips import Flip, flips, moved_means
from nel.comparison.measures import Measure
from nel.comparison.sides import Side, Texts
from nel.decide.paired import PairedDifference
from nel.version import __version__

FORMAT: Final = 1
_NOT_SETTINGS: Final = ("output.", "observability.", "run_id")
"""Keys of run.yaml that say nothing of the answers."""


def comparison_json(comparison: Comparison, *, flips_max: int) -> dict[str, Any]:
    """Return the comparison.

    Args:
        comparison: What was compared.
        flips_max: So many samples that changed are in it with their texts, for each benchmark.
    """
    settings = comparison.settings
    return {
        "format": FORMAT,
        "sdk": f"nel {__version__}",
        "baseline": side_json(comparison.baseline),
        "settings": {
            "level": settings.level,
            "margin": settings.margin,
            "seed": settings.seed,
            "despite": sorted(comparison.despite),
            "family": {"n": comparison.family, "adjustment": "holm"},
        },
        "candidates": [
            _candidate_json(comparison.baseline, candidate, flips_max)
            for candidate in comparison.candidates
        ],
    }


def side_json(side: Side) -> dict[str, object]:
    """Return what a side is."""
    return {
        "label": side.label,
        "kind": side.kind,
        "run_id": side.run_id,
        "models": list(side.models),
    }


def measure_json(measured: Measure) -> dict[str, Any]:
    """Return a measure."""
    return {
        "metric": measured.metric,
        "unit": measured.unit,
        "n_pairs": measured.n_pairs,
        "n_scored": measured.n_scored,
        "baseline": measured.baseline,
        "candidate": measured.candidate,
        "difference": None if measured.tested is None else _difference_json(measured.tested),
        "bounds": _bounds_json(measured),
        "p_adjusted": measured.p_adjusted,
        "verdict": str(measured.verdict),
        "reason": measured.reason or None,
        "notes": list(measured.notes),
    }


def _candidate_json(baseline: Side, candidate: Candidate, flips_max: int) -> dict[str, object]:
    side = candidate.side
    names = {*baseline.settings, *side.settings}
    if not baseline.kind == side.kind == "nel":  # other tools record few of them
        names = baseline.settings.keys() & side.settings.keys()
    settings = [
        difference
        for difference in other_differences(baseline.settings, side.settings)
        if difference[0] in names and not difference[0].startswith(_NOT_SETTINGS)
    ]
    return {
        **side_json(side),
        "only_baseline": list(candidate.only_baseline),
        "only_candidate": list(candidate.only_candidate),
        "settings_differ": [_pair(*difference) for difference in settings],
        "benchmarks": [
            benchmark_json(compared, flips_max=flips_max) for compared in candidate.benchmarks
        ],
        "aggregates": [
            {
                "aggregate": aggregate.name,
                "is_part": aggregate.is_part,
                "weights": dict(aggregate.weights),
                "missing": dict(aggregate.missing),
                "headline": measure_json(aggregate.headline),
            }
            for aggregate in candidate.aggregates
        ],
    }


def benchmark_json(compared: BenchmarkComparison, *, flips_max: int) -> dict[str, Any]:
    """Return one benchmark."""
    pairing = compared.pairing
    columns = pairing.baseline.columns, pairing.candidate.columns
    difference = compared.headline.tested
    examples = [_flip_json(flip) for flip in flips(compared, flips_max)] if flips_max else []
    return {
        "benchmark": compared.name,
        "candidate_benchmark": compared.candidate.name,
        "pairs": {
            "by": pairing.key,
            "n": len(pairing),
            "n_only_baseline": pairing.n_only_baseline,
            "n_only_candidate": pairing.n_only_candidate,
            "n_changed": pairing.n_changed,
            "n_not_asked": compared.n_not_asked,
            "n_not_scored": len(compared.scores.baseline) - compared.headline.n_scored,
        },
        "differs": [
            {"part": field.part, **_pair(field.field, field.baseline, field.candidate)}
            for field in compared.differs
        ],
        "unchecked": list(compared.unchecked),
        "headline": measure_json(compared.headline),
        "metrics": [measure_json(measured) for measured in compared.metrics],
        "slices": [measure_json(measured) for measured in compared.slices],
        "repeats": [
            None
            if parts is None
            else {name: getattr(parts, name) for name in ("between", "within", "repeats")}
            for parts in compared.repeats
        ],
        "moved": {
            name: {"baseline": pair[0], "candidate": pair[1]}
            for name, pair in moved_means(compared).items()
        },
        "models": [dict(sorted(side.models.items())) for side in columns],
        "causes": [dict(sorted(side.causes.items())) for side in columns],
        "fields_differ": [
            _pair(*field)
            for field in other_differences(compared.baseline.fields, compared.candidate.fields)
        ],
        "n_prompts_differ": pairing.n_prompts_differ,
        "flips": {
            "n_lost": 0 if difference is None else difference.losses,
            "n_won": 0 if difference is None else difference.wins,
            "shown_max": flips_max,
            "shown": examples,
        },
        "cautions": list(compared.cautions),
    }


def _pair(name: str, baseline: object, candidate: object) -> dict[str, object]:
    return {"field": name, "baseline": baseline, "candidate": candidate}


def _difference_json(difference: PairedDifference) -> dict[str, object]:
    return {
        "value": difference.estimate,
        "ci_lower": difference.lower,
        "ci_upper": difference.upper,
        "ci_level": difference.level,
        "ci_method": difference.interval_method,
        "p_value": difference.p_value,
        "test": difference.test_method,
        "n": difference.n,
        "n_clusters": difference.n_clusters,
        "wins": difference.wins,
        "losses": difference.losses,
        "ties": difference.ties,
        "standard_error": difference.standard_error,
        "smallest_detectable": difference.smallest_detectable,
        "naive_ci_lower": difference.naive_lower,
        "naive_ci_upper": difference.naive_upper,
    }


def _bounds_json(measured: Measure) -> dict[str, object] | None:
    if measured.bounds is None:
        return None
    against, in_favour = measured.bounds
    return {
        "lower": against.estimate,
        "upper": in_favour.estimate,
        "ci_lower": against.lower,
        "ci_upper": in_favour.upper,
    }


def _flip_json(flip: Flip) -> dict[str, object]:
    return {
        "sample_id": flip.baseline.sample_id,
        "category": flip.category,
        "prompt": flip.baseline.prompt,
        "expected": flip.baseline.expected,
        "baseline": _answer_json(flip.baseline, flip.baseline_score),
        "candidate": _answer_json(flip.candidate, flip.candidate_score),
    }


def _answer_json(texts: Texts, score: float) -> dict[str, object]:
    return {
        "score": score,
        "response": texts.response,
        "extracted": texts.extracted,
        "outcome": texts.outcome,
    }
