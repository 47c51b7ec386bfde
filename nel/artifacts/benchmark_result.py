"""What a benchmark of a run came to, as its artifacts hold it. Depends on their JSON alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nel.errors import EXIT_DONE, EXIT_UNSCORED
from nel.types import JsonObject


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


def exit_code_of(metrics: Iterable[JsonObject], unscored_rate_max: float) -> int:
    """Return the exit code of a whole run: 3 if too much is unscored or a metric failed.

    Args:
        metrics: The content of metrics.json of each benchmark.
        unscored_rate_max: The share of unscored samples that is tolerated.
    """
    for of_benchmark in metrics:
        accounting = of_benchmark["accounting"]
        n_asked = accounting["n_total"] - accounting["n_not_asked"]
        is_over = accounting["n_unscored"] > unscored_rate_max * n_asked
        if is_over or of_benchmark["failed_metrics"]:
            return EXIT_UNSCORED
    return EXIT_DONE
