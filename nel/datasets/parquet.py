"""Reads parquet files in batches through pyarrow where it is installed, else through the smaller
arro3.

Arrow values are not JSON values (dates, decimals, bytes, NaN); `plain` says what becomes of each.
The two libraries give the same values, but for maps and nanoseconds, which are left to pyarrow:
rows are part of a run's identity.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from nel.datasets.plain import NotPlainError, plain_row
from nel.errors import DatasetError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BATCH_ROWS: Final = 256
_MAGIC: Final = b"PAR1"
_PYARROW_ALONE: Final = re.compile(r"\bMap\b|Nanosecond|\bns\b|Interval|Union", re.IGNORECASE)
"""In the names of types whose values arro3 gives otherwise."""


def read_parquet(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield the number of each row, with its values by column or what is wrong with it.

    Raises:
        DatasetError: The file is not parquet, is damaged or names a column twice.
        MissingExtra: It holds types that need pyarrow, which is not installed.
    """
    if importlib.util.find_spec("pyarrow") is None:
        yield from _through_arro3(file, name)
        return
    import pyarrow as pa  # noqa: PLC0415 - heavy and optional
    from pyarrow import parquet  # noqa: PLC0415 - heavy and optional

    number = 0
    try:
        whole = parquet.ParquetFile(file)
        _refuse_twins(whole.schema_arrow.names, name)
        for batch in whole.iter_batches(batch_size=_BATCH_ROWS):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                number += 1
                yield number, plain_or_problem(row)
    except DatasetError:
        raise
    except (
        pa.ArrowException,
        ValueError,
        KeyError,
        OSError,
        ArithmeticError,
    ) as error:  # e.g. the year 10000
        raise _unreadable(name, number, error) from error


def _through_arro3(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    from arro3.io import (  # noqa: PLC0415 - 40 ms that only parquet needs
        read_parquet as open_parquet,
    )

    number = 0
    file.seek(0)
    if (
        file.read(len(_MAGIC)) != _MAGIC
        or (file.seek(-len(_MAGIC), os.SEEK_END), file.read())[1] != _MAGIC
    ):
        raise _unreadable(
            name, number, ValueError("it does not begin and end as a parquet file does")
        )
    try:
        reader: Any = open_parquet(file, batch_size=_BATCH_ROWS)
        _refuse_types(reader.schema, name)
        for batch in reader:
            columns = {
                column: [value.as_py() for value in batch.column(column)]
                for column in batch.column_names
            }
            for values in zip(*columns.values(), strict=True):
                number += 1
                yield number, plain_or_problem(dict(zip(columns, values, strict=True)))
    except (MissingExtra, DatasetError):
        raise
    except BaseException as error:
        if (
            isinstance(error, Exception) or type(error).__name__ == "PanicException"
        ):  # Rust's; no Exception to Python
            raise _unreadable(name, number, error) from error
        raise


def _refuse_types(schema: Any, name: str) -> None:
    _refuse_twins([field.name for field in schema], name)
    for field in schema:
        if _PYARROW_ALONE.search(str(field.type)):
            raise MissingExtra(
                f'{name}: its column "{field.name}" ({" ".join(str(field.type).split())[:60]})'
                " needs pyarrow; pip install pyarrow"
            )


def _refuse_twins(columns: Sequence[str], name: str) -> None:
    """Raise DatasetError where two columns have one name, since a row would have the values of the
    last alone.
    """
    twin = next((column for column, n in Counter(columns).items() if n > 1), None)
    if twin is not None:
        raise DatasetError(
            f'{name}: cannot be read as parquet: the column "{twin}" is there twice; rename one'
        )


def _unreadable(name: str, number: int, error: BaseException) -> DatasetError:
    where = f" after row {number}" if number else ""
    return DatasetError(f"{name}: cannot be read as parquet{where}: {error}")


def plain_or_problem(row: dict[str, Any]) -> dict[str, object] | str:
    """Return the row with JSON values, or what keeps it from having them."""
    try:
        return plain_row(row)
    except NotPlainError as problem:
        return str(problem)
