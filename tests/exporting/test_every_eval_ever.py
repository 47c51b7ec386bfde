"""A record of Every Eval Ever has the scores of the run and its counts, and no number where there is no score."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nel.errors import UsageError
from nel.exporting.writers import export_run
from tests.support.runs import read_json


def test_the_record_has_score_interval_and_counts(finished: Path, tmp_path: Path) -> None:
    """The headline and the number of unscored results are those of metrics.json."""
    export_run("every-eval-ever", finished, tmp_path / "out")
    (path,) = (tmp_path / "out" / "data" / "quiz" / "unknown" / "m").iterdir()
    record = read_json(path)
    metrics = read_json(finished / "quiz" / "metrics.json")
    details = record["evaluation_results"][0]["score_details"]
    assert record["schema_version"] == "0.3.0"
    assert details["score"] == metrics["headline"]["value"]
    assert details["details"]["n_unscored"] == "3"


def test_a_run_without_score_is_refused(finished: Path, tmp_path: Path) -> None:
    """What has no score is not exported as 0."""
    run_dir = shutil.copytree(finished, tmp_path / "run")
    metrics = read_json(run_dir / "quiz" / "metrics.json")
    metrics["metrics"] = [{**one, "value": None} for one in metrics["metrics"]]
    (run_dir / "quiz" / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(UsageError, match="has no score"):
        export_run("every-eval-ever", run_dir, tmp_path / "out")
