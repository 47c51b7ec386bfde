"""failure_analysis.json: what went wrong, by category, with examples.

The file is also written when nothing failed: a dashboard could not interpret an absent one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from nel.artifacts.results import Result
from nel.types import ModelFailure, Scored

_EXEMPLARS_MAX = 5
_PREVIEW_CHARACTERS = 500
_VERDICTS = ("runtime_error", "syntax_error", "timeout", "out_of_memory", "output_limit")
"""Of programs, besides ``wrong``."""


class FailureAnalysis:
    """Collects failures in dataset order."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._total = 0
        self._counts: Counter[str] = Counter()
        self._exemplars: dict[str, list[dict[str, object]]] = {}

    def add(self, result: Result) -> None:
        """Note one result, failed or not."""
        self._total += 1
        category = category_of(result)
        if category is None:
            return
        self._counts[category] += 1
        held = self._exemplars.setdefault(category, [])
        if len(held) < _EXEMPLARS_MAX:
            held.append(_exemplar(category, result))

    def as_json(self) -> dict[str, Any]:
        """Return totals, categories and exemplars."""
        failures = self._counts.total()
        categories = {
            name: {"count": count, "rate": count / self._total} for name, count in sorted(self._counts.items())
        }
        return {
            "total": self._total,
            "total_failures": failures,
            "failure_rate": failures / self._total if self._total else 0.0,
            "categories": categories,
            "exemplars": [exemplar for name in sorted(self._exemplars) for exemplar in self._exemplars[name]],
        }


def category_of(result: Result) -> str | None:
    """Return the name of a failure, None for an answer that is right."""
    outcome = result.outcome
    if isinstance(outcome, Scored):
        return _kind_of_wrong(outcome) if outcome.reward <= 0 else None
    return outcome.kind if isinstance(outcome, ModelFailure) else f"{outcome.cause}:{outcome.kind}"


def _kind_of_wrong(outcome: Scored) -> str:
    """Return how a program failed where the sandbox says so, e.g. ``timeout``."""
    verdict = outcome.details.get("verdict")
    return verdict if verdict in _VERDICTS else "wrong_answer"


def _exemplar(category: str, result: Result) -> dict[str, object]:
    outcome, response = result.outcome, result.response
    return {
        "category": category,
        "problem_idx": result.idx,
        "repeat": result.repeat,
        "sample_id": result.sample_id,
        "response_preview": "" if response is None else response.text[:_PREVIEW_CHARACTERS],
        "expected_answer": None if result.sample is None else result.sample.target,
        "extracted_answer": outcome.answer if isinstance(outcome, (Scored, ModelFailure)) else None,
        "detail": str(outcome.details.get("detail") or "") if isinstance(outcome, Scored) else outcome.detail,
    }
