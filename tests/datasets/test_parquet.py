"""Parquet files: what becomes of each Arrow type, and of a missing library."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from nel.datasets import open_dataset
from nel.errors import DatasetError, MissingExtra

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, columns: dict[str, Any]) -> list[dict[str, Any]]:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), folder / "a.parquet")
    return [row.data for row in open_dataset("a.parquet", base_dir=folder).read()]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("text", "text"),
        (7, 7),
        (0.5, 0.5),
        (float("nan"), None),
        (None, None),
        (True, True),
        (dt.date(2024, 2, 29), "2024-02-29"),
        (dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.UTC), "2024-02-29T12:30:00+00:00"),
        (dt.timedelta(seconds=90), 90.0),
        (Decimal("12.50"), "12.50"),
        (b"\x00\xff", "AP8="),
        ({"text": ["a", "b"]}, {"text": ["a", "b"]}),
    ],
)
def test_arrow_values_become_plain(tmp_path: Path, value: Any, plain: Any) -> None:
    """Dates, decimals, bytes, NaN and nested values become JSON values."""
    assert read(tmp_path, {"a": [value]}) == [{"a": plain}]


def test_maps_become_objects(tmp_path: Path) -> None:
    """An Arrow map with text keys becomes an object."""
    pa = pytest.importorskip("pyarrow")
    column = pa.array([[("k", 1)]], type=pa.map_(pa.string(), pa.int64()))
    assert read(tmp_path, {"a": column}) == [{"a": {"k": 1}}]


def test_rows_come_in_order_over_batches(tmp_path: Path) -> None:
    """More rows than a batch holds arrive complete and in order."""
    assert [row["a"] for row in read(tmp_path, {"a": list(range(1000))})] == list(range(1000))


def test_values_without_json_form_are_bad_rows(tmp_path: Path) -> None:
    """An infinite number is reported with its row and column."""
    with pytest.raises(DatasetError, match=r'a\.parquet: 1 bad row: row 2: "a" holds an infinite number'):
        read(tmp_path, {"a": [1.0, float("inf")]})
    with pytest.raises(DatasetError, match="there are no rows"):
        read(tmp_path, {"a": []})


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow the message says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=r"pip install 'nel\[parquet\]'"):
        list(open_dataset("a.parquet", base_dir=tmp_path).read())
