"""Which cases of an expensive table run in the fast tier; the others carry the marker `slow`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

ENDS = pytest.mark.timeout(300)
"""For input that takes a few seconds at most, and an hour or so where the work grows with its square: that fails."""


def representatives(cases: Iterable[Any], *fast: Any) -> list[Any]:
    """Return the parameters of a table, marked slow but for the cases that stand for it.

    Args:
        cases: A value each, or a tuple where the test takes several.
        fast: Some of these cases, chosen so that each behaviour of the table is among them.
    """
    table = list(cases)
    assert all(case in table for case in fast), "a representative is not in the table"
    return [_parameter(case, is_fast=case in fast) for case in table]


def diagonal(rows: Mapping[str, Any], columns: Mapping[str, Any]) -> list[Any]:
    """Return the parameters of two crossed tables, marked slow but for a diagonal: each row and column is on it."""
    n_short = min(len(rows), len(columns))
    return [
        _parameter((row, column), is_fast=i % n_short == j % n_short, name=f"{row_name}-{column_name}")
        for i, (row_name, row) in enumerate(rows.items())
        for j, (column_name, column) in enumerate(columns.items())
    ]


def _parameter(case: Any, *, is_fast: bool, name: str | None = None) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, id=name, marks=() if is_fast else pytest.mark.slow)
