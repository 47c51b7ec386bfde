"""Writes a run as CSV: samples.csv and metrics.csv."""

from __future__ import annotations

from pathlib import Path

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import open_run
from nel.artifacts.exporting.table import (
    METRIC_COLUMNS,
    SAMPLE_COLUMNS,
    metric_rows,
    sample_rows,
)
from nel.core.atomic_files import write_file
from nel.reports.tables.spreadsheet import csv_lines


def export_csv(run_dir: Path, output: Path) -> Exported:
    """CSV tables: samples.csv and metrics.csv, for pandas or a spreadsheet.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoppedEarly: The disk is full.
    """
    run = open_run(run_dir)
    samples, metrics = output / "samples.csv", output / "metrics.csv"
    write_file(samples, csv_lines(SAMPLE_COLUMNS, sample_rows(run)))
    write_file(metrics, csv_lines(METRIC_COLUMNS, metric_rows(run)))
    notes = (
        (
            "An empty cell is a missing value, an empty text too; a result without a score has an"
            " empty reward."
        ),
        (
            "A text that a spreadsheet would run as a formula begins with an apostrophe; Parquet"
            " holds texts as they are."
        ),
    )
    return Exported(files=(samples, metrics), notes=(*run.notes, *notes))
