"""Rows that a Python program holds: a DataFrame, an Arrow table, a `Dataset` of the `datasets`
library, or a list or a generator of mappings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nel.datasets.base import NumberedRow
from nel.datasets.plain import plain_or_problem, refuse_twins
from nel.errors import DatasetError

RowsInMemory = Any
"""What `rows_of` takes; no import here names the libraries."""


def rows_of(value: object, where: str) -> list[dict[str, object]] | None:
    """Return the rows of a table, or of a list or a generator of mappings, as JSON holds them.

    A missing value is None in its row. Anything else that is not rows gives None.

    Args:
        value: What stands where a path might stand too.
        where: Names it in errors.

    Raises:
        DatasetError: A row is not a mapping, or holds what JSON cannot; there are several splits;
            or a column is there twice.
    """
    value = list(value) if isinstance(value, Iterator) else as_list(value, where)
    if not isinstance(value, list):
        return None
    rows = []
    for number, data in numbered_rows(value):
        if isinstance(data, str):
            raise DatasetError(f"{where}: row {number}: {data}")
        rows.append(data)
    return rows


def numbered_rows(rows: Iterable[object]) -> Iterator[NumberedRow]:
    """Yield the number of each row, with its values by column or the fault of the row."""
    for number, row in enumerate(rows, start=1):
        if isinstance(row, Mapping):
            yield number, plain_or_problem(dict(row))
        else:
            yield number, f"a {type(row).__name__}, not a mapping"


def as_list(value: Any, where: str) -> object:
    """Return the rows of a table as a list of mappings; anything else as it is.

    Raises:
        DatasetError: There are several splits, or a column is there twice.
    """
    if type(value).__module__.startswith("datasets."):
        if not hasattr(value, "features"):
            raise DatasetError(
                f'{where}: it has the splits {", ".join(value)}; give one, as in dataset["test"]'
            )
        return list(without_decoding(value))
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        refuse_twins(value.columns, where)
        if hasattr(value, "to_dicts"):  # of Polars
            return value.to_dicts()
        return value.to_dict(orient="records")
    if hasattr(value, "to_pylist"):  # of Arrow
        refuse_twins(value.column_names, where)
        return value.to_pylist()
    return value


def without_decoding(rows: Any) -> Any:
    """Return a `Dataset` of the `datasets` library whose images and sounds stay bytes."""
    features = _undecoded_feature(dict(rows.features))
    if features == dict(rows.features):
        return rows
    return rows.cast(type(rows.features)(features))


def _undecoded_feature(feature: object) -> object:
    if isinstance(feature, Mapping):
        return {name: _undecoded_feature(member) for name, member in feature.items()}
    if isinstance(feature, list):
        return [_undecoded_feature(member) for member in feature]
    if not dataclasses.is_dataclass(feature) or isinstance(feature, type):
        return feature
    if getattr(feature, "decode", False) is True and type(feature).__name__ != "Json":
        return dataclasses.replace(feature, decode=False)
    if hasattr(feature, "feature"):
        return dataclasses.replace(feature, feature=_undecoded_feature(feature.feature))
    return feature
