"""Columns: lookups by name and by dotted path, and renaming."""

from __future__ import annotations

from typing import Any

import pytest

from nel.datasets import lookup, map_fields
from nel.datasets.fields import read_lists
from nel.errors import DatasetError

ROW = {"question": "q", "choices": {"text": ["a"], "deep": {"x": None}}, "a.b": 1, "a": {"b": 2}}


@pytest.mark.parametrize(
    ("path", "value"),
    [("question", "q"), ("choices.text", ["a"]), ("choices.deep.x", None), ("a.b", 1), ("a", {"b": 2})],
)
def test_lookup_finds_columns_and_keys(path: str, value: Any) -> None:
    """An exact column wins over a dotted path, and null is a value."""
    assert lookup(ROW, path) == value


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("questoin", 'no column "questoin"; did you mean "question"? it has a, a.b, choices, question'),
        ("choices.txt", 'no column "choices.txt" (no "txt"); did you mean "text"? it has deep, text'),
        ("question.__class__", "a str has no keys"),
        ("choices.text.0", "a list has no keys"),
    ],
)
def test_lookup_says_what_is_there(path: str, problem: str) -> None:
    """A missing path names the nearest key and all that are present; attributes and indexes are not looked at."""
    with pytest.raises(DatasetError) as caught:
        lookup(ROW, path)
    assert problem in str(caught.value)
    assert lookup(ROW, path, default="none") == "none"


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ({}, {"a": 1, "b": {"c": 2}}),
        ({"a": "x"}, {"x": 1, "b": {"c": 2}}),
        ({"a": "a"}, {"a": 1, "b": {"c": 2}}),
        ({"a": "b", "b": "a"}, {"b": 1, "a": {"c": 2}}),
        ({"b.c": "c"}, {"a": 1, "b": {"c": 2}, "c": 2}),
    ],
)
def test_map_fields_renames(mapping: dict[str, str], expected: dict[str, Any]) -> None:
    """Columns are renamed, swapped, or copied out of an object; the row itself is left alone."""
    row = {"a": 1, "b": {"c": 2}}
    assert map_fields(row, mapping) == expected
    assert row == {"a": 1, "b": {"c": 2}}


@pytest.mark.parametrize(
    ("mapping", "problem"),
    [
        ({"nope": "x"}, 'no column "nope"'),
        ({"a": "b"}, 'cannot rename column "a" to "b": the row already has a "b"'),
        ({"a": "x", "b": "x"}, 'cannot rename column "b" to "x"'),
    ],
)
def test_map_fields_never_loses_a_column(mapping: dict[str, str], problem: str) -> None:
    """A missing source and two columns for one name are errors."""
    with pytest.raises(DatasetError) as caught:
        map_fields({"a": 1, "b": 2}, mapping)
    assert problem in str(caught.value)


def test_read_lists() -> None:
    """What is a list stays one; the text of a list becomes one; anything else is refused by name."""
    row = {"a": "['x', 'y']", "b": ["z"], "c": "x, y"}
    assert read_lists(row, ["a", "b"]) == {"a": ["x", "y"], "b": ["z"], "c": "x, y"}
    with pytest.raises(DatasetError, match="the field \"c\" of list_fields is not a list of texts: 'x, y'"):
        read_lists(row, ["c"])
