"""Writes samples.parquet and metrics.parquet of a run through arro3, with typed columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import naming_file, open_run
from nel.artifacts.exporting.table import (
    METRIC_COLUMNS,
    SAMPLE_COLUMNS,
    Kind,
    Row,
    metric_rows,
    sample_rows,
)
from nel.errors import NelError

if TYPE_CHECKING:
    from arro3.core import RecordBatch, Schema
    from typing_extensions import Buffer

_BATCH_ROWS: Final = 1000


def export_parquet(run_dir: Path, output: Path) -> Exported:
    """Parquet tables: samples.parquet and metrics.parquet, for pandas, pyarrow, Polars or DuckDB.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoppedEarly: The disk is full.
    """
    run = open_run(run_dir)
    samples, metrics = output / "samples.parquet", output / "metrics.parquet"
    _write(samples, SAMPLE_COLUMNS, sample_rows(run), run.notes)
    _write(metrics, METRIC_COLUMNS, metric_rows(run), run.notes)
    note = "A missing value is null, never 0 or NaN; a result without a score has the reward null."
    return Exported(files=(samples, metrics), notes=(*run.notes, note))


class _Sink(io.BytesIO):
    """A file that keeps its first error: arro3 aborts with a stack trace when a write raises."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.error: OSError | None = None

    def write(self, data: Buffer) -> int:
        """Write, or drop what comes after an error."""
        view = memoryview(data)
        if self.error is None:
            try:
                self._file.write(view)
            except OSError as error:
                self.error = error
        return view.nbytes


class _Rows:
    """Rows whose error is kept, since arro3 would turn it into its own."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.error: NelError | None = None

    def __iter__(self) -> Iterator[Row]:
        try:
            yield from self._rows
        except NelError as error:
            self.error = error


def _write(path: Path, columns: Mapping[str, Kind], rows: Iterable[Row], notes: list[str]) -> None:
    from arro3.core import RecordBatchReader  # noqa: PLC0415 - loaded only where Parquet is written
    from arro3.io import write_parquet  # noqa: PLC0415

    schema, checked = _schema(columns), _Rows(rows)
    reader = RecordBatchReader.from_batches(schema, _batches(schema, columns, checked))
    metadata = {"nel.notes": "\n".join(notes)}
    with naming_file(path):
        with path.open("xb") as file:
            sink = _Sink(file)
            write_parquet(
                reader,
                sink,
                compression="zstd(3)",
                key_value_metadata=metadata,
                max_row_group_size=20_000,
            )
        if sink.error is not None:
            raise sink.error
    if checked.error is not None:
        raise checked.error


def _schema(columns: Mapping[str, Kind]) -> Schema:
    from arro3.core import DataType, Field, Schema  # noqa: PLC0415

    types: dict[Kind, Any] = {
        "text": DataType.utf8(),
        "integer": DataType.int64(),
        "number": DataType.float64(),
    }
    return Schema([Field(name, types[kind], nullable=True) for name, kind in columns.items()])


def _batches(
    schema: Schema, columns: Mapping[str, Kind], rows: Iterable[Row]
) -> Iterator[RecordBatch]:
    from arro3.core import Array, RecordBatch  # noqa: PLC0415

    row_iterator = iter(rows)
    while chunk := list(islice(row_iterator, _BATCH_ROWS)):
        arrays = [
            Array([row[name] for row in chunk], type=schema.field(name).type) for name in columns
        ]
        yield RecordBatch.from_arrays(arrays, schema=schema)
