"""Writes a run as CSV: samples.csv and metrics.csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import open_run
from nel.artifacts.exporting.table import (
    METRIC_COLUMNS,
    SAMPLE_COLUMNS,
    Row,
    metric_rows,
    sample_rows,
)
from nel.core.atomic_files import write_file

_FORMULA_START: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUL: Final = "\ufffd"


def export_csv(run_dir: Path, output: Path) -> Exported:
    """CSV tables: samples.csv and metrics.csv, for pandas or a spreadsheet.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoppedEarly: The disk is full.
    """
    run = open_run(run_dir)
    samples, metrics = output / "samples.csv", output / "metrics.csv"
    write_file(samples, _lines(SAMPLE_COLUMNS, sample_rows(run)))
    write_file(metrics, _lines(METRIC_COLUMNS, metric_rows(run)))
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


def _lines(columns: Mapping[str, object], rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield RFC 4180 lines as UTF-8, the header first."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
        yield out.getvalue().encode()
        out.seek(0)
        out.truncate()
    yield out.getvalue().encode()


def _cell(value: object) -> object:
    """Return a cell; a text that is not a number and begins as a formula gets a leading
    apostrophe.
    """
    if not isinstance(value, str):
        return "" if value is None else value
    text = value.replace("\0", _NUL)
    return (
        f"'{text}" if text.lstrip(" ").startswith(_FORMULA_START) and not _is_number(text) else text
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and text == text.strip()
