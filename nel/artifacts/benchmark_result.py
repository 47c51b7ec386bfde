"""What a benchmark of a run came to, as its artifacts hold it. Depends on their JSON alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """One benchmark's numbers, as the artifacts hold them."""

    name: str
    slot: str
    directory: Path
    metrics: dict[str, Any] = field(repr=False)
    """The content of metrics.json."""
    bundle: dict[str, Any] = field(repr=False)
    """The content of eval-<benchmark>.json."""

    @property
    def headline(self) -> dict[str, Any]:
        """Return the headline metric with interval and bounds."""
        headline: dict[str, object] = self.metrics["headline"]
        return headline

    @property
    def failed_metrics(self) -> list[str]:
        """Return the names of metrics that raised or gave no number."""
        failed: list[str] = self.metrics["failed_metrics"]
        return failed

    @property
    def accounting(self) -> dict[str, Any]:
        """Return the counts of the accounting, with their parts.

        ``n_total``, ``n_scored``, ``n_model_failure``, ``n_unscored`` and ``n_not_asked``.
        """
        accounting: dict[str, object] = self.metrics["accounting"]
        return accounting
