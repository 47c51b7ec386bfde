"""Parquet files: what becomes of each Arrow type, and of damage."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from nel.datasets import open_dataset
from nel.datasets.plain import plain_row
from nel.errors import DatasetError

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
        (float("nan"), None),
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


def test_a_float_of_32_bits_is_the_number_that_was_written(tmp_path: Path) -> None:
    """A label 0.1 is not 0.10000000149011612, also in a list; a double keeps all its digits."""
    pa = pytest.importorskip("pyarrow")
    values = [0.1, 3.2, 1234567.125, 16777216.0]
    columns = {
        "label": pa.array(values, pa.float32()),
        "list": pa.array([[value] for value in values], pa.list_(pa.float32())),
        "double": [0.1 + 0.2, 12345 / 32768, 0.10000000149011612, 0.1],
    }
    rows = read(tmp_path, columns)
    assert [row["label"] for row in rows] == [row["list"][0] for row in rows] == values
    assert [row["double"] for row in rows] == columns["double"]


def test_values_without_json_form_are_bad_rows(tmp_path: Path) -> None:
    """An infinite number is reported with its row and column."""
    with pytest.raises(DatasetError, match=r'a\.parquet: 1 bad row: row 2: "a" holds an infinite number'):
        read(tmp_path, {"a": [1.0, float("inf")]})
    with pytest.raises(DatasetError, match="there are no rows"):
        read(tmp_path, {"a": []})


def test_rows_are_those_that_pyarrow_reads(tmp_path: Path) -> None:
    """Every type of the table above, nulls, dictionaries and nested lists, maps among them; times to the microsecond."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    pairs = pa.map_(pa.string(), pa.int64())
    columns = {
        "text": ["a", None], "n": [1, None], "share": [0.5, float("nan")], "is_so": [True, None],
        "day": [dt.date(2024, 2, 29), None], "at": [dt.datetime(2024, 2, 29, 12, 30, 0, 5, tzinfo=dt.UTC), None],
        "local": [dt.datetime(2024, 2, 29, 12, 30), None], "long": [dt.timedelta(seconds=90), None],
        "price": [Decimal("12.50"), None], "raw": [b"\x00\xff", None], "many": [[1, None], None],
        "choices": [{"text": ["a"], "label": None}, None], "turns": [[{"role": "user"}], []],
        "kind": pa.array(["x", "y"]).dictionary_encode(), "small": pa.array([255, 1], pa.uint8()),
        "large": pa.array(["a", "b"], pa.large_string()), "never": pa.array([None, None]),
        "map": pa.array([[("k", 1)], []], pairs), "maps": pa.array([[[("k", 1)], None], []], pa.list_(pairs)),
        "inner": pa.array([{"m": []}, None], pa.struct([("m", pairs)])),
        "nanoseconds": pa.array([1_700_000_000_123_456_000, None], pa.timestamp("ns")),
    }  # fmt: skip
    rows = read(tmp_path, columns)
    reference = parquet.read_table(tmp_path / "a.parquet").to_pylist(maps_as_pydicts="strict")
    assert rows == [plain_row(row) for row in reference]


def test_a_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    """It no longer ends as a parquet file does."""
    read(tmp_path, {"a": [1]})
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-2])
    with pytest.raises(DatasetError, match="does not begin and end as a parquet file does"):
        list(open_dataset("a.parquet", base_dir=tmp_path).read())


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """A row would have the values of the last alone."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.Table.from_arrays([pa.array(["q"]), pa.array(["1"]), pa.array(["2"])], names=["q", "a", "a"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match='the column "a" is there twice; rename one'):
        list(open_dataset("a.parquet", base_dir=tmp_path).read())


def test_a_map_with_a_key_twice_is_a_fault_of_the_file(tmp_path: Path) -> None:
    """An object would have the last value alone."""
    pa = pytest.importorskip("pyarrow")
    column = pa.array([[("k", 1), ("k", 2)]], type=pa.map_(pa.string(), pa.int64()))
    with pytest.raises(DatasetError, match=r"a\.parquet: cannot be read as parquet: a map has a key twice"):
        read(tmp_path, {"a": column})


def test_a_date_that_python_does_not_have_is_a_fault_of_the_file(tmp_path: Path) -> None:
    """Its years end with 9999."""
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(DatasetError, match=r"a\.parquet: cannot be read as parquet: .*out of range"):
        read(tmp_path, {"a": pa.array([2**60], pa.timestamp("us"))})
