"""Choosing how to open a source, callables, and the plugin group of URI schemes."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from nel.datasets import open_dataset
from nel.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator


def good_rows() -> Iterator[dict[str, Any]]:
    yield {"q": "one", "when": dt.date(2024, 1, 1), "options": ("a", "b"), "pairs": [("a", 1)]}
    yield {"q": "two"}


def mixed_rows() -> list[Any]:
    return [{"q": "one"}, ["two"], {"q": {1, 2}}, {3: "x"}]


def failing_rows() -> Iterator[dict[str, Any]]:
    yield {"q": "one"}
    raise ValueError("no more")


def no_rows() -> Any:
    return None


def test_callables_are_datasets() -> None:
    """A function that returns rows is a dataset named after it, with plain copies of its rows."""
    dataset = open_dataset(good_rows)
    rows = [row.data for row in dataset.read()]
    assert dataset.uri == f"callable:{__name__}.good_rows"
    assert rows == [
        {"q": "one", "when": "2024-01-01", "options": ["a", "b"], "pairs": [["a", 1]]},
        {"q": "two"},
    ]
    assert [row.number for row in dataset.read()] == [1, 2]


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (
            mixed_rows,
            r"mixed_rows: 3 bad rows: row 2: a list, not a mapping; row 3: .* set, .*; row 4: the column name 3",
        ),
        (failing_rows, "failing_rows: it failed after row 1: ValueError: no more"),
        (no_rows, "no_rows: it returned a NoneType; it must return an iterable of mappings"),
        (dict, "dict: it returned a dict"),
        (list, "list: there are no rows"),
    ],
)
def test_faulty_callables_are_named(function: Any, problem: str) -> None:
    """What goes wrong in a user's function is reported under its name."""
    with pytest.raises(DatasetError, match=problem):
        list(open_dataset(function).read())


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("nosuch://x", 'no reader for "nosuch://"'),
        (
            "https://user:pass@host/a.jsonl",
            "https://host/a.jsonl: a user, a password or a query in a URL may be a secret",
        ),
        ("", "is not a name for a dataset file"),
        ("a\0b.jsonl", "is not a name for a dataset file"),
        (7, "not a int"),
    ],
)
def test_unknown_sources_are_refused(source: Any, problem: str) -> None:
    """A scheme that is not installed, or a thing that is not a source, says so."""
    with pytest.raises(DatasetError, match=problem):
        open_dataset(source)
