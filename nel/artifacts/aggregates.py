"""aggregates.json: means of a metric over several benchmarks of a run, such as a suite with its
sub-scores or a group of lm-evaluation-harness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from typing_extensions import TypedDict

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.collecting import Collection
from nel.config.schema.run import CATEGORY, split_category
from nel.core.atomic_files import write_file
from nel.core.strict_json import Count, Text, pretty
from nel.metrics.accumulator import COUNTS, Accumulator, BoundsJson, Unit
from nel.metrics.intervals import Interval, no_interval
from nel.metrics.late_numpy import np
from nel.metrics.question_intervals import disjoint_parts, macro_interval
from nel.types import JsonObject

AGGREGATES_NAME: Final = "aggregates.json"
HEADLINES: Final = "headlines"
"""What a mean of headlines is of, where these differ."""
QUESTIONS_MAX: Final = 1 << 40
"""Of one benchmark, by which the numbers of questions of two differ."""
_OPEN: Final[BoundsJson] = {"lower": 0.0, "upper": 1.0}


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
    """Of each benchmark, or category of one, in the mean; empty where one lacks the metric."""
    missing: dict[str, Text]
    """Those without a value, and why: each counts from 0 to 1 in the bounds and in the interval."""
    is_part: bool
    """Whether another mean of the run has all its benchmarks and more."""
    accounting: dict[str, Count]
    """The counts of all its benchmarks together."""
    complete: bool
    """Whether each of its benchmarks is."""


class AggregatesFile(TypedDict):
    """The content of aggregates.json."""

    run_id: Text
    aggregates: list[AggregateJson]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What a mean takes of a benchmark, or of a category of it."""

    slot: str
    size: int
    """Its questions, also those that a sample leaves out."""
    headline: str
    """Of the benchmark."""
    rows: Sequence[JsonObject]
    """As metrics.json has them."""
    accounting: JsonObject
    is_complete: bool
    total: Accumulator

    def name(self, metric: str) -> str:
        """Return what a metric is called here; a category can call the headline otherwise."""
        return self.total.headline_name if metric in ("", self.headline) else metric

    def row(self, metric: str) -> JsonObject:
        """Return the row of a metric; an empty one where the benchmark does not have it."""
        return next((row for row in self.rows if row["name"] == self.name(metric)), {})


def members_of(name: str, result: BenchmarkResult, collected: Collection) -> dict[str, Member]:
    """Return a benchmark and its categories as members of means, by their names.

    Args:
        name: Of the benchmark in the run's configuration.
        result: Of the benchmark.
        collected: Its numbers.
    """
    metrics = result.metrics
    selection, headline = metrics["selection"], metrics["headline"]["metric"]
    all_rows = Member(
        slot=result.slot,
        size=int(selection["of" if selection["kind"] == "sample" else "n"]),
        headline=headline,
        rows=metrics["metrics"],
        accounting=metrics["accounting"],
        is_complete=metrics["complete"],
        total=collected.total,
    )
    members = {name: all_rows}
    n_whole = metrics["accounting"]["n_total"]
    for category, total in collected.categories.by_name().items():
        accounting = total.accounting.as_json()
        members[f"{name}{CATEGORY}{category}"] = Member(
            slot=f"{result.slot}{CATEGORY}{category}",
            size=round(all_rows.size * accounting["n_total"] / n_whole),
            headline=headline,
            rows=total.metrics(),
            accounting=accounting,
            is_complete=metrics["complete"],
            total=total,
        )
    return members


def write_aggregates(
    run_dir: Path,
    run_id: str,
    aggregates: Sequence[JsonObject],
    members: Mapping[str, Member],
) -> None:
    """Write the means over several benchmarks that a run's configuration names.

    Args:
        run_dir: Of the run.
        run_id: Of the run.
        aggregates: Of its configuration.
        members: Its benchmarks and their categories, by their names in the configuration.

    Raises:
        StoppedEarly: The disk is full.
    """
    rows = aggregates_json(aggregates, members)
    write_file(run_dir / AGGREGATES_NAME, [pretty({"run_id": run_id, "aggregates": rows})])


def aggregates_json(
    aggregates: Sequence[JsonObject], members: Mapping[str, Member]
) -> list[JsonObject]:
    """Return the means over several benchmarks.

    Args:
        aggregates: Of the run's configuration.
        members: The benchmarks of the run and their categories, by their names there.
    """
    means = {aggregate["name"]: aggregate for aggregate in aggregates}
    sets = []
    for aggregate in aggregates:
        names = _shares(aggregate, means, members).keys()
        sets.append((aggregate["metric"], names))
    rows: list[JsonObject] = []
    for aggregate, (metric, names) in zip(aggregates, sets, strict=True):
        # Fewer benchmarks than another mean of the same metric, and none beside its own.
        is_part = any(
            metric == outer_metric and names < outer_names for outer_metric, outer_names in sets
        )
        rows.append({**_mean_json(aggregate, means, members), "is_part": is_part})
    return rows


def _mean_json(
    aggregate: JsonObject,
    means: Mapping[str, JsonObject],
    members: Mapping[str, Member],
) -> JsonObject:
    """Return a mean; without a value where a benchmark has none, since fewer make another one."""
    metric: str = aggregate["metric"]
    shares = _shares(aggregate, means, members)
    present = {name: members[name] for name in shares if name in members}
    rows = {name: member.row(metric) for name, member in present.items()}
    slots = {name: present[name].slot if name in present else name for name in shares}
    missing_reasons = _missing(slots, rows, means.values())
    document: JsonObject = {
        "aggregate": aggregate["name"],
        **_counts(metric, present, rows),
        "value": None,
        "bounds": None,
        "weights": {},
        "missing": missing_reasons,
        "complete": not missing_reasons and all(member.is_complete for member in present.values()),
    }
    lacking = [slots[name] for name, row in rows.items() if not row]
    if lacking or not present:
        reason = f"no value of {metric}: {', '.join(lacking)}" if lacking else "nothing was asked"
        return {**document, **no_interval(reason).as_json()}
    interval = _interval(metric, present, shares, missing_reasons)
    reasons = [f"without {name}: {why}" for name, why in missing_reasons.items()]
    if interval.reason:
        reasons.append(interval.reason)
    value = None
    if not missing_reasons:
        value = _mean(shares, {name: row["value"] for name, row in rows.items()})
    return {
        **document,
        "value": value,
        **interval.as_json(),
        "reason": "; ".join(reasons) or None,
        "bounds": _bounds(shares, rows),
        "weights": {slots[name]: float(share) for name, share in shares.items()},
    }


def _counts(
    metric: str, present: Mapping[str, Member], rows: Mapping[str, JsonObject]
) -> JsonObject:
    names = {row["name"] for row in rows.values() if row}
    return {
        "name": metric or (names.pop() if len(names) == 1 else HEADLINES),
        "n": sum(row.get("n", 0) for row in rows.values()),
        "unit": "rate" if all(row.get("unit") == "rate" for row in rows.values()) else "number",
        "accounting": {
            name: sum(member.accounting[name] for member in present.values()) for name in COUNTS
        },
    }


def _shares(
    aggregate: JsonObject,
    means: Mapping[str, JsonObject],
    members: Mapping[str, Member],
) -> dict[str, Fraction]:
    """Return the weight of each benchmark in a mean, through the means it is of; together 1."""
    # A mean may be of other means, whose benchmarks share its weight. Fractions, so that the sum is
    # 1 exactly, and a third of a third is a ninth.
    shares_below = []
    for name in aggregate["benchmarks"]:
        if name in means:
            shares_below.append(_shares(means[name], means, members))
        else:
            shares_below.append({name: Fraction(1)})
    weights: Sequence[float] = aggregate["weights"] or [1] * len(shares_below)
    if aggregate["weight_by_size"] and not aggregate["weights"]:
        weights = [
            sum(members[name].size for name in shares if name in members) for shares in shares_below
        ]
    total = sum(map(Fraction, weights)) or Fraction(1)
    together: dict[str, Fraction] = {}
    for shares, weight in zip(shares_below, weights, strict=True):
        for name, share in shares.items():
            together[name] = together.get(name, Fraction(0)) + share * Fraction(weight) / total
    return together


def _missing(
    slots: Mapping[str, str],
    rows: Mapping[str, JsonObject],
    means: Iterable[JsonObject],
) -> dict[str, str]:
    """Return by slot why a benchmark has no value; one that lacks the metric is not missing."""
    reasons = {}
    for name, slot in slots.items():
        row = rows.get(name)
        if row is None:
            noted = (aggregate["missing"].get(name) for aggregate in means)
            reasons[slot] = next(filter(None, noted), "no question of it was asked")
        elif row and row["value"] is None:
            reasons[slot] = str(row["reason"] or "nothing was scored")
    return reasons


def _bounds(shares: Mapping[str, Fraction], rows: Mapping[str, JsonObject]) -> BoundsJson | None:
    ends = {name: rows[name]["bounds"] if name in rows else _OPEN for name in shares}
    if None in ends.values():
        return None
    return {
        "lower": _mean(shares, {name: both["lower"] for name, both in ends.items()}),
        "upper": _mean(shares, {name: both["upper"] for name, both in ends.items()}),
    }


def _mean(shares: Mapping[str, Fraction], values: Mapping[str, float]) -> float:
    return float(sum(share * Fraction(values[name]) for name, share in shares.items()))


def _interval(
    metric: str,
    members: Mapping[str, Member],
    shares: Mapping[str, Fraction],
    missing_names: Iterable[str],
) -> Interval:
    left_out = set(missing_names)
    scored = {name: each for name, each in members.items() if each.slot not in left_out}
    numbers: dict[str, int] = {}
    parts, questions = [], []
    for title, member in scored.items():
        name = member.name(metric)
        series = member.total.shares(name)
        if series is None:
            reason = member.row(metric)["reason"] or "not a mean of single questions from 0 to 1"
            return no_interval(f"{name} of {member.slot}: {reason}")
        parts.append(np.array(series.question_means(), dtype=np.float64))
        # Categories of one benchmark have questions of it, so that one question may be in two.
        benchmark, _ = split_category(title)
        first = numbers.setdefault(benchmark, len(numbers)) * QUESTIONS_MAX
        questions.append(np.array(series.questions, dtype=np.int64) + first)
    if not scored:
        return no_interval("nothing was scored")
    weights = [float(shares[name]) for name in scored]
    parts, weights = disjoint_parts(parts, questions, weights)
    return macro_interval(parts, weights=weights)
