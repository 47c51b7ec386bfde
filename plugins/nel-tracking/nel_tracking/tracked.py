"""What trackers of experiments are given of a benchmark: its numbers, its settings and its
files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nel.core.json_values import is_number
from nel.core.strict_json import dumps_unless_text
from nel.reports.run_files import BenchmarkFiles

_COUNTS: Final = ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")
_FILES: Final = ("results.jsonl", "metrics.json", "failure_analysis.json", "runtime_stats.json")
_BOUNDS: Final = ("ci_lower", "ci_upper")
_ADDRESS: Final = "base_url"


def numbers_of(files: BenchmarkFiles) -> dict[str, float]:
    """Return every metric that has a value, its interval, the counts and the value of each
    category.
    """
    metrics = files.metrics
    headline = metrics.get("headline") or {}
    listed = {str(number["name"]): number for number in metrics["metrics"]}
    listed = {
        str(headline["metric"]): {**listed.get(str(headline["metric"]), {}), **headline},
        **listed,
    }
    numbers: dict[str, float] = {}
    for name, number in listed.items():
        values = {
            name: number.get("value"),
            **{f"{name}/{bound}": number.get(bound) for bound in _BOUNDS},
        }
        numbers |= {key: float(value) for key, value in values.items() if is_number(value)}
    numbers |= {name: float(metrics["accounting"].get(name) or 0) for name in _COUNTS}
    for category, number in (metrics.get("categories") or {}).items():
        if is_number(number.get("value")):
            numbers[f"category/{category}"] = float(number["value"])
    return numbers


def settings_of(files: BenchmarkFiles) -> dict[str, str]:
    """Return the settings of a benchmark as texts, nested ones by their path; the endpoint's
    address is left out.
    """
    return dict(_flat("", {**files.bundle["config"], "identity": files.bundle.get("identity")}))


def files_of(files: BenchmarkFiles) -> list[Path]:
    """Return the files of a benchmark that a tracker keeps; none of them has a key."""
    named = [files.directory / name for name in _FILES]
    return [
        *sorted(files.directory.glob("eval-*.json")),
        *(path for path in named if path.is_file()),
    ]


def _flat(prefix: str, value: Mapping[str, Any]) -> list[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for name, element in value.items():
        if element is None or name == _ADDRESS:
            continue
        if isinstance(element, dict):
            flat += _flat(f"{prefix}{name}.", element)
        else:
            flat.append((f"{prefix}{name}", dumps_unless_text(element)))
    return flat
