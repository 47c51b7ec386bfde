"""A run of which a file is gone or was changed shows no number: no comparison, gate, floor, table or export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.artifacts.files import directory_name
from nel.cli.app import app
from nel.engine.store.lock import own_directory
from nel.engine.store.log import Log
from nel.reports.whole_run import read_run
from tests.support.compared import lines, write_run
from tests.support.viewed_run import build_viewed_run

REWARDS = [float(place % 4 != 0) for place in range(400)]


@pytest.fixture(name="run_dir")
def _run_dir(tmp_path: Path) -> Path:
    """Return a run of two benchmarks, of which one has a name that is not a name of a folder, with its store."""
    run_dir = write_run(tmp_path / "run", {"quiz": lines(REWARDS), "other%3A1": lines(REWARDS)})
    store = Log(run_dir / "run.db")
    for name in ("quiz", "other:1"):
        (bundle,) = (run_dir / directory_name(name)).glob("eval-*.json")
        of_run = json.loads(bundle.read_bytes())
        plan = {"identity": of_run["identity_fields"], "digest": of_run["identity"]}
        store.put_benchmark(name, name, plan)  # type: ignore[arg-type]
    store.close()
    return run_dir


def said(*arguments: str | Path) -> str:
    """Run nel, expect exit code 2, and return its line."""
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    return done.stderr


def test_a_folder_that_is_gone_is_missed(run_dir: Path, tmp_path: Path) -> None:
    """What is left would pass a floor and a gate, and say nothing of what is gone."""
    whole = tmp_path / "whole"
    shutil.copytree(run_dir, whole)
    (tmp_path / "policy.yaml").write_text("version: 1\n", encoding="utf-8")
    shutil.rmtree(run_dir / "other%3A1")
    words = f"{run_dir} has no metrics of other%3A1"
    assert words in said("gate", run_dir, "--fail-under", "accuracy=0.5")
    assert words in said("gate", whole, run_dir, "--policy", tmp_path / "policy.yaml")
    assert words in said("gate", run_dir, run_dir, "--policy", tmp_path / "policy.yaml")
    assert words in said("compare", whole, run_dir)


def test_metrics_that_are_gone_are_missed_without_a_store(tmp_path: Path) -> None:
    """The other files of the benchmark are still there."""
    run_dir = write_run(tmp_path / "run", {"quiz": lines(REWARDS), "other": lines(REWARDS)})
    (run_dir / "other" / "metrics.json").unlink()
    assert "no metrics of other, and a run is shown and decided on as a whole" in said("compare", run_dir, run_dir)


def test_results_that_are_gone_are_missed_by_a_floor(run_dir: Path) -> None:
    """Metrics whose samples are gone are not a ground to decide on."""
    (run_dir / "quiz" / "results.jsonl").unlink()
    assert "quiz has no results.jsonl; make it again with nel report" in said(
        "gate", run_dir, "--fail-under", "accuracy=0.5"
    )


def test_a_store_that_cannot_be_read_is_no_reason(run_dir: Path) -> None:
    """A comparison needs the artifacts alone."""
    (run_dir / "run.db").write_bytes(b"no database")
    assert len(read_run(run_dir)) == 2


def test_a_changed_number_is_refused_at_every_door(tmp_path: Path) -> None:
    """A score that its lines do not give, in all files alike, is neither compared, tabled nor exported."""
    run_dir = build_viewed_run(tmp_path / "run", is_complete=True)
    other = build_viewed_run(tmp_path / "other", is_complete=True)
    for path in (run_dir / "quiz" / "metrics.json", run_dir / "quiz" / "eval-quiz.json"):
        value = json.loads(path.read_bytes())["headline" if path.name == "metrics.json" else "benchmark"]
        score = value["value"] if "value" in value else value["scores"]["accuracy"]["value"]
        path.write_text(
            path.read_text(encoding="utf-8").replace(f'"value": {score}', '"value": 0.99'), encoding="utf-8"
        )
    words = "accuracy is 0.99 in metrics.json"
    assert words in said("compare", run_dir, other)
    assert words in said("report", run_dir, other)
    assert words in said("gate", run_dir, "--fail-under", "accuracy=0.1")
    assert words in said("export", run_dir, "--to", "csv", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_of_another_run_are_refused(tmp_path: Path) -> None:
    """Whole and finished files that were copied over those of a run do not stand for it."""
    run_dir = build_viewed_run(tmp_path / "run")
    other = build_viewed_run(tmp_path / "other", is_complete=True)
    shutil.copytree(other / "quiz", run_dir / "quiz", dirs_exist_ok=True)
    assert f"{run_dir} holds results of the runs other and run" in said("report", run_dir, other)


def test_the_exit_code_says_partial_and_unscored(tmp_path: Path) -> None:
    """A report or an export of an unfinished run ends as the run did; so does a table with such a run."""
    partial = build_viewed_run(tmp_path / "partial", ended="SIGINT")
    done = CliRunner().invoke(app, ["report", str(partial)])
    assert (done.exit_code, "this run is PARTIAL" in done.stderr) == (75, True)
    done = CliRunner().invoke(app, ["export", str(partial), "--to", "csv", "-o", str(tmp_path / "csv")])
    assert (done.exit_code, (tmp_path / "csv" / "export-notes.txt").is_file()) == (75, True)
    unscored = build_viewed_run(tmp_path / "unscored", is_complete=True)
    done = CliRunner().invoke(app, ["report", str(unscored)])
    assert (done.exit_code, "unscored by infra" in done.stderr) == (3, True)
    assert CliRunner().invoke(app, ["report", str(unscored), str(partial)]).exit_code == 75


def test_a_report_of_a_run_that_goes_on_is_partial(tmp_path: Path) -> None:
    """What has been answered is shown, and the exit code says that there is more to come."""
    run_dir = build_viewed_run(tmp_path / "run")
    with own_directory(run_dir):
        assert CliRunner().invoke(app, ["report", str(run_dir)]).exit_code == 75


def test_a_folder_of_no_benchmark_is_named(run_dir: Path) -> None:
    """To write the files of the run again would not help."""
    (run_dir / "old").mkdir()
    shutil.copy(run_dir / "quiz" / "results.jsonl", run_dir / "old")
    assert "has results in old, which no benchmark of its run.db has; move them away" in said(
        "compare", run_dir, run_dir
    )
