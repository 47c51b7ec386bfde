"""A score with all that belongs to it, read from metrics.json and the bundle in this one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Final

from nel.metrics.accumulator import COUNTS
from nel.reports.corrected import best_correction
from nel.reports.extraction import band_text
from nel.reports.judge_section import judged_text
from nel.reports.repeatability import repeat_check_text
from nel.reports.run_warnings import texts_of
from nel.reports.selection import n_counted, sample_line, shard_title, stop_line
from nel.reports.spread import spread_text
from nel.reports.tables.columns import Counted, Figure
from nel.types import JsonObject

REMARKS: Final[Mapping[str, Callable[[JsonObject], str]]] = {
    "sample": sample_line,
    "stopped": stop_line,
    "spread": spread_text,
    "judged": judged_text,
    "extraction": band_text,
    "repeat_check": repeat_check_text,
}
"""What is to be said of a benchmark beside its numbers, a line each: how the questions were drawn,
what was not to be asked, where the doubt comes from, who judged, how far the score depends on the
way of reading, and how often the endpoint differs from itself."""
NO_FIGURE: Final = Figure(None)
PARTIAL: Final = "PARTIAL"


class ScoreOf(Enum):
    """What a row is the score of."""

    HEADLINE = auto()
    NEW_QUESTIONS = auto()
    """The headline's interval for other questions of the same kind."""
    CORRECTED = auto()
    """The headline as people's labels correct it."""
    METRIC = auto()
    AGGREGATE = auto()
    """A mean over several benchmarks of the run."""
    CATEGORY = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRow:
    """A score of one benchmark of one run."""

    what: ScoreOf = ScoreOf.HEADLINE
    run: str | None = None
    """The run's id."""
    model: str | None = None
    benchmark: str
    metric: str
    """Its name, or of what it is the score."""
    score: Figure
    """Its value is None when nothing was scored."""
    bounds: Figure = NO_FIGURE
    """The ends had every unscored sample been wrong, or right; None when the metric is not known to
    lie in [0, 1].
    """
    n: Counted
    """Of a headline and a category the planned answers, of a metric those that it is of."""
    details: JsonObject = field(default_factory=dict)
    """The object of metrics.json: the interval's method and reason, questions, what is counted."""
    accounting: JsonObject = field(default_factory=dict)
    """As metrics.json has it; empty where the row has none of its own."""
    complete: bool = True
    shard: str = ""
    """``shard I of N``; empty for a whole run."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """By the names of `REMARKS`."""
    warnings: tuple[str, ...] = ()
    """What speaks against the numbers and the judges."""

    def count(self, name: str) -> int | None:
        """Return a number of the accounting, None where the row has none."""
        return self.accounting.get(name)

    def remark(self, name: str) -> str:
        """Return a remark, empty where there is nothing to say."""
        return self.remarks.get(name, "")

    @property
    def causes(self) -> dict[str, int]:
        """Return the unscored samples by cause."""
        return {cause: part["n"] for cause, part in self._unscored.items()}

    @property
    def model_failures(self) -> dict[str, int]:
        """Return the failures of the model by kind."""
        return self.accounting.get("model_failures") or {}

    @property
    def unscored(self) -> dict[str, int]:
        """Return the unscored samples as ``cause:kind``."""
        return {
            f"{cause}:{kind}": n
            for cause, part in self._unscored.items()
            for kind, n in part["kinds"].items()
            if n
        }

    @property
    def failures(self) -> dict[str, int]:
        """Return model failures by kind, and the unscored by cause and kind."""
        return {**self.model_failures, **self.unscored}

    @property
    def state(self) -> str:
        """Return ``complete``, ``stopped early``, ``shard I of N`` or ``PARTIAL``."""
        if self.shard or not self.complete:
            return self.shard or PARTIAL
        return "stopped early" if self.count("n_not_asked") else "complete"

    @property
    def lines(self) -> list[str]:
        """Return what is to be said of the row beside its numbers, one line each."""
        return [*filter(None, self.remarks.values()), *self.warnings]

    @property
    def _unscored(self) -> JsonObject:
        return self.accounting.get("unscored") or {}


def headline_rows(metrics: JsonObject, bundle: JsonObject, benchmark: str) -> Iterator[HeadlineRow]:
    """Yield the headline of a benchmark, its interval for new questions, the headline as corrected
    by labels, every other metric, and the headline by category.

    Args:
        metrics: The content of metrics.json.
        bundle: That of eval-<benchmark>.json; may be empty.
        benchmark: What the rows call it.
    """
    headline = headline_of(metrics, bundle, benchmark)
    yield headline
    bare = replace(headline, accounting={}, remarks={}, warnings=(), bounds=NO_FIGURE)
    unit = headline.score.unit
    new_questions = headline.details.get("new_questions")
    if new_questions:
        figure = Figure.of({"value": headline.score.value, **new_questions}, unit)
        yield replace(bare, what=ScoreOf.NEW_QUESTIONS, metric="for new questions", score=figure)
    best = best_correction(metrics)
    if best is not None:
        estimate, correction = best
        yield replace(
            bare,
            what=ScoreOf.CORRECTED,
            metric=f"judge-corrected ({estimate})",
            score=Figure.of(correction, unit),
            n=Counted(metrics["judging"]["corrected"]["n_labelled"], "labels"),
        )
    metric = replace(bare, what=ScoreOf.METRIC)
    for row in metric_rows(metrics, metric):
        if row.metric != headline.metric:
            yield row
    for name, part in sorted((metrics.get("categories") or {}).items()):
        yield replace(
            bare,
            what=ScoreOf.CATEGORY,
            metric=name,
            score=Figure.of(part, unit),
            n=Counted(part["n_total"]),
            details=part,
            accounting=part,
        )


def aggregate_rows(
    aggregates: Iterable[JsonObject], like: HeadlineRow | None = None
) -> list[HeadlineRow]:
    """Return the rows of the means over several benchmarks of a run.

    Args:
        aggregates: Of aggregates.json.
        like: A row of the run, which gives its name and model.
    """
    run, model = (None, None) if like is None else (like.run, like.model)
    return [
        HeadlineRow(
            what=ScoreOf.AGGREGATE,
            run=run,
            model=model,
            benchmark=row["aggregate"],
            metric=row["name"],
            score=Figure.of(row, row["unit"]),
            bounds=_bounds(row),
            n=Counted(row["accounting"]["n_total"]),
            details=row,
            accounting=row["accounting"],
            complete=row["complete"],
            warnings=(row["reason"],) if row["reason"] else (),
        )
        for row in aggregates
    ]


def metric_rows(metrics: JsonObject, like: HeadlineRow) -> Iterator[HeadlineRow]:
    """Yield a row for each metric, the headline first; ``n`` counts the answers that it is of.

    Args:
        metrics: The content of the file.
        like: Gives the other fields.
    """
    for row in metrics.get("metrics") or ():
        yield replace(
            like,
            metric=row["name"],
            score=Figure.of(row, row["unit"]),
            bounds=_bounds(row),
            n=Counted(row["n"]),
            details=row,
        )


def headline_of(metrics: JsonObject, bundle: JsonObject, benchmark: str) -> HeadlineRow:
    """Return the headline of a benchmark; see `headline_rows`."""
    headline: JsonObject = metrics.get("headline") or {}
    accounting = {**dict.fromkeys(COUNTS, 0), **(metrics.get("accounting") or {})}
    name = headline.get("metric", "")
    matching_rows = (row for row in metrics.get("metrics") or () if row["name"] == name)
    return HeadlineRow(
        run=metrics.get("run_id"),
        model=(bundle.get("config") or {}).get("model"),
        benchmark=benchmark,
        metric=name,
        score=Figure.of(headline, headline.get("unit", "number")),
        bounds=_bounds(headline),
        n=n_counted(metrics, accounting["n_total"]),
        details={**next(matching_rows, {}), **headline},
        accounting=accounting,
        complete=bool(metrics.get("complete")),
        shard=shard_title(metrics),
        remarks=remarks_of(metrics),
        warnings=tuple(texts_of(metrics)),
    )


def remarks_of(metrics: JsonObject) -> dict[str, str]:
    """Return each of `REMARKS`, empty where there is nothing to say."""
    return {name: say(metrics) for name, say in REMARKS.items()}


def _bounds(row: JsonObject) -> Figure:
    bounds = row.get("bounds") or {}
    return Figure(None, bounds.get("lower"), bounds.get("upper"))
