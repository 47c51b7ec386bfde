"""What a page shows does not depend on how many processes counted the results, nor on the parts that they read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.errors import OutputError
from nel.reports import samples
from nel.reports.run_files import read_run
from nel.reports.samples import Selection, select
from tests.reports.run_fixture import make_rows, write_benchmark


def _rows(n: int) -> list[dict[str, object]]:
    rows = make_rows(n)
    for place, row in enumerate(rows):
        row["metadata"] = {"category": f"part {place // 9}"}
        row["prompt"] = f"Part {place // 9}: look at it.\nWhat is {place}?"
        if place % 13 == 5:
            row["outcome"] = {"state": "not_asked", "kind": None, "cause": None, "detail": None}
    return rows


def _selection(run_dir: Path, samples_max: int) -> tuple[Selection, list[list[str]]]:
    (found,) = select(read_run(run_dir), samples_max=samples_max)
    return found, [list(counts) for counts in found.totals.values()]


@pytest.mark.parametrize("samples_max", [1_000, 60, 7])
@pytest.mark.parametrize("categories_max", [1_000, 5])
def test_a_file_counted_in_parts_is_the_file_counted_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples_max: int, categories_max: int
) -> None:
    """Totals in their order, the draw, the charts and the beginnings of prompts, also with more categories than fit."""
    write_benchmark(tmp_path / "quiz", "quiz", _rows(150))
    monkeypatch.setattr(samples, "_CATEGORIES_MAX", categories_max)
    expected = _selection(tmp_path, samples_max)
    assert expected[0].n_total == 150 - 12
    monkeypatch.setattr(samples, "_FILE_BYTES_ALONE", 0)
    monkeypatch.setattr(samples, "usable_processes", lambda: 2)
    for part_bytes in (1, 5_000, 1 << 22):
        monkeypatch.setattr(samples, "_PART_BYTES", part_bytes)
        assert _selection(tmp_path, samples_max) == expected


def test_a_damaged_line_is_named_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that reads a part does not know it, so the file is read again."""
    write_benchmark(tmp_path / "quiz", "quiz", _rows(40))
    path = tmp_path / "quiz" / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:30], b"[1\n", *lines[30:]]))
    monkeypatch.setattr(samples, "_FILE_BYTES_ALONE", 0)
    monkeypatch.setattr(samples, "_PART_BYTES", 2_000)
    monkeypatch.setattr(samples, "usable_processes", lambda: 2)
    with pytest.raises(OutputError, match="line 31 is not strict JSON"):
        select(read_run(tmp_path))
