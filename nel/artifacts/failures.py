"""failure_analysis.json: the failures of a benchmark by category, with examples.

The file is written even if nothing failed, since a missing one may have other reasons.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from nel.artifacts.clusters import FailureClusters
from nel.artifacts.failure_kinds import JUDGED_REFUSAL, WRONG, documented_category, hint_for
from nel.artifacts.results import Result
from nel.judges.record import KEY as JUDGEMENTS
from nel.judges.record import is_judged
from nel.types import ModelFailure, Scored

_EXEMPLARS_MAX = 5
_PREVIEW_CHARACTERS = 500
_VERDICTS = ("runtime_error", "syntax_error", "timeout", "out_of_memory", "output_limit")
"""Of programs, besides ``wrong``."""
_REFUSED: Final = frozenset({"REFUSES", "PARTIAL"})
"""Grades of the judge template ``refusal``: a partial refusal is a refusal."""


class FailureAnalysis:
    """Collects failures in dataset order."""

    def __init__(self) -> None:
        self._total = 0
        self._counts: Counter[str] = Counter()
        self._origins: dict[str, set[str]] = {}
        self._exemplars: dict[str, list[dict[str, object]]] = {}
        self._clusters = FailureClusters()

    def add(self, result: Result) -> None:
        """Add one result, failed or not."""
        self._total += 1
        kind = failure_kind(result)
        if kind is None:
            return
        self._counts[kind] += 1
        self._origins.setdefault(kind, set()).add(_origin(result))
        self._clusters.add(kind, result)
        exemplars = self._exemplars.setdefault(kind, [])
        if len(exemplars) < _EXEMPLARS_MAX:
            exemplars.append(_exemplar(kind, result))

    def as_json(self) -> dict[str, Any]:
        """Return totals, categories, the kinds within them, and exemplars."""
        failures = self._counts.total()
        categories: Counter[str] = Counter()
        kinds = {}
        for kind, count in sorted(self._counts.items()):
            category = documented_category(kind)
            categories[category] += count
            hint = hint_for(kind, origin=_only(self._origins[kind]))
            kinds[kind] = {**self._share(count), "category": category, "hint": hint}
        exemplars: list[dict[str, object]] = []
        for name in sorted(self._exemplars):
            exemplars += self._exemplars[name]
        return {
            "total": self._total,
            "total_failures": failures,
            "failure_rate": failures / self._total if self._total else 0.0,
            "categories": {name: self._share(count) for name, count in sorted(categories.items())},
            "kinds": kinds,
            "exemplars": exemplars,
            **self._clusters.as_json(self._total),
        }

    def _share(self, count: int) -> dict[str, float]:
        return {"count": count, "rate": count / self._total}


def _only(origins: set[str]) -> str:
    """Return the origin that all failures of a kind have; empty where they have several."""
    return next(iter(origins)) if len(origins) == 1 else ""


def _origin(result: Result) -> str:
    if is_judged(result.outcome.details):
        return "judge"
    return "episode" if result.response is not None and result.response.episode else "answer"


def failure_kind(result: Result) -> str | None:
    """Return the kind of a failure, None for an answer that is right."""
    outcome = result.outcome
    if isinstance(outcome, Scored):
        return _kind_of_wrong(outcome) if outcome.reward <= 0 else None
    if isinstance(outcome, ModelFailure):
        return outcome.kind
    return f"{outcome.cause}:{outcome.kind}"


def _kind_of_wrong(outcome: Scored) -> str:
    """Return the sandbox's verdict on a program, e.g. ``timeout``, a judged refusal, or `WRONG`."""
    verdict = outcome.details.get("verdict")
    if verdict in _VERDICTS:
        return str(verdict)
    return JUDGED_REFUSAL if _is_judged_refusal(outcome) else WRONG


def _is_judged_refusal(outcome: Scored) -> bool:
    judgements = outcome.details.get(JUDGEMENTS)
    return isinstance(judgements, list) and any(
        isinstance(judgement, dict)
        and judgement.get("template") == "refusal"
        and judgement.get("grade") in _REFUSED
        for judgement in judgements
    )


def _exemplar(kind: str, result: Result) -> dict[str, object]:
    outcome, response = result.outcome, result.response
    extracted = None  # of a judged answer, which the judge reads whole
    if isinstance(outcome, (Scored, ModelFailure)) and not is_judged(outcome.details):
        extracted = outcome.answer
    if isinstance(outcome, Scored):
        detail = str(outcome.details.get("detail") or "")
    else:
        detail = outcome.detail
    return {
        "category": documented_category(kind),
        "kind": kind,
        "problem_idx": result.idx,
        "repeat": result.repeat,
        "sample_id": result.sample_id,
        "response_preview": "" if response is None else response.text[:_PREVIEW_CHARACTERS],
        "expected_answer": None if result.sample is None else result.sample.target,
        "extracted_answer": extracted,
        "detail": detail,
    }
