"""The results that a page shows are read from a file that may be damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.errors import OutputError
from nel.reports.run_files import read_run
from nel.reports.samples import select
from tests.reports.run_fixture import make_rows, write_benchmark


def test_a_damaged_line_is_named_by_its_number(tmp_path: Path) -> None:
    """By the line of the file."""
    write_benchmark(tmp_path / "quiz", "quiz", make_rows(40))
    path = tmp_path / "quiz" / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:30], b"[1\n", *lines[30:]]))
    with pytest.raises(OutputError, match="line 31 is not strict JSON"):
        select(read_run(tmp_path))
