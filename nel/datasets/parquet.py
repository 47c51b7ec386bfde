"""Reads parquet and Arrow files in batches through arro3.

Arrow has values that JSON lacks (dates, decimals, bytes, NaN); `nel.datasets.plain` converts them.
A map becomes an object, and a float of 32 bits the number that was written. Times are kept to the
microsecond, the precision of Python's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from nel.datasets.plain import number_of_32_bits, plain_or_problem, refuse_twins
from nel.datasets.table_form import TableForm
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from arro3.core import DataType, RecordBatch

    from nel.datasets.base import NumberedRow

_BATCH_ROWS: Final = 256
_MAGIC: Final = b"PAR1"
_ARROW_MAGIC: Final = b"ARROW1"
"""Begins a file with an index; a stream does not have it."""


def read_parquet(file: BinaryIO, name: str, _: TableForm) -> Iterator[NumberedRow]:
    """Yield the number of each row, with its values by column or the fault of the row.

    Raises:
        DatasetError: The file is not parquet, is damaged or names a column twice.
    """
    file.seek(0)
    start = file.read(len(_MAGIC))
    if start == _MAGIC:
        file.seek(-len(_MAGIC), os.SEEK_END)
    if start != _MAGIC or file.read() != _MAGIC:
        problem = ValueError("it does not begin and end as a parquet file does")
        raise _unreadable(name, "parquet", 0, problem)

    def open_batches() -> Any:
        from arro3.io import read_parquet as open_parquet  # noqa: PLC0415 - 40 ms for this alone

        return open_parquet(file, batch_size=_BATCH_ROWS)

    yield from _read(open_batches, name, "parquet")


def read_arrow(file: BinaryIO, name: str, _: TableForm) -> Iterator[NumberedRow]:
    """Yield the numbered rows of an Arrow file: a stream, as `datasets` writes, or with an index.

    Raises:
        DatasetError: The file is not Arrow, is damaged or names a column twice.
    """
    file.seek(0)
    has_index = file.read(len(_ARROW_MAGIC)) == _ARROW_MAGIC
    file.seek(0)

    def open_batches() -> Any:
        from arro3.io import read_ipc, read_ipc_stream  # noqa: PLC0415 - as above

        return read_ipc(file) if has_index else read_ipc_stream(file)

    yield from _read(open_batches, name, "Arrow")


def _read(open_batches: Callable[[], Any], name: str, kind: str) -> Iterator[NumberedRow]:
    number = 0
    try:
        reader = open_batches()
        refuse_twins([field.name for field in reader.schema], f"{name}: cannot be read as {kind}")
        by_type = {field.name: field.type for field in reader.schema if _needs_type(field.type)}
        for batch in reader:
            for row in _rows(batch, by_type):
                number += 1
                yield number, plain_or_problem(row)
    except DatasetError:
        raise
    except BaseException as error:
        # A panic in Rust is a BaseException that is not an Exception.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _unreadable(name, kind, number, error) from error
        raise


def _rows(batch: RecordBatch, by_type: Mapping[str, DataType]) -> Iterator[dict[str, Any]]:
    columns: dict[str, Any] = {name: batch.column(name).to_pylist() for name in batch.column_names}
    for name, kind in by_type.items():
        columns[name] = [_by_type(value, kind) for value in columns[name]]
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _needs_type(kind: Any) -> bool:  # Any, since the stubs of arro3 do not match what it returns
    from arro3.core import DataType  # noqa: PLC0415 - as above

    fields = [kind.value_field] if kind.value_field else kind.fields or ()
    is_other = any(is_kind(kind) for is_kind in (DataType.is_map, DataType.is_float32))
    return is_other or any(_needs_type(field.type) for field in fields)


def _by_type(value: Any, kind: Any) -> Any:
    """Return a value with maps as objects, which arro3 has as lists of pairs, and floats of 32 bits
    as written.

    Raises:
        ValueError: A map has a key twice.
    """
    if value is None:
        return None
    if kind.value_field:
        return [_by_type(item, kind.value_field.type) for item in value]
    if kind.fields:
        return {field.name: _by_type(value[field.name], field.type) for field in kind.fields}
    if not _needs_type(kind):
        return value
    if isinstance(value, float):
        return number_of_32_bits(value)
    pairs = dict(value)
    if len(pairs) < len(value):
        raise ValueError("a map has a key twice")
    return pairs


def _unreadable(name: str, kind: str, number: int, error: BaseException) -> DatasetError:
    where = f" after row {number}" if number else ""
    return DatasetError(f"{name}: cannot be read as {kind}{where}: {error}")
