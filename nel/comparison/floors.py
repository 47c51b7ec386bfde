"""Holds the metrics of one run, by the ends of their intervals, against ``--fail-under`` floors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from nel.artifacts.aggregates import AGGREGATES_NAME
from nel.comparison.aggregates import member_ends
from nel.comparison.agreement import check_interval, design_of, series_of
from nel.comparison.decision import (
    Decision,
    DecisionCheck,
    GatedBenchmark,
    breaches,
    decide,
    would_pass,
)
from nel.comparison.lines import Floats
from nel.comparison.nel_runs import read_side
from nel.comparison.questions import questions_of
from nel.comparison.sides import Side, readable
from nel.core.paths import as_argument
from nel.core.reward_keys import aliases
from nel.decide.policy import ResolvedRule
from nel.decide.verdict import GateDecision
from nel.errors import ConfigError, OutputError, UsageError, did_you_mean
from nel.metrics.added_question import ADDED, added_question_ends
from nel.metrics.intervals import ANYTIME, LEVEL, Interval
from nel.metrics.quantiles import interval_quantile
from nel.metrics.question_intervals import (
    FEW,
    T_OF_FEW,
    Design,
    disjoint_parts,
    macro_interval,
    question_interval,
    questions_until,
)
from nel.metrics.series import Series
from nel.reports.run_files import BenchmarkFiles, read_aggregates
from nel.reports.run_warnings import CALIBRATION, texts_of
from nel.reports.whole_run import read_finished_run
from nel.types import JsonObject

_KIND: Final = "floor"
_FEWEST: Final = 2
_NEAR_ONE: Final = 0.9
"""Above it the upper end of Wilson's interval errs too often with few questions."""
_PERCENT: Final = 100
_SHARES: Final = re.compile(r"accuracy|(?:.+/)?(?:pass_at|pass_k|at_least)_\d+|pass@\d+")
"""Metrics that are shares whatever the benchmark, so that a floor is checked before a run:
``accuracy``, ``accuracy/pass_at_3``, ``pass@1``.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The least value of a metric."""

    metric: str
    """``METRIC`` of every benchmark that has it, or ``NAME:METRIC`` of a benchmark or a mean."""
    value: float


@dataclass(slots=True, kw_only=True)
class _Demand:
    """A metric of a benchmark, or a mean over several, held against a floor."""

    benchmark: str
    floor: Floor
    row: JsonObject
    blockers: list[str] = field(default_factory=list)
    lowest: Series = field(default_factory=Series)
    """Its values with every unscored sample as wrong; none where lines do not give them."""
    highest: Series = field(default_factory=Series)
    """With every one as right."""
    design: Design = field(default_factory=Design)
    lows: Sequence[Floats] = ()
    """Of a mean, the values of each part with every unscored sample as wrong."""
    highs: Sequence[Floats] = ()
    """With every one as right."""
    weights: Sequence[float] = ()
    """Of each part; what they lack of 1 is missing, and counts from 0 to 1."""

    def span(self, level: float) -> tuple[float, float] | None:
        """Return the interval of the metric, as far as unscored samples could move it."""
        row = self.row
        if self.lows:
            return _outer_ends(
                macro_interval(self.lows, weights=self.weights, level=level),
                macro_interval(self.highs, weights=self.weights, level=level),
            )
        if row["value"] is None or row["ci_lower"] is None or row["ci_upper"] is None:
            return None
        if row["ci_method"] == ANYTIME and level > row["ci_level"]:
            return None  # its width at another level does not follow from a normal distribution
        if row["ci_method"] == "t" and row["n_questions"] < FEW:
            return None
        if self.lowest.n and "new_questions" not in row:
            return _outer_ends(
                question_interval(self.lowest, self.design, level=level),
                question_interval(self.highest, self.design, level=level),
            )
        # Lines do not give the values: the written interval, scaled from its level to this one,
        # around what the value may be.
        factor = interval_quantile(level) / interval_quantile(row["ci_level"])
        below = (row["value"] - row["ci_lower"]) * factor
        above = (row["ci_upper"] - row["value"]) * factor
        bounds = row["bounds"] or {"lower": row["value"], "upper": row["value"]}
        return bounds["lower"] - below, bounds["upper"] + above

    def is_breached(self, level: float) -> bool:
        """Return whether the metric is under its floor at a level."""
        span = self.span(level)
        return span is not None and self.deciding_end(span[1], level) < self.floor.value

    def deciding_end(self, upper: float, level: float) -> float:
        """Return the upper end that a breach rests on.

        Wilson's upper end near 1 misses up to 14 % with few questions; there the end of one
        question more decides, which misses at most 2.4 %.
        """
        is_few = self.row["ci_method"] == "wilson" and self.row["n_questions"] < FEW
        if not is_few or upper <= _NEAR_ONE or not self.highest.n:
            return upper
        return added_question_ends(self.highest.question_means(), level=level)[1]

    def reason(self, status: GateDecision) -> str:
        """Return what would decide where nothing is decided, and a caution about the interval."""
        if not self.lowest.n:
            return ""
        questions = None
        can_pass = not (self.blockers or "new_questions" in self.row)
        if can_pass and status is GateDecision.INCONCLUSIVE:
            questions = questions_until(self.lowest, self.design, self.floor.value)
        caution = question_interval(self.lowest, self.design).caution
        return "; ".join(filter(None, [would_pass(questions), caution]))


def _outer_ends(lowest: Interval, highest: Interval) -> tuple[float, float] | None:
    """Return the lower end of one interval and the upper end of another; None where one has none.

    Args:
        lowest: With every unscored sample as wrong.
        highest: With every one as right.
    """
    if lowest.lower is None or highest.upper is None:
        return None
    return lowest.lower, highest.upper


def read_floors(arguments: Sequence[str]) -> list[Floor]:
    """Return what ``METRIC=VALUE`` and ``BENCHMARK:METRIC=VALUE`` say.

    Raises:
        ConfigError: One is not of that form, or no share can reach it.
    """
    floors = []
    for argument in arguments:
        name, separator, text = argument.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not separator or not name.strip() or not math.isfinite(value):
            raise ConfigError(
                f'--fail-under "{argument}" is not METRIC=VALUE, such as accuracy=0.8'
            )
        floor = Floor(metric=name.strip(), value=value)
        if _SHARES.fullmatch(floor.metric.rpartition(":")[2]):
            _check_range(floor, floor.metric)
        floors.append(floor)
    return floors


def hold(run_dir: Path, floors: Sequence[Floor]) -> Decision:
    """Return the decision over the metrics of a finished run.

    Raises:
        OutputError: The run is not finished, or its artifacts are damaged.
        UsageError: No benchmark has a metric that is named, or a benchmark has a single sample.
    """
    benchmarks = read_finished_run(run_dir)
    with readable(run_dir):
        means = read_aggregates(run_dir)
        rows = [row for floor in floors for row in _demands_of(benchmarks, means, floor)]
        _check_results(run_dir, benchmarks, rows)
        breached = breaches(rows, LEVEL)
        return decide([_gate(row, breached) for row in rows], LEVEL)


def _check_results(
    run_dir: Path, benchmarks: Sequence[BenchmarkFiles], demands: Sequence[_Demand]
) -> None:
    """Refuse numbers of metrics.json that are not those of the samples beside it."""
    side = read_side(run_dir, run_dir.name)
    for demand in demands:
        if "aggregate" in demand.row and demand.row["ci_lower"] is not None:
            _add_members(run_dir, demand, side)
    for files in benchmarks:
        of_benchmark = [
            demand
            for demand in demands
            if demand.benchmark == files.title and "aggregate" not in demand.row
        ]
        if not of_benchmark:
            continue
        columns = side.benchmarks[files.title].columns(rows=False)
        questions_of(columns, "sample", str(files.directory))  # refuses what stands there twice
        for demand in of_benchmark:
            check_interval(files, columns, demand.row)
        headline = files.metrics["headline"]["metric"]
        for demand in of_benchmark:
            if demand.row["ci_method"] != ANYTIME:
                demand.lowest, demand.highest = series_of(columns, demand.row, headline)
                demand.design = design_of(columns)


def _add_members(run_dir: Path, demand: _Demand, side: Side) -> None:
    """Add the values of a mean's members, and refuse an interval that is not theirs."""
    row = demand.row
    by_directory = {benchmark.directory: benchmark for benchmark in side.benchmarks.values()}
    members = member_ends(row, by_directory)
    if members.keys() != row["weights"].keys() - row["missing"].keys():
        return
    weights = [row["weights"][slot] for slot in members]
    questions, means, lows, highs = zip(*members.values(), strict=True)
    are_scored = [~np.isnan(values) for values in means]
    scored = [values[pairs] for values, pairs in zip(means, are_scored, strict=True)]
    numbers = [question[pairs] for question, pairs in zip(questions, are_scored, strict=True)]
    parts, shares = disjoint_parts(scored, numbers, weights)
    interval = macro_interval(parts, weights=shares)
    for name, end in (("ci_lower", interval.lower), ("ci_upper", interval.upper)):
        if end is None or not math.isclose(end, row[name], rel_tol=0, abs_tol=1e-9):
            raise OutputError(
                f"{run_dir / AGGREGATES_NAME}: {name} of {row['aggregate']} is {row[name]}, and"
                f" {end} by the lines of its benchmarks; write it again with nel report"
                f" {as_argument(run_dir)}"
            )
    demand.lows, demand.weights = disjoint_parts(lows, questions, weights)
    demand.highs, _ = disjoint_parts(highs, questions, weights)


def _demands_of(
    benchmarks: Sequence[BenchmarkFiles], means: Sequence[JsonObject], floor: Floor
) -> list[_Demand]:
    # The whole text is a metric first, since the name of one may have a colon itself.
    rows = [demand for files in benchmarks for demand in _rows(files, floor.metric, floor)]
    name, _, metric = floor.metric.partition(":")
    if not rows:
        titled = [files for files in benchmarks if files.title == name and metric]
        rows = [demand for files in titled for demand in _rows(files, metric, floor)]
    # Of no benchmark, the name may be that of a mean over several.
    titles = {f"{row['aggregate']}:{row['name']}": row for row in means}
    if not rows and floor.metric in titles:
        mean = titles[floor.metric]
        row = {**mean, "ci_level": LEVEL, "n_questions": mean["n"]}
        _check_range(floor, floor.metric)
        rows = [_Demand(benchmark=row["aggregate"], floor=floor, row=row)]
        rows[0].blockers += _missing_of_mean(row)
    if not rows:
        metrics = {str(row["name"]) for files in benchmarks for row in files.metrics["metrics"]}
        names = [*sorted(metrics), *titles]
        hint = did_you_mean(floor.metric, names, or_all="; it has ")
        raise UsageError(f'the run has no metric "{floor.metric}"{hint}')
    return rows


def _rows(files: BenchmarkFiles, metric: str, floor: Floor) -> list[_Demand]:
    rows = [row for row in files.metrics["metrics"] if str(row["name"]).strip() == metric]
    if not rows and metric in files.bundle["benchmark"]["scores"]:
        names = [row["name"] for row in files.metrics["metrics"]]
        of_aliases = aliases(files.metrics["headline"]["metric"], names, is_binary=True)
        rows = [row for row in files.metrics["metrics"] if row["name"] == of_aliases.get(metric)]
    if rows and metric in files.metrics["lower_is_better"]:
        raise UsageError(
            f"--fail-under {floor.metric}={floor.value:g}: less is better of {metric} of"
            f" {files.title}, so a least value decides nothing; compare with a baseline by nel gate"
        )
    demands = [_Demand(benchmark=files.title, floor=floor, row=row) for row in rows]
    for demand in demands:
        if demand.row["n_questions"] == 1 and files.metrics["accounting"]["n_total"] < _FEWEST:
            raise UsageError(f"{files.title} has a single sample; nothing can be decided on it")
        if demand.row["bounds"] is not None:
            _check_range(floor, f"{metric} of {files.title}")
        demand.blockers += _missing(demand.row)
        if files.metrics["accounting"]["n_unscored"] and demand.row["bounds"] is None:
            demand.blockers.append("samples are unscored, and what they could change is not known")
        if metric in files.metrics["failed_metrics"]:
            demand.blockers.append("the metric failed")
        demand.blockers += [
            f"calibration of the judge: {text}" for text in texts_of(files.metrics, (CALIBRATION,))
        ]
    return demands


def _missing_of_mean(row: JsonObject) -> list[str]:
    """Return why a mean cannot pass a floor; empty where it can."""
    if row["ci_lower"] is None:
        return [f"there is no interval: {row['reason']}"]
    return [f"without {name}: {why}" for name, why in row["missing"].items()]


def _check_range(floor: Floor, share: str) -> None:
    """Raise ConfigError where a floor of a share is not between 0 and 1."""
    if 0 <= floor.value <= 1:
        return
    percent = ""
    if 0 < floor.value <= _PERCENT:
        percent = f"; {floor.value / _PERCENT:g} is {floor.value:g} %"
    raise ConfigError(
        f"--fail-under {floor.metric}={floor.value:g}: {share} lies between 0 and 1{percent}"
    )


def _missing(row: JsonObject) -> list[str]:
    """Return why nothing can rest on a metric; empty where something can."""
    if row["value"] is None:
        return [f"nothing was measured: {row['reason']}"]
    if row["ci_lower"] is None:
        return [f"there is no interval: {row['reason']}"]
    if row["ci_method"] == "t" and row["n_questions"] < FEW:
        return [T_OF_FEW.format(row["n_questions"])]
    return []


def _gate(demand: _Demand, breached: Mapping[int, float]) -> GatedBenchmark:
    lower, upper = demand.span(LEVEL) or (None, None)
    method = demand.row["ci_method"]
    if upper is not None and upper < demand.floor.value:
        # What is shown is the end that the breach rests on, with the method it is by.
        end = demand.deciding_end(upper, LEVEL)
        if end != upper:
            method = f"{method}, upper end {ADDED}"
        upper = end
    status = GateDecision.INCONCLUSIVE
    if id(demand) in breached:
        status = GateDecision.NO_GO
    elif lower is not None and lower >= demand.floor.value:
        status = GateDecision.GO
    check = DecisionCheck(
        kind=_KIND,
        limit=demand.floor.value,
        status=status,
        reason=demand.reason(status),
        lower=lower,
        upper=upper,
        level=LEVEL,
        method=method,
        breach_level=breached.get(id(demand)),
    )
    return GatedBenchmark(
        name=demand.benchmark,
        rule=ResolvedRule(),
        metric=str(demand.row["name"]),
        checks=[check],
        blockers=demand.blockers,
        value=demand.row["value"],
        unit=demand.row["unit"],
    )
