"""Reads parquet files in batches through pyarrow, which is imported only here.

Arrow values are not JSON values (dates, decimals, bytes, NaN); `plain` says what becomes of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Final

from nel.datasets.plain import NotPlainError, plain_row
from nel.errors import DatasetError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH_ROWS: Final = 256


def read_parquet(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield the number of each row, with its values by column or what is wrong with it.

    Raises:
        DatasetError: The file is not parquet, is damaged or names a column twice.
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - heavy and optional
        from pyarrow import parquet  # noqa: PLC0415 - heavy and optional
    except ImportError as error:
        raise MissingExtra(f"{name}: reading parquet needs pyarrow; pip install 'nel[parquet]'") from error
    number = 0
    try:
        batches = parquet.ParquetFile(file).iter_batches(batch_size=_BATCH_ROWS)
        for batch in batches:
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                number += 1
                yield number, plain_or_problem(row)
    except (pa.ArrowException, ValueError, KeyError, OSError) as error:
        where = f" after row {number}" if number else ""
        raise DatasetError(f"{name}: cannot be read as parquet{where}: {error}") from error


def plain_or_problem(row: dict[str, Any]) -> dict[str, object] | str:
    """Return the row with JSON values, or what keeps it from having them."""
    try:
        return plain_row(row)
    except NotPlainError as problem:
        return str(problem)
