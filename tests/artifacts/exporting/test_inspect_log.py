"""An exported Inspect log has what its reader needs, with no score where there was none.

That inspect_ai itself reads it is tested in plugins/nel-inspect/tests.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.exporting.writers import export_run
from tests.artifacts.exporting.test_tables import storable, stored
from tests.support.runs import read_json
from tests.support.viewed_run import build_viewed_run


def members_of(directory: Path) -> dict[str, Any]:
    (path,) = directory.glob("*.eval")
    with zipfile.ZipFile(path) as log:
        assert log.testzip() is None
        return {name: json.loads(log.read(name)) for name in log.namelist()}


@pytest.fixture(scope="module")
def members(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("inspect") / "out"
    export_run("inspect", finished, out)
    return members_of(out)


def test_the_header_has_the_counts_and_metrics_of_the_run(finished: Path, members: dict[str, Any]) -> None:
    """The status, the counts and each metric are those of metrics.json; the header is the last member."""
    metrics = read_json(finished / "quiz" / "metrics.json")
    header = members["header.json"]
    (score,) = header["results"]["scores"]
    assert list(members)[-1] == "header.json"
    assert (header["version"], header["status"]) == (2, "success")
    assert (header["results"]["total_samples"], header["results"]["completed_samples"]) == (30, 27)
    assert (score["scored_samples"], score["unscored_samples"]) == (27, 3)
    assert {name: one["value"] for name, one in score["metrics"].items()} == {
        one["name"]: one["value"] for one in metrics["metrics"]
    }
    assert members["_journal/start.json"]["eval"] == header["eval"]


def test_an_unscored_sample_is_an_error_and_has_no_score(finished: Path, members: dict[str, Any]) -> None:
    """Every reward stands under its sample and epoch, and what has none has an error and no scores."""
    for result in stored(finished):
        sample = members[f"samples/{result['sample_id']}_epoch_1.json"]
        assert [one["value"] for one in sample["scores"].values()] == (
            [] if result["reward"] is None else [result["reward"]]
        )
        assert (sample["error"] is None) == (result["reward"] is not None)
        assert sample["output"]["usage"]["output_tokens"] == result["tokens"]["completion"]
        texts = sample["messages"][-1]["content"]
        text = texts if isinstance(texts, str) else texts[-1]["text"]
        assert text == storable(result["model_response"])
    errors = [one["error"] for one in members["summaries.json"] if "error" in one]
    assert len(members["summaries.json"]) == 30
    assert errors == [one for one in errors if one.startswith("no score: infra: timeout: no answer")]
    assert len(errors) == 3


def test_repeats_are_epochs_and_a_run_that_stopped_is_cancelled(tmp_path: Path) -> None:
    """Each repeat is a sample of its own; a run with planned samples left is not success."""
    run_dir = build_viewed_run(tmp_path / "run", n=4, repeats=2, answered=3, ended="stopped")
    export_run("inspect", run_dir, tmp_path / "out")
    members = members_of(tmp_path / "out")
    assert {(one["id"], one["epoch"]) for one in members["summaries.json"]} >= {("quiz/0000", 1), ("quiz/0000", 2)}
    assert members["header.json"]["status"] == "cancelled"
