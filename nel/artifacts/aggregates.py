"""aggregates.json: means of a metric over several benchmarks of a run, such as a group of
lm-evaluation-harness.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typing_extensions import TypedDict

from nel.core.atomic_files import write_file
from nel.core.strict_json import Count, Text, pretty
from nel.metrics.accumulator import Accumulator, BoundsJson, Unit
from nel.metrics.intervals import Interval, no_interval
from nel.metrics.late_numpy import np
from nel.metrics.question_intervals import macro_interval
from nel.types import JsonObject

AGGREGATES_NAME: Final = "aggregates.json"
_COUNTS: Final = ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")


class AggregateJson(TypedDict):
    """A mean of one metric over several benchmarks."""

    aggregate: Text
    """What it is called in the run's configuration."""
    name: Text
    """Of the metric."""
    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_method: str
    reason: str | None
    """Why it has no interval, or no value."""
    bounds: BoundsJson | None
    n: Count
    unit: Unit
    weights: dict[str, float]
    """Of each benchmark in the mean; empty where one of them is missing."""
    accounting: dict[str, Count]
    """The counts of all its benchmarks together."""
    complete: bool
    """Whether each of its benchmarks is."""


class AggregatesFile(TypedDict):
    """The content of aggregates.json."""

    run_id: Text
    aggregates: list[AggregateJson]


@dataclass(frozen=True, slots=True)
class Member:
    """What an aggregate takes of a benchmark."""

    slot: str
    metrics: Mapping[str, Any]
    """The content of metrics.json."""
    total: Accumulator

    @property
    def size(self) -> int:
        """Return the number of its questions, also of those that a sample leaves out."""
        selection = self.metrics["selection"]
        return int(selection["of" if selection["kind"] == "sample" else "n"])

    def row(self, metric: str) -> Mapping[str, Any]:
        """Return the row of a metric; an empty one where the benchmark does not have it."""
        named = (row for row in self.metrics["metrics"] if row["name"] == metric)
        return next(named, {})


def write_aggregates(
    run_dir: Path,
    run_id: str,
    aggregates: Iterable[Mapping[str, Any]],
    members: Mapping[str, Member],
) -> None:
    """Write the means over several benchmarks that a run's configuration names.

    Args:
        run_dir: Of the run.
        run_id: Of the run.
        aggregates: Of its configuration.
        members: Its benchmarks, by their names in the configuration.

    Raises:
        StoppedEarly: The disk is full.
    """
    rows = [aggregate_json(aggregate, members) for aggregate in aggregates]
    write_file(run_dir / AGGREGATES_NAME, [pretty({"run_id": run_id, "aggregates": rows})])


def aggregate_json(aggregate: Mapping[str, Any], members: Mapping[str, Member]) -> JsonObject:
    """Return the mean of a metric over the benchmarks of an aggregate.

    It has no value where one of them has none: a mean of fewer is another number.

    Args:
        aggregate: An entry of the run's configuration.
        members: The benchmarks of the run, by their names in the configuration.
    """
    metric: str = aggregate["metric"]
    names: Sequence[str] = aggregate["benchmarks"]
    present = [members[name] for name in names if name in members]
    rows = [member.row(metric) for member in present]
    missing = [name for name in names if name not in members]
    missing += [member.slot for member in present if member.row(metric).get("value") is None]
    counts = [member.metrics["accounting"] for member in present]
    document: JsonObject = {
        "aggregate": aggregate["name"],
        "name": metric,
        "value": None,
        **no_interval(f"no value of {metric}: {', '.join(missing)}").as_json(),
        "bounds": None,
        "n": sum(row.get("n", 0) for row in rows),
        "unit": "rate" if all(row.get("unit") == "rate" for row in rows) else "number",
        "weights": {},
        "accounting": {name: sum(of_member[name] for of_member in counts) for name in _COUNTS},
        "complete": len(present) == len(names) and all(m.metrics["complete"] for m in present),
    }
    if missing:
        return document
    sizes = [member.size if aggregate["weight_by_size"] else 1 for member in present]
    weights = {member.slot: size / sum(sizes) for member, size in zip(present, sizes, strict=True)}
    return {
        **document,
        "value": _mean(sizes, [row["value"] for row in rows]),
        **_interval(metric, present, [*weights.values()]).as_json(),
        "bounds": _bounds(sizes, [row["bounds"] for row in rows]),
        "weights": weights,
    }


def _bounds(sizes: Sequence[int], bounds: Sequence[BoundsJson | None]) -> BoundsJson | None:
    whole = [both for both in bounds if both is not None]
    if len(whole) < len(bounds):
        return None
    return {
        "lower": _mean(sizes, [both["lower"] for both in whole]),
        "upper": _mean(sizes, [both["upper"] for both in whole]),
    }


def _mean(sizes: Sequence[int], values: Sequence[float]) -> float:
    return math.fsum(size * value for size, value in zip(sizes, values, strict=True)) / sum(sizes)


def _interval(metric: str, members: Sequence[Member], weights: Sequence[float]) -> Interval:
    shares = [member.total.shares(metric) for member in members]
    for member, values in zip(members, shares, strict=True):
        if values is None:
            return no_interval(
                f"{metric} of {member.slot} is not a mean of single questions from 0 to 1"
            )
    parts = [np.array(values, dtype=np.float64) for values in shares]
    return macro_interval(parts, weights=weights)
