"""The report of an adapter's benchmark, a table or JSON: a row for each subset, with categories.

An unscored sample is in no row's number; how many there were stands below the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from nel.compat.evalscope.samples import AggScore

if TYPE_CHECKING:
    from nel.compat.evalscope.meta import BenchmarkMeta

OVERALL = "OVERALL"


@dataclass(slots=True)
class ReportRow:
    """One number."""

    metric: str
    """With its aggregation: ``mean_acc``."""
    subset: str
    num: int
    score: float
    categories: list[str]


@dataclass(slots=True)
class Report:
    """What a benchmark came to for one model."""

    dataset_name: str
    model_name: str
    rows: list[ReportRow] = field(default_factory=list)
    pretty_name: str | None = None
    description: str | None = None
    unscored: dict[str, int] = field(default_factory=dict)
    """Samples without a score, by cause."""
    exit_code: int = 0
    """Of the run."""
    run_dir: str | None = None
    ended: str | None = None
    """Why the run stopped before its end, where it did."""

    @property
    def name(self) -> str:
        """Return ``model@dataset``."""
        return f"{self.model_name}@{self.dataset_name}"

    @property
    def score(self) -> float | None:
        """Return the first metric over the samples of all subsets; None if none was scored."""
        # Of several subsets without a row over all of them there is no one score.
        rows = [row for row in self.rows if row.metric == self.rows[0].metric]
        for row in rows:
            if row.subset == OVERALL or len(rows) == 1:
                return row.score
        return None

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {"name": self.name, "score": self.score, **asdict(self)}

    def __str__(self) -> str:
        return report_table([self])


def make_report(
    meta: BenchmarkMeta,
    scores: Mapping[str, Sequence[AggScore]],
    model_name: str,
    category_map: Mapping[str, str | list[str]],
    *,
    overall: bool = True,
) -> Report:
    """Return a report: a row per metric and subset, and one over all where there are several."""
    report = Report(
        meta.name, model_name, pretty_name=meta.pretty_name, description=meta.description
    )
    of_metrics: dict[str, list[tuple[str, AggScore]]] = {}
    for subset, aggregates in scores.items():
        for aggregate in aggregates:
            label = f"{aggregate.aggregation}_{aggregate.metric_name}"
            of_metrics.setdefault(label, []).append((subset, aggregate))
    # A row for each subset, and below them their mean, in which each sample counts the same.
    for label, of_metric in of_metrics.items():
        for subset, aggregate in of_metric:
            category = category_map.get(subset, "default")
            categories = [category] if isinstance(category, str) else list(category)
            report.rows.append(ReportRow(label, subset, aggregate.num, aggregate.score, categories))
        total = sum(aggregate.num for _, aggregate in of_metric)
        if overall and len(of_metric) > 1 and total:
            mean = sum(aggregate.score * aggregate.num for _, aggregate in of_metric) / total
            report.rows.append(ReportRow(label, OVERALL, total, mean, ["-"]))
    return report


def report_table(reports: Sequence[Report]) -> str:
    """Return reports as one table of text, and a line for each that lacks scores."""
    all_rows = [row for report in reports for row in report.rows]
    depth = max((len(row.categories) for row in all_rows), default=1)
    header = ["Model", "Dataset", "Metric", "Subset", "Num", "Score"]
    lines = [header + [f"Cat.{level}" for level in range(depth)]]
    for report in reports:
        for row in report.rows:
            score = f"{row.score:.4f}".rstrip("0").rstrip(".")
            cells = [report.model_name, report.dataset_name, row.metric, row.subset]
            cells += [str(row.num), score, *row.categories]
            lines.append(cells + ["-"] * (depth - len(row.categories)))
    table = _grid(lines)
    for report in reports:
        if report.unscored:
            counts = [f"{cause} {count}" for cause, count in sorted(report.unscored.items())]
            n = sum(report.unscored.values())
            table += f"\n{report.dataset_name}: {n} unscored ({', '.join(counts)})"
        if report.ended:
            table += f"\n{report.dataset_name}: {report.ended}"
    return table


def _grid(lines: list[list[str]]) -> str:
    """Return lines of cells, the header first, as text with a rule below each."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "+" + "".join("-" * (width + 2) + "+" for width in widths)
    table = [rule]
    for line in lines:
        cells = [f" {cell.ljust(width)} |" for cell, width in zip(line, widths, strict=True)]
        table += ["|" + "".join(cells), rule]
    table[2] = rule.replace("-", "=")  # below the header
    return "\n".join(table)
