"""``warnings`` of metrics.json: what speaks against a benchmark's numbers, judges apart.

A warning stays beside the score: on the terminal, in metrics.json, in the report and its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from nel.core.finish_reasons import ending_of
from nel.metrics.accumulator import MetricJson
from nel.types import Outcome, Response, Scored

_REASONS_MAX: Final = 8
"""Distinct unknown finish reasons that are named."""
_CHARACTERS_MAX: Final = 60


def failed_metrics(failed: Sequence[str], rows: Sequence[MetricJson]) -> list[str]:
    """Return a warning for each metric that failed."""
    reasons = {row["name"]: row["reason"] or "" for row in rows}
    return [f"the metric {name} has no value: it {reasons[name]}" for name in failed]


class SharedPasses:
    """Counts passes of programs whose tests shared their process, which is no proof of them."""

    def __init__(self) -> None:
        """Start with none."""
        self.count = 0

    def add(self, outcome: Outcome) -> None:
        """Note one outcome."""
        details = outcome.details if isinstance(outcome, Scored) else {}
        self.count += details.get("mode") == "shared" and details.get("verdict") == "passed"

    def merge(self, other: SharedPasses) -> None:
        """Note the passes of a part."""
        self.count += other.count

    def warnings(self) -> list[str]:
        """Return what stands beside the score; nothing where there are none."""
        if not self.count:
            return []
        passes = "1 pass is" if self.count == 1 else f"{self.count:,} passes are"
        promise = "not proof against a program that attacks its tests, which share its process"
        return [f"{passes} {promise}; --strict-verdicts leaves them unscored"]


class UnknownEndings:
    """Counts the finish reasons whose meaning is not known."""

    def __init__(self, *, is_part: bool = False) -> None:
        """Start with nothing observed.

        Args:
            is_part: It is of a few results, and becomes part of another, which alone knows which names are new.
        """
        self._counts: Counter[str] = Counter()
        self._is_part = is_part

    def add(self, response: Response | None) -> None:
        """Note one response, or that there is none."""
        if response is None or response.error is not None or ending_of(response.finish_reason) != "unknown":
            return
        self._count((response.finish_reason or "")[:_CHARACTERS_MAX], 1)

    def merge(self, later: UnknownEndings) -> None:
        """Note the endings of a part after those that were noted here."""
        for name, n in later._counts.items():
            self._count(name, n)

    def _count(self, name: str, n: int) -> None:
        has_room = self._is_part or name in self._counts or len(self._counts) < _REASONS_MAX
        self._counts[name if has_room else "others"] += n

    def warnings(self) -> list[str]:
        """Return a warning for each of them, most frequent first."""
        return [
            f'{count:,} {"answer" if count == 1 else "answers"} ended with the unknown finish reason "{name}" and '
            "count as complete; look at them in results.jsonl"
            for name, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        ]
