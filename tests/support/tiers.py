"""Which cases of an expensive table run in the fast tier; the others carry the marker `slow`, and further seeds `many`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

ENDS = pytest.mark.timeout(300)
"""For input that takes a few seconds at most, and an hour or so where the work grows with its square: that fails."""


def representatives(cases: Mapping[str, Any] | Iterable[Any], *fast: Any, ids: Sequence[str] = ()) -> list[Any]:
    """Return the parameters of a table, marked slow but for the cases that stand for it.

    Args:
        cases: A value each, or a tuple where the test takes several; a mapping names them.
        fast: Some of these cases, by name where they have one; each behaviour of the table should be among them.
        ids: Names for cases that are not a mapping.
    """
    table = list(cases.items()) if isinstance(cases, Mapping) else [(None, case) for case in cases]
    if ids:
        table = [(name, case) for name, (_, case) in zip(ids, table, strict=True)]
    known = [case if name is None else name for name, case in table]
    assert all(one in known for one in fast), "a representative is not in the table"
    return [_parameter(case, is_fast=one in fast, name=name) for one, (name, case) in zip(known, table, strict=True)]


def first_rows(n: int, cases: Iterable[Any], *, storm: int | None = None) -> list[Any]:
    """Return the parameters of a table whose first rows stand for it; the others are marked slow.

    Args:
        storm: How many of the rows guard a merge; those after them are marked many as well. Default: all.
    """
    rows = list(cases)
    guarding = len(rows) if storm is None else storm
    return [
        _parameter(case, is_fast=place < n, marks=() if place < guarding else (pytest.mark.many,))
        for place, case in enumerate(rows)
    ]


def diagonal(rows: Mapping[str, Any] | Iterable[str], columns: Mapping[str, Any] | Iterable[str]) -> list[Any]:
    """Return the parameters of two crossed tables, marked slow but for a diagonal: each row and column is on it."""
    left = list(rows.items()) if isinstance(rows, Mapping) else [(row, row) for row in rows]
    right = list(columns.items()) if isinstance(columns, Mapping) else [(column, column) for column in columns]
    n_short = min(len(left), len(right))
    return [
        _parameter((row, column), is_fast=i % n_short == j % n_short, name=f"{row_name}-{column_name}")
        for i, (row_name, row) in enumerate(left)
        for j, (column_name, column) in enumerate(right)
    ]


def _parameter(case: Any, *, is_fast: bool, name: str | None = None, marks: tuple[Any, ...] = ()) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, id=name, marks=marks if is_fast else (pytest.mark.slow, *marks))
