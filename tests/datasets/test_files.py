"""Local files: finding them, choosing a reader, and what each reader makes of good and bad content."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nel.datasets import open_dataset
from nel.datasets.files import open_file
from nel.datasets.jsonl import lines_of
from nel.errors import DatasetError

ROWS = [{"q": "one", "n": "1"}, {"q": "two", "n": "2"}]


def write(folder: Path, name: str, content: bytes | str) -> str:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [row.data for row in open_dataset(name, base_dir=folder).read()]


def problem_of(folder: Path, name: str) -> str:
    with pytest.raises(DatasetError) as caught:
        list(open_dataset(name, base_dir=folder).read())
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"q": "one", "n": "1"}\n{"q": "two", "n": "2"}\n'),
        ("a.ndjson", '{"q": "one", "n": "1"}\r\n\r\n   \n{"q": "two", "n": "2"}'),
        ("A.JSONL.GZ", '{"q": "one", "n": "1"}\n{"q": "two", "n": "2"}\n'),
        ("a.json", json.dumps(ROWS, indent=2)),
        ("a.json", json.dumps({"version": 1, "data": ROWS})),
        ("a.json.gz", "\ufeff" + json.dumps(ROWS)),
        ("a.json", '{"q": "one", "n": "1"}\n{"q": "two", "n": "2"}\n'),
        ("a.csv", "q,n\none,1\n\ntwo,2\n"),
        ("a.csv.gz", "\ufeffq,n\r\none,1\r\ntwo,2"),
        ("a.tsv", "q\tn\none\t1\ntwo\t2\n"),
    ],
)
def test_formats_give_the_same_rows(tmp_path: Path, name: str, content: str) -> None:
    """Every format, with or without a byte order mark, gzip, blank lines and CRLF, gives the same rows."""
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)
    assert rows_of(tmp_path, name) == ROWS


def test_jsonl_rows_are_numbered_by_line(tmp_path: Path) -> None:
    """Blank lines count, so that a number leads to the right line."""
    dataset = open_dataset(write(tmp_path, "a.jsonl", '\n{"a": 1}\n\n{"a": 2}\n'), base_dir=tmp_path)
    assert [row.number for row in dataset.read()] == [2, 4]
    assert dataset.unit == "line"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1" + "0" * 30, 10**30),
        ("1e30", 1e30),
        (r'"\ud800 \u0000"', "\ud800 \0"),
        ('"a: b\\": c :d"', 'a: b": c :d'),
        ('"\u2028"', "\u2028"),
    ],
)
def test_jsonl_values_are_exact(tmp_path: Path, text: str, value: Any) -> None:
    """Legal JSON that fast parsers refuse or round arrives as written."""
    (row,) = rows_of(tmp_path, write(tmp_path, "a.jsonl", f'{{"a": {text}}}\n'))
    assert row == {"a": value}
    assert type(row["a"]) is type(value)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a": }', "line 2: invalid JSON (Expecting value, column 7)"),
        (b"[1]", "line 2: an array, not an object"),
        (b'{"a": "\xff"}', "line 2: invalid UTF-8 (byte 8)"),
        (b'{"a": "\0"}', "line 2: a NUL byte (byte 8)"),
        (b'{"a": NaN}', "line 2: NaN, which is not JSON"),
        (b'{"a": 1e999}', "line 2: the number 1e999, which is too large"),
        (b'{"a": 1, "a": 1}', 'line 2: duplicate key "a"'),
        (b'{"a": ' + b"[" * 101 + b"]" * 101 + b"}", "line 2: JSON that is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "line 2: an integer with too many digits"),
        (b'{"a": 1}\r{"a": 2}', "line 2: invalid JSON (Extra data, column 10); if the lines end in CR alone"),
    ],
)
def test_jsonl_bad_lines_are_named(tmp_path: Path, line: bytes, problem: str) -> None:
    """Each kind of bad line is reported with its number and what is wrong."""
    message = problem_of(tmp_path, write(tmp_path, "a.jsonl", b'{"ok": 1}\n' + line + b'\n{"ok": 2}\n'))
    assert message.startswith(f"a.jsonl: 1 bad line: {problem}")
    assert message.endswith("; fix or remove them")


def test_jsonl_bad_lines_are_reported_together(tmp_path: Path) -> None:
    """All bad lines come in one error, and no row after the first of them is given out."""
    name = write(tmp_path, "a.jsonl", '{"a":1}\n{\n{"a":2}\n[]\n')
    reader = open_dataset(name, base_dir=tmp_path).read()
    assert next(reader).data == {"a": 1}
    with pytest.raises(
        DatasetError, match=r"2 bad lines: line 2: invalid JSON .*; line 4: an array, not an object; fix"
    ):
        next(reader)


def test_jsonl_stops_after_ten_bad_lines(tmp_path: Path) -> None:
    """A file that is bad throughout is not read to its end."""
    message = problem_of(tmp_path, write(tmp_path, "a.jsonl", "{\n" * 1000))
    assert "first 10 bad lines: line 1:" in message
    assert "line 11" not in message


def test_long_lines_are_refused_before_they_fill_memory(tmp_path: Path) -> None:
    """A line beyond the limit is an error that names it."""
    write(tmp_path, "a.jsonl", b"{}\n" + b"x" * 100)
    with (tmp_path / "a.jsonl").open("rb") as file, pytest.raises(DatasetError, match="line 2 is longer than 50 bytes"):
        list(lines_of(file, "a.jsonl", bytes_max=50))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", "a,b\n1\n", "a.csv: 1 bad row: row 1: 1 cells for 2 columns (line 2); fix or remove them"),
        ("a.csv", 'a,b\n"x\ny",1\n1,2,3\n', "row 2: 3 cells for 2 columns (line 4)"),
        ("a.csv", "a,b,a\n1,2,3\n", 'the header names "a" more than once'),
        ("a.csv", 'a\n"x', "a.csv: line 2: a quote is opened in the row that begins here and never closed"),
        ("a.csv", "a,b\r1,2\r", "are its lines ended by CR alone? convert them to LF"),
        ("a.csv", b"a\nb\n\xff\n", "a.csv: line 3: invalid UTF-8 (byte 1)"),
        ("a.csv", "a,b\n", "a.csv: there are no rows"),
        ("a.csv", "a\n1\n".encode("utf-32"), "the file is UTF-32; save it as UTF-8"),
        ("a.jsonl", "\n \n", "a.jsonl: there are no rows; a dataset needs at least one"),
        ("a.json", "[{}, 1]", "a.json: 1 bad row: row 2: a number, not an object"),
        ("a.json", '{"a": 1}', "the object has no list"),
        ("a.json", '{"a": [], "b": []}', "the object has several lists (a, b)"),
        ("a.jsonl", "", "a.jsonl: the file is empty"),
        (
            "a.txt",
            "x",
            "a.txt: no reader for files like this; known: .jsonl, .ndjson, .json, .csv, .tsv, .parquet, .arrow, .xlsx",
        ),
        ("a.jsnl", "x", 'did you mean ".jsonl"?'),
        ("a.parquet.gz", "x", "all but parquet, arrow and workbooks also with .gz"),
        ("a.parquet", "not parquet", "a.parquet: cannot be read as parquet"),
    ],
)
def test_unusable_files_say_why(tmp_path: Path, name: str, content: bytes | str, problem: str) -> None:
    """Each way in which a file can be unusable has its own message."""
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    assert problem in problem_of(tmp_path, write(tmp_path, name, content))


def test_cut_off_gzip_is_an_error(tmp_path: Path) -> None:
    """A gzip file that ends too early never looks like a shorter dataset."""
    whole = gzip.compress(b'{"a": 1}\n' * 100_000)
    write(tmp_path, "b.jsonl", b"")
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    assert "the gzip data is damaged or cut off" in problem_of(tmp_path, "a.jsonl.gz")
    (tmp_path / "a.jsonl.gz").write_bytes(b'{"a": 1}\n')
    assert "the gzip data is damaged or cut off" in problem_of(tmp_path, "a.jsonl.gz")


def test_missing_files_name_what_was_looked_at(tmp_path: Path) -> None:
    """A missing file names the path looked at and the nearest name in that folder."""
    write(tmp_path, "questions.jsonl", "{}")
    message = problem_of(tmp_path, "question.jsonl")
    assert str(tmp_path / "question.jsonl") in message
    assert message.endswith('did you mean "questions.jsonl"?')
    assert problem_of(tmp_path / "nope", "x/y.jsonl").endswith("there is no such folder")


def test_empty_folders_and_special_files_are_refused(tmp_path: Path) -> None:
    """Regular files are read, and folders that hold some."""
    (tmp_path / "dir.jsonl").mkdir()
    assert "dir.jsonl: it has no files of rows that nel reads" in problem_of(tmp_path, "dir.jsonl")
    (tmp_path / "null.jsonl").symlink_to("/dev/null")
    assert "not a regular file" in problem_of(tmp_path, "null.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    assert "cannot be opened: No such file" in problem_of(tmp_path, "gone.jsonl")


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    """A second reading of a changed file would mix two datasets, so it is an error."""
    dataset = open_dataset(write(tmp_path, "a.jsonl", '{"a": 1}\n'), base_dir=tmp_path)
    assert len(list(dataset.read())) == 1
    write(tmp_path, "a.jsonl", '{"a": 1}\n{"a": 2}\n')
    with pytest.raises(DatasetError, match="the file changed since it was opened"):
        list(dataset.read())


def test_file_uris(tmp_path: Path) -> None:
    """A file URI is absolute, percent-encoded and local."""
    write(tmp_path, "a b.jsonl", '{"a": 1}')
    uri = f"file://{tmp_path}/a%20b.jsonl"
    dataset = open_file(uri, None)
    assert dataset.uri == uri
    assert [row.data for row in dataset.read()] == [{"a": 1}]
    with pytest.raises(DatasetError, match="a file URI has the form"):
        open_file("file://other.host/a.jsonl", None)
