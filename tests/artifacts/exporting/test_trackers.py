"""MLflow and W&B read back what was exported for them: numbers, tables and artifacts, and no secret."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nel_tracking.tracked import files_of, numbers_of, settings_of

from nel.artifacts.exporting.run import open_run
from nel.artifacts.exporting.writers import export_run
from nel.errors import PluginError
from tests.artifacts.exporting.readers import read_by
from tests.artifacts.exporting.test_tables import stored
from tests.support.runs import read_json
from tests.support.viewed_run import build_viewed_run

KEY = "sk-" + "secretsecretsecret" * 2


def test_trackers_get_numbers_counts_and_no_address(finished: Path) -> None:
    """What has no value has no number; the address of the endpoint, which may hold a key, is not a setting."""
    (files,) = open_run(finished).benchmarks
    numbers, settings = numbers_of(files), settings_of(files)
    headline = read_json(finished / "quiz" / "metrics.json")["headline"]
    assert numbers["accuracy"] == headline["value"]
    assert (numbers["n_unscored"], numbers["n_scored"], numbers["category/law"]) == (3, 24, 4 / 9)
    assert settings["scorer.name"] == "s"
    assert not [one for one in settings.values() if "http://" in one]
    assert {one.name for one in files_of(files)} >= {"eval-quiz.json", "results.jsonl"}
    files.metrics["headline"]["value"] = None
    files.metrics["metrics"] = [{**one, "value": None} for one in files.metrics["metrics"]]
    assert "accuracy" not in numbers_of(files)


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_missing_package_is_named(finished: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install, and nothing is left."""
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, f"{name}.tracking", None)
    with pytest.raises(PluginError, match=rf"needs .*; pip install {name}"):
        export_run(name, finished, tmp_path / "out")
    assert not list(tmp_path.iterdir())


MLFLOW = """
import json, os, sys
from pathlib import Path
from nel.artifacts.exporting.writers import export_run
source, output = map(Path, sys.argv[1:])
export_run("mlflow", source, output)
import mlflow
mlflow.set_tracking_uri(f"sqlite:///{output}/mlflow.db")
experiment = mlflow.get_experiment_by_name("quiz")
(run,) = mlflow.search_runs([experiment.experiment_id], output_format="list")
mlflow.set_experiment("quiz")
samples = mlflow.load_table("samples.json", run_ids=[run.info.run_id])
files = mlflow.artifacts.list_artifacts(run_id=run.info.run_id)
results = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/nel-results.jsonl")
print(json.dumps({
    "metrics": run.data.metrics, "status": run.info.status, "model": run.data.params["model"],
    "rewards": [None if one != one else one for one in samples["reward"]], "files": len(files), "results": len(results),
}))
"""


@pytest.mark.slow
def test_mlflow_reads_it(finished: Path, tmp_path: Path) -> None:
    """Its client has the metrics, the table of samples with null where there is no score, and every artifact."""
    found = read_by("mlflow", MLFLOW, finished, tmp_path / "out")
    headline = read_json(finished / "quiz" / "metrics.json")["headline"]
    assert (found["metrics"]["accuracy"], found["metrics"]["n_unscored"]) == (headline["value"], 3)
    assert found["rewards"] == [one["reward"] for one in stored(finished)]
    assert (found["status"], found["model"], found["files"]) == ("FINISHED", "m", 7)
    assert found["results"] == len((finished / "quiz" / "results.jsonl").read_text(encoding="utf-8"))


WANDB = """
import json, os, struct, sys
from pathlib import Path
from nel.artifacts.exporting.writers import export_run
source, output = map(Path, sys.argv[1:])
export_run("wandb", source, output)
from wandb.proto import wandb_internal_pb2
(path,) = output.glob("wandb/offline-run-*/*.wandb")
data, place, parts, records = path.read_bytes(), 7, b"", []
while place + 7 <= len(data):  # LevelDB's log: blocks of 32 KiB, chunks of a checksum, a length and a type
    if place % 32768 > 32768 - 7:
        place += 32768 - place % 32768
        continue
    length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
    parts += data[place + 7 : place + 7 + length]
    place += 7 + length
    if kind in (1, 4):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(parts)
        records.append(record)
        parts = b""
summary = {(one.key or "/".join(one.nested_key)): one.value_json
           for record in records if record.HasField("summary") for one in record.summary.update}
artifacts = [one.request.log_artifact.artifact if one.HasField("request") else one.artifact for one in records
             if one.HasField("artifact") or (one.HasField("request") and one.request.HasField("log_artifact"))]
staged = [entry.local_path for one in artifacts for entry in one.manifest.contents]
(table,) = output.glob("wandb/*/files/media/table/quiz/samples*.json")
rows = json.loads(table.read_text())
column = rows["columns"].index("reward")
print(json.dumps({
    "accuracy": json.loads(summary["quiz/accuracy"]), "n_unscored": json.loads(summary["quiz/n_unscored"]),
    "rewards": [row[column] for row in rows["data"]], "staged": staged,
    "missing": [one for one in staged if not Path(one).is_file()], "kinds": sorted({one.type for one in artifacts}),
}))
"""


@pytest.mark.slow
def test_wandb_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its messages have the numbers and the tables, each file of an artifact is where they say, and no key is there."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    source = build_viewed_run(tmp_path / "run", is_complete=True)
    found = read_by("wandb", WANDB, source, tmp_path / "out")
    headline = read_json(source / "quiz" / "metrics.json")["headline"]
    assert (found["accuracy"], found["n_unscored"]) == (headline["value"], 3)
    assert found["rewards"] == [one["reward"] for one in stored(source)]
    assert found["missing"] == []
    assert len(found["staged"]) >= 5
    assert "evaluation" in found["kinds"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "run"]
    exported = [one for one in (tmp_path / "out").rglob("*") if one.is_file()]
    assert not [one for one in exported if KEY.encode() in one.read_bytes()]
