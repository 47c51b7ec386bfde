"""Rows that a Python program holds: a DataFrame, an Arrow table, a `Dataset` of the `datasets`
library, or a list or a generator of mappings.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from nel.datasets.parquet import plain_or_problem
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
        DatasetError: A row is not a mapping, or holds what JSON cannot; or there are several
            splits.
    """
    value = list(value) if isinstance(value, Iterator) else as_list(value, where)
    if not isinstance(value, list):
        return None
    rows = []
    for number, row in enumerate(value, start=1):
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: row {number}: a {type(row).__name__}, not a mapping")
        data = plain_or_problem({str(name): _present(cell) for name, cell in row.items()})
        if isinstance(data, str):
            raise DatasetError(f"{where}: row {number}: {data}")
        rows.append(data)
    return rows


def as_list(value: Any, where: str) -> object:
    """Return the rows of a table as a list of mappings; anything else as it is.

    Raises:
        DatasetError: There are several splits.
    """
    if type(value).__module__.startswith("datasets."):
        if not hasattr(value, "features"):
            raise DatasetError(
                f'{where}: it has the splits {", ".join(value)}; give one, as in dataset["test"]'
            )
        return list(without_decoding(value))
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        if hasattr(value, "to_dicts"):  # of Polars
            return value.to_dicts()
        return value.to_dict(orient="records")
    if hasattr(value, "to_pylist"):  # of Arrow
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


def _present(cell: object) -> object:
    """Return a cell, or None for what pandas puts where there is no value: NaN, NaT and NA."""
    is_nan = isinstance(cell, float) and math.isnan(cell)
    if is_nan or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    return cell
