"""A record of Every Eval Ever has the scores of the run and its counts, and no number where there is no score."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from nel.artifacts.exporting.writers import export_run
from nel.errors import UsageError
from tests.artifacts.exporting.readers import read_by
from tests.artifacts.exporting.test_tables import storable, stored
from tests.support.runs import read_json, read_lines
from tests.support.viewed_run import build_viewed_run


def test_the_record_has_score_interval_and_counts(finished: Path, tmp_path: Path) -> None:
    """The headline and the number of unscored results are those of metrics.json."""
    export_run("every-eval-ever", finished, tmp_path / "out")
    (path,) = (tmp_path / "out" / "data" / "quiz" / "unknown" / "m").glob("*.json")
    record = read_json(path)
    metrics = read_json(finished / "quiz" / "metrics.json")
    details = record["evaluation_results"][0]["score_details"]
    assert record["schema_version"] == "0.3.0"
    assert details["score"] == metrics["headline"]["value"]
    assert details["details"]["n_unscored"] == "3"


def test_the_samples_are_those_with_a_score(finished: Path, tmp_path: Path) -> None:
    """A line for each score, none for what has none; the record has their number, place and checksum."""
    export_run("every-eval-ever", finished, tmp_path / "out")
    (path,) = (tmp_path / "out").rglob("*_samples.jsonl")
    (aggregate,) = (tmp_path / "out").rglob("*[!s].json")
    record, content = read_json(aggregate), path.read_bytes()
    lines = read_lines(path)
    expected = [one for one in stored(finished) if one["reward"] is not None]
    assert [one["evaluation"]["score"] for one in lines] == [one["reward"] for one in expected]
    assert [one["output"]["raw"] for one in lines] == [[storable(one["model_response"])] for one in expected]
    assert {(one["evaluation_id"], one["model_id"]) for one in lines} == {(record["evaluation_id"], "m")}
    details = record["detailed_evaluation_results"]
    assert (details["total_rows"], details["checksum"]) == (27, sha256(content).hexdigest())
    assert details["file_path"] == path.relative_to(tmp_path / "out").as_posix()


VALIDATE = """
import json, os, sys
from pathlib import Path
from every_eval_ever.validator.validate import main
os.chdir(sys.argv[1])
paths = sorted(str(path.relative_to(Path.cwd())) for path in Path.cwd().rglob("data/**/*.json*"))
try:
    code = main(paths)
except SystemExit as ended:
    code = ended.code
print(json.dumps([len(paths), code]))
"""


@pytest.mark.slow
def test_the_validator_accepts_both_levels(tmp_path: Path) -> None:
    """The package's own validator has no error and no warning of the record and of its samples."""
    run_dir = build_viewed_run(tmp_path / "run", model="maker/m", repeats=2, is_complete=True)
    export_run("every-eval-ever", run_dir, tmp_path / "out")
    assert read_by("every_eval_ever", VALIDATE, tmp_path / "out") == [2, 0]


def test_a_run_without_score_is_refused(tmp_path: Path) -> None:
    run_dir = build_viewed_run(tmp_path / "run", answered=0)
    with pytest.raises(UsageError, match="has no score"):
        export_run("every-eval-ever", run_dir, tmp_path / "out")
