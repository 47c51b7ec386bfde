"""Rows that a Python program holds: a DataFrame, or a list of mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nel.datasets.parquet import plain_or_problem
from nel.errors import DatasetError

RowsInMemory = Any
"""A DataFrame, which no import here names, or a list of mappings."""


def rows_of(value: object, where: str) -> list[dict[str, object]] | None:
    """Return the rows of a DataFrame or of a list of mappings as JSON holds them; a missing value
    is None. Return None for anything else.

    Args:
        value: What stands where a path might stand too.
        where: Names it in errors.

    Raises:
        DatasetError: A row is not a mapping, or holds what JSON cannot.
    """
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        value = value.to_dict(orient="records")
    if not isinstance(value, list):
        return None
    rows = []
    for number, row in enumerate(value, start=1):
        plain = (
            plain_or_problem({str(name): _present(cell) for name, cell in row.items()})
            if isinstance(row, Mapping)
            else f"a {type(row).__name__}, not a mapping"
        )
        if isinstance(plain, str):
            raise DatasetError(f"{where}: row {number}: {plain}")
        rows.append(plain)
    return rows


def _present(cell: object) -> object:
    """Return a cell, or None for what pandas puts where there is no value: NaN, NaT and NA."""
    if type(cell).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(cell, float) and cell != cell else cell  # noqa: PLR0124 - NaN alone
