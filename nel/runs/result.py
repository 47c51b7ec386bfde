"""The result of a run, and how it is shown as text and in a notebook."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.engine.stopping.exit_status import ExitStatus
from nel.reports.notebook import notebook_table

if TYPE_CHECKING:
    import pandas

    from nel.artifacts.benchmark_result import BenchmarkResult
    from nel.artifacts.exporting.frames import Table
    from nel.reports.tables.columns import ReportTable

_DONE: Final = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run."""

    run_dir: Path
    ending: ExitStatus
    benchmarks: list[BenchmarkResult]
    report: Path
    """The page report.html."""
    exit_code: int
    """0 done; 2 refused; 75 stopped early; 130, 143 interrupted.

    3: more unscored than tolerated, or a failed metric.
    """
    reports: tuple[Path, ...] = ()
    """The further reports of ``output.reports`` that were written."""
    url: str | None = None
    """Where it is uploaded; None where it is kept here alone."""
    notes: tuple[str, ...] = ()
    """What there is to know beside the numbers, as `nel eval run` prints it."""

    def __repr__(self) -> str:
        """Return how the run ended, and a line for each benchmark."""
        return result_text(self)

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        return result_html(self)

    def to_pandas(self, table: Table = "samples") -> pandas.DataFrame:
        """Return the samples or the metrics of the run as a DataFrame (`nel.to_pandas`); what has
        no score is missing.

        Raises:
            UsageError: pandas is not installed, or there is no such table.
        """
        from nel.artifacts.exporting.frames import (  # noqa: PLC0415 - an extra, imported when it is used
            to_pandas,
        )

        return to_pandas(self.run_dir, table)

    @property
    def aggregates(self) -> list[dict[str, Any]]:
        """Return the means over several of its benchmarks, as aggregates.json holds them."""
        from nel.reports.run_files import read_aggregates  # noqa: PLC0415 - as in _headlines

        return read_aggregates(self.run_dir)

    @property
    def resume_command(self) -> str:
        """Return the command that continues the run, with options that cure what stopped it."""
        return shlex.join(
            ["nel", "eval", "resume", self.url or str(self.run_dir), *self.ending.fix]
        )


def result_text(result: RunResult) -> str:
    """Return how a run ended, and a line for each benchmark."""
    lines = [f"{_ending(result)}: {result.run_dir}"]
    table = _headlines(result)
    names = [column.words for column in table.columns]
    for cells in table.texts():
        slot, metric, score, *other_cells = cells
        figures = [
            f"{name} {cell}" for name, cell in zip(names[3:], other_cells, strict=True) if cell
        ]
        lines.append(f"  {slot}: {', '.join([f'{metric} {score}', *figures])}")
    return "\n".join([*lines, *(f"  {line}" for line in _lines(result))])


def result_html(result: RunResult) -> str:
    """Return the headlines of a run as a table, with what there is to know of it below."""
    lines = [f"{_ending(result)}: {result.report}", *_lines(result)]
    table = notebook_table(_headlines(result).used)
    return table + "".join(f"<div>{escape(line)}</div>" for line in lines)


def _headlines(result: RunResult) -> ReportTable:
    from nel.reports.tables.results import (  # noqa: PLC0415 - the first request need not wait
        headlines_table,
    )

    metrics_by_slot = {item.slot: item.metrics for item in result.benchmarks}
    return headlines_table(metrics_by_slot, result.aggregates)


def _ending(result: RunResult) -> str:
    return f"{result.ending.reason} (exit code {result.exit_code})"


def _lines(result: RunResult) -> list[str]:
    """Return warnings and notes of a run, and what goes on with one that is not complete."""
    from nel.reports.run_warnings import texts_of  # noqa: PLC0415 - as in _headlines

    warnings = [
        f"{item.slot}: {text}" for item in result.benchmarks for text in texts_of(item.metrics)
    ]
    resume = [f"go on with: {result.resume_command}"] if result.ending.reason != _DONE else []
    return [*warnings, *result.notes, *resume]
