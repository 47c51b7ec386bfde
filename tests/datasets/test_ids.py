"""Names of samples: own ids, content hashes and occurrence numbers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nel.datasets import content_id, occurrence_id, own_id
from nel.errors import DatasetError

ROWS = st.dictionaries(
    st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists), max_size=5
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "a"), (1, "1"), ("1", "1"), (-0, "0"), ("e\u0301", "\u00e9"), ("007", "007"), (10**30, str(10**30))],
)
def test_own_ids_have_one_text_form(value: Any, expected: str) -> None:
    """Strings and integers become text, and equivalent spellings one id."""
    assert own_id(value) == expected


def test_ids_that_only_look_alike_are_two() -> None:
    """A digit of full width, a ligature and a superscript are characters of their own."""
    assert len({own_id(value) for value in ("1", "\uff11", "\u00b9", "fi", "\ufb01")}) == 5


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "the id is null"),
        (True, "of type bool"),
        (1.0, "of type float"),
        (["a"], "of type list"),
        ("", "the id is empty"),
        ("\ud800", r"the id '\ud800' holds a lone surrogate"),
    ],
)
def test_unusable_ids_are_refused(value: Any, problem: str) -> None:
    """What could alias or cannot be stored is not an id."""
    with pytest.raises(DatasetError) as caught:
        own_id(value)
    assert problem in str(caught.value)


@settings(max_examples=40)
@given(ROWS)
def test_content_ids_ignore_the_order_of_keys(row: dict[str, Any]) -> None:
    """Reordering the keys of a row does not change its name."""
    assert content_id(row) == content_id(dict(reversed(row.items())))


def test_content_ids_are_stable_and_exact() -> None:
    """The hash is pinned, and values that only look alike have different names."""
    assert content_id({"b": [1, None], "a": "\u00e9"}) == "9b10bedce64e86a2"
    looks_alike: list[Any] = [1, "1", 1.0, True, None, [1], {"a": 1}, "\ud800", "\u00e9", "e\u0301"]
    assert len({content_id({"a": value}) for value in looks_alike}) == len(looks_alike)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"x"])
def test_rows_that_are_not_json_have_no_content_id(value: Any) -> None:
    """A row that cannot be written as JSON is an error."""
    with pytest.raises(DatasetError, match="no hash can name it"):
        content_id({"a": value})


def test_occurrences_are_numbered_from_the_second() -> None:
    """The first of several equal rows keeps the plain name."""
    assert [occurrence_id("ab", n) for n in (1, 2, 3)] == ["ab", "ab#2", "ab#3"]
    with pytest.raises(ValueError, match="count from 1"):
        occurrence_id("ab", 0)
