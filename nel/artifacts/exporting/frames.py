"""A run's samples or metrics as a DataFrame; pandas is imported here and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from nel.artifacts.exporting.run import open_run
from nel.artifacts.exporting.table import (
    METRIC_COLUMNS,
    SAMPLE_COLUMNS,
    Kind,
    metric_rows,
    sample_rows,
)
from nel.engine.store.remote import local_copy
from nel.errors import UsageError

if TYPE_CHECKING:
    import pandas

Table = Literal["samples", "metrics"]
_TYPES: Final[dict[Kind, str]] = {"text": "string", "integer": "Int64", "number": "Float64"}


def to_pandas(run_dir: Path | str, table: Table = "samples") -> pandas.DataFrame:
    """Return the samples or the metrics of a run, with the columns of ``nel export --to parquet``.

    A result without a score has no reward: it is missing, never 0, and pandas leaves it out of a
    mean.

    Args:
        run_dir: The directory or the URL of a run that is not being written.
        table: ``samples``, a row for each question and repeat, or ``metrics``, a row for each
            metric.

    Raises:
        UsageError: pandas is not installed, or there is no such table.
        OutputError: The run is still written, or its artifacts are damaged.
    """
    try:
        import pandas  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(f"to_pandas needs pandas ({error}); pip install pandas") from error
    if table not in ("samples", "metrics"):
        raise UsageError(f'there is no table "{table}" of a run; ask for samples or metrics')
    run = open_run(local_copy(str(run_dir)))
    if table == "samples":
        columns, rows = SAMPLE_COLUMNS, sample_rows(run)
    else:
        columns, rows = METRIC_COLUMNS, metric_rows(run)
    records = [list(row.values()) for row in rows]
    frame = pandas.DataFrame(records, columns=list(columns), dtype=object)
    return frame.astype({name: _TYPES[kind] for name, kind in columns.items()})
