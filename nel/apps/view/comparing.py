"""Runs side by side: the comparison of `nel compare`, answers that changed, and trade-offs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import methodcaller
from pathlib import Path
from typing import Any, Final

from nel.apps.view.recent import Recent
from nel.apps.view.summary import BenchmarkSummary, RunSummary, stamp_of
from nel.artifacts.files import directory_name
from nel.comparison.compare import compare
from nel.comparison.document import comparison_json
from nel.comparison.measures import Settings
from nel.comparison.nel_runs import read_side
from nel.config.named_baselines import read_baselines
from nel.core.strict_json import dumps
from nel.errors import NelError, OutputError
from nel.metrics.intervals import LEVEL
from nel.reports.comparison import (
    NO_FLIPS,
    compared_of,
    compared_table,
    lines,
    rows_of,
    settings_lines,
)
from nel.reports.questions import question_in
from nel.reports.text import as_text, cut, one_line, preview
from nel.types import JsonObject

FLIPS_MAX: Final = 1_000
RUNS_MAX: Final = 8
"""Runs of one comparison."""
PAGE: Final = 25
COMPARISONS_MAX: Final = 4
"""Comparisons that are cached."""
_TEXT_MAX: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRow:
    """A question whose score changed in at least one run."""

    sample_id: str
    category: str | None
    question: str
    expected: str | None
    answers: Sequence[JsonObject | None]
    """Of the baseline and of each other run in order; None where nothing changed in it."""

    @property
    def is_loss(self) -> bool:
        """Return whether a run has less than the baseline."""
        return any(self._difference(answer) < 0 for answer in self.answers)

    @property
    def is_win(self) -> bool:
        """Return whether a run has more than the baseline."""
        return any(self._difference(answer) > 0 for answer in self.answers)

    def _difference(self, answer: JsonObject | None) -> float:
        baseline = self.answers[0]
        return 0.0 if answer is None or baseline is None else answer["score"] - baseline["score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkBeside:
    """One benchmark of a run beside that of the baseline."""

    verdict: str
    cells: Mapping[str, str]
    lines: Sequence[str]
    n_lost: int
    n_won: int
    flips: Sequence[JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRow:
    """One benchmark of the runs."""

    name: str
    address: str
    is_mean: bool
    """Whether it is a mean over several, which has no questions of its own."""
    compared: Sequence[BenchmarkBeside | None]
    """Of each run after the baseline; None where it has no such benchmark."""
    flips: Sequence[FlipRow]
    """Those that most runs have first."""
    is_cut: bool
    """Whether a run has more changes than are here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """Runs side by side, or why they are not."""

    problem: str = ""
    benchmarks: Sequence[BenchmarkRow] = ()
    settings: Sequence[Sequence[str]] = ()
    """Of each run after the baseline: the settings that differ."""


def with_baseline_first(runs: Sequence[RunSummary], run_id: str) -> tuple[list[RunSummary], str]:
    """Return the runs with their baseline first and the others by age, and why it is the baseline.

    It is the run of ``run_id``, else the one that has a name as a baseline, else the oldest.
    """
    by_age = sorted(runs, key=lambda run: (run.started is None, run.started or 0.0, run.run.id))
    baseline, why = _baseline_of(by_age, run_id)
    return [baseline, *(run for run in by_age if run is not baseline)], why


def _baseline_of(by_age: Sequence[RunSummary], run_id: str) -> tuple[RunSummary, str]:
    for run in by_age:
        if run.run.id == run_id:
            return run, "chosen here"
    for run in by_age:
        if (name := baseline_name(run)) is not None:
            return run, f"the named baseline {name}"
    return by_age[0], "the oldest of them"


def baseline_name(run: RunSummary) -> str | None:
    """Return the name under which ``nel baseline set`` has a run, None where it has none."""
    try:
        baselines = read_baselines()
    except OutputError:  # `nel baseline` says what is wrong with the file
        return None
    directory = run.run.path.resolve()
    for name, baseline in baselines.items():
        if Path(baseline.directory) == directory and baseline.run_id in (None, run.run_id):
            return name
    return None


def compare_runs(
    recent: Recent[ComparisonView], runs: Sequence[RunSummary], despite: Sequence[str]
) -> ComparisonView:
    """Return the comparison of the first run with the others.

    One is made at a time, since each holds a column of every result in memory.

    Args:
        recent: The comparisons that were made last.
        runs: At least two.
        despite: Of `nel.comparison.fields.PARTS`, those that may differ.
    """
    stamp = (*((run.run.path, stamp_of(run.run)) for run in runs), tuple(despite))
    return recent.of(stamp, lambda: _compare(runs, frozenset(despite)))


def _compare(runs: Sequence[RunSummary], despite: frozenset[str]) -> ComparisonView:
    try:
        sides = [read_side(side.run.path, side.run.id) for side in runs]
        document = comparison_json(compare(sides, Settings(), despite=despite), flips_max=FLIPS_MAX)
    except NelError as error:
        return ComparisonView(problem=str(error))
    n_candidates = len(document["candidates"])
    by_name: dict[tuple[str, bool], list[BenchmarkBeside | None]] = {}
    for position, candidate in enumerate(document["candidates"]):
        for row in rows_of(candidate):
            comparison = _benchmark(row)
            name = compared_of(row).name, "flips" not in row
            by_name.setdefault(name, [None] * n_candidates)[position] = comparison
    return ComparisonView(
        benchmarks=[_row(name, besides, is_mean) for (name, is_mean), besides in by_name.items()],
        settings=[list(settings_lines(candidate)) for candidate in document["candidates"]],
    )


def _benchmark(benchmark: JsonObject) -> BenchmarkBeside:
    compared = compared_of(benchmark)
    difference = compared.measure["difference"] or {"losses": 0, "wins": 0}
    columns = compared_table([compared], LEVEL).columns
    return BenchmarkBeside(
        verdict=str(compared.measure["verdict"]),
        cells={column.key: column.text(compared) for column in columns},
        lines=[line.strip() for line in lines(benchmark)],
        n_lost=difference["losses"],
        n_won=difference["wins"],
        flips=benchmark.get("flips", NO_FLIPS)["shown"],
    )


def _row(name: str, besides: Sequence[BenchmarkBeside | None], is_mean: bool) -> BenchmarkRow:
    """Return a benchmark with the changes of all runs by question, or a mean over several."""
    by_sample: dict[str, list[JsonObject | None]] = {}
    is_cut = False
    for position, beside in enumerate(besides):
        if beside is not None:
            is_cut = is_cut or len(beside.flips) < beside.n_lost + beside.n_won
            for flip in beside.flips:
                flips = by_sample.setdefault(flip["sample_id"], [None] * len(besides))
                flips[position] = flip
    return BenchmarkRow(
        name=name,
        address=directory_name(f"mean of {name}" if is_mean else name),
        is_mean=is_mean,
        compared=besides,
        # A question that most runs answered otherwise comes first.
        flips=[
            _flip(flips) for flips in sorted(by_sample.values(), key=methodcaller("count", None))
        ],
        is_cut=is_cut,
    )


def _flip(flips: Sequence[JsonObject | None]) -> FlipRow:
    flip = next(item for item in flips if item is not None)
    expected = flip["expected"]
    candidates = [None if item is None else _answer(item["candidate"]) for item in flips]
    return FlipRow(
        sample_id=flip["sample_id"],
        category=flip["category"],
        question=cut(question_in(flip["prompt"]), 600),
        expected=None if expected is None else cut(expected, 300),
        answers=[_answer(flip["baseline"]), *candidates],
    )


def _answer(side: JsonObject) -> dict[str, Any]:
    """Return a side of a question that changed, the middle of a long answer cut out."""
    text = as_text(side["response"]) if side["response"] is not None else ""
    return {**side, "response": preview(text, characters_max=_TEXT_MAX)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOff:
    """What a score takes, for a chart: cost of the benchmark, or latency of an answer."""

    title: str
    data: str
    """As charts.js reads it."""
    best: Sequence[str]
    """Names of the runs that no other beats in both."""


def trade_offs(runs: Sequence[RunSummary], address: str) -> list[TradeOff]:
    """Return the charts of a benchmark's score, for what is known of at least two runs."""
    costs, latencies = [], []
    for run in runs:
        benchmark = run.benchmark(address)
        if benchmark is None or benchmark.row.score.value is None:
            continue
        score = float(benchmark.row.score.value)
        if benchmark.cost is not None:
            costs.append((run, float(benchmark.cost), score))
        latency = _latency_of(benchmark)
        if latency is not None:
            latencies.append((run, float(latency), score))
    charts = []
    if len(costs) > 1:
        charts.append(_trade_off("cost", "", costs))
    if len(latencies) > 1:
        charts.append(_trade_off("median seconds an answer", "s", latencies))
    return charts


def _latency_of(benchmark: BenchmarkSummary) -> float | None:
    runtime = {} if benchmark.files is None else benchmark.files.runtime
    return (runtime.get("latency_seconds") or {}).get("p50")


def _trade_off(
    title: str, unit: str, points: Sequence[tuple[RunSummary, float, float]]
) -> TradeOff:
    """Return a chart; each point is a run, what it takes, and its score."""
    spots = [(price, score) for _, price, score in points]
    are_best = [is_best(spot, spots) for spot in spots]
    names = _names([run for run, _, _ in points])
    return TradeOff(
        title=title,
        data=dumps(
            {
                "kind": "points",
                "title": title,
                "unit": unit,
                "names": names,
                "x": [price for price, _ in spots],
                "y": [score for _, score in spots],
                "best": are_best,
            }
        ),
        best=list(compress(names, are_best)),
    )


def _names(runs: Sequence[RunSummary]) -> list[str]:
    """Return what the runs are called in a chart: their models, where these tell them apart."""
    models = [run.model or run.run_id for run in runs]
    are_distinct = len(set(models)) == len(models)
    names = models if are_distinct else [run.run.id for run in runs]
    return [cut(one_line(name), 40) for name in names]


def is_best(spot: tuple[float, float], spots: Sequence[tuple[float, float]]) -> bool:
    """Return whether no other spot has at most the price and at least the score of this one.

    >>> [is_best(spot, [(1, 0.5), (2, 0.7), (3, 0.6)]) for spot in [(1, 0.5), (2, 0.7), (3, 0.6)]]
    [True, True, False]
    """
    price, score = spot
    return not any(rival != spot and rival[0] <= price and rival[1] >= score for rival in spots)
