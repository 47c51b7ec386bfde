"""Holds the metrics of one run against floors: ``--fail-under METRIC=VALUE``. Decided on interval
ends alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

from nel.comparison.agreement import check_interval, design_of, series_of
from nel.comparison.decision import Decision, DecisionCheck, GatedBenchmark, breaches, decide
from nel.comparison.nel_runs import read_side
from nel.comparison.questions import questions_of
from nel.comparison.sides import readable
from nel.comparison.whole_run import read_whole_run
from nel.decide.policy import ResolvedRule
from nel.decide.verdict import GateDecision
from nel.errors import ConfigError, OutputError, UsageError, did_you_mean
from nel.metrics.added_question import added_question_ends
from nel.metrics.intervals import ANYTIME, LEVEL
from nel.metrics.question_intervals import (
    FEW,
    T_OF_FEW,
    Design,
    question_interval,
    questions_until,
)
from nel.metrics.series import Series
from nel.reports.run_files import BenchmarkFiles
from nel.reports.run_warnings import CALIBRATION, texts_of
from nel.reports.selection import MERGE, shard_title

_KIND: Final = "floor"
_FEWEST: Final = 2
_NEAR_ONE: Final = 0.9
_PERCENT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The least value of a metric."""

    metric: str
    """``METRIC`` of every benchmark that has it, or ``BENCHMARK:METRIC``."""
    value: float


@dataclass(slots=True, kw_only=True)
class _Held:
    """A metric of a benchmark, held against a floor."""

    benchmark: str
    floor: Floor
    row: Mapping[str, Any]
    blockers: list[str] = field(default_factory=list)
    lowest: Series = field(default_factory=Series)
    """Its values with every unscored sample as wrong; none where lines do not give them."""
    highest: Series = field(default_factory=Series)
    """With every one as right."""
    design: Design = field(default_factory=Design)

    def span(self, level: float) -> tuple[float, float] | None:
        """Return the interval of the metric, as far as unscored samples could move it; wider for a
        higher level.
        """
        row = self.row
        if row["value"] is None or row["ci_lower"] is None or row["ci_upper"] is None:
            return None
        if row["ci_method"] == ANYTIME and level > row["ci_level"]:
            return None  # its width at another level does not follow from a normal distribution
        if row["ci_method"] == "t" and row["n_questions"] < FEW:
            return None
        if self.lowest.n and "new_questions" not in row:
            lower = question_interval(self.lowest, self.design, level=level).lower
            upper = question_interval(self.highest, self.design, level=level).upper
            return None if lower is None or upper is None else (lower, upper)
        wider = _quantile(level) / _quantile(row["ci_level"])
        bounds = row["bounds"] or {"lower": row["value"], "upper": row["value"]}
        lower = bounds["lower"] - (row["value"] - row["ci_lower"]) * wider
        return lower, bounds["upper"] + (row["ci_upper"] - row["value"]) * wider

    def is_breached(self, level: float) -> bool:
        """Return whether the metric is under its floor at a level.

        Wilson's upper end near 1 misses up to 14 % with few questions; there the end of one
        question more decides, which misses at most 2.4 %.
        """
        span = self.span(level)
        if span is None:
            return False
        upper = span[1]
        if (
            self.row["ci_method"] == "wilson"
            and self.row["n_questions"] < FEW
            and upper > _NEAR_ONE
        ):
            upper = added_question_ends(self.highest.question_means(), level=level)[1]
        return upper < self.floor.value

    def questions_to_pass(self) -> str:
        """Return with how many questions the run as it is would pass; empty where that is not
        known.
        """
        if not self.lowest.n or self.design.fixed or "new_questions" in self.row:
            return ""
        n = questions_until(self.lowest, self.design, self.floor.value)
        return "" if n is None else f"as it is, it would pass with {n:,} questions"


def read_floors(arguments: Sequence[str]) -> list[Floor]:
    """Return what ``METRIC=VALUE`` and ``BENCHMARK:METRIC=VALUE`` say.

    Raises:
        ConfigError: One is not of that form.
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
        floors.append(Floor(metric=name.strip(), value=value))
    return floors


def hold(run_dir: Path, floors: Sequence[Floor]) -> Decision:
    """Return the decision over the metrics of a finished run.

    Raises:
        OutputError: The run is not finished, or its artifacts are damaged.
        UsageError: No benchmark has a metric that is named, or a benchmark has a single sample.
    """
    benchmarks = read_whole_run(run_dir)
    for files in benchmarks:
        if files.metrics.get("shard"):
            title = shard_title(files.metrics)
            raise OutputError(
                f"{files.directory} is of {title}, which decides nothing by itself; first {MERGE}"
            )
        if not files.metrics.get("complete"):
            raise OutputError(
                f"{files.directory} is not finished; finish it with nel eval resume {run_dir}"
            )
    with readable(run_dir):
        rows = [row for floor in floors for row in _demands_of(benchmarks, floor)]
        _check_results(run_dir, benchmarks, rows)
        breached = breaches(rows, LEVEL)
        return decide([_gate(row, breached) for row in rows], LEVEL)


def _check_results(
    run_dir: Path, benchmarks: Sequence[BenchmarkFiles], demands: Sequence[_Held]
) -> None:
    """Refuse numbers of metrics.json that are not those of the samples beside it."""
    side = read_side(run_dir, run_dir.name)
    for files in benchmarks:
        rows = [demand.row for demand in demands if demand.benchmark == files.title]
        if rows:
            columns = side.benchmarks[files.title].columns(rows=False)
            questions_of(columns, "sample", str(files.directory))  # refuses what stands there twice
            for row in rows:
                check_interval(files, columns, row)
            for demand in demands:
                if demand.benchmark == files.title and demand.row["ci_method"] != ANYTIME:
                    headline = files.metrics["headline"]["metric"]
                    demand.lowest, demand.highest = series_of(columns, demand.row, headline)
                    demand.design = design_of(columns)


def _demands_of(benchmarks: Sequence[BenchmarkFiles], floor: Floor) -> list[_Held]:
    rows = [demand for files in benchmarks for demand in _rows(files, floor.metric, floor)]
    name, _, metric = floor.metric.partition(":")
    if not rows:
        named = [files for files in benchmarks if files.title == name and metric]
        rows = [demand for files in named for demand in _rows(files, metric, floor)]
    if not rows:
        known = sorted(
            {str(row["name"]) for files in benchmarks for row in files.metrics["metrics"]}
        )
        hint = did_you_mean(floor.metric, known) or f"; it has {', '.join(known)}"
        raise UsageError(f'the run has no metric "{floor.metric}"{hint}')
    return rows


def _rows(files: BenchmarkFiles, metric: str, floor: Floor) -> list[_Held]:
    rows = [row for row in files.metrics["metrics"] if str(row["name"]).strip() == metric]
    demands = [_Held(benchmark=files.title, floor=floor, row=row) for row in rows]
    for demand in demands:
        if demand.row["n_questions"] == 1 and files.metrics["accounting"]["n_total"] < _FEWEST:
            raise UsageError(f"{files.title} has a single sample; nothing can be decided on it")
        if demand.row["bounds"] is not None and not 0 <= floor.value <= 1:
            raise ConfigError(
                f"--fail-under {floor.metric}={floor.value:g}: {metric} of {files.title} lies"
                " between 0 and 1"
                + (
                    f"; {floor.value / 100:g} is {floor.value:g} %"
                    if 0 < floor.value <= _PERCENT
                    else ""
                )
            )
        demand.blockers += _missing(demand.row)
        if files.metrics["accounting"]["n_unscored"] and demand.row["bounds"] is None:
            demand.blockers.append("samples are unscored, and what they could change is not known")
        if metric in (files.metrics.get("failed_metrics") or ()):
            demand.blockers.append("the metric failed")
        demand.blockers += [
            f"calibration of the judge: {text}" for text in texts_of(files.metrics, (CALIBRATION,))
        ]
    return demands


def _missing(row: Mapping[str, Any]) -> list[str]:
    """Return why nothing can rest on a metric; empty where something can."""
    if row["value"] is None:
        return [f"nothing was measured: {row['reason']}"]
    if row["ci_lower"] is None:
        return [f"there is no interval: {row['reason']}"]
    is_of_few = row["ci_method"] == "t" and row["n_questions"] < FEW
    return [T_OF_FEW.format(row["n_questions"])] if is_of_few else []


def _gate(demand: _Held, breached: Mapping[int, float]) -> GatedBenchmark:
    lower, upper = demand.span(LEVEL) or (None, None)
    status = GateDecision.INCONCLUSIVE
    if id(demand) in breached:
        status = GateDecision.NO_GO
    elif lower is not None and lower >= demand.floor.value:
        status = GateDecision.GO
    check = DecisionCheck(
        kind=_KIND,
        limit=demand.floor.value,
        status=status,
        reason=demand.questions_to_pass() if status is GateDecision.INCONCLUSIVE else "",
        lower=lower,
        upper=upper,
        level=LEVEL,
        method=demand.row["ci_method"],
        breach_level=breached.get(id(demand)),
    )
    return GatedBenchmark(
        name=demand.benchmark,
        rule=ResolvedRule(),
        metric=str(demand.row["name"]),
        checks=[check],
        blockers=demand.blockers,
        value=demand.row["value"],
    )


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)
