"""CSV and Parquet hold every result of a run, and no number where there is none."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from nel.artifacts.exporting.table import METRIC_COLUMNS, SAMPLE_COLUMNS
from nel.artifacts.exporting.writers import NOTES_FILE, export_run
from nel.errors import OutputError
from tests.support.runs import read_json, read_results


def stored(run_dir: Path) -> list[dict[str, Any]]:
    """Return the lines of results.jsonl without the dates, which an import does not take over."""
    lines = read_results(run_dir, "quiz")
    for line in lines:
        line["timing"] |= {"started": None, "ended": None}
    return lines


def storable(text: str | None) -> str | None:
    return text and re.sub("[\ud800-\udfff]", "\ufffd", text)


def files_of(run_dir: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run_dir)): path.read_bytes() for path in run_dir.rglob("*") if path.is_file()}


def test_parquet_holds_every_result_as_it_is(finished: Path, tmp_path: Path) -> None:
    """Rewards, texts and outcomes are those of results.jsonl; an unscored result has the reward null."""
    export_run("parquet", finished, tmp_path / "out")
    rows = pyarrow.parquet.read_table(tmp_path / "out" / "samples.parquet").to_pylist()
    expected = stored(finished)
    assert [row["reward"] for row in rows] == [one["reward"] for one in expected]
    assert [row["model_response"] for row in rows] == [storable(one["model_response"]) for one in expected]
    assert [row["state"] for row in rows] == [one["outcome"]["state"] for one in expected]
    assert sum(row["reward"] is None for row in rows) == 3
    assert list(rows[0]) == list(SAMPLE_COLUMNS)
    assert json.loads(rows[0]["prompt"])[0] == {"role": "system", "content": "Answer."}
    (metric,) = pyarrow.parquet.read_table(tmp_path / "out" / "metrics.parquet").to_pylist()
    assert metric["value"] == read_json(finished / "quiz" / "metrics.json")["headline"]["value"]
    assert (metric["n_total"], metric["n_unscored"], metric["n_model_failure"]) == (30, 3, 3)


def test_csv_holds_every_result_and_no_formula(finished: Path, tmp_path: Path) -> None:
    """A CSV reader gets all rows back; an unscored one has an empty reward, and no text begins as a formula."""
    export_run("csv", finished, tmp_path / "out")
    with (tmp_path / "out" / "samples.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = stored(finished)
    assert [row["reward"] for row in rows] == ["" if one["reward"] is None else str(one["reward"]) for one in expected]
    assert [row["sample_id"] for row in rows] == [one["sample_id"] for one in expected]
    answers = [
        (row["model_response"], storable(one["model_response"]) or "") for row, one in zip(rows, expected, strict=True)
    ]
    assert all(read.removeprefix("'") == said.replace("\0", "\ufffd") for read, said in answers)
    assert not any(read.lstrip(" ").startswith(("=", "+", "@")) for read, _ in answers)
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        assert next(iter(csv.DictReader(file))).keys() == METRIC_COLUMNS.keys()


def test_notes_say_what_has_no_score_and_the_run_is_not_written(finished: Path, tmp_path: Path) -> None:
    """Unscored results are counted in a file of notes; every file of the run keeps its bytes."""
    before = files_of(finished)
    exported = export_run("csv", finished, tmp_path / "out")
    assert files_of(finished) == before
    notes = (tmp_path / "out" / NOTES_FILE).read_text(encoding="utf-8").splitlines()
    assert notes == list(exported.notes)
    assert notes[0] == "quiz: 3 of 30 results have no score (infra 3), which is not 0."
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


def cut(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))


def zeroed(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"reward":null', b'"reward":0.0'))


@pytest.mark.parametrize(("damage", "message"), [(cut, "28 results and 30"), (zeroed, "the reward does not fit")])
@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_damaged_results_are_refused(
    finished: Path, tmp_path: Path, name: str, damage: Callable[[Path], None], message: str
) -> None:
    """A file that was cut off, or has a zero for an unscored result, is named, and nothing is left."""
    run_dir = shutil.copytree(finished, tmp_path / "run")
    damage(run_dir / "quiz" / "results.jsonl")
    with pytest.raises(OutputError, match=message):
        export_run(name, run_dir, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
